"""What fills the tensor of all pairs?"""

from __future__ import annotations

from course_grading.exercise import Mistake, Predict


def _mebibytes(vectors: int, width: int = 64, size: int = 2) -> float:
    return vectors * width * size / 2**20


ENDS = 2032 * 2033  # of 2048 queries and keys, the pairs at a distance of 16 or more, both sides

EXERCISE = Predict(
    slug="shaw-memory", title="What fills the tensor of all pairs?", minutes=10,
    points=1, name="mebibytes", reference=_mebibytes(ENDS), relative_tolerance=1e-4,
    hints=(
        "Draw the matrix of pairs, with the distance i - j in each. On which diagonals do pairs "
        "look up the first or the last row of the table?",
        "At distance r there are n - r pairs with an earlier key, and as many with a later one. "
        "Add them up for r = 16, 17, ..., n - 1.",
        "The vectors are the same for all heads and all texts of a batch. A number in bfloat16 "
        "takes 2 bytes, and a MiB has 1024 * 1024 bytes.",
    ),
    mistakes=(
        Mistake("the whole tensor",
                "This is the tensor of all pairs. Some of its vectors are not those of an end of "
                "the table: the pairs at distances -15 to 15 look up other rows.",
                _mebibytes(2048**2)),
        Mistake("the whole tensor, eight times",
                "The vectors are the same for all heads, so the 8 heads do not multiply this "
                "tensor. And only the pairs at distance 16 and more look up an end of the table.",
                _mebibytes(8 * 2048**2)),
        Mistake("what is left",
                "This is the part that the other 31 rows fill. The question asks for the two end "
                "rows.", _mebibytes(2048**2 - ENDS)),
        Mistake("one end of the table",
                "This counts one of the two rows. Pairs with a later key use the first row, and "
                "pairs with an earlier key the last one.", _mebibytes(ENDS // 2)),
        Mistake("distance 16 left out",
                "Distance 16 looks up the last row, too: clipping leaves it as it is, and all "
                "larger distances join it.", _mebibytes(2031 * 2032)),
        Mistake("distance 15 counted",
                "Distance 15 has a row that it does not share. The end rows begin at distance 16.",
                _mebibytes(2033 * 2034)),
        Mistake("twice too much",
                "In bfloat16 a number takes 2 bytes; 4 would be float32. And the question is about "
                "the vectors on keys: those on values would be a second tensor.",
                _mebibytes(ENDS, size=4)),
        Mistake("eight times too much",
                "In this exercise the vectors are the same for all heads: the 8 heads do not "
                "multiply this tensor. Nor do the 8 bits of a byte.", _mebibytes(8 * ENDS)),
        Mistake("in GiB", "The amount is right, in GiB. One GiB is 1024 MiB.",
                _mebibytes(ENDS) / 2**10),
        Mistake("in bytes", "The amount is right, in bytes. Divide it by 2**20.",
                _mebibytes(ENDS) * 2**20),
        Mistake("a million bytes for a MiB",
                "These are megabytes. A MiB is 2**20 = 1 048 576 bytes.",
                _mebibytes(ENDS) * 2**20 / 1e6),
        Mistake("copies instead of MiB",
                "This is the number of pairs. Each of them gets 64 numbers of 2 bytes.", ENDS),
    ),
)  # fmt: skip
