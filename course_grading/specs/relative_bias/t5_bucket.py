"""A bucket by hand."""

from __future__ import annotations

import math

from course_grading.exercise import Mistake, Predict

EXERCISE = Predict(
    slug="t5-bucket", title="A bucket by hand", minutes=5, points=1,
    name="bucket", reference=27,
    hints=(
        "The encoder looks both ways, so each side has 16 buckets. How many of those are exact?",
        "Eight are exact, for distances 0 to 7. The other eight grow by equal ratios from 8 to "
        "128: 8 + floor(8 * ln(30 / 8) / ln(128 / 8)).",
        "That is the bucket for a key 30 *before* the query. Keys after it use the upper 16.",
    ),
    mistakes=(
        Mistake("a key before the query",
                "That is the bucket for 30 tokens before. Keys after the query have the upper "
                "half.", 11),
        Mistake("the decoder's buckets",
                "That is how a decoder counts, which has all 32 buckets for the past. The encoder "
                "has 16 for each side.", 20),
        Mistake("one too many",
                "8 ln(30 / 8) / ln(16) is 3.81. Drop the fraction instead of rounding: a bucket "
                "begins where a whole number is reached. And buckets are counted from 0.", 28),
        Mistake("the fraction kept",
                "8 ln(30 / 8) / ln(16) is 3.81. A bucket has a whole number: drop the fraction.",
                24 + 8 * math.log(30 / 8) / math.log(16)),
        Mistake("exact part forgotten",
                "The eight exact buckets come first; the logarithmic ones are counted after them.",
                19),
        Mistake("ratio of the logarithms left out",
                "ln(30 / 8) is 1.32, but the eight buckets share ln(128 / 8) = 2.77: the "
                "logarithm has to be multiplied by 8 / 2.77. Equal steps of the distance itself "
                "lead to the same bucket.", 25),
        Mistake("logarithm of the distance itself",
                "The logarithmic part begins at 8, so it is the logarithm of 30 / 8 out of that of "
                "128 / 8, not of 30 out of 128.", 29),
    ),
)  # fmt: skip
