"""Neighbours that squares do not tell apart."""

from __future__ import annotations

from course_grading.exercise import Mistake, Predict

EXERCISE = Predict(
    slug="waves-equal-neighbours", title="Neighbours that squares do not tell apart",
    minutes=5, points=1,
    name="equal_neighbours", reference=lambda: 42,
    hints=(
        "Write down the signs of the wave at the positions 0 to 12, and below them the signs of "
        "the partner. The partner at p is what the wave will be three positions later.",
        "Two neighbours have different rows where the wave or the partner changes its sign. How "
        "often is that within 12 positions?",
    ),
    mistakes=(
        Mistake("neighbours that differ",
                "This counts the pairs of neighbours in which a sign changes. The others are "
                "asked for.",
                21),
        Mistake("the partner forgotten",
                "The wave alone changes its sign 10 times. The partner changes its sign at other "
                "places, and rows differ there as well.",
                53),
        Mistake("64 pairs of neighbours",
                "Positions 0 to 63 are 64 positions. How many pairs of neighbours do they make?",
                43),
        Mistake("five whole turns counted",
                "Five turns of 12 are 60 steps. There are 63 steps, and two of the last three are "
                "between equal rows, too.",
                40),
    ),
)  # fmt: skip
