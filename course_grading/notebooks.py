"""Notebooks as files: read what may be broken, write what is stable.

Cells are plain dictionaries here, as they stand in the file; nothing is repaired in passing.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from course_lab.errors import CourseError

Cell = dict[str, Any]
BUTTON = "grade-button"
RELEASED = Path(__file__).parent / "released"
KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


class NotebookError(CourseError):
    """A file that cannot be used as a notebook; the message says why."""


def read(path: Path) -> list[Cell]:
    """The cells of a notebook, each with `source` as one string, `id` and `metadata`."""
    if path.exists() and not path.is_file():  # a pipe would be waited for without end
        raise NotebookError(f"{path.name} is no file that could be read")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise NotebookError(f"{path.name} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise NotebookError(f"{path.name} is no notebook: it is not text") from None
    if not text.strip():
        raise NotebookError(f"{path.name} is empty")
    try:
        cells = json.loads(text).get("cells")
    except (ValueError, AttributeError, RecursionError) as error:
        raise NotebookError(f"{path.name} is no notebook, or truncated: {error!s:.90}") from None
    if not isinstance(cells, list):
        raise NotebookError(f"{path.name} is no notebook of format 4: it has no cells")
    return [_regular(cell) for cell in cells if isinstance(cell, dict)]


def as_text(source: Any) -> str:
    """A cell's source or output, which the format allows to be a list of lines.

    Half an emoji, which JSON can hold and no file of text can, becomes a question mark.
    """
    text = "".join(map(str, source)) if isinstance(source, list) else str(source)
    return text.encode("utf-8", "replace").decode("utf-8")


def _regular(cell: Cell) -> Cell:
    metadata = cell.get("metadata")
    identity = cell.get("id")
    return {
        "id": identity if isinstance(identity, str) else "",
        "cell_type": cell.get("cell_type"),
        "metadata": metadata if isinstance(metadata, dict) else {},
        "source": as_text(cell.get("source", "")),
    }


def grade_id(cell: Cell) -> str:
    """The cell's nbgrader name, which survives editors that drop or renew cell ids."""
    nbgrader = cell["metadata"].get("nbgrader")
    name = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    return name if isinstance(name, str) else ""


def role_and_exercise(cell: Cell) -> tuple[str, str]:
    """("answer", "rotary-rotate") for the cell `answer-rotary-rotate`, and likewise for "check".

    Any other cell is ("other", "").
    """
    match = re.fullmatch(r"(answer|check)-([a-z0-9-]+)", cell["id"])
    return (match[1], match[2]) if match else ("other", "")


def as_notebook(cells: list[Cell]) -> dict[str, Any]:
    """A whole notebook of `cells`; code cells without outputs get empty ones."""
    whole = [
        {"execution_count": None, "outputs": [], **cell} if cell["cell_type"] == "code" else cell
        for cell in cells
    ]
    return {"cells": whole, "metadata": KERNEL, "nbformat": 4, "nbformat_minor": 5}


def write(path: Path, notebook: dict[str, Any]) -> None:
    """Write as Jupyter does, keys sorted; the file is there whole or not at all."""
    # here, since every sheet imports this file, and nbformat takes over a second to import
    import nbformat

    text: str = nbformat.writes(nbformat.from_dict(notebook))
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    unfinished.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    unfinished.replace(path)
