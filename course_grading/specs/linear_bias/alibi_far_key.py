"""What a far key has to make up for."""

from __future__ import annotations

import math

from course_grading.exercise import Mistake, Predict

EXERCISE = Predict(
    slug="alibi-far-key", title="What a far key has to make up for", minutes=5,
    points=1, name="higher_by", reference=1.5 + math.log(2), relative_tolerance=0.005,
    hints=(
        "Write down both biases, with the slope 1/32. By how much does key B's bias lie below "
        "key A's? That is what a higher score must make up for, before B weighs as much as A.",
        "Weights are in proportion to exponentials of score plus bias. Twice the weight is ln 2 "
        "more in the exponent.",
    ),
    mistakes=(
        Mistake("as much weight, not twice as much",
                "With this score both keys get the same weight. For twice as much, the exponential "
                "must be twice as large.", 1.5),
        Mistake("the distance alone left out",
                "That gives twice the weight to a key at the same distance. Key B stands 48 tokens "
                "further back than key A, which costs as well.", math.log(2)),
        Mistake("all of the distance counted",
                "You make up for all 64 steps to key B. Key A pays for its 16 steps, too: only the "
                "difference counts.", 2 + math.log(2)),
        Mistake("twice the difference",
                "A score that makes up for the bias twice does not give twice the weight: weights "
                "are exponentials of scores.", 3.0),
        Mistake("2 in place of its logarithm",
                "Adding 2 to a score multiplies the weight by e squared. For twice the weight, add "
                "ln 2.", 3.5),
        Mistake("half as much weight",
                "With this score key B gets half the weight of key A. The logarithm of 2 is "
                "added.", 1.5 - math.log(2)),
        Mistake("a logarithm to base 2",
                "A softmax takes powers of e, so twice the weight is ln 2 = 0.693 more.", 2.5),
    ),
)  # fmt: skip
