"""A learner's guess beside what was measured: in a printed line, or as a line in a picture."""

from __future__ import annotations

from typing import Any

from course_lab.figures.plots import note
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
    look = {"color": GREY, "linestyle": "--", "linewidth": 1.2}
    if along == "y":
        axes.axhline(guess, **look)
        place, offset, xycoords, side = (1, guess), (-2, 2), ("axes fraction", "data"), "right"
    else:
        axes.axvline(guess, **look)
        place, offset, xycoords, side = (guess, 0), (4, 4), ("data", "axes fraction"), "left"
    note(axes, "your guess", place, offset, xycoords=xycoords, ha=side)


def _checked(guess: float | None) -> float | None:
    if guess is not None and (isinstance(guess, bool) or not isinstance(guess, int | float)):
        raise ValueError(f"a guess is a number, or None for no guess, got {guess!r}")
    return guess
