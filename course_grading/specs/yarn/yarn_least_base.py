"""Measure: the least base for 3000 tokens."""

from __future__ import annotations

import math
from functools import cache

import torch

from course_grading.exercise import Measure, Mistake
from course_grading.specs.yarn.common import frequencies_for


@cache
def _least_base(context: int = 3000, dim: int = 128, first: int = 0, step: int = 100) -> int:
    distances = torch.arange(first, context + 1).double()[:, None]
    base = 10_000
    while (torch.cos(distances * frequencies_for(dim, base)).sum(dim=-1) < 0).any():
        base += step
    return base


LINE = 0.0424 * 3000**1.628
"""The least base for 3000 tokens by the fit that the paper publishes."""

EXERCISE = Measure(
    slug="yarn-least-base", title="Measure: the least base for 3000 tokens",
    minutes=15, points=2, name="least_base", reference=_least_base,
    hints=(
        "Write a function that says for one base whether the sum of cosines is 0 or more for all "
        "m = 0, 1, ..., 3000. What does it say for 10 000?",
        "torch.cos(m[:, None] * frequencies).sum(dim=-1), with float64 for m: its smallest value "
        "decides.",
        "Go through range(10_000, 100_000, 100), and stop at the first base that passes.",
    ),
    mistakes=(
        Mistake("only the distance 3000",
                "With this base the sum is 0 or more at distance 3000, and below zero before it. "
                "Look at all distances.",
                lambda: _least_base(first=3000)),
        Mistake("heads of 64", "This is the answer for head_dim 64. The question is about head_dim "
                "128, with 64 pairs.",
                lambda: _least_base(dim=64)),
        Mistake("a context of 2048",
                "This base is enough for 2048 tokens. Check all distances up to 3000.",
                lambda: _least_base(context=2048)),
        Mistake("the smallest base from which on all pass",
                "From this base on every base of the row that was tried passes, up to 100 000. The "
                "question asks for the first base that passes: some smaller bases pass too, "
                "although others between them fail.",
                40_200),
        Mistake("the largest base that fails",
                "Here the sum still falls below zero: it is the last base of the row that fails, "
                "of those up to 100 000. The question asks for the first base that passes, which "
                "is smaller.",
                40_100),
        Mistake("the smallest base from which on all pass, for 4096 tokens",
                "From this base on every base of the row that was tried is enough for 4096 tokens, "
                "up to 100 000. The question is about 3000 tokens, and about the first base that "
                "passes.",
                58_800),
        Mistake("a context of 4096", "This is the least base for 4096 tokens. The question is "
                "about 3000, so a smaller one is enough.",
                lambda: _least_base(context=4096)),
        *(Mistake(f"the published line{rounded}", "This is what the line 0.0424 L^1.628 says. It "
                  "is a fit, and the least base lies beside it: search.",
                  base)
          for rounded, base in {
              "": round(LINE), ", not rounded": LINE,
              ", to hundreds": round(LINE, -2), ", up to hundreds": math.ceil(LINE / 100) * 100,
          }.items()),
        Mistake("the lesson's base for 4096 tokens", "The lesson's search, in steps of half a "
                "percent, found this base for 4096 tokens. The question is about 3000, and about "
                "multiples of 100.",
                28_653),
        *(Mistake(f"steps of {step}", f"This base passes, and you searched in steps of {step}. The "
                  "question asks for multiples of 100, from 10 000 on.",
                  base)
          for step, base in {1: 19_159, 10: 19_160, 500: 26_500, 1000: 27_000}.items()),
        Mistake("one step too far", "The base before this one passes, too.",
                lambda: _least_base() + 100),
        Mistake("one step too few", "At this base the sum falls below zero. The next one passes.",
                lambda: _least_base() - 100),
    ),
)  # fmt: skip
