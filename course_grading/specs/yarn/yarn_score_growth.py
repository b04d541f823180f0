"""How much do the scores grow?"""

from __future__ import annotations

import math

from course_grading.exercise import Mistake, Predict

S = 24  # times as long

EXERCISE = Predict(
    slug="yarn-score-growth", title="How much do the scores grow?",
    minutes=5, points=1, name="growth",
    reference=lambda: (0.1 * math.log(S) + 1) ** 2, relative_tolerance=0.005,
    hints=(
        "The attention factor is 0.1 ln s + 1, with the natural logarithm. Where does it go?",
        "Cosines and sines turn the query and the key. A score is the product of both.",
    ),
    mistakes=(
        Mistake("the factor of cosines and sines", "This is what cosines and sines are multiplied "
                "by. Both the query and the key have it.",
                lambda: 0.1 * math.log(S) + 1),
        Mistake("the fourth power", "Cosine and sine are parts of one turn: the query has the "
                "factor once, and the key once.",
                lambda: (0.1 * math.log(S) + 1) ** 4),
        Mistake("twice the growth instead of the square", "You add 0.1 ln s once for the query and "
                "once for the key. Both are multiplied, so their factors are, too.",
                lambda: 1 + 2 * 0.1 * math.log(S)),
        Mistake("the 0.1 left out", "The attention factor is 0.1 ln s + 1, and not ln s + 1.",
                lambda: (math.log(S) + 1) ** 2),
        Mistake("logarithm to base 10",
                "The formula has the natural logarithm: math.log(24), which is 3.18.",
                lambda: (0.1 * math.log10(S) + 1) ** 2),
        Mistake("logarithm to base 2",
                "The formula has the natural logarithm: math.log(24), which is 3.18, and not 4.58.",
                lambda: (0.1 * math.log2(S) + 1) ** 2),
        Mistake("scores shrink", "Yours become smaller. They should grow: the attention factor "
                "is above 1, and both the query and the key are multiplied by it.",
                lambda: 1 / (0.1 * math.log(S) + 1) ** 2),
    ),
)  # fmt: skip
