"""Notebooks as files: read what may be broken, write what is stable, take solutions out.

Cells are plain dictionaries here, as they stand in the file; nothing is repaired in passing.
"""

from __future__ import annotations

import ast
import json
import os
import re
import textwrap
from pathlib import Path
from typing import Any

from course_lib.grading.exercise import Exercise

Cell = dict[str, Any]
BEGIN, END, PLACE = "### BEGIN SOLUTION", "### END SOLUTION", "# YOUR CODE HERE"
BUTTON = "grade-button"
RELEASED = Path(__file__).parent / "released"
KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


class NotebookError(Exception):
    """A file that cannot be used as a notebook; the message says why."""


def read(path: Path) -> list[Cell]:
    """The cells of a notebook, each with `source` as one string, `id` and `metadata`."""
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


def _regular(cell: Cell) -> Cell:
    source = cell.get("source", "")
    text = "".join(map(str, source)) if isinstance(source, list) else str(source)
    metadata = cell.get("metadata")
    identity = cell.get("id")
    return {
        "id": identity if isinstance(identity, str) else "",
        "cell_type": cell.get("cell_type"),
        "metadata": metadata if isinstance(metadata, dict) else {},
        "source": text,
    }


def grade_id(cell: Cell) -> str:
    """The cell's nbgrader name, which survives editors that drop or renew cell ids."""
    nbgrader = cell["metadata"].get("nbgrader")
    name = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    return name if isinstance(name, str) else ""


def role_and_exercise(cell: Cell) -> tuple[str, str | None]:
    """("answer", "2.1") for the cell `answer-2-1`, likewise for "check"; else ("other", None)."""
    match = re.fullmatch(r"(answer|check)-(\d+)-(\d+)", cell["id"])
    return (match[1], f"{match[2]}.{match[3]}") if match else ("other", None)


def as_notebook(cells: list[Cell]) -> dict[str, Any]:
    """A whole notebook of `cells`; code cells without outputs get empty ones."""
    whole = [
        {"execution_count": None, "outputs": [], **cell} if cell["cell_type"] == "code" else cell
        for cell in cells
    ]
    return {"cells": whole, "metadata": KERNEL, "nbformat": 4, "nbformat_minor": 5}


def write(path: Path, notebook: dict[str, Any]) -> None:
    """Write as Jupyter does, keys sorted; the file is there whole or not at all."""
    import nbformat

    text: str = nbformat.writes(nbformat.from_dict(notebook))
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    unfinished.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    unfinished.replace(path)


def _as_text(source: str | list[str]) -> str:
    return source if isinstance(source, str) else "".join(source)


# Solutions to exercises


def generate(solution: Path, exercises: dict[str, Exercise]) -> dict[str, Any]:
    """The notebook that learners get: no solutions, no outputs. Raises NotebookError if it is
    not as an exercise notebook must be."""
    cells = [{**cell, "source": without_solution(cell["source"])} for cell in read(solution)]
    problems = list(faults(cells, exercises))
    if problems:
        raise NotebookError("; ".join(problems))
    return as_notebook(cells)


def without_solution(source: str) -> str:
    """Each marked region becomes one place to write; in a function, one that raises until then."""
    lines: list[str] = []
    inside = False
    for line in source.splitlines():
        marker, indent = line.strip(), line[: len(line) - len(line.lstrip())]
        if (marker == BEGIN and inside) or (marker == END and not inside):
            raise NotebookError(f"{marker!r} without its partner in the cell {source[:60]!r}")
        if marker == BEGIN:
            lines.append(indent + PLACE)
            if indent:
                lines.append(f'{indent}raise NotImplementedError("replace this line by your code")')
        inside = (inside or marker == BEGIN) and marker != END
        if not inside and marker != END:
            lines.append(line)
    if inside:
        raise NotebookError(f"{BEGIN!r} without its partner in the cell {source[:60]!r}")
    return "\n".join(lines)


def faults(cells: list[Cell], exercises: dict[str, Exercise]) -> list[str]:
    """What keeps these cells from being an exercise notebook."""
    ids = [cell["id"] for cell in cells]
    found = [f"cell id {name!r} occurs twice" for name in sorted(set(ids)) if ids.count(name) > 1]
    if not ids or ids[-1] != BUTTON:
        found.append(f"the last cell must have the id {BUTTON!r}")
    for cell in cells:
        role, id = role_and_exercise(cell)
        if id is None:
            continue
        if id not in exercises:
            found.append(f"{cell['id']}: there is no exercise {id}")
        elif cell["metadata"].get("nbgrader") != nbgrader_metadata(role, exercises[id]):
            right = json.dumps(nbgrader_metadata(role, exercises[id]))
            found.append(f"{cell['id']}: metadata.nbgrader must be {right}")
        elif role == "check" and not _calls_check(cell["source"], exercises[id]):
            found.append(f'{cell["id"]}: must call check("{id}", {exercises[id].name})')
        partner = cell["id"].replace(role, "check" if role == "answer" else "answer", 1)
        if partner not in ids:
            found.append(f"{cell['id']} has no {partner}")
    return found


def nbgrader_metadata(role: str, exercise: Exercise) -> dict[str, Any]:
    """What nbgrader (schema 3) wants to know of an answer or check cell."""
    check = role == "check"
    return {
        "schema_version": 3, "solution": not check, "grade": check, "locked": check,
        "task": False, "cell_type": "code", "grade_id": f"{role}-{exercise.id.replace('.', '-')}",
        **({"points": exercise.points} if check else {}),
    }  # fmt: skip


def _calls_check(source: str, exercise: Exercise) -> bool:
    call = ast.dump(ast.parse(f'check("{exercise.id}", {exercise.name})'))
    return ast.dump(ast.parse(source)) == call


# For authors


def execute(path: Path, timeout: float = 120) -> None:
    """Run a notebook in place, and store outputs that are the same on every machine."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook, timeout=timeout, resources={"metadata": {"path": str(path.parent)}}
    )
    client.execute()
    normalised = normalise(notebook)
    for cell in normalised["cells"]:
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                text = textwrap.shorten(_as_text(output["text"]), 200)
                raise NotebookError(f"cell {cell['id']!r} writes to stderr: {text}")
    write(path, normalised)


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
