"""The slowest hand of p-RoPE."""

from __future__ import annotations

import math

from course_grading.exercise import Mistake, Predict

EXERCISE = Predict(
    slug="rotary-slowest-hand", title="The slowest hand of p-RoPE",
    minutes=5, points=1, name="wavelength",
    reference=lambda: 2 * math.pi * 10_000 ** (30 / 128), relative_tolerance=0.005,
    hints=(
        "32 columns make 16 pairs, i = 0 to 15: the fastest 16 of the head's 64. What is the "
        "exponent 2i / head_dim of the last of them?",
        "Proportional means that the exponent is divided by the width of the whole head, 128. A "
        "full turn is 2 pi radians.",
    ),
    mistakes=(
        Mistake("exponents over the part's own width",
                "This is the other meaning, *own*: exponents 2i / 32, so that the turned part has "
                "slow pairs, too. Proportional frequencies divide by the whole head's 128.",
                lambda: 2 * math.pi * 10_000 ** (30 / 32)),
        Mistake("one pair too many",
                "Pairs count from 0: the last of 16 is pair 15, with exponent 30 / 128.",
                lambda: 2 * math.pi * 10_000 ** (32 / 128)),
        Mistake("the whole head's slowest pair",
                "Pair 63 stands still here: only the fastest 16 pairs turn.",
                lambda: 2 * math.pi * 10_000 ** (126 / 128)),
        Mistake("columns taken for pairs",
                "32 columns make 16 pairs, so the last that moves is pair 15, not pair 31.",
                lambda: 2 * math.pi * 10_000 ** (62 / 128)),
        Mistake("2 pi forgotten",
                "This is the number of positions in one radian. A full turn has 2 pi radians.",
                lambda: 10_000 ** (30 / 128)),
    ),
)  # fmt: skip
