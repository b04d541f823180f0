"""What the tenth token reads."""

from __future__ import annotations

from course_grading.exercise import Mistake, Predict

EXERCISE = Predict(
    slug="blind-tenth-token", title="What the tenth token reads",
    minutes=5, points=1,
    name="reading", reference=lambda: 2 / 10, relative_tolerance=1e-6,
    hints=(
        "All scores are equal, so a token shares its attention evenly over the tokens it sees.",
        "How many tokens does the one at position 9 see, itself included?",
    ),
    mistakes=(
        Mistake("its own token forgotten",
                "A token sees itself too: the one at position 9 sees positions 0 to 9.", 2 / 9),
        Mistake("no mask",
                "This is the mean over all 24 tokens. The mask hides the tokens that come later.",
                2 / 24),
        Mistake("one of the two forgotten",
                "Two of the tokens that it sees carry a 1.", 1 / 10),
        Mistake("a share for each 1",
                "A head with equal scores gives every token that it sees the same share.",
                1 / 10 + 1 / 9),
        Mistake("a token too many",
                "Positions start at 0: the token at position 9 is the tenth, and sees ten.",
                2 / 11),
        Mistake("the sum instead of the mean",
                "Shares add up to 1: what is read is the mean of what the token sees.", 2),
    ),
)  # fmt: skip
