"""How many parameters?"""

from __future__ import annotations

from course_grading.exercise import Mistake, Predict

EXERCISE = Predict(
    slug="learned-parameters", title="How many parameters?", minutes=5, points=1,
    name="parameters", reference=lambda: 2048 * 1024,
    hints=(
        "A table has one row for each position and one column for each number of a token's vector.",
        "The table is added once, before the first layer. Does its size depend on the number of "
        "layers, heads or words?",
    ),
    mistakes=(
        Mistake("a table for every layer",
                "The table is added to the embeddings, once, before the first layer.",
                2048 * 1024 * 24),
        Mistake("one row too few",
                "The last position is 2047, but the first is 0: there are 2048 rows.", 2047 * 1024),
        Mistake("a head's width instead of the model's",
                "Positions are added to whole token vectors of 1024 numbers, before there are "
                "heads.",
                2048 * 64),
        Mistake("the table of words counted too",
                "The rows for words are another table. The question asks only for the rows for "
                "positions.",
                (2048 + 50_257) * 1024),
        Mistake("one number for each position",
                "A row is a vector as long as a token's embedding, not one number.", 2048),
        Mistake("a row too many",
                "Positions 0 to 2047 are 2048 rows. The question says nothing of padding.",
                2049 * 1024),
        Mistake("a row for every word",
                "This is the table of words. A table of positions has a row for each position.",
                50_257 * 1024),
        Mistake("a table for every head",
                "A token's vector is cut into heads later: the heads share the rows.",
                2048 * 1024 * 16),
    ),
)  # fmt: skip
