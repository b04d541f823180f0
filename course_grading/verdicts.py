"""What is said of one answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

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


@dataclass(frozen=True)
class Verdict:
    """What is said of one answer."""

    verdict: str
    """One of NEXT_STEPS."""
    points: int = 0
    message: str = ""
    mistake: str | None = None
    fingerprint: str = field(default="", compare=False)
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
            "alike": self.fingerprint,
        }


def next_step(number: str, verdict: str) -> str:
    """What to do about a verdict on the exercise of this number."""
    return NEXT_STEPS[verdict].format(number=number)
