"""How many clocks complete a turn?"""

from __future__ import annotations

import math

from course_grading.exercise import Mistake, Predict
from course_grading.specs.rotary.common import frequencies_of


def _turning_pairs(head_dim: int, base: float, length: float) -> int:
    return int((2 * math.pi / frequencies_of(head_dim, base) <= length).sum())


EXERCISE = Predict(
    slug="rotary-complete-turns", title="How many clocks complete a turn?",
    minutes=10, points=1, name="complete", reference=_turning_pairs(128, 500_000.0, 8192),
    hints=(
        "Pair i completes a turn within 8192 positions if its wavelength, 2 pi * base^(2i/128), "
        "is at most 8192.",
        "Solve for i: 2i/128 <= log(8192 / (2 pi)) / log(500 000). Then count from i = 0.",
    ),
    mistakes=(
        Mistake("pair 0 not counted",
                "This is the number of the last pair that completes a turn. Counting starts at "
                "pair 0.", _turning_pairs(128, 500_000.0, 8192) - 1),
        Mistake("2 pi forgotten",
                "One over the frequency is the number of positions in one radian. A full turn "
                "takes 2 pi times as many.", _turning_pairs(128, 500_000.0, 8192 * 2 * math.pi)),
        Mistake("base 10 000",
                "This is right for base 10 000. The question has 500 000, which makes all pairs "
                "but the first slower.", _turning_pairs(128, 10_000.0, 8192)),
        Mistake("width 64",
                "The head has 64 pairs, but its width is 128: the exponent is 2i / 128.",
                _turning_pairs(64, 500_000.0, 8192)),
        Mistake("those that do not",
                "So many pairs complete no turn. The question asks for the others.",
                64 - _turning_pairs(128, 500_000.0, 8192)),
        Mistake("all pairs",
                "All 64 pairs would complete a turn with the exponent i / 128. It is 2i / 128.",
                64),
    ),
)  # fmt: skip
