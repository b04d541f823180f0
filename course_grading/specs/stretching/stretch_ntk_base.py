"""The base."""

from __future__ import annotations

import math
from random import Random

from course_grading.exercise import Case, Implement, Mistake
from course_grading.specs.stretching.common import (
    FIVE_DIGITS,
    LIBRARY,
    OF_A_BASE,
    by_itself,
    ntk_base,
    raising,
)


def _base_cases(rng: Random) -> list[Case]:
    def case(base, dim, original_length, length) -> Case:
        return {"base": base, "dim": dim, "original_length": original_length, "length": length}

    usual = case(10_000.0, 8, 1000, 2500)
    return [
        usual, {**usual, "base": 500.0}, {**usual, "dim": 20}, {**usual, "original_length": 700},
        {**usual, "length": 3100}, case(10_000, 4, 128, 512), case(10_000.0, 512, 2048, 16_384),
        case(500_000.0, 2 * rng.randint(8, 64), 2048, rng.randint(5000, 30_000)),
        case(10_000.0, 32, 4096, 4096), case(10_000.0, 32, 4096, rng.randint(100, 3000)),
        case(500_000.0, 32, 4096, rng.randint(100, 3000)),
        # a little longer, and less than twice as long
        case(10_000.0, 8, 128, 129), case(10_000.0, 64, 128, 192), case(100.0, 16, 1000, 1999),
        case(1_000_000.0, 6, 8192, rng.randint(8300, 12_000)), case(10_000.0, 4, 128, 127),
        case(10_000.0, 128, 4096, 4096 * rng.randint(58, 64)), case(80_000.0, 8, 128, 1),
    ]  # fmt: skip


EXERCISE = Implement(
    slug="stretch-ntk-base", title="The base",
    minutes=10, points=2, name="ntk_base",
    reference=ntk_base, cases=_base_cases, forbidden=LIBRARY,
    roundings=FIVE_DIGITS, scale=by_itself,
    domain=OF_A_BASE,
    hints=(
        "Frequencies are base ** (-2 i / dim), and the slowest pair has i = dim / 2 - 1. What is "
        "its exponent?",
        "If the base grows by c, the slowest pair slows by c ** ((dim - 2) / dim). That should be "
        "the ratio of the lengths: solve for c.",
        "c = ratio ** (dim / (dim - 2)); and the ratio is never taken below 1.",
    ),
    mistakes=(
        Mistake("base times the ratio",
                "With base * ratio the slowest pair is slowed by ratio ** ((dim - 2) / dim), which "
                "is less than the ratio. With dim = 4 it is only the ratio's square root.",
                raising(lambda dim: 1.0)),
        Mistake("base times the ratio, also for short texts",
                "With base * ratio the slowest pair is slowed by ratio ** ((dim - 2) / dim), which "
                "is less than the ratio. And a text that is not longer than original_length keeps "
                "its base.",
                raising(lambda dim: 1.0, lambda ratio: ratio)),
        Mistake("exponent upside down",
                "You use (dim - 2) / dim. With this exponent a base acts on the slowest pair; "
                "to undo it, take dim / (dim - 2).",
                raising(lambda dim: (dim - 2) / dim)),
        Mistake("exponent dim / (dim - 1)",
                "The last pair's exponent is 2 (dim / 2 - 1) / dim = (dim - 2) / dim: two numbers "
                "make a pair.",
                raising(lambda dim: dim / (dim - 1))),
        Mistake("exponent cut to a whole number",
                "dim // (dim - 2) is 1 for every dim above 4. Divide with /.",
                raising(lambda dim: dim // (dim - 2))),
        Mistake("ratio upside down",
                "You divide original_length by length. The base grows with the length of the text.",
                raising(stretch=lambda ratio: max(1.0, 1 / ratio))),
        Mistake("never raised",
                "You return the base as it is, for long texts, too.",
                lambda base, *more: base),
        Mistake("raised from twice the length on",
                "Between original_length and twice as much your base stays as it was. Every text "
                "that is longer than original_length needs a larger one.",
                lambda base, dim, original_length, length: (
                    base if length < 2 * original_length
                    else ntk_base(base, dim, original_length, length))),
        Mistake("ratio of whole lengths",
                "You divide with // and lose what is beyond a whole number. Divide with /.",
                raising(stretch=lambda ratio: max(1.0, ratio // 1))),
        Mistake("ratio rounded up",
                "You round the ratio up to a whole number. A text of 1.5 times the length is "
                "slowed by 1.5.",
                raising(stretch=lambda ratio: max(1.0, math.ceil(ratio)))),
        Mistake("dynamic formula with f = 2",
                "You take f * n / L - (f - 1) with f = 2, which is more than the ratio. Here the "
                "slowest pair is to be slowed by the ratio n / L itself: f = 1.",
                raising(stretch=lambda ratio: max(1.0, 2 * ratio - 1))),
        Mistake("rounded to a whole number",
                "You round the base to a whole number, which is less than five digits where the "
                "base is small. Return it as it is.",
                lambda *question: round(ntk_base(*question))),
        Mistake("cut to a whole number",
                "You cut the base to a whole number, which is less than five digits where the "
                "base is small. Return it as it is.",
                lambda *question: int(ntk_base(*question))),
        Mistake("10 000 written in", "The base is an argument: not every model has 10 000.",
                lambda base, *more: ntk_base(10_000.0, *more)),
        Mistake("short texts get 10 000",
                "A short text needs no other base than the one that the model was trained with, "
                "and that need not be 10 000.",
                lambda *question: max(10_000.0, raising(stretch=lambda ratio: ratio)(*question))),
        Mistake("short texts get a smaller base",
                "For texts shorter than original_length your base falls, and pairs turn faster "
                "than in training. Never stretch by less than 1.",
                raising(stretch=lambda ratio: ratio)),
        Mistake("base to the power",
                "You raise the base to a power. *Multiply* the base by a power of the ratio.",
                lambda base, dim, original_length, length: (
                    base ** (dim / (dim - 2)) * max(1.0, length / original_length))),
    ),
)  # fmt: skip
