"""How far apart are float32 angles?"""

from __future__ import annotations

import torch

from course_grading.exercise import Mistake, Predict

EXERCISE = Predict(
    slug="rotary-float32-spacing", title="How far apart are float32 angles?",
    minutes=5, points=1, name="spacing", reference=lambda: 2.0**-4,
    hints=(
        "1 000 000 lies between 2^19 = 524 288 and 2^20 = 1 048 576. From one power of two to the "
        "next, numbers of one float type are equally far apart.",
        "float32 keeps 24 binary digits, and the first stands for 2^19 here. What does the 24th "
        "stand for?",
    ),
    mistakes=(
        Mistake("the rounding error instead of the spacing",
                "This is the largest rounding error, half the spacing that the question asks for.",
                2.0**-5),
        Mistake("23 digits instead of 24",
                "float32 stores 23 digits. The leading digit is not stored, but it counts: there "
                "are 24. Or was it the power of two above a million instead of the one below?",
                2.0**-3),
        Mistake("epsilon times a million",
                "torch.finfo(torch.float32).eps is the spacing from 1 to 2. It grows in steps, "
                "with each power of two: multiply by 2^19, not by 1 000 000.",
                lambda: 1e6 * torch.finfo(torch.float32).eps),
        Mistake("a million over 2^24",
                "The spacing does not grow in proportion to the number. And of the 24 digits the "
                "first stands for the power of two below a million, so that 23 come after it.",
                lambda: 1e6 * 2**-24),
        Mistake("a decimal digit too few",
                "Rounded to two decimals this is near, but the spacing is a power of two: give "
                "all its digits, or write it as one.",
                0.06),
        Mistake("the spacing near 1",
                "This is float32's spacing between 1 and 2. Near a million the same 24 digits have "
                "to hold 20 digits in front of the point.",
                lambda: torch.finfo(torch.float32).eps),
    ),
)  # fmt: skip
