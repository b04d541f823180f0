"""Harder: which pairs may stand still?"""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Implement, Mistake
from course_grading.exercise.domain import Number, Tensors

Change = Callable[[Tensor], Tensor]


def _chord(angles: Tensor) -> Tensor:
    """How much a turn by this angle can change a cosine, whatever it was the cosine of."""
    return 2 * (angles / 2).sin().abs()


def _standing(
    change: Change = _chord,
    distances: Callable[[int], Tensor] = lambda length: torch.arange(length),
) -> Callable[..., Tensor]:
    """Pairs whose turning changes too little, or what becomes of that with another choice."""

    def may_stand_still(frequencies, length, tolerance):
        angles = distances(length)[:, None] * frequencies
        return (change(angles) <= tolerance).all(dim=0)

    return may_stand_still


def _one_answer(frequencies, length, tolerance):
    return _standing()(frequencies, length, tolerance).all()


def _still_cases(rng: Random) -> list[Case]:
    def case(length: int, tolerance: float, *angles: float) -> Case:
        """Pairs that turn by these angles over the longest distance, or by a radian a position."""
        far = max(length - 1, 1)
        frequencies = torch.tensor([min(angle / far, 1.0) for angle in angles], dtype=torch.float64)
        return {"frequencies": frequencies, "length": length, "tolerance": tolerance}

    def edges(length: int, tolerance: float) -> Case:
        """On both sides of the limit, of the limits of mistakes, and whole turns."""
        limit = 2 * math.asin(tolerance / 2)
        turn = 2 * math.pi
        others = [math.acos(1 - tolerance), tolerance, math.asin(min(tolerance, 1.0))]
        near = [limit * (1 - 0.2 / length), limit * (1 + 0.2 / length)]
        between = [(limit + other) / 2 for other in others]
        return case(length, tolerance, *near, *between, 0.0, turn, 2 * turn, turn / 2, limit / 10)

    odd, n = rng.choice([37, 41, 53]), rng.randint(300, 900)
    first = edges(odd, 0.6)
    return [
        first, {**first, "tolerance": 0.9}, {**first, "length": odd + 40}, edges(n, 0.1),
        edges(n, 1.5), edges(20, 1.2), case(1, 0.01, 1.0, 0.5, 0.0), case(2, 0.5, 0.9, 0.4, 0.51),
        case(1000, 0.01, *(10.0 ** -rng.uniform(0, 4) for _ in range(9))), edges(n, 0.003),
        case(odd, 1.9, 1000.0, 7.0, 3.0, 2.0, 0.1),
    ]  # fmt: skip


EXERCISE = Implement(
    slug="rotary-still-pairs", title="Harder: which pairs may stand still?",
    minutes=15, points=3, name="may_stand_still",
    reference=_standing(), cases=_still_cases,
    domain={
        "frequencies": Tensors((1, 1), (torch.float64,)),
        "length": Number(1, 1000, whole=True),
        "tolerance": Number(0.003, 1.9),
    },
    hints=(
        "A pair adds |q||k| cos(phi + distance * frequency) to a score; if it stands still, it "
        "adds |q||k| cos(phi). For one distance, which phi makes the difference of the two "
        "cosines largest? Draw the cosine, and look where it is steepest.",
        "cos(phi + a) - cos(phi) = -2 sin(a / 2) sin(phi + a / 2). The last sine is 1 for some "
        "phi. So the largest difference for the angle a is 2 |sin(a / 2)|.",
        "Then take the largest over all distances 0 to length - 1, not only at the farthest: a "
        "fast pair may have come back there.",
    ),
    mistakes=(
        Mistake("phi = 0 only",
                "You compare cos(a) with 1, so phi is 0. There the cosine is flattest: other phi "
                "change much more.",
                _standing(change=lambda angles: 1 - angles.cos())),
        Mistake("the angle instead of the change of the cosine",
                "You compare the angle itself with the tolerance. A cosine changes by less than "
                "the angle: by 2 |sin(a / 2)| at most.",
                _standing(change=lambda angles: angles)),
        Mistake("the sine of the angle",
                "You take |sin a|, which is the change for one phi. The largest change is "
                "2 |sin(a / 2)|.",
                _standing(change=lambda angles: angles.sin().abs())),
        Mistake("the factor 2 forgotten",
                "You take |sin(a / 2)|. The difference of two cosines has a factor of 2 before it: "
                "2 |sin(a / 2)|.",
                _standing(change=lambda angles: (angles / 2).sin().abs())),
        Mistake("the farthest distance only",
                "A pair that makes whole turns is back where it was at the farthest distance, "
                "and far from it before. Look at all distances.",
                _standing(distances=lambda length: torch.tensor([length - 1]))),
        Mistake("distances up to the length",
                "In a text of n tokens the farthest two are n - 1 apart.",
                _standing(distances=lambda length: torch.arange(length + 1))),
        Mistake("one position to the next",
                "You look at neighbours only. A slow pair turns far over the whole text.",
                _standing(distances=lambda length: torch.tensor([0, 1])[:length])),
        Mistake("one answer for all pairs",
                "Give an answer for each pair: a tensor of True and False.",
                _one_answer),
    ),
)  # fmt: skip
