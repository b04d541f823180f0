"""A learner's guess beside what was measured: in a printed line, or as a line in a picture."""

from __future__ import annotations

import math
from typing import Any

from course_lab.figures.plots import note
from course_lab.figures.style import GREY


def beside(guess: float | None, measured: float, what: str, digits: int = 2) -> None:
    """Print a guess and what was measured; without a guess, what was measured alone.

    Raises ValueError for a guess that is no number.
    """
    yours = "" if _checked(guess) is None else f"you {guess:g}, "
    print(f"{what}: {yours}measured {measured:.{digits}f}")


Region = tuple[float, float]
"""From a number to another, both included; either may be infinite."""


def bet(
    guess: float | None, measured: float, what: str, holds: Region, differs: Region, digits: int = 2
) -> str:
    """Print three regions, then a guess and what was measured, each with the region it falls in.

    A number "holds" inside of the first region, else "differs" inside of the second, which is
    wider, and else "does not". The outcome of what was measured is returned. Raises ValueError for
    a guess that is no number.
    """

    def region(value: float) -> str:
        inside = {"holds": holds, "differs": differs}
        fits = (name for name, (low, high) in inside.items() if low <= value <= high)
        return next(fits, "does not")

    print(f"holds: {_said(holds)}; else differs: {_said(differs)}; does not: any other number")
    yours = "" if _checked(guess) is None else f"you {guess:g} ({region(guess)}), "  # type: ignore[arg-type]
    print(f"{what}: {yours}measured {measured:.{digits}f} ({region(measured)})")
    return region(measured)


def _said(region: Region) -> str:
    low, high = region
    if low == high:
        return f"{low:g}"
    if math.isinf(high):
        return f"{low:g} or more"
    return f"{high:g} or less" if math.isinf(low) else f"{low:g} to {high:g}"


def mark_guess(axes: Any, guess: float | None, along: str = "y") -> None:
    """Draw a guess into a picture, as a line at this height, or at this place of the x-axis.

    Raises ValueError for a guess that is no number.
    """
    if _checked(guess) is None:
        return
    look = {"color": GREY, "linestyle": "--", "linewidth": 1.2}
    if along == "y":
        axes.axhline(guess, **look)
        at = {"xycoords": ("axes fraction", "data"), "ha": "right"}
        note(axes, "your guess", (1, guess), (-2, 2), **at)
    else:
        axes.axvline(guess, **look)
        note(axes, "your guess", (guess, 0), (4, 4), xycoords=("data", "axes fraction"))


def _checked(guess: float | None) -> float | None:
    if guess is not None and (isinstance(guess, bool) or not isinstance(guess, int | float)):
        raise ValueError(f"a guess is a number, or None for no guess, got {guess!r}")
    return guess
