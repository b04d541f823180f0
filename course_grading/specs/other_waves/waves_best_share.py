"""The best share with one equal pair."""

from __future__ import annotations

from course_grading.exercise import Mistake, Predict


def _share(uncertain: int = 4, right: float = 5 / 8, asked: int = 29) -> float:
    return (asked - uncertain + uncertain * right) / asked


EXERCISE = Predict(
    slug="waves-best-share", title="The best share with one equal pair",
    minutes=10, points=2,
    name="best_share", reference=_share, relative_tolerance=0.001,
    hints=(
        "Which questions are certain? For the others, which two tokens cannot be told apart?",
        "A question is uncertain if its own position is 10 or 11, or if the token asked for stands "
        "at 10 or 11. For each of them the model can only name one of two tokens.",
        "One of two tokens is right with a chance of 1/2. If it is the wrong one, it may be of the "
        "same kind as the right one: with 4 kinds, that has a chance of 1/4.",
    ),
    mistakes=(
        Mistake("equal tokens forgotten",
                "You count half of the uncertain questions as right. The two tokens may be of the "
                "same kind, and then either answer is right.",
                _share(right=1 / 2)),
        Mistake("8 kinds of tokens",
                "This is right for 8 kinds, as in the lesson. Here there are 4.",
                _share(right=9 / 16)),
        Mistake("the position that asks forgotten",
                "The questions at 10 and 11 themselves are uncertain, too: the model does not know "
                "which of these two positions asks.",
                _share(uncertain=2)),
        Mistake("uncertain questions counted as wrong",
                "A reader who guesses one of two tokens is right more than half of the time.",
                _share(right=0)),
        Mistake("all 32 positions asked",
                "At positions 0, 1 and 2 nothing is asked.",
                _share(asked=32)),
        Mistake("uncertain questions guessed among all kinds",
                "The model need not guess among all 4 kinds: it knows that the answer is one of "
                "two tokens, which it can see.",
                _share(right=1 / 4)),
    ),
)  # fmt: skip
