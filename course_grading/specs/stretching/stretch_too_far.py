"""How far does it go too far?"""

from __future__ import annotations

import math

from course_grading.exercise import Mistake, Predict

EXERCISE = Predict(
    slug="stretch-too-far", title="How far does it go too far?",
    minutes=10, points=1, name="times_as_far",
    reference=lambda: 16_383 / 2047 / 8 ** (48 / 62), relative_tolerance=0.005,
    hints=(
        "Distances get 8 times as large (16383 instead of 2047). And the pair is slower than "
        "before: by how much?",
        "NTK-aware slows pair i by s ** (2 i / (d - 2)): by 1 for the first, by s for the last.",
    ),
    mistakes=(
        Mistake("an unchanged pair",
                "With its old frequency the pair would go this far. But the larger base slows it.",
                lambda: 16_383 / 2047),
        Mistake("how much the pair is slowed",
                "This is how much pair 24 is slowed. Meanwhile its distances get 8 times as large.",
                lambda: 8 ** (48 / 62)),
        Mistake("upside down",
                "You divided the largest angle in training by the new one. A result below 1 would "
                "mean that the pair never goes too far.",
                lambda: 8 ** (48 / 62) / (16_383 / 2047)),
        Mistake("as if the rule were kept",
                "That holds for the last pair alone. Pair 24 of 0 to 31 is slowed by less than 8.",
                1.0),
        Mistake("the pair counted from 1",
                "Pairs count from 0 to 31, so pair 24 has the exponent 48 / 62, not 46 / 62.",
                lambda: 16_383 / 2047 / 8 ** (46 / 62)),
        Mistake("the angle in turns",
                "This is how often the stretched pair goes round. The question asks how many times "
                "as large as in training its angle gets: divide by the largest angle in training.",
                lambda: 16_383 * (10_000 * 8 ** (64 / 62)) ** (-48 / 64) / (2 * math.pi)),
        Mistake("the angle in radians",
                "This is the largest angle itself. The question asks how many times as large as in "
                "training it is.",
                lambda: 16_383 * (10_000 * 8 ** (64 / 62)) ** (-48 / 64)),
        Mistake("slowed by the base times s",
                "With base * s pair i would be slowed by s ** (2 i / d). The NTK-aware base is "
                "larger: it slows pair i by s ** (2 i / (d - 2)).",
                lambda: 16_383 / 2047 / 8 ** (48 / 64)),
        Mistake("the exponent without its 2",
                "NTK-aware slows pair i by s ** (2 i / (d - 2)): for pair 24 this is 8 ** (48 / "
                "62), not 8 ** (24 / 62).",
                lambda: 16_383 / 2047 / 8 ** (24 / 62)),
    ),
)  # fmt: skip
