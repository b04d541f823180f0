"""Harder: partners for a rich wave."""

from __future__ import annotations

from course_grading.exercise import Measure, Mistake

EXERCISE = Measure(
    slug="waves-columns", title="Harder: partners for a rich wave",
    minutes=20, points=3,
    name="columns", reference=lambda: 15,
    hints=(
        "Write a function that makes the columns for m phases: f(a + 2 pi j / m) for j from 0 to "
        "m - 1. Take one frequency, such as 0.1, and look at the dot products along a diagonal.",
        "waveforms.similarity_spread is for pairs of columns. Use the three lines of the lesson "
        "(dots.diagonal(k)) on your own columns, for m = 2, 3, 4, and so on.",
        "Why does it end? Two overtones, k and l times as fast, leave a part that does not depend "
        "on the distance alone whenever k + l is a multiple of m. The largest k + l is 14.",
    ),
    mistakes=(
        Mistake("two columns, as for a sine",
                "For m = 2 the phases are 0 and a half turn. And a plain sine needs a quarter.",
                2),
        Mistake("a column for each sine",
                "With seven columns the parts that are k and 7 - k times as fast disturb each "
                "other. Measure it.",
                7),
        Mistake("two columns for each sine",
                "Fourteen columns would be enough with sines and cosines of their own. Here all "
                "columns are the same wave, and the part that is seven times as fast is left over: "
                "7 + 7 is 14.",
                14),
        Mistake("15 partners and the wave",
                "This is one column too many. m counts all columns, the wave itself included.",
                16),
        Mistake("one more than the fastest overtone",
                "Eight columns are enough to tell the seven sines apart. But the parts that are k "
                "and 8 - k times as fast disturb each other. Measure it.",
                8),
        Mistake("the overtones alone counted",
                "At m = 13 dot products at one distance still differ by 0.6: the parts 6 and 7 "
                "times as fast give 6 + 7 = 13.",
                13),
    ),
)  # fmt: skip
