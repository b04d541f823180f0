"""Measure: how far does ALiBi see?"""

from __future__ import annotations

import math

import torch

from course_grading.exercise import Measure, Mistake


def _keys_needed(share: float, slope: float) -> int:
    weights = (-slope * torch.arange(2048).double()).softmax(dim=-1)
    return int((weights.cumsum(dim=-1) < share).sum()) + 1


EXERCISE = Measure(
    slug="long-alibi-reach", title="Measure: how far does ALiBi see?",
    minutes=10, points=2, name="nearest_keys",
    reference=lambda: _keys_needed(0.99, 1 / 256),
    hints=(
        "Four heads have the slopes 1/4, 1/16, 1/64 and 1/256. Which is the flattest? With equal "
        "scores the weights are the softmax of -slope * distance.",
        "Distances are 0, 1, ..., 2047. Take the softmax, then cumsum: where does it first reach "
        "0.99?",
    ),
    mistakes=(
        Mistake("the steepest head",
                "This is the head with slope 1/4. The flattest head, 1/256, sees furthest.",
                lambda: _keys_needed(0.99, 1 / 4)),
        Mistake("the second head",
                "This is the head with slope 1/16. The question asks for the flattest head, 1/256.",
                lambda: _keys_needed(0.99, 1 / 16)),
        Mistake("the third head",
                "This is the head with slope 1/64. There is a flatter one, 1/256.",
                lambda: _keys_needed(0.99, 1 / 64)),
        Mistake("the last key's index",
                "This is the index at which 99 % is reached. Indices count from 0, so that there "
                "is one key more.",
                lambda: _keys_needed(0.99, 1 / 256) - 1),
        Mistake("endless text",
                "In an endless text it would be so many. Here there are 2048 keys, and their "
                "weights alone sum to 1.",
                lambda: math.ceil(256 * math.log(100))),
        Mistake("endless text, rounded down",
                "In an endless text it would be about so many. Here there are 2048 keys, and "
                "their weights alone sum to 1.",
                lambda: math.floor(256 * math.log(100))),
        Mistake("not rounded to whole keys",
                "The formula gives a fraction of a key. The number of keys is whole: so many that "
                "99 % is reached.",
                lambda: -256 * math.log(1 - 0.99 * (1 - math.exp(-2048 / 256)))),
        Mistake("powers of 2",
                "Your weights fall as powers of 2. Softmax takes powers of e.",
                lambda: _keys_needed(0.99, math.log(2) / 256)),
        Mistake("half of the weight",
                "This many keys hold half of the weight. The question asks for 99 %.",
                lambda: _keys_needed(0.5, 1 / 256)),
        Mistake("90 % of the weight",
                "This many keys hold 90 % of the weight. The question asks for 99 %.",
                lambda: _keys_needed(0.9, 1 / 256)),
        Mistake("the lesson's window",
                "With a text cut to 128 bytes the *loss* was nearly as good as with 512. The "
                "question here is another: how is the weight shared?",
                lambda: 128),
    ),
)  # fmt: skip
