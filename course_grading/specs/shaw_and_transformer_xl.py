"""Exercises of lesson 07: what if distance should depend on content?"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import torch
from torch import Tensor
from torch.nn import functional

from course_grading.domain import Described, Positions, Tensors, as_view
from course_grading.exercise import Case, Exercise, Mistake, Property, Version, mistake
from course_grading.specs.draw import normal, rounded_in, shuffled

DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
KEEPS_DTYPE_OF_Q = Property(
    "the result has the dtype of q", lambda case, value: value.dtype == case["q"].dtype
)


def _numbers(rng: Random, *shape: int, dtype: torch.dtype) -> Tensor:
    """Numbers of size 1; in float64, float32 does not hold them."""
    return (1.1 * normal(rng, *shape, dtype=torch.float64)).to(dtype)


def _products(scores: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The size of the products that make up each score: they are rounded in the dtype of q."""

    def scale(q: Tensor, vectors: Tensor, *positions: Tensor) -> Tensor:
        sizes = scores(q.double().abs(), vectors.double().abs(), *positions)
        return rounded_in(q.dtype, sizes)

    return scale


# what the tensor of all pairs is full of -------------------------------------------------------


def _mebibytes(vectors: int, width: int = 64, size: int = 2) -> float:
    return vectors * width * size / 2**20


