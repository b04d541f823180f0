"""Measure: help a head that is fooled."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from course_grading.exercise import Measure, Mistake
from course_grading.specs.rotary.common import frequencies_of


def _helper(
    frequencies: Tensor, used: int = 8, target: int = 200, reach: int = 4000, out: int = 2
) -> int:
    """The pair beyond the first `used` that leaves the lowest rival more than `out` from `target`.

    The rival is the highest sum of cosines, over the first `used` pairs and this one.
    """
    distances = torch.arange(reach + 1)
    parts = torch.cos((distances[:, None] - target) * frequencies)  # (distances, pairs)
    scores = parts[:, :used].sum(dim=-1, keepdim=True) + parts[:, used:]
    beside = (distances - target).abs() <= out
    return used + int(scores.masked_fill(beside[:, None], -math.inf).amax(dim=0).argmin())


EXERCISE = Measure(
    slug="rotary-fooled-head", title="Measure: help a head that is fooled",
    minutes=20, points=2, name="helper", reference=lambda: _helper(frequencies_of(64, 10_000.0)),
    hints=(
        "All pairs have length 1 and point the same way at distance 200. So at distance D a pair "
        "adds cos((D - 200) * frequency) to the score. First find the rival of the eight pairs "
        "alone: it must come out as the task says.",
        "Another pair may pull down this rival and lift another distance. So for each of the pairs "
        "8 to 31 compute all 4001 scores of the nine pairs, leave out 198 to 202, and keep the "
        "highest score that is left.",
        "You have 24 highest scores. The pair with the lowest of these is the answer: its number "
        "is 8 plus the place in your list.",
    ),
    mistakes=(
        Mistake("a distance", "This is how far the rival stands from the target at 200. The "
                "question asks for the number of a pair, from 8 to 31.", 2682),
        Mistake("a score", "This is the rival's score with the eight pairs alone. The question "
                "asks for the number of a pair, from 8 to 31.", 6.28),
        Mistake("pulls down the old rival only",
                "This pair has its lowest cosine at 2882, so it pulls down the rival of the eight "
                "pairs. But it lifts another distance, which becomes the new rival. Look at the "
                "highest score over all distances.", 12),
        Mistake("neighbours of the target not left out",
                "This pair is best at telling 200 from 199 and 201. The distances 198 to 202 are "
                "left out: the question is about rivals elsewhere.",
                lambda: _helper(frequencies_of(64, 10_000.0), out=0)),
        Mistake("not turned towards the target",
                "This pair is best for a head whose pairs point the same way at distance 0. Here "
                "they do so at distance 200: subtract 200 from the distance first.",
                lambda: _helper(frequencies_of(64, 10_000.0), target=0)),
        Mistake("counted from the ninth pair",
                "This is a place in the list of the pairs 8 to 31. The question asks for the "
                "number of the pair: add 8.",
                lambda: _helper(frequencies_of(64, 10_000.0)) - 8),
        Mistake("one pair more than the eight",
                "The eight fastest pairs are numbers 0 to 7. This is the best addition to the "
                "pairs 0 to 8.", lambda: _helper(frequencies_of(64, 10_000.0), used=9)),
        Mistake("one pair less than the eight",
                "The eight fastest pairs are numbers 0 to 7. This is the best addition to the "
                "pairs 0 to 6.", lambda: _helper(frequencies_of(64, 10_000.0), used=7)),
        Mistake("the frequencies of a wider head",
                "The head has width 64, so the exponents are 2i / 64. These are the exponents "
                "2i / 128.", lambda: _helper(frequencies_of(128, 10_000.0))),
        Mistake("the rival's distance",
                "This is the distance at which the head with its eight pairs is fooled. The "
                "question asks for the number of a pair.", 2882),
    ),
)  # fmt: skip
