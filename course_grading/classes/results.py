"""The results of a class, learner by learner, and as tables for other programs."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from course_grading.classes.handed_in import Who
from course_grading.classes.roster import Row
from course_grading.running.graded import printable
from course_grading.running.runner import exercises_of
from course_grading.sheets.notebooks import Listed
from course_lab.command_line import write_bytes

LONG = (
    "learner", "notebook", "exercise", "number", "points", "max_points", "verdict", "mistake",
)  # fmt: skip
NOTHING = {"points": 0, "verdict": "missing", "mistake": None, "alike": "", "message": ""}


class Cell(NamedTuple):
    """One learner's result in one exercise."""

    learner: Learner
    sheet: str
    exercise: Listed
    result: dict[str, Any]


@dataclass(frozen=True)
class Learner:
    """A line of the class."""

    name: str
    """With the platform's number if somebody else of the class has the same name."""
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
        cls, rows: list[Row], results: dict[tuple[Who, str], dict[str, Any]], released: Path
    ) -> Class:
        """From the rows of the roster, and the results by learner and sheet."""
        names = sorted({sheet for row in rows for sheet in row.handed_in.files})
        called = Counter(row.handed_in.learner for row in rows)
        return cls(
            [
                Learner(
                    row.handed_in.learner
                    if called[row.handed_in.learner] == 1
                    else row.handed_in.identity,
                    row.columns,
                    {
                        sheet: results[row.handed_in.who, sheet]
                        for sheet in row.handed_in.files
                        if (row.handed_in.who, sheet) in results
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
                yield Cell(learner, sheet, exercise, found.get(exercise.slug, NOTHING))

    @property
    def max_points(self) -> int:
        return sum(one.points for exercises in self.sheets.values() for one in exercises)

    def points(self, learner: Learner) -> int:
        return sum(cell.result["points"] for cell in self.cells(learner))

    def write_wide(self, path: Path) -> None:
        """A row for each learner: the roster's columns, points for each notebook, and the sum."""
        columns = list(self.learners[0].columns) if self.learners else []
        sums = [f"points {Path(sheet).stem}" for sheet in self.sheets]
        with _table(path) as writer:
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
        with _table(path) as writer:
            writer.writerow(LONG)
            for learner in self.learners:
                for cell in self.cells(learner):
                    one, result = cell.exercise, cell.result
                    writer.writerow(
                        [
                            _plain(learner.name),
                            cell.sheet,
                            one.slug,
                            one.number,
                            result["points"],
                            one.points,
                            result["verdict"],
                            result["mistake"] or "",
                        ]
                    )

    @cached_property
    def answers(self) -> dict[str, list[Cell]]:
        """What all learners have of each exercise, by its slug."""
        answers: dict[str, list[Cell]] = {
            one.slug: [] for exercises in self.sheets.values() for one in exercises
        }
        for learner in self.learners:
            for cell in self.cells(learner):
                answers[cell.exercise.slug].append(cell)
        return answers

    def verdicts(self, exercise: Listed) -> Counter[str]:
        """How often each verdict was given on an exercise."""
        return Counter(cell.result["verdict"] for cell in self.answers[exercise.slug])

    def mistakes(self, exercise: Listed) -> list[list[Cell]]:
        """The answers with a named mistake, those of one name together, the commonest first."""
        failed = self._failed(exercise)
        return _grouped([cell for cell in failed if cell.result["mistake"]], "mistake")

    def unnamed(self, exercise: Listed) -> list[list[Cell]]:
        """Answers that are wrong in the same way and have no name, the largest group first."""
        failed = self._failed(exercise)
        return _grouped([cell for cell in failed if not cell.result["mistake"]], "alike")

    def unjudged(self, exercise: Listed) -> list[list[Cell]]:
        """Answers that ended in an error or ran out of time, by verdict."""
        ended = ("error", "timed out")
        answers = self.answers[exercise.slug]
        return _grouped([one for one in answers if one.result["verdict"] in ended], "verdict")

    def _failed(self, exercise: Listed) -> Iterable[Cell]:
        answers = self.answers[exercise.slug]
        return (cell for cell in answers if cell.result["verdict"] == "failed")


def _grouped(cells: Iterable[Cell], by: str) -> list[list[Cell]]:
    """Those with the same value together, the largest group first; one without a value is alone."""
    groups: dict[str | int, list[Cell]] = defaultdict(list)
    for cell in cells:
        groups[cell.result.get(by) or id(cell)].append(cell)
    return sorted(groups.values(), key=len, reverse=True)


def _plain(text: str) -> str:
    """A name that no spreadsheet takes for a formula, also where its columns end with a semicolon,
    or for a command of a terminal's."""
    like_ascii = unicodedata.normalize("NFKC", text)
    formula = re.search(r"(^|[;,\t\r\n])\s*[=+\-@\t\r]", like_ascii)
    return f"'{printable(text)}" if formula else printable(text)


@contextmanager
def _table(path: Path) -> Iterator[Any]:
    """A writer of rows, which are in the file when all are there."""
    rows = io.StringIO(newline="")
    yield csv.writer(rows, quoting=csv.QUOTE_NONNUMERIC)
    write_bytes(path, rows.getvalue().encode("utf-8-sig"))  # Excel asks for the mark
