"""For authors: run a lesson in place, and store outputs that are the same on every machine."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

from course_grading.sheets.notebooks import KERNEL, NotebookError, as_text, write

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
WANTS_A_GUESS = re.compile(r"[Tt]rue or false|\b(Guess|[Yy]our guess|Write down)\b")


def execute(path: Path, timeout: float = 120) -> None:
    """Run a notebook in place, and store outputs that are the same on every machine."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=timeout,
        resources={"metadata": {"path": str(path.parent)}},
        coalesce_streams=True,  # else a slow machine cuts what a cell prints into pieces
    )
    client.execute()
    normalised = normalise(notebook)
    close_answers(normalised["cells"])
    for cell in normalised["cells"]:
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                text = textwrap.shorten(as_text(output["text"]), 200)
                raise NotebookError(f"cell {cell['id']!r} writes to stderr: {text}")
    write(path, normalised)


def close_answers(cells: list[dict[str, Any]]) -> None:
    """Close the stored outputs that answer a question: JupyterLab opens them when the cell is run.

    These are the outputs after a text that ends with a question or wants a guess, up to the next
    text, or to the first text after an output where code comes before it; and those of a claim,
    which a reader judges first.
    """
    waiting = answered = judging = False
    for cell in cells:
        source = as_text(cell["source"])
        if cell["cell_type"] == "markdown":
            question = asks(source)
            waiting = question or (waiting and not answered and not source.startswith("#"))
            answered, judging = answered and not question, False
            continue
        judging = judging or "claim" in cell["metadata"].get("course", {})
        answered = answered or bool(cell["outputs"])
        code_closed = cell["metadata"].get("jupyter", {}).get("source_hidden", False)
        about = {k: v for k, v in cell["metadata"].items() if k not in ("jupyter", "collapsed")}
        hidden = {"source_hidden": True} if code_closed else {}
        if (waiting or judging) and cell["outputs"]:
            about["collapsed"] = True  # as JupyterLab writes it, in two ways
            hidden["outputs_hidden"] = True
        cell["metadata"] = about | ({"jupyter": hidden} if hidden else {})


def asks(text: str) -> bool:
    """Whether a text ends with a question, or wants a guess.

    The question of a lesson's head is the whole lesson's.
    """
    wants = WANTS_A_GUESS.search(text) or "?" in text.strip().split("\n\n")[-1]
    return bool(wants) and not text.startswith("# ")


def normalise(notebook: dict[str, Any]) -> dict[str, Any]:
    """Without timings, widget state, and what names this machine's kernel."""
    cells = []
    for cell in notebook["cells"]:
        cell = dict(cell)
        cell["metadata"] = {k: v for k, v in cell["metadata"].items() if k != "execution"}
        if cell["cell_type"] == "code":
            cell["outputs"] = [_still(output) for output in cell["outputs"]]
        cells.append(cell)
    return {"cells": cells, "metadata": KERNEL, "nbformat": 4, "nbformat_minor": 5}


def _still(output: dict[str, Any]) -> dict[str, Any]:
    """A widget cannot live in a stored notebook; its picture and its text can."""
    data = {k: v for k, v in output.get("data", {}).items() if k != WIDGET_VIEW}
    return {**output, "data": data} if "data" in output else dict(output)
