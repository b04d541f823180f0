"""A learner's guess beside what was measured: in a printed line, or as a line in a picture."""

from __future__ import annotations

from typing import Any

from course_lab.figures.style import GREY


def beside(guess: float | None, measured: float, what: str, digits: int = 2) -> None:
    """Print a guess and what was measured; without a guess, what was measured alone.

    Raises ValueError for a guess that is no number.
    """
    yours = "" if _checked(guess) is None else f"you {guess:g}, "
    print(f"{what}: {yours}measured {measured:.{digits}f}")


def mark_guess(axes: Any, guess: float | None, along: str = "y") -> None:
    """Draw a guess into a picture, as a line at this height, or at this place of the x-axis.

    Raises ValueError for a guess that is no number.
    """
    if _checked(guess) is None:
        return
    line = {"y": axes.axhline, "x": axes.axvline}[along]
    line(guess, color=GREY, linestyle="--", linewidth=1.2, label="your guess")
    axes.legend()


def _checked(guess: float | None) -> float | None:
    if guess is not None and (isinstance(guess, bool) or not isinstance(guess, int | float)):
        raise ValueError(f"a guess is a number, or None for no guess, got {guess!r}")
    return guess
