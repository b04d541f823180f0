"""Read a config."""

from __future__ import annotations

import math

from course_grading.exercise import Mistake, Predict
from course_grading.specs.yarn.common import frequencies_for, turns_of


def _kept(dim: int = 96, base: float = 200_000.0, length: int = 8192, turns: float = 4.0) -> int:
    return int((turns_of(frequencies_for(dim, base), length) >= turns).sum())


EXERCISE = Predict(
    slug="yarn-read-config", title="Read a config",
    minutes=10, points=2, name="kept_pairs", reference=_kept,
    hints=(
        "A pair is kept if it makes at least high_freq_factor turns in the original window.",
        "There are head_dim / 2 = 48 pairs with frequencies rope_theta ** (-2i / head_dim). Count "
        "those with 8192 * frequency / (2 pi) >= 4.",
    ),
    mistakes=(
        Mistake("the pairs that are divided", "This many pairs make less than one turn, and are "
                "divided by 16. The question asks for the pairs that stay as they are.",
                lambda: 48 - _kept(turns=1.0)),
        Mistake("a share", "This is the share of the 48 pairs that stay. The question asks how "
                "many.", lambda: _kept() / 48),
        Mistake("the number of the last one", "Pairs count from 0. So this is the number of the "
                "last pair that is kept, and there is one more of them.",
                lambda: _kept() - 1),
        Mistake("the first pair that is blended, too", "The last pair that you count makes less "
                "than 4 turns: compute the turns of the pairs near the limit.",
                lambda: _kept() + 1),
        Mistake("pairs with at least one turn", "A pair with one to four turns is blended. Only a "
                "pair with high_freq_factor turns or more is kept.",
                lambda: _kept(turns=1.0)),
        Mistake("turns counted in the longer text",
                "Count turns in original_max_position_embeddings, the window of training, and not "
                "in the text that it is stretched to.",
                lambda: _kept(length=16 * 8192)),
        Mistake("the pairs that change", "This many pairs are blended or divided. The question "
                "asks for the pairs that stay as they are.",
                lambda: 48 - _kept()),
        Mistake("columns, and not pairs", "This is the number of columns that keep their "
                "frequency. A pair has two columns, and the question asks for pairs.",
                lambda: 2 * _kept()),
        Mistake("2 pi forgotten",
                "8192 * frequency is an angle in radians. One turn has 2 pi of them.",
                lambda: _kept(turns=4 / (2 * math.pi))),
        Mistake("head_dim of 128", "This is the answer for heads of 128. These heads are 96 wide, "
                "so they have 48 pairs.",
                lambda: _kept(dim=128)),
        Mistake("head_dim of 64", "This is the answer for heads of 64. These heads are 96 wide, so "
                "they have 48 pairs.",
                lambda: _kept(dim=64)),
    ),
)  # fmt: skip
