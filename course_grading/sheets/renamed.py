"""What an earlier release called otherwise, so that answers find their places in this one.

Whoever renames a sheet, an exercise or a module adds the old name here, and gives it to nothing
else. A name stays for good: a learner may come late. Where a sheet is split, or several become one,
nothing is added: an answer goes to the sheet that has its exercise. An exercise that asks another
question is another exercise, with a slug of its own.
"""

from __future__ import annotations

import re
from dataclasses import replace

from course_grading.sheets.notebooks import Cell

SHEETS: dict[str, str] = {}
"""Sheets by their old names, such as "05_bias": today's names."""
EXERCISES: dict[str, str] = {}
"""Exercises by their old slugs: today's slugs."""
MODULES: dict[str, str] = {}
"""Modules of the course by their old names: where they are today."""

_CALL = re.compile(r"""\b(check|hint)\((["'])([\w.-]+)\2""")


def cell_id(name: str) -> str:
    """Today's id of a cell: `answer-SLUG` with the slug that the exercise has today."""
    role, _, slug = name.partition("-")
    return f"{role}-{EXERCISES[slug]}" if slug in EXERCISES else name


def source(code: str) -> str:
    """A cell's code with today's names of exercises and modules."""

    def call(found: re.Match[str]) -> str:
        return f"{found[1]}({found[2]}{EXERCISES.get(found[3], found[3])}{found[2]}"

    old = "|".join(map(re.escape, sorted(MODULES, key=len, reverse=True)))
    if old:
        code = re.sub(rf"(?<![\w.])({old})\b", lambda found: MODULES[found[1]], code)
    return _CALL.sub(call, code)


def as_today(cells: list[Cell]) -> list[Cell]:
    """A sheet's cells under today's names."""
    return [_as_today(cell) for cell in cells]


def _as_today(cell: Cell) -> Cell:
    metadata = cell.metadata
    if cell.grade_id:
        nbgrader = {**metadata["nbgrader"], "grade_id": cell_id(cell.grade_id)}
        metadata = {**metadata, "nbgrader": nbgrader}
    code = source(cell.source) if cell.kind == "code" else cell.source
    return replace(cell, id=cell_id(cell.id), source=code, metadata=metadata)
