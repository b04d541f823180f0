"""Measure: the one that helps most."""

from __future__ import annotations

from course_grading.exercise import Measure, Mistake

EXERCISE = Measure(
    slug="stretch-best-pair", title="Measure: the one that helps most",
    minutes=20, points=2, name="best_pair",
    # On two passages 3.45 bits; with pair 6, the next best, 3.79; with unchanged angles 4.35.
    reference=lambda: 7,
    hints=(
        "A copy of the frequencies, one of them divided by 8, and "
        "stretched(model, ScaledFrequencies(frequencies)).",
        "bits_by_length(reader, text, [1024], passages=2).mean() for each of the 16. Divide a "
        "fresh copy each time: division in place adds up.",
    ),
    mistakes=(
        Mistake("the slowest pair",
                "It meets new angles, but this model hardly uses them. Measure it: nothing "
                "changes.",
                15),
        Mistake("the fastest pair",
                "Slowing it makes neighbours alike, and a byte costs more than before. If you have "
                "measured this: is one pair slowed, or all but one?",
                0),
        Mistake("the last pair that went round in training",
                "It made 1.15 turns in 128 bytes: it has seen every angle.",
                5),
        Mistake("the second best",
                "Close: at 1024 bytes one other pair helps more. (If you divide in place, slow "
                "pairs add up, and pair 6 comes out: take fresh copies.)",
                6),
        Mistake("read at twice the trained length",
                "On two passages, windows of 256 bytes give pair 4. Let the model read 1024.",
                4),
        Mistake("read at the trained length, or turned faster",
                "Windows of 128 bytes give pair 9: there the model meets nothing new. Let it read "
                "1024. At 1024 pair 9 comes out if one pair turns 8 times as fast: slowed by 8 is "
                "divided by 8.",
                9),
        Mistake("counted from 1", "Pairs count from 0 to 15 here.", 8),
    ),
)  # fmt: skip
