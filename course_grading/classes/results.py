"""The results of a class, learner by learner, and as tables for other programs."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from course_grading.classes.roster import Row
from course_grading.notebooks import Listed
from course_grading.runner import exercises_of

LONG = (
    "learner", "notebook", "exercise", "number", "points", "max_points", "verdict", "mistake",
)  # fmt: skip
NOTHING = {"points": 0, "verdict": "missing", "mistake": None, "alike": "", "message": ""}


class Cell(NamedTuple):
    """One learner's result in one exercise."""

    learner: str
    sheet: str
    exercise: Listed
    result: dict[str, Any]


@dataclass(frozen=True)
class Learner:
    """A line of the class."""

    name: str
    columns: dict[str, str]
    """The roster's."""
    results: dict[str, dict[str, Any]]
    """By the name of the sheet; those that were handed in."""
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Class:
    """All learners, and the sheets that at least one of them has handed in."""

    learners: list[Learner]
    sheets: dict[str, list[Listed]]

    @classmethod
    def of(
        cls, rows: list[Row], results: dict[tuple[str, str], dict[str, Any]], released: Path
    ) -> Class:
        """From the rows of the roster, and the results by learner (see `identity`) and sheet."""
        names = sorted({sheet for _, sheet in results})
        return cls(
            [
                Learner(
                    row.handed_in.learner,
                    row.columns,
                    {
                        sheet: results[row.handed_in.identity, sheet]
                        for sheet in row.handed_in.files
                    },
                    tuple(row.handed_in.notes),
                )
                for row in rows
            ],
            {name: exercises_of(released / name) for name in names},
        )

    def cells(self, learner: Learner) -> Iterable[Cell]:
        """The learner's result in every exercise of the class."""
        for sheet, exercises in self.sheets.items():
            found = {one["id"]: one for one in learner.results.get(sheet, {}).get("exercises", [])}
            for exercise in exercises:
                yield Cell(learner.name, sheet, exercise, found.get(exercise.slug, NOTHING))

    @property
    def max_points(self) -> int:
        return sum(one.points for exercises in self.sheets.values() for one in exercises)

    def points(self, learner: Learner) -> int:
        return sum(cell.result["points"] for cell in self.cells(learner))

    def write_wide(self, path: Path) -> None:
        """A row for each learner: the roster's columns, points for each notebook, and the sum."""
        columns = list(self.learners[0].columns) if self.learners else []
        sums = [f"points {Path(sheet).stem}" for sheet in self.sheets]
        with path.open("w", encoding="utf-8-sig", newline="") as file:  # Excel asks for the mark
            writer = csv.writer(file)
            writer.writerow([*columns, "learner", *sums, "points", "max points"])
            for learner in self.learners:
                by_sheet: Counter[str] = Counter()
                for cell in self.cells(learner):
                    by_sheet[cell.sheet] += cell.result["points"]
                of_sheets = [by_sheet[sheet] for sheet in self.sheets]
                row = [*(learner.columns.get(name, "") for name in columns), learner.name]
                writer.writerow([*map(_plain, row), *of_sheets, sum(of_sheets), self.max_points])

    def write_long(self, path: Path) -> None:
        """A row for each learner and exercise."""
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(LONG)
            for learner in self.learners:
                for cell in self.cells(learner):
                    one, result = cell.exercise, cell.result
                    writer.writerow([
                        _plain(learner.name), cell.sheet, one.slug, one.number, result["points"],
                        one.points, result["verdict"], result["mistake"] or "",
                    ])  # fmt: skip

    def mistakes(self, exercise: Listed) -> list[tuple[str, int]]:
        """The named mistakes in an exercise, the commonest first."""
        named = Counter(cell.result["mistake"] for cell in self._failed(exercise))
        return [(name, count) for name, count in named.most_common() if name]

    def alike(self, exercise: Listed) -> list[list[Cell]]:
        """Answers that are wrong in the same way and have no name, the largest group first."""
        groups: dict[str, list[Cell]] = defaultdict(list)
        for cell in self._failed(exercise):
            if not cell.result["mistake"] and cell.result.get("alike"):
                groups[cell.result["alike"]].append(cell)
        return sorted(groups.values(), key=len, reverse=True)

    def _failed(self, exercise: Listed) -> Iterable[Cell]:
        for learner in self.learners:
            for cell in self.cells(learner):
                if cell.exercise.slug == exercise.slug and cell.result["verdict"] == "failed":
                    yield cell


def _plain(text: str) -> str:
    """A name that a spreadsheet does not take for a formula."""
    return f"'{text}" if text[:1] in "=+-@\t\r" and text else text
