"""From bits per byte to words."""

from __future__ import annotations

import math

from course_grading.exercise import Mistake, Predict

EXERCISE = Predict(
    slug="choose-bits-to-words", title="From bits per byte to words",
    minutes=5, points=1, name="times_as_many",
    reference=2 ** (5 * (2.29 - 1.77)), relative_tolerance=0.01,
    hints=(
        "How many bits does each model pay for a whole word?",
        "A model that pays b bits is as unsure as if it chose among 2 ** b words, all alike.",
    ),
    mistakes=(
        Mistake("for a byte instead of a word",
                "This is the factor for one byte. A word has five of them.",
                2 ** (2.29 - 1.77)),
        Mistake("e instead of 2", "Bits count in powers of 2. With e you would need nats.",
                math.exp(5 * (2.29 - 1.77))),
        Mistake("six bytes a word", "The lesson's words have six bytes. Here a word has five, its "
                "space included.",
                2 ** (6 * (2.29 - 1.77))),
        Mistake("ratio of the bits", "You divided the losses. A loss is a logarithm: subtract "
                "them, and take a power of 2.",
                2.29 / 1.77),
        Mistake("five times the factor of a byte",
                "The factors of five bytes are multiplied with each other; you added them.",
                5 * 2 ** (2.29 - 1.77)),
        Mistake("the other way round", "This is among how many times as many words the *first* "
                "model chooses. The second pays more, so it is less sure: the number is above 1.",
                2 ** (5 * (1.77 - 2.29))),
        Mistake("bits instead of words", "This is how many more bits a word costs. The question "
                "asks how many times as many words there are to choose from: 2 to that power.",
                5 * (2.29 - 1.77)),
    ),
)  # fmt: skip