ENDS = 2032 * 2033  # of 2048 queries and keys, the pairs at a distance of 16 or more, both sides
PRICE = Exercise(
    slug="shaw-memory", title="What fills the tensor of all pairs?", kind="predict", minutes=10,
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

# Shaw's key term -------------------------------------------------------------------------------


def _row(relative: Tensor, m: int) -> Tensor:
    return relative.clamp(-m, m) + m


def _shaw_scores(
    place: Callable[[Tensor], Tensor] = lambda positions: positions,
    row: Callable[[Tensor, int], Tensor] = _row,
    power: float = -0.5,
    head_axis: int = 1,
) -> Callable[..., Tensor]:
    """Shaw's key term, or what becomes of it when one of these choices is another."""

    def shaw_scores(q, key_vectors, q_positions, k_positions):
        relative = place(q_positions)[..., :, None] - place(k_positions)[..., None, :]
        index = row(relative, len(key_vectors) // 2)
        index = index.unsqueeze(head_axis) if index.ndim == 3 else index
        by_row = q @ key_vectors.to(q.dtype).T * q.shape[-1] ** power
        return by_row.gather(-1, index.expand(*q.shape[:-1], index.shape[-1]))

    return shaw_scores


def _later(q_positions: Tensor, k_positions: Tensor) -> Tensor:
    later = k_positions[..., None, :] > q_positions[..., :, None]
    return later.unsqueeze(1) if later.ndim == 3 else later


def _shaw_cases(rng: Random) -> list[Case]:
    def case(
        q_positions, k_positions, batch=1, heads=2, most=2, dim=4, dtype=torch.float32, table=None
    ) -> Case:
        return {
            "q": _numbers(rng, batch, heads, q_positions.shape[-1], dim, dtype=dtype),
            "key_vectors": _numbers(rng, 2 * most + 1, dim, dtype=table or dtype),
            "q_positions": q_positions,
            "k_positions": k_positions,
        }

    in_order, none = torch.arange(5), torch.arange(0)
    gaps = torch.tensor([0, 1, 4, 4, 9])
    order = shuffled(rng, 6, 20)
    mixed = torch.stack([order, order.flip(0)])
    newest = torch.tensor([rng.randint(7, 30)])
    far = torch.tensor([99_999_999, 500, 70_000])
    half, single, double = torch.float16, torch.float32, torch.float64
    repeated = case(gaps, in_order, heads=3, dtype=double, table=single)
    return [
        case(in_order, in_order),
        case(mixed, mixed, batch=2, most=3),
        case(torch.stack([shuffled(rng, 2, 9) + first for first in (0, 5, 300)]),
             torch.stack([shuffled(rng, 5, 12) + first for first in (2, 4, 297)]),
             batch=3, most=5, dim=6, table=double),
        case(newest, torch.arange(int(newest) - 6, int(newest) + 1), most=4, dtype=half),
        case(in_order + 300, gaps + 297, heads=3, dtype=torch.bfloat16, table=single),
        repeated,
        case(far, torch.tensor([99_999_998, 501, 4463, 69_998]), heads=1, most=3),
        case(gaps, in_order + 2, batch=2, dim=16, dtype=torch.bfloat16),
        case(none, none, batch=2),
        {**repeated, "q_positions": torch.tensor([0, 2, 4, 3, 9])},
        {**repeated, "k_positions": torch.tensor([0, 3, 2, 1, 4])},
        {**repeated, "q": repeated["q"].flip(2)},
        {**repeated, "key_vectors": _numbers(rng, 7, 4, dtype=single)},
        {**repeated, "key_vectors": repeated["key_vectors"].flip(0).double()},
    ]  # fmt: skip


@mistake("positions in float32",
         "A float32 holds every whole number only up to 16 777 216. Subtract the positions while "
         "they are integers.")  # fmt: skip
def _positions_in_float32(q, key_vectors, q_positions, k_positions):
    rounded = (positions.float().long() for positions in (q_positions, k_positions))
    return _shaw_scores()(q, key_vectors, *rounded)


SHAW_SCORES = Exercise(
    slug="shaw-scores", title="A vector for each distance", kind="implement", minutes=20, points=3,
    name="shaw_scores", reference=_shaw_scores(), cases=_shaw_cases,
    domain={
        "q": Tensors((4, 4), DTYPES, empty=True),
        "key_vectors": Tensors((2, 2), DTYPES),
        "q_positions": Positions(100_000_000, empty=True),
        "k_positions": Positions(100_000_000, empty=True),
    },
    roundings=4, scale=_products(_shaw_scores()),
    properties=(KEEPS_DTYPE_OF_Q,), forbidden=("Shaw",),
    hints=(
        "First forget about pairs: what does a query score with every row of key_vectors? That is "
        "one matrix product, of shape (batch, heads, queries, rows).",
        "Then each pair picks one of those scores. Its row is i - j, clipped to -m..m, plus m, "
        "where m = len(key_vectors) // 2, and i and j are positions, not places.",
        "scores.gather(-1, index) picks, with an index of the shape (batch, heads, queries, keys). "
        "Positions of shape (batch, length) give an index of three axes: put the axis for the "
        "heads in with unsqueeze(1) before you expand it.",
    ),
    mistakes=(
        Mistake("sign of the distance flipped",
                "You look up j - i. Row 0 belongs to keys that stand far after the query, the "
                "last row to keys far before it.",
                _shaw_scores(row=lambda relative, m: _row(-relative, m))),
        Mistake("not divided by sqrt(head_dim)",
                "The term is added to scores that are divided by sqrt(head_dim) already: divide "
                "your term, too.", _shaw_scores(power=0.0)),
        Mistake("divided by head_dim", "Divide by the square root of head_dim, not by head_dim.",
                _shaw_scores(power=-1.0)),
        Mistake("later keys all at distance 0",
                "Keys after the query have distances -1, -2, ..., whose vectors are the rows "
                "below m. Clip to -m..m, not to 0..m.",
                _shaw_scores(row=lambda relative, m: _row(relative.clamp(min=0), m))),
        Mistake("direction lost",
                "abs() sends a key before and a key after the query to the same row. Half of the "
                "rows are for later keys.",
                _shaw_scores(row=lambda relative, m: _row(relative.abs(), m))),
        Mistake("rows counted from the middle",
                "Distance 0 stands in row m, not in row 0: add m after clipping. (A negative index "
                "counts from the end, so nothing complains.)",
                _shaw_scores(row=lambda relative, m: relative.clamp(-m, m) % (2 * m + 1))),
        Mistake("places instead of positions",
                "You number rows and columns 0, 1, 2, ... yourself. Use the positions that are "
                "given: they may have gaps, and a query may be the newest of many tokens.",
                _shaw_scores(place=lambda positions: torch.arange(positions.shape[-1]))),
        Mistake("counts on from the first position",
                "Only the first of the positions that are given is used. They may have gaps and "
                "come in any order: use all of them.",
                _shaw_scores(place=lambda p: p[..., :1] + torch.arange(p.shape[-1]))),
        Mistake("the first text's positions for all",
                "With positions of shape (batch, length) each text has positions of its own.",
                _shaw_scores(place=lambda p: p[0] if p.ndim == 2 else p)),
        Mistake("texts taken for heads",
                "An index of shape (batch, queries, keys) against (batch, heads, ...) lines up "
                "with the heads. Where batch and heads are both 2, nothing complains. Use "
                "unsqueeze(1).", _shaw_scores(head_axis=0)),
        Mistake("wraps around instead of clipping",
                "Distances beyond m share the row of m. Your rows begin again at the other end.",
                _shaw_scores(row=lambda relative, m: (relative + m) % (2 * m + 1))),
        Mistake("clipped one too early",
                "Your rows never reach the first and the last row of the table. Clip to -m and m, "
                "both included.", _shaw_scores(row=lambda relative, m: _row(relative, m - 1) + 1)),
        Mistake("later keys get 0",
                "No mask is asked for: keys after the query have distances -1, -2, ... and "
                "vectors of their own.",
                lambda q, key_vectors, i, j: _shaw_scores()(q, key_vectors, i, j).masked_fill(
                    _later(i, j), 0)),
        _positions_in_float32,
        Mistake("multiplied in the dtype of key_vectors",
                "The result is brought back to the dtype of q, but on the way it was rounded to "
                "that of the table. Bring the table to the dtype of q.",
                lambda q, key_vectors, i, j:
                    _shaw_scores()(q.to(key_vectors.dtype), key_vectors, i, j).to(q.dtype)),
        Mistake("result in the wider of both dtypes",
                "The result is added to scores in the dtype of q: end with .to(q.dtype).",
                lambda q, key_vectors, i, j: _shaw_scores()(
                    q.to(torch.promote_types(q.dtype, key_vectors.dtype)), key_vectors, i, j)),
        Mistake("result in the dtype of key_vectors",
                "Bring the table to the dtype of q, not q to the dtype of the table: the result "
                "is added to scores in the dtype of q.",
                lambda q, key_vectors, i, j:
                    _shaw_scores()(q.to(key_vectors.dtype), key_vectors, i, j)),
        Mistake("result in float32",
                "The result is float32 whatever q is. It is added to scores in the dtype of q: "
                "end with .to(q.dtype), and compute in float64 if q is.",
                lambda q, key_vectors, i, j: _shaw_scores()(q.float(), key_vectors, i, j)),
        Mistake("float32 for float64",
                "The result has the dtype of q, but a float64 q loses half of its digits on the "
                "way through float32.",
                lambda q, key_vectors, i, j:
                    _shaw_scores()(q.float(), key_vectors, i, j).to(q.dtype)),
    ),
)  # fmt: skip

# the shift -------------------------------------------------------------------------------------


def _shifted(
    scores: Tensor, first_column: Callable[[int, int], int] = lambda i, n: n - 1 - i
) -> Tensor:
    """Row i read from column first_column(i, n) on, around the end; later keys 0."""
    n = scores.shape[-1]
    start = torch.tensor([first_column(i, n) for i in range(n)])
    index = (start[:, None] + torch.arange(n)) % n
    return scores.gather(-1, index.expand(scores.shape)).tril()


def _pad_and_reshape(scores: Tensor, pad: tuple[int, int] = (1, 0)) -> Tensor:
    n = scores.shape[-1]
    return functional.pad(scores, pad).flatten(-2)[..., n:].unflatten(-1, (n, n))


def _score_cases(rng: Random) -> list[Case]:
    by_hand = torch.tensor([[12.0, 11, 10], [22, 21, 20], [32, 31, 30]])
    n = rng.randint(5, 9)
    return [
        {"scores": by_hand},
        {"scores": as_view(normal(rng, 2, 3, 4, 4))},
        {"scores": normal(rng, 1, 1)},
        {"scores": as_view(normal(rng, 2, 5, 5, dtype=torch.bfloat16))},
        {"scores": normal(rng, 1, 2, 2, 2, 2, dtype=torch.float16)},
        {"scores": as_view(normal(rng, 3, 1, n, n, dtype=torch.float64) / 3)},
    ]


@mistake("flattened across the batch",
         "Each matrix is shifted by itself: flatten the last two axes only, "
         ".flatten(-2).")  # fmt: skip
def _whole_batch_flattened(scores):
    padded = functional.pad(scores, (1, 0))
    return padded.flatten()[-scores.numel() :].reshape(scores.shape).tril()


SHIFT = Exercise(
    slug="transformer-xl-shift", title="The relative shift", kind="implement", minutes=10, points=3,
    name="shifted", reference=_shifted, cases=_score_cases, roundings=0,
    domain={"scores": Described("float64, float32, float16 or bfloat16, finite, 2 to 5 axes, the "
                                "last two of one length, also as a transposed view")},
    forbidden=("relative_shift", "skew"),
    hints=(
        "Write down three rows by hand, as in the lesson. Where in row 0 stands the score at "
        "distance 0, and where must it go? And in row 1?",
        "The last row may stay as it is, the one above moves left by one, the one above that by "
        "two. You may do it with a loop, with gather, or with the lesson's pad and reshape.",
        "Pad one column on the left, flatten the last two axes, drop the first n numbers, give it "
        "the old shape. What then stands above the diagonal does not belong there: .tril() sets "
        "it to 0.",
    ),
    mistakes=(
        Mistake("garbage above the diagonal",
                "The lower half is right. Above the diagonal the reshape leaves the next row's "
                "scores, and zeros of the padding; the exercise asks for 0 there: .tril().",
                _pad_and_reshape),
        Mistake("padded on the right",
                "A column on the right pushes every row one place too far: pad on the left, "
                "(1, 0).", lambda scores: _pad_and_reshape(scores, (0, 1)).tril()),
        Mistake("shifted the wrong way",
                "Rows must move left, and the first one farthest. Row 0 has its only valid number "
                "in the last column, and needs it in the first.",
                lambda scores: _shifted(scores, lambda i, n: i + 1 - n)),
        Mistake("order of distances flipped",
                "You take column c as distance c. It is distance n - 1 - c: the largest comes "
                "first.", lambda scores: _shifted(scores.flip(-1))),
        Mistake("not shifted at all",
                "Setting the upper half to 0 moves nothing: row 0 still shows the score at the "
                "largest distance.", lambda scores: scores.tril()),
        Mistake("the last row moved, the first not",
                "Row i moves left by n - 1 - i, not by i: the last row is right as it comes.",
                lambda scores: _shifted(scores, lambda i, n: i)),
        Mistake("one column off", "The diagonal must show distance 0. Yours shows distance 1.",
                lambda scores: _shifted(scores, lambda i, n: n - 2 - i)),
        _whole_batch_flattened,
        Mistake("rolled, and nothing cut off",
                "Each row is moved by the right amount, but what leaves it on the left comes back "
                "on the right, above the diagonal. The exercise asks for 0 there: .tril().",
                lambda scores: torch.stack(
                    [row.roll(i + 1 - scores.shape[-1], -1)
                     for i, row in enumerate(scores.unbind(-2))], dim=-2)),
        Mistake("the numbers go through float32",
                "The result has the dtype of `scores`, but on the way its numbers were in float32: "
                "float64 loses half of its digits. Look for .float(), and for a tensor made "
                "without dtype=scores.dtype.",
                lambda scores: _shifted(scores.float()).to(scores.dtype)),
        Mistake("result in float32",
                "The result is float32, whatever `scores` is: float64 loses half of its digits. "
                "Make the result with torch.zeros_like(scores).",
                lambda scores: _shifted(scores).float()),
        Mistake("columns flipped, but not moved",
                "Your rows run from the smallest distance to the largest. Row i has to begin with "
                "its score at distance i.", lambda scores: scores.flip(-1).tril()),
        Mistake("rolled by i places",
                "Row i moves left by n - 1 - i, which is as much as i + 1 to the right around the "
                "end. Yours moves by i to the right.",
                lambda scores: _shifted(scores, lambda i, n: n - i)),
        Mistake("queries and keys exchanged",
                "You shift the columns of `scores` in the place of its rows, so your row 0 is made "
                "of one score of each query. Row i holds the scores of query i: do not exchange "
                "the axes before the shift.", lambda scores: _shifted(scores.mT)),
        Mistake("queries and keys exchanged",
                "The shift is right, but rows and columns are exchanged in the result: row i holds "
                "the scores of query i.", lambda scores: _shifted(scores).mT),
        Mistake("later keys get -inf",
                "A mask would write -inf there. This exercise asks for 0: .tril().",
                lambda scores: _shifted(scores).masked_fill(
                    torch.ones(scores.shape[-2:]).triu(1).bool(), -torch.inf)),
    ),
)  # fmt: skip

# strangers with a memory -----------------------------------------------------------------------

STRANGERS = Exercise(
    slug="transformer-xl-strangers", title="Measure: strangers with a memory", kind="measure",
    minutes=15, points=2, name="strangers",
    reference=40 * 39 // 2 - 39,  # all later keys but the zeros right beside each query
    hints=(
        "Do it on paper first, with 2 queries and 3 keys: scores 12 11 10 and 22 21 20. The first "
        "query stands at position 1, so it needs 11 and 10 at keys 0 and 1. How many numbers must "
        "be dropped after padding?",
        "The last query stays as it is, so the last numbers must fill the last row again: drop as "
        "many numbers as there are queries, and cut after every 100.",
        "Let every row carry its number, torch.arange(1.0, 41)[:, None].expand(40, 100), and "
        "compare with what comes out. Zeros are padding, and nobody's score.",
    ),
    mistakes=(
        Mistake("padding counted",
                "This is everything at later keys. Right beside each query's last key stands a 0 "
                "from the padded column, which is no row's score.", 40 * 39 // 2),
        Mistake("padding counted, but for the first zero",
                "Rows numbered from 0 hide the zeros of the padding in row 0 only. Zeros from the "
                "padding are nobody's score: number the rows from 1, and leave them out.",
                40 * 39 // 2 - 1),
        Mistake("as if all keys had queries",
                "This is a matrix of 100 rows. Here only 40 tokens are queries; the 60 of the "
                "memory are keys alone.", 100 * 99 // 2 - 99),
        Mistake("the memory as queries",
                "This is a matrix of 60 rows. The memory has no queries.", 60 * 59 // 2 - 59),
        Mistake("one row left out",
                "Row 0 has the most strangers, 38. Its last 38 entries are scores of row 1.",
                40 * 39 // 2 - 39 - 38),
        Mistake("only the padding counted",
                "This is the number of zeros. The question asks for scores of another row.", 39),
        Mistake("the last key of each query counted",
                "At its own key, distance 0, a query has its own score.", 40 * 41 // 2),
    ),
)  # fmt: skip

# repair: the shift without a causal mask -------------------------------------------------------


def _position_scores(
    q: Tensor,
    vectors: Tensor,
    column: Callable[[Tensor, Tensor, int], Tensor] = lambda i, j, n: n - 1 - (i - j),
) -> Tensor:
    """For query i and key j, the score in this column of q @ vectors.mT."""
    n = q.shape[-2]
    index = column(torch.arange(n)[:, None], torch.arange(n), n)
    scores = q @ vectors.to(q.dtype).mT
    return scores.gather(-1, index.expand(*scores.shape[:-1], n))


def _both_side_cases(rng: Random) -> list[Case]:
    def case(batch, heads, n, dim=4, dtype=torch.float32, vectors=None) -> Case:
        return {
            "q": _numbers(rng, batch, heads, n, dim, dtype=dtype),
            "vectors": _numbers(rng, heads, 2 * n - 1, dim, dtype=vectors or dtype),
        }

    half, single, double = torch.float16, torch.float32, torch.float64
    return [
        case(1, 1, 3),
        case(2, 3, 5, dim=8, vectors=double),
        case(2, 2, rng.randint(6, 9), dtype=half),
        case(1, 2, 1),
        case(3, 2, 6, dim=5, dtype=torch.bfloat16),
        case(2, 1, 3, dim=7, dtype=torch.bfloat16, vectors=single),
        case(1, 3, 2, dtype=double, vectors=single),
        case(2, 1, 4, dtype=double),
    ]


BOTH_SIDES = Exercise(
    slug="transformer-xl-both-sides", title="Repair: a shift where nothing is masked",
    kind="repair", minutes=20, points=2, name="position_scores", reference=_position_scores,
    cases=_both_side_cases,
    domain={"q": Tensors((4, 4), DTYPES), "vectors": Tensors((3, 3), DTYPES)},
    roundings=4, scale=_products(_position_scores),
    properties=(KEEPS_DTYPE_OF_Q,), forbidden=("skew", "TransformerXL"),
    hints=(
        "Let q be ones and give vectors[0] the rows 2, 1, 0, -1, -2 (n = 3, dim = 1). Each entry "
        "of the result then is a distance. Which should it be at query 0, key 2?",
        "The published code uses only the first n rows of `vectors`, distances n - 1 to 0. Scores "
        "with all 2n - 1 rows know the later keys, too. Where in a row does key 0 stand?",
        "Key j of query i stands in column n - 1 - (i - j) of q @ vectors.mT. Gather it; or slice "
        "row i from column n - 1 - i on.",
    ),
    mistakes=(
        Mistake("later keys read the next row",
                "This is the code as published. Below the diagonal it is right; above, a query "
                "sees scores of the query after it, and no mask hides them here.",
                lambda q, vectors:
                    _pad_and_reshape(q @ vectors[:, : q.shape[-2]].to(q.dtype).mT)),
        Mistake("later keys get 0",
                "Nothing is masked here: later keys have distances -1, -2, ... whose vectors are "
                "rows n, n + 1, ...", lambda q, vectors: _position_scores(q, vectors).tril()),
        Mistake("direction lost",
                "You treat a key two after as one two before. `vectors` has a row for each.",
                lambda q, vectors:
                    _position_scores(q, vectors, lambda i, j, n: n - 1 - (i - j).abs())),
        Mistake("sign of the distance flipped",
                "The largest distance comes first: row 0 is n - 1, where the key stands far "
                "before.", lambda q, vectors: _position_scores(q, vectors.flip(1))),
        Mistake("rows slide the wrong way",
                "Query 0 has all other keys after it, so its row begins in the middle, at column "
                "n - 1. The last query's begins at column 0.",
                lambda q, vectors: _position_scores(q, vectors, lambda i, j, n: i + j)),
        Mistake("not shifted at all",
                "The first n columns are distances n - 1 to 0 for every query. Which distance has "
                "key 0 for query 0?",
                lambda q, vectors: (q @ vectors.to(q.dtype).mT)[..., : q.shape[-2]]),
        Mistake("head 0's vectors for all",
                "`vectors` has an axis for the heads: each head has vectors of its own.",
                lambda q, vectors: _position_scores(q, vectors[:1])),
        Mistake("one distance too far",
                "Key j of query i stands in column n - 1 - (i - j). Yours is the column before, "
                "which belongs to the next larger distance.",
                lambda q, vectors: _position_scores(
                    q, vectors, lambda i, j, n: (n - 2 - (i - j)) % (2 * n - 1))),
        Mistake("one distance too near",
                "Key j of query i stands in column n - 1 - (i - j). Yours is the column after, "
                "which belongs to the next smaller distance.",
                lambda q, vectors: _position_scores(
                    q, vectors, lambda i, j, n: (n - (i - j)) % (2 * n - 1))),
        Mistake("divided by sqrt(d)", "The lesson divides, this task does not: return q . a.",
                lambda q, vectors: _position_scores(q, vectors) / q.shape[-1] ** 0.5),
        Mistake("the last n rows of `vectors`",
                "Those are distances 0 to -(n - 1), for later keys. An encoder needs all rows.",
                lambda q, vectors: _pad_and_reshape(
                    q @ vectors[:, q.shape[-2] - 1 :].to(q.dtype).mT)),
        Mistake("multiplied in a coarser dtype than that of q",
                "The result is brought back to the dtype of q, but on the way numbers were rounded "
                "to a coarser one, such as that of vectors. Bring vectors to q's, and q to none.",
                lambda q, vectors: _position_scores(q.to(vectors.dtype), vectors).to(q.dtype)),
        Mistake("result in the wider of both dtypes",
                "Bring vectors to the dtype of q, and leave the result in it.",
                lambda q, vectors: _position_scores(
                    q.to(torch.promote_types(q.dtype, vectors.dtype)), vectors)),
        Mistake("result in the dtype of vectors",
                "Bring vectors to the dtype of q, not q to the dtype of vectors.",
                lambda q, vectors: _position_scores(q.to(vectors.dtype), vectors)),
        Mistake("result in float32",
                "The result is float32 whatever q is. End with .to(q.dtype), and compute in "
                "float64 if q is.", lambda q, vectors: _position_scores(q.float(), vectors)),
        Mistake("float32 for float64",
                "The result has the dtype of q, but a float64 q loses half of its digits on the "
                "way through float32.",
                lambda q, vectors: _position_scores(q.float(), vectors).to(q.dtype)),
    ),
)  # fmt: skip

# write the test --------------------------------------------------------------------------------

Scores = Callable[[Tensor, Tensor, Tensor], Tensor]


def _apart(positions: Tensor) -> Tensor:
    return positions[:, None] - positions


def _scores(relative: Callable[[Tensor], Tensor] = _apart) -> Scores:
    """Scores by gather, or what becomes of them when other distances are looked up."""

    def scores(q, table, positions):
        return (q @ table.T).gather(-1, relative(positions) + len(table) // 2)

    return scores


def _in_loops(q: Tensor, table: Tensor, positions: Tensor) -> Tensor:
    most = len(table) // 2
    rows = [
        [float(query.double() @ table[i - j + most].double()) for j in positions.tolist()]
        for query, i in zip(q, positions.tolist(), strict=True)
    ]
    return torch.tensor(rows, dtype=q.dtype).reshape(len(q), len(positions))


def _with_all_vectors(q: Tensor, table: Tensor, positions: Tensor) -> Tensor:
    vectors = table[_apart(positions) + len(table) // 2]
    return torch.einsum("id,ijd->ij", q, vectors)


def _shift_only(q, table, positions):
    most, n = len(table) // 2, len(q)
    return _pad_and_reshape(q @ table[most : most + n].flip(0).T)


def _next_row_above(q, table, positions):
    place, right = torch.arange(len(q)), _scores()(q, table, positions)
    return torch.where(place > place[:, None], right.roll(-1, dims=0), right)


def _later_keys_zero(q, table, positions):
    return _scores()(q, table, positions).masked_fill(_apart(positions) < 0, 0)


def _query_of_the_key(q, table, positions):
    vectors = table[_apart(positions) + len(table) // 2]
    return torch.einsum("jd,ijd->ij", q, vectors)


def _last_query_repeats(q, table, positions):
    return _scores()(torch.cat([q[:-1], q[-2:-1]]), table, positions)


def _first_query_repeats(q, table, positions):
    return _scores()(torch.cat([q[1:2], q[1:]]), table, positions)


def _last_key_zero(q, table, positions):
    right = _scores()(q, table, positions)
    return torch.cat([right[:, :-1], torch.zeros_like(right[:, -1:])], dim=1)


def _agrees(
    scores: Scores,
    positions: list[int],
    lower: bool = False,
    exact: bool = False,
    dim: int = 4,
    alike: bool = False,
) -> None:
    generator = torch.Generator().manual_seed(0)
    q = torch.randn(len(positions), dim, generator=generator)
    q = q[:1].expand_as(q) if alike else q
    table = torch.randn(41, dim, generator=generator)
    arguments = q, table, torch.tensor(positions)
    got, want = scores(*arguments), _in_loops(*arguments)
    if lower:
        got, want = got.tril(), want.tril()
    assert torch.equal(got, want) if exact else torch.allclose(got, want, atol=1e-4)


def _test_scores(scores: Scores) -> None:
    _agrees(scores, [3, 0, 1, 9, 14])


@mistake("accepts every version",
         "Nothing was raised for any version. Either nothing is asserted, or only what wrong "
         "numbers satisfy as well, such as a shape, or a comparison with much room.")  # fmt: skip
def _test_shape(scores: Scores) -> None:
    assert scores(torch.zeros(3, 4), torch.zeros(41, 4), torch.arange(3)).shape == (3, 3)


SHIFT_TEST = Exercise(
    slug="transformer-xl-test", title="Write the test: whose score is it?", kind="test",
    minutes=15, points=3, name="test_scores", reference=_test_scores,
    versions=(
        Version("gather", True, _scores()),
        Version("one pair at a time", True, _in_loops),
        Version("a vector for every pair", True, _with_all_vectors),
        Version("pad and reshape", False, _shift_only),
        Version("the next row above the diagonal", False, _next_row_above),
        Version("later keys get 0", False, _later_keys_zero),
        Version("places instead of positions", False,
                _scores(lambda positions: _apart(torch.arange(len(positions))))),
        Version("sign of the distance flipped", False,
                _scores(lambda positions: -_apart(positions))),
        Version("clips at distance 4", False,
                _scores(lambda positions: _apart(positions).clamp(-4, 4))),
        Version("sorts the positions", False,
                _scores(lambda positions: _apart(positions.sort().values))),
        Version("the score of the key's query", False, _query_of_the_key,
                "It gives q_j . a_(i-j). Let the queries differ from each other."),
        Version("the last query repeats the one before", False, _last_query_repeats),
        Version("the first query repeats the second", False, _first_query_repeats),
        Version("the last key scores 0", False, _last_key_zero),
        Version("rows and columns swapped", False, lambda *given: _scores()(*given).T),
        Version("divided by sqrt(d)", False,
                lambda q, *more: _scores()(q, *more) / q.shape[-1] ** 0.5,
                "With vectors of one number, d = 1, this cannot be seen."),
    ),
    hints=(
        "Make a table in which every row says which distance it is: its first column is "
        "torch.arange(-20.0, 21), the others are 0. With queries (1, 0), every entry of the result "
        "should be a distance, and you can write the right matrix down.",
        "Which positions make faults show? 0, 1, 2, ... hide some of them. Take positions with "
        "gaps, near and far from each other, and not in order.",
        "And let the queries differ from row to row: with equal queries nobody can tell whose "
        "score it is. torch.allclose(..., atol=1e-4) compares all entries, those for later keys "
        "too.",
    ),
    mistakes=(
        _test_shape,
        Mistake("looks below the diagonal only",
                "Keys after the query count as well: some versions are wrong there and nowhere "
                "else.", lambda scores: _agrees(scores, [3, 6, 7, 11, 16], lower=True)),
        Mistake("positions without gaps",
                "With 0, 1, 2, ... place and position are the same thing. Take positions with a "
                "gap, and not in order.", lambda scores: _agrees(scores, [0, 1, 2, 3, 4])),
        Mistake("many positions without gaps",
                "With 0, 1, 2, ... place and position are the same thing, however many there are. "
                "Take positions with a gap, and not in order.",
                lambda scores: _agrees(scores, list(range(10)))),
        Mistake("all queries alike",
                "With equal queries nobody can tell whose score it is. Let them differ.",
                lambda scores: _agrees(scores, [3, 0, 1, 9, 14], alike=True)),
        Mistake("vectors of one number",
                "With d = 1 a division by sqrt(d) changes nothing. Take longer vectors.",
                lambda scores: _agrees(scores, [3, 0, 1, 9, 14], dim=1)),
        Mistake("positions in order only",
                "One version sorts them first. Give it positions that are not in order.",
                lambda scores: _agrees(scores, [0, 1, 4, 9, 14])),
        Mistake("asks for equality to the last bit",
                "Two right programs round differently. Allow a small difference: "
                "torch.allclose(..., atol=1e-4).",
                lambda scores: _agrees(scores, [3, 0, 1, 9, 14], exact=True)),
    ),
)  # fmt: skip

EXERCISES = (PRICE, SHAW_SCORES, SHIFT, STRANGERS, BOTH_SIDES, SHIFT_TEST)
