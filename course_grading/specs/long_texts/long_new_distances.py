"""How much is new?"""

from __future__ import annotations

from course_grading.exercise import Mistake, Predict

LONG, SHORT = 512, 128


def _share_of_new() -> float:
    rest = LONG - SHORT
    return rest * (rest + 1) / 2 / (LONG * (LONG + 1) / 2)


EXERCISE = Predict(
    slug="long-new-distances", title="How much is new?",
    minutes=10, points=1, name="new_share",
    reference=_share_of_new, relative_tolerance=1e-4,
    hints=(
        "Draw the causal triangle of queries and keys. Distances lie on its diagonals: which part "
        "of it holds distances of 128 and more?",
        "It is a smaller triangle. Query 128 has one key that far back, query 129 two, and so on.",
        "1 + 2 + ... + 384 pairs are new, of 1 + 2 + ... + 512.",
    ),
    mistakes=(
        Mistake("the number of new pairs",
                "Divide it by the number of all pairs under the mask: the task asks for a share.",
                (LONG - SHORT) * (LONG - SHORT + 1) / 2),
        Mistake("share of the places, or distances, that are new",
                "Three in four lie beyond 127. The question asks for pairs, though: a query at "
                "place 200 still has 128 keys at distances that the model knows.",
                1 - SHORT / LONG),
        Mistake("pairs after the query counted too",
                "You divide by all 512 * 512 pairs. Under the mask only about half of them exist.",
                (LONG - SHORT) * (LONG - SHORT + 1) / 2 / LONG**2),
        Mistake("the pairs that are not new",
                "This is the share of pairs at known distances.",
                lambda: 1 - _share_of_new()),
        Mistake("distance 128 taken for a known one",
                "One diagonal is missing: 128 tokens have the distances 0 to 127, so 128 is new.",
                lambda: (LONG - SHORT) * (LONG - SHORT - 1) / (LONG * (LONG + 1))),
        Mistake("distance 127 taken for a new one",
                "One diagonal is too many: 128 tokens have the distances 0 to 127, so 127 is "
                "known.",
                lambda: (LONG - SHORT + 1) * (LONG - SHORT + 2) / (LONG * (LONG + 1))),
        Mistake("a percentage",
                "This is the share in per cent. The task asks for a number between 0 and 1.",
                lambda: 100 * _share_of_new()),
        Mistake("rounded to two decimals",
                "This is near, but the task asks for four decimals: a diagonal more or less "
                "already changes the third.",
                0.56),
        Mistake("rounded to three decimals",
                "This is near, but the task asks for four decimals.",
                0.563),
        Mistake("areas instead of pairs",
                "You compare the areas of two triangles. Pairs on the diagonals belong to them "
                "whole: count 1 + 2 + ... + 384, and 1 + 2 + ... + 512.",
                ((LONG - SHORT) / LONG) ** 2),
        Mistake("shares of the queries averaged",
                "You average over queries, so that a pair of an early query weighs more. Count "
                "pairs: all new ones, divided by all.",
                lambda: sum((at - SHORT + 1) / (at + 1) for at in range(SHORT, LONG)) / LONG),
    ),
)  # fmt: skip
