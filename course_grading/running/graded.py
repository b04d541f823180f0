"""What grading says of notebooks: the report made of verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from course_grading.sheets.notebooks import Listed
from course_grading.verdicts import Verdict

LONGEST = 10_000
"""Letters of a message."""


class MachineFailed(Exception):
    """Grading could not be carried out, and not for anything that a learner wrote."""


def printable(text: str, keep: str = "") -> str:
    """Without what a terminal would take for a command; other white space is a space."""
    shown = (c if c.isprintable() or c in keep else " " * c.isspace() for c in text)
    return "".join(shown)


@dataclass(frozen=True)
class Graded:
    """An exercise and the verdict on its answer."""

    exercise: Listed
    verdict: Verdict

    @property
    def points(self) -> int:
        """From 0 to the exercise's points, whatever the verdict says."""
        return min(max(self.verdict.points, 0), self.max_points)

    @property
    def max_points(self) -> int:
        return self.exercise.points

    @property
    def message(self) -> str:
        """Without control characters, and cut: it may quote the learner's, in terminals and XML."""
        return printable(self.verdict.message[:LONGEST], keep="\n")

    def plain(self) -> dict[str, Any]:
        return {
            "id": self.exercise.slug,
            "number": self.exercise.number,
            "title": self.exercise.title,
            "points": self.points,
            "max_points": self.max_points,
            "verdict": self.verdict.verdict,
            "mistake": self.verdict.mistake,
            "alike": self.verdict.fingerprint,
            "message": self.message,
        }


@dataclass(frozen=True)
class GradedNotebook:
    """The verdicts on one learner's notebook."""

    notebook: str
    """The sheet that it is: "02_sinusoidal_encoding.ipynb"."""
    path: str
    """The file that was graded, which may have another name."""
    exercises: tuple[Graded, ...]

    @property
    def points(self) -> int:
        return sum(one.points for one in self.exercises)

    @property
    def max_points(self) -> int:
        return sum(one.max_points for one in self.exercises)

    def plain(self) -> dict[str, Any]:
        return {
            "notebook": self.notebook,
            "path": self.path,
            "points": self.points,
            "max_points": self.max_points,
            "exercises": [one.plain() for one in self.exercises],
        }


@dataclass(frozen=True)
class Report:
    """What `course grade` says of all the notebooks that it was given."""

    notebooks: Sequence[GradedNotebook]

    @property
    def points(self) -> int:
        return sum(one.points for one in self.notebooks)

    @property
    def max_points(self) -> int:
        return sum(one.max_points for one in self.notebooks)

    def plain(self) -> dict[str, Any]:
        return {
            "points": self.points,
            "max_points": self.max_points,
            "notebooks": [one.plain() for one in self.notebooks],
        }
