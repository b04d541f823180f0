"""Slopes for any number of heads."""

from __future__ import annotations

import math
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Implement, Mistake
from course_grading.exercise.domain import Number
from course_grading.specs.linear_bias.common import (
    even_steps,
    powers,
    slopes_of,
    slopes_with,
    sorted_slopes,
)


def _slope_cases(rng: Random) -> list[Case]:
    odd = rng.choice([5, 6, 7, 9, 10, 11, 13, 20, 24, 40])
    return [{"num_heads": n} for n in (8, 12, 1, 2, 3, 16, odd, 14, 71, 128)]


def _nearest_power(num_heads: int) -> Tensor:
    power = 2 ** round(math.log2(num_heads))
    return torch.cat([powers(power), powers(2 * power)[0::2]])[:num_heads].float()


EXERCISE = Implement(
    slug="alibi-slopes", title="Slopes for any number of heads", minutes=15,
    points=3, name="slopes", reference=slopes_of, cases=_slope_cases,
    domain={"num_heads": Number(1, 128, whole=True)},
    roundings=1e-5 / torch.finfo(torch.float32).eps, scale=lambda num_heads: 0.0,
    forbidden=("alibi_slopes", "ALiBi"),
    hints=(
        "Begin with powers of two: for 8 heads the slopes are 1/2, 1/4, ..., 1/256, for 2 heads "
        "1/16 and 1/256. Then find the largest power of two that is not above num_heads.",
        "For 12 heads: the 8 slopes for 8 heads, then 4 of the 16 slopes for 16 heads. Those are "
        "2^-0.5, 2^-1, 2^-1.5, ...: every other one from the first is new, and you have the rest.",
        "finer[0::2] takes every other one from the first, and [: num_heads - power] as many as "
        "are missing. They go to the end, unsorted.",
    ),
    mistakes=(
        even_steps,
        Mistake("filled up with the first of the finer slopes",
                "You took the finer slopes one after the other, and every second of those is "
                "there already. Take every other one: [0::2].", slopes_with(new=slice(None))),
        Mistake("filled up from the second of the finer slopes",
                "[1::2] takes exactly the slopes that are there already. Begin with the first: "
                "[0::2].", slopes_with(new=slice(1, None, 2))),
        Mistake("cut from the power of two above",
                "These are the first slopes of a larger model: the flat heads, which see far, are "
                "missing.", lambda n: powers(2 ** math.ceil(math.log2(n)))[:n].float()),
        sorted_slopes,
        Mistake("the nearest power of two",
                "This rounds log2(num_heads): 12 heads begin with the slopes of 16. The power of "
                "two below comes first.", _nearest_power),
        Mistake("h counted from 0", "The first slope of 8 heads is 1/2, not 1: h runs from 1 to P.",
                slopes_with(first=0)),
        Mistake("h counted from 0",
                "The first slope of 8 heads is 1/2, not 1: h runs from 1 to P. The slopes of the "
                "extra heads are right.",
                lambda n: torch.cat([powers(2 ** int(math.log2(n)), 0).float(),
                                     slopes_of(n)[2 ** int(math.log2(n)):]])),
        Mistake("filled up with the last of the finer slopes",
                "Every other one is right, but from the first on: for 12 heads these are the "
                "first, third, fifth and seventh of the 16 slopes.",
                lambda n: torch.cat([slopes_of(2 ** int(math.log2(n))),
                                     powers(2 * 2 ** int(math.log2(n)))[0::2]
                                     .flip(0)[: n - 2 ** int(math.log2(n))].flip(0).float()])),
        Mistake("extra slopes put first",
                "The slopes of the power of two below come first, the extra ones after them.",
                lambda n: slopes_of(n).roll(n - 2 ** int(math.log2(n)))),
        Mistake("powers of two only", "For 12 heads there should be 12 slopes; you return 8.",
                slopes_with(new=slice(0))),
    ),
)  # fmt: skip
