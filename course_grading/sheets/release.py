"""Sheets of exercises: what they take from the specs, and how solutions come out of them."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from course_grading.exercise import STUB, Exercise, Function
from course_grading.exercise.domain import inputs
from course_grading.sheets.notebooks import (
    AFTERWARDS,
    BUTTON,
    HINTS,
    Cell,
    NotebookError,
    as_notebook,
    as_text,
    read,
    write,
)

BEGIN, END, PLACE = "### BEGIN SOLUTION", "### END SOLUTION", "# YOUR CODE HERE"


def generate(solution: Path, exercises: Mapping[str, Exercise]) -> dict[str, Any]:
    """The notebook that learners get: no solutions, no outputs, and a cell for hints at each check.

    Raises NotebookError if the solution is not as an exercise notebook must be.
    """
    cells = [
        replace(cell, source=without_solution(cell.source))
        for cell in with_spec(read(solution), exercises)
        if not cell.id.startswith(AFTERWARDS)
    ]
    if problems := faults(cells, exercises):
        raise NotebookError("; ".join(problems))
    return as_notebook(list(_with_hints(cells, exercises)))


def _with_hints(cells: list[Cell], exercises: Mapping[str, Exercise]) -> Iterator[Cell]:
    """The cells, and below each check a closed one. JupyterLab shows the first line of its code."""
    for cell in cells:
        yield cell
        if cell.role == "check":
            exercise = exercises[cell.exercise]
            source = HINT.format(number=exercise.number, slug=exercise.slug)
            closed = {"jupyter": {"source_hidden": True}}
            yield Cell(f"{HINTS}{exercise.slug}", source, metadata=closed)


HINT = '# Run this cell for a hint to {number}, and again for the next one.\nhint("{slug}")'


def write_specs_into(solution: Path, exercises: Mapping[str, Exercise]) -> bool:
    """Bring a solved sheet in line with the specs; whether anything had to be changed."""
    notebook = json.loads(solution.read_text(encoding="utf-8"))
    changed = False
    for cell, wanted in zip(notebook["cells"], with_spec(read(solution), exercises), strict=True):
        if (as_text(cell["source"]), cell["metadata"]) != (wanted.source, wanted.metadata):
            cell.update(source=wanted.source, metadata=wanted.metadata)
            changed = True
    if changed:
        write(solution, notebook)
    return changed


def with_spec(cells: list[Cell], exercises: Mapping[str, Exercise]) -> list[Cell]:
    """The cells of a sheet with everything in them that the specs decide.

    These are nbgrader's metadata of answers and checks, the title and the line of kind, minutes
    and points at the head of each task, what the inputs may be at its end, and the sum of minutes
    and points in the sheet's title.
    """
    checked = [cell.exercise for cell in cells if cell.role == "check"]
    in_sheet = [exercises[slug] for slug in checked if slug in exercises]
    written = [_with_spec(cell, exercises, in_sheet) for cell in cells]
    ends: dict[str, int] = {}  # where each task's text ends
    place = 0
    for number, cell in enumerate(cells):
        place = number if cell.id.startswith("task-") else place
        if cell.role == "answer" and cell.exercise in exercises:
            ends[cell.exercise] = place
    for slug, place in ends.items():
        text = INPUTS.sub("", written[place].source).rstrip()
        exercise = exercises[slug]
        if isinstance(exercise, Function) and exercise.domain:
            text += f"\n\n{inputs(exercise.domain)}"
        written[place] = replace(written[place], source=text)
    return written


def _with_spec(cell: Cell, exercises: Mapping[str, Exercise], in_sheet: list[Exercise]) -> Cell:
    if cell.exercise in exercises:
        nbgrader = nbgrader_metadata(cell.role, exercises[cell.exercise])
        return replace(cell, metadata={**cell.metadata, "nbgrader": nbgrader})
    source = cell.source
    if task := exercises.get(cell.id.removeprefix("task-")):
        source = HEADLINE.sub(lambda _: headline(task), source, count=1)
    elif cell.id == "title" and in_sheet:
        source = TOTALS.sub(lambda found: totals(in_sheet, found[1]), source, count=1)
    return replace(cell, source=source)


HEADLINE = re.compile(r"\A## .*\n\n\*\w+ · \d+ minutes? · \d+ points?")
INPUTS = re.compile(r"\n\n\*\*Inputs\.\*\* [^\n]*\Z")
TOTALS = re.compile(r"^\w+ (exercise|room)s?, \d+ minutes, \d+ points?", re.MULTILINE)


def headline(exercise: Exercise) -> str:
    """Title, kind, minutes and points, as they stand at the head of a task."""
    kind = exercise.kind.capitalize()
    minutes, points = counted(exercise.minutes, "minute"), counted(exercise.points, "point")
    return f"## {exercise.number} {exercise.title}\n\n*{kind} · {minutes} · {points}"


def totals(exercises: Sequence[Exercise], what: str = "exercise") -> str:
    """How many there are and what they sum to: "Six exercises, 90 minutes, 14 points"."""
    minutes, points = (sum(getattr(e, part) for e in exercises) for part in ("minutes", "points"))
    number = NUMBER_WORDS[len(exercises)].capitalize()
    things = what if len(exercises) == 1 else f"{what}s"
    return f"{number} {things}, {minutes} minutes, {counted(points, 'point')}"


NUMBER_WORDS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
)  # fmt: skip


def counted(number: int, what: str) -> str:
    """ "1 point", "2 points"."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


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
                lines.append(f'{indent}raise NotImplementedError("{STUB}")')
        inside = (inside or marker == BEGIN) and marker != END
        if not inside and marker != END:
            lines.append(line)
    if inside:
        raise NotebookError(f"{BEGIN!r} without its partner in the cell {source[:60]!r}")
    return "\n".join(lines)


def faults(cells: list[Cell], exercises: Mapping[str, Exercise]) -> list[str]:
    """What keeps these cells from being an exercise notebook."""
    ids = [cell.id for cell in cells]
    problems = [
        f"cell id {name!r} occurs twice" for name in sorted(set(ids)) if ids.count(name) > 1
    ]
    if [cell.id for cell in cells if cell.kind == "code"][-1:] != [BUTTON]:
        problems.append(f"the last cell of code must have the id {BUTTON!r}")
    for cell in cells:
        slug = cell.exercise
        if not slug:
            continue
        if slug not in exercises:
            problems.append(f"{cell.id}: there is no exercise {slug}")
        elif cell.role == "check" and not _calls_check(cell.source, exercises[slug]):
            problems.append(f'{cell.id}: must call check("{slug}", {exercises[slug].name})')
        partner = cell.id.replace(cell.role, "check" if cell.role == "answer" else "answer", 1)
        if partner not in ids:
            problems.append(f"{cell.id} has no {partner}")
    return problems


def nbgrader_metadata(role: str, exercise: Exercise) -> dict[str, Any]:
    """What nbgrader (schema 3) wants to know of an answer or check cell."""
    check = role == "check"
    return {
        "schema_version": 3, "solution": not check, "grade": check, "locked": check,
        "task": False, "cell_type": "code", "grade_id": f"{role}-{exercise.slug}",
        **({"points": exercise.points} if check else {}),
    }  # fmt: skip


def _calls_check(source: str, exercise: Exercise) -> bool:
    call = ast.dump(ast.parse(f'check("{exercise.slug}", {exercise.name})'))
    return ast.dump(ast.parse(source)) == call
