"""What grading says: a verdict on one answer, and the report made of verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from course_grading.notebooks import Listed

if TYPE_CHECKING:
    from torch import Tensor

NEXT_STEPS = {
    "passed": "",
    "failed": 'hint("{number}") gives a hint.',
    "not attempted": 'hint("{number}") gives the first hint.',
    "error": "Run the cell in JupyterLab, and read the last line of its error.",
    "timed out": "Look for a loop that does not end, or work that grows with the input.",
    "missing": "`course reset {number}` brings the cell back, `course exercises` a notebook.",
}
"""What to do about each verdict."""
LONGEST = 10_000
"""Letters of a message."""


class MachineFailed(Exception):
    """Grading could not be carried out, and not for anything that a learner wrote."""


@dataclass(frozen=True)
class Verdict:
    """What is said of one answer."""

    verdict: str
    """One of NEXT_STEPS."""
    points: int = 0
    message: str = ""
    mistake: str | None = None
    alike: str = field(default="", compare=False)
    """The same for answers that failed in the same way on the same questions."""
    pictured: tuple[Tensor, Tensor] | None = field(default=None, compare=False)
    """Expected and got, where a picture shows more than the message."""

    @classmethod
    def of(cls, plain: dict[str, Any]) -> Verdict:
        """From `plain`. Raises ValueError for what is no verdict, whoever wrote it."""
        verdict, points = plain.get("verdict"), plain.get("points")
        message, mistake = plain.get("message"), plain.get("mistake")
        if verdict not in NEXT_STEPS or not isinstance(points, int):
            raise ValueError(f"not a verdict: {plain!r:.80}")
        named = None if mistake is None else str(mistake)
        return cls(str(verdict), points, str(message), named, str(plain.get("alike", "")))

    def plain(self) -> dict[str, Any]:
        """As JSON can hold it: without the picture."""
        return {
            "verdict": self.verdict,
            "points": self.points,
            "message": self.message,
            "mistake": self.mistake,
            "alike": self.alike,
        }


def printable(text: str, keep: str = "") -> str:
    """Without what a terminal would take for a command; other white space is a space."""
    shown = (c if c.isprintable() or c in keep else " " * c.isspace() for c in text)
    return "".join(shown)


def next_step(number: str, verdict: str) -> str:
    """What to do about a verdict on the exercise of this number."""
    return NEXT_STEPS[verdict].format(number=number)


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
            "alike": self.verdict.alike,
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
    first_edition: str = ""
    """What the first edition called the sheet, if the file comes from there."""

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
            **({"first_edition": f"{self.first_edition}.ipynb"} if self.first_edition else {}),
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
