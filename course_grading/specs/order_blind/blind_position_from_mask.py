"""Read the position out of the mask."""

from __future__ import annotations

from random import Random

import torch

from course_grading.exercise import Case, Implement, Mistake
from course_grading.exercise.domain import Tensors
from course_grading.specs.draw import shuffled


def _position_cases(rng: Random) -> list[Case]:
    late = rng.randint(900_000, 999_000)
    places = [
        torch.tensor([[0, 1, 2, 3]]),
        torch.stack([shuffled(rng, 7, 300), shuffled(rng, 7, 300)]),
        torch.arange(200)[None],
        torch.tensor([[rng.randint(5, 250)]]),
        torch.tensor([[999_999, 1_000_000]]),
        torch.stack([torch.arange(n, n - 400, -1) for n in (1000, 10_000, 100_000, late)]),
    ]
    return [{"mean": 1 / (p + 1).float()} for p in places]


EXERCISE = Implement(
    slug="blind-position-from-mask", title="Read the position out of the mask",
    minutes=10, points=2,
    name="position_from_mean", cases=_position_cases, domain={"mean": Tensors((2, 2))},
    reference=lambda mean: (1 / mean).round().long() - 1,
    hints=(
        "The token at position p reads 1 / (p + 1). Solve that for p.",
        "1 / mean is p + 1, but only nearly: 1 / (1 / 7) is 6.9999995 in float32. What does "
        ".long() make of that?",
        "Round first, then make it an integer: (1 / mean).round().long() - 1.",
    ),
    mistakes=(
        Mistake("counts from 1",
                "1 / mean is the number of tokens seen. The position is one less, since the first "
                "token stands at 0.",
                lambda mean: (1 / mean).round().long()),
        Mistake("cut off instead of rounded",
                "1 / (1 / 7) is 6.9999995 in float32, and .long() cuts that to 6. Round before you "
                "convert.",
                lambda mean: (1 / mean).long() - 1),
        Mistake("positions as floats",
                "The numbers are right, but their type is not: positions are integers. Keep the "
                "rounding, and add .long() after it.",
                lambda mean: (1 / mean).round() - 1),
        Mistake("counted along the row instead of read",
                "This numbers the columns, whatever the values say. In the second case the tokens "
                "are not in order: only the means know where they stand.",
                lambda mean: torch.arange(mean.shape[1]).expand(mean.shape)),
        Mistake("the rank in the row instead of the position",
                "This sorts the tokens of a row and counts them. Rows have gaps and late starts, "
                "and only the value of a mean knows how many tokens stand before.",
                lambda mean: mean.argsort(dim=-1, descending=True).argsort(dim=-1)),
        Mistake("rounded up",
                "A quotient that is a hair too large gives the next position. Take the nearest "
                "whole number: .round().",
                lambda mean: (1 / mean - 1).ceil().long()),
        Mistake("a guard against 0 as large as the readings",
                "At position 999 999 a token reads 0.000001. Adding as much halves the result, "
                "and a reading is never 0.",
                lambda mean: (1 / (mean + 1e-6) - 1).round().long()),
        Mistake("the row's first token taken for position 0",
                "The tokens need not stand in order, nor start at 0: each reading tells its own "
                "position.",
                lambda mean: (mean[:, :1].double() / mean.double()).round().long() - 1),
    ),
)  # fmt: skip
