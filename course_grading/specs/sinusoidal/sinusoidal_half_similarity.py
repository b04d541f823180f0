"""Measure: which base carries similarity farthest?"""

from __future__ import annotations

import torch
from torch import Tensor

from course_grading.exercise import Measure, Mistake
from course_grading.specs.sinusoidal.common import exponents_of


def _half_similarity(base: float, exponents: Tensor | None = None) -> int:
    """The first offset at which the similarity falls below one half, for dim = 64."""
    frequencies = base ** -(exponents_of(64) if exponents is None else exponents)
    similarity = torch.cos(torch.arange(1, 5000)[:, None] * frequencies).mean(dim=-1)
    return int((similarity < 0.5).nonzero()[0]) + 1


def _farthest(step: int = 1000, exponents: Tensor | None = None) -> int:
    """The largest such offset over the bases from 10 000 to 500 000 in steps of `step`."""
    return max(_half_similarity(base, exponents) for base in range(10_000, 500_001, step))


EXERCISE = Measure(
    slug="sinusoidal-half-similarity", title="Measure: which base carries similarity farthest?",
    minutes=15, points=2,
    name="offset", reference=_farthest,
    hints=(
        "Begin with one base: the similarity at distance k is the mean of cos(k * frequency) over "
        "the 32 pairs. Find the first k at which it is below one half, and compare with the 28 of "
        "the task.",
        "Make this a function of the base, and print what it returns for some bases up to "
        "500 000. Does it always grow?",
        "It does not always grow, so no search that supposes so will do. Try all 491 bases in a "
        "loop, and keep the largest distance.",
    ),
    mistakes=(
        Mistake("the largest base taken for the best",
                "This is right for base 500 000. A smaller base carries the similarity farther: "
                "try them all.",
                lambda: _half_similarity(500_000)),
        Mistake("base 10 000",
                "This is the distance for base 10 000, which the task gives. The base may be "
                "chosen.",
                lambda: _half_similarity(10_000)),
        Mistake("steps between the bases too large",
                "108 is what base 340 000 gives, and steps of 5000, 10 000 or 100 000 between the "
                "bases find no more. A base between these goes one further: with it the "
                "similarity at distance 108 is still above one half. If you tried all 491 bases: "
                "does your list begin at distance 1, and did you take the first distance below "
                "one half, or the last one above?",
                lambda: _farthest(100_000)),
        Mistake("one after the first below one half",
                "The distance before this one is below one half already. Does your list begin at "
                "distance 0 or at 1?",
                lambda: _farthest() + 1),
        Mistake("the base instead of the distance",
                "This is the best base, or as good. The question asks for the distance that it "
                "reaches.",
                341_000),
        Mistake("exponents that reach 1",
                "The last exponent is 62/64, a little less than 1: divide 2i by 64.",
                lambda: _farthest(exponents=torch.linspace(0, 1, 32).double())),
        Mistake("exponent i/dim instead of 2i/dim",
                "The exponents run from 0 to 62/64 over the 32 pairs. Yours stop at one half.",
                lambda: _farthest(exponents=exponents_of(64) / 2)),
    ),
)  # fmt: skip
