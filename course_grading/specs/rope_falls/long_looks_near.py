"""A far key that looks near."""

from __future__ import annotations

import math

from course_grading.exercise import Mistake, Predict


def _wavelength(pair: float, head_dim: int = 64) -> float:
    return 2 * math.pi * 10_000 ** (2 * pair / head_dim)


EXERCISE = Predict(
    slug="long-looks-near", title="A far key that looks near", minutes=8, points=2,
    name="looks_like", reference=_wavelength(12) - 150, relative_tolerance=0.01,
    hints=(
        "The frequency of pair 12 is 10 000^(-24/64). After how many tokens is its hand back where "
        "it started?",
        "The cosine is the same on both sides of a whole turn: cos(2 pi - a) = cos(a).",
        "A turn takes 2 pi / 0.0316 = 198.7 tokens. The key at 150 stands so far before the end of "
        "the turn as the other one stands behind its beginning.",
    ),
    mistakes=(
        Mistake("from half a turn",
                "This is how far 150 lies beyond half a turn. There the cosine has the same size "
                "and the other sign.", 150 - _wavelength(12) / 2),
        Mistake("the whole turn",
                "This is the number of tokens in a whole turn. Where, within it, is the cosine the "
                "same as at 150?", _wavelength(12)),
        Mistake("a second turn",
                "This distance has the same cosine, but it lies beyond 128. The question asks for "
                "one within the training.", 2 * _wavelength(12) - 150),
        Mistake("the next pair",
                "This is the answer for pair 13. Pairs are counted from 0, and the question asks "
                "for pair 12.", _wavelength(13) - 150),
        Mistake("exponent i / d",
                "Your frequency is 10 000^(-12/64). The exponent is 2i / d, with two columns for "
                "each pair.", _wavelength(6) * 5 - 150),
        *(
            Mistake("pair counted from 1",
                    "You take pair 11, which makes a whole turn in 149 tokens. Pairs are counted "
                    "from 0.",
                    sign * (150 - _wavelength(11)))
            for sign in (1, -1)
        ),
        Mistake("a negative distance",
                "The cosine is the same there, but a distance below 0 means a key after the query. "
                "The cosine does not change with the sign of the angle.",
                150 - _wavelength(12)),
        Mistake("head width 32",
                "This is the answer for a head of width 32. Here it has 64 columns, and the "
                "exponent is 24/64.", _wavelength(12, 32) - 150),
    ),
)  # fmt: skip
