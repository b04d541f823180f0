"""A score by hand."""

from __future__ import annotations

from course_grading.exercise import Mistake, Predict

EXERCISE = Predict(
    slug="rotary-score-by-hand", title="A score by hand", minutes=5, points=1,
    name="score", reference=-7,
    hints=(
        "How far apart are the two? Only that counts, and every four positions the hands are back "
        "where they started.",
        "42 - 17 = 25, and 25 = 6 * 4 + 1: turn the query by a quarter, the key not at all. A "
        "quarter turn takes (x, y) to (-y, x).",
    ),
    mistakes=(
        Mistake("turned the wrong way",
                "This is the score if the query turns a quarter to the right, or the key to the "
                "left. The query stands 25 positions after the key, 25 = 6 * 4 + 1, so the query "
                "has turned a quarter further to the left: (x, y) becomes (-y, x).", 7),
        Mistake("not turned at all",
                "This is the product of the two vectors at the same position. They are 25 apart.",
                6),
        Mistake("the two numbers exchanged",
                "A quarter turn takes (x, y) to (-y, x). Without the sign, (1, 2) becomes (2, 1), "
                "which is its mirror image; with two signs, (-2, -1). Multiplied as complex "
                "numbers without the conjugate of the key, the two turns add up to the same 9.", 9),
        Mistake("the two numbers exchanged",
                "A quarter turn takes (x, y) to (-y, x). Without the sign, (1, 2) becomes (2, 1), "
                "which is its mirror image; with two signs, (-2, -1).", -9),
        Mistake("half a turn",
                "Half a turn is what the query alone makes in 42 positions. The key turns as well: "
                "what counts is the 25 positions between them, six full turns and a quarter.", -6),
    ),
)  # fmt: skip
