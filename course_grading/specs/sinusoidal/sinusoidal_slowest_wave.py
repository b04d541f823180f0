"""The slowest clock."""

from __future__ import annotations

import math

from course_grading.exercise import Mistake, Predict


def _wavelength(exponent: float) -> float:
    return 2 * math.pi * 500_000**exponent


EXERCISE = Predict(
    slug="sinusoidal-slowest-wave", title="The slowest clock", minutes=5, points=1,
    name="longest_wavelength",
    reference=lambda: _wavelength(126 / 128), relative_tolerance=0.005,
    hints=(
        "There are 64 pairs, i = 0 to 63. Which is the slowest, and what is 2i / 128 for it?",
        "A wave sin(p * frequency) repeats when p * frequency has grown by 2 pi.",
    ),
    mistakes=(
        Mistake("2 pi times the base",
                "2 pi times the base would be the wavelength of a pair with exponent 1 (the paper "
                "rounds to that, too). The last pair's exponent is a little less.",
                lambda: _wavelength(1)),
        Mistake("exponent of the last column",
                "The exponent belongs to the pair: the last two columns share one.",
                lambda: _wavelength(127 / 128)),
        Mistake("2 pi forgotten",
                "This is one over the frequency, the number of positions in one radian. A full "
                "turn has 2 pi of them.",
                lambda: _wavelength(126 / 128) / (2 * math.pi)),
        Mistake("the base itself",
                "The base is no wavelength: the slowest pair's frequency is base^(-126/128), and a "
                "full turn has 2 pi radians.",
                500_000),
        Mistake("frequency instead of wavelength",
                "This is how far the slowest pair turns at each position, in radians. How many "
                "positions make a full turn?",
                lambda: 2 * math.pi / _wavelength(126 / 128)),
        Mistake("the fastest wave",
                "This is the period of pair 0, the fastest one, whatever the base.",
                lambda: _wavelength(0)),
        Mistake("the last pair but one",
                "64 pairs have the numbers 0 to 63. This is the wavelength of pair 62.",
                lambda: _wavelength(124 / 128)),
        Mistake("column number in the exponent",
                "In 2i / 128 the letter i numbers the pairs, from 0 to 63, not the columns.",
                lambda: _wavelength(2 * 127 / 128)),
        Mistake("a pair too many",
                "64 pairs have the numbers 0 to 63. There is no pair whose exponent is 130 / 128.",
                lambda: _wavelength(130 / 128)),
        Mistake("base 10 000",
                "This is right for a base of 10 000. Llama 3 has 500 000.",
                2 * math.pi * 10_000 ** (126 / 128)),
        Mistake("exponent i/dim instead of 2i/dim",
                "The exponent of the last pair is 126 / 128. Yours is half of that.",
                lambda: _wavelength(63 / 128)),
        Mistake("half a turn",
                "The pair is back after a full turn, 2 pi. This is half of it.",
                lambda: _wavelength(126 / 128) / 2),
    ),
)  # fmt: skip
