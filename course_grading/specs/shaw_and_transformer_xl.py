"""Exercises of lesson 05: what if distance should depend on content?"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import torch
from torch import Tensor
from torch.nn import functional

from course_grading.exercise import Case, Exercise, Mistake, Property, Version
from course_grading.specs.draw import normal, shuffled

KEEPS_DTYPE_OF_Q = Property(
    "the result has the dtype of q", lambda case, value: value.dtype == case["q"].dtype
)


def _relative(q_positions: Tensor, k_positions: Tensor) -> Tensor:
    return q_positions[..., :, None] - k_positions[..., None, :]


def _places(length: int) -> Tensor:
    return _relative(torch.arange(length), torch.arange(length))


# 5.1 the price of a vector for every pair ----------------------------------------------------


def _mebibytes(pairs: float, width: int = 64, size: int = 2) -> float:
    return pairs * width * size / 2**20


PRICE = Exercise(
    slug="shaw-memory",
    title="The price of a vector for every pair",
    kind="predict",
    minutes=5,
    points=1,
    name="mebibytes",
    reference=lambda: _mebibytes(2048**2),
    relative_tolerance=0.005,
    hints=(
        "How many pairs of a query and a key are there, and how many numbers does each pair get?",
        "The vectors are the same for all heads and all texts of a batch. A number in bfloat16 "
        "takes 2 bytes, and a MiB has 1024 * 1024 bytes.",
    ),
    mistakes=(
        Mistake(
            "four bytes for each number",
            "That would be float32. In bfloat16 a number takes 2 bytes.",
            lambda: _mebibytes(2048**2, size=4),
        ),
        Mistake(
            "once for each head",
            "Shaw's vectors are shared by all heads: the 8 heads do not multiply this tensor.",
            lambda: _mebibytes(8 * 2048**2),
        ),
        Mistake(
            "a million bytes for a MiB",
            "These are megabytes. A MiB is 2**20 = 1 048 576 bytes.",
            lambda: _mebibytes(2048**2) * 2**20 / 1e6,
        ),
        Mistake(
            "a vector for each distance",
            "There are only 2n - 1 distances, and that is the point of this lesson. Asked for is "
            "the price of the wasteful way: a vector for each pair.",
            lambda: _mebibytes(2 * 2048 - 1),
        ),
    ),
)

# 5.2 Shaw's key term -------------------------------------------------------------------------


def _looked_up(q: Tensor, vectors: Tensor, index: Tensor, scale: float | None = None) -> Tensor:
    by_row = q @ vectors.to(q.dtype).T * (q.shape[-1] ** -0.5 if scale is None else scale)
    index = index.unsqueeze(1) if index.ndim == 3 else index
    return by_row.gather(-1, index.expand(*q.shape[:-1], index.shape[-1]))


def _rows(key_vectors: Tensor, relative: Tensor) -> Tensor:
    most = len(key_vectors) // 2
    return relative.clamp(-most, most) + most


def _shaw_scores(q, key_vectors, q_positions, k_positions):
    return _looked_up(q, key_vectors, _rows(key_vectors, _relative(q_positions, k_positions)))


def _scaled_by(power: float) -> Callable[..., Tensor]:
    def scores(q, key_vectors, q_positions, k_positions):
        rows = _rows(key_vectors, _relative(q_positions, k_positions))
        return _looked_up(q, key_vectors, rows, q.shape[-1] ** power)

    return scores


def _later_keys_at_zero(q, key_vectors, q_positions, k_positions):
    relative = _relative(q_positions, k_positions).clamp(min=0)
    return _looked_up(q, key_vectors, _rows(key_vectors, relative))


def _absolute_distance(q, key_vectors, q_positions, k_positions):
    relative = _relative(q_positions, k_positions).abs()
    return _looked_up(q, key_vectors, _rows(key_vectors, relative))


def _negative_rows(q, key_vectors, q_positions, k_positions):
    most = len(key_vectors) // 2
    relative = _relative(q_positions, k_positions).clamp(-most, most)
    return _looked_up(q, key_vectors, relative % len(key_vectors))


def _rows_as_places(q, key_vectors, q_positions, k_positions):
    queries, keys = q_positions.shape[-1], k_positions.shape[-1]
    return _shaw_scores(q, key_vectors, torch.arange(queries), torch.arange(keys))


def _first_text_for_all(q, key_vectors, q_positions, k_positions):
    first = (p[0] if p.ndim == 2 else p for p in (q_positions, k_positions))
    return _shaw_scores(q, key_vectors, *first)


def _texts_as_heads(q, key_vectors, q_positions, k_positions):
    rows = _rows(key_vectors, _relative(q_positions, k_positions))
    by_row = q @ key_vectors.to(q.dtype).T * q.shape[-1] ** -0.5
    return by_row.gather(-1, rows.expand(*q.shape[:-1], rows.shape[-1]))


def _wraps_around(q, key_vectors, q_positions, k_positions):
    relative = _relative(q_positions, k_positions)
    rows = (relative + len(key_vectors) // 2) % len(key_vectors)
    return _looked_up(q, key_vectors, rows)


def _shaw_cases(rng: Random) -> list[Case]:
    def case(q_positions, k_positions, batch=1, most=2, dim=4, dtype=torch.float32) -> Case:
        return {
            "q": normal(rng, batch, 2, q_positions.shape[-1], dim, dtype=dtype),
            "key_vectors": normal(rng, 2 * most + 1, dim, dtype=dtype),
            "q_positions": q_positions,
            "k_positions": k_positions,
        }

    in_order = torch.arange(5)
    gaps = torch.tensor([0, 1, 4, 9])
    one = shuffled(rng, 6, 20)
    mixed = torch.stack([one, one.flip(0)])
    newest = torch.tensor([rng.randint(7, 30)])
    return [
        case(in_order, in_order),
        case(gaps, gaps, batch=3, most=4, dim=8),
        case(mixed, mixed, batch=2, most=3),
        case(newest, torch.arange(int(newest) - 6, int(newest) + 1), most=4),
        case(torch.tensor([3]), torch.tensor([3])),
        case(in_order, in_order + 2, batch=2, dim=16, dtype=torch.bfloat16),
    ]


SHAW_SCORES = Exercise(
    slug="shaw-scores",
    title="A vector for each distance",
    kind="implement",
    minutes=20,
    points=3,
    name="shaw_scores",
    reference=_shaw_scores,
    cases=_shaw_cases,
    properties=(KEEPS_DTYPE_OF_Q,),
    forbidden=("Shaw",),
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
        Mistake(
            "sign of the distance flipped",
            "You look up j - i. Row 0 belongs to keys that stand far after the query, the last row "
            "to keys far before it.",
            lambda q, a, qp, kp: _looked_up(q, a, _rows(a, -_relative(qp, kp))),
        ),
        Mistake(
            "not divided by sqrt(head_dim)",
            "The term is added to scores that are divided by sqrt(head_dim) already: divide yours, "
            "too.",
            _scaled_by(0.0),
        ),
        Mistake(
            "divided by head_dim",
            "Divide by the square root of head_dim, not by head_dim.",
            _scaled_by(-1.0),
        ),
        Mistake(
            "later keys all at distance 0",
            "Keys after the query have distances -1, -2, ... and vectors of their own, rows below "
            "m. Clip to -m..m, not to 0..m.",
            _later_keys_at_zero,
        ),
        Mistake(
            "direction lost",
            "abs() makes one before and one after the same. Half of the rows are for later keys.",
            _absolute_distance,
        ),
        Mistake(
            "rows counted from the middle",
            "Distance 0 stands in row m, not in row 0: add m after clipping. (A negative index "
            "counts from the end, so nothing complains.)",
            _negative_rows,
        ),
        Mistake(
            "places instead of positions",
            "You number rows and columns 0, 1, 2, ... yourself. Use the positions that are given: "
            "they may have gaps, and a query may be the newest of many tokens.",
            _rows_as_places,
        ),
        Mistake(
            "the first text's positions for all",
            "With positions of shape (batch, length) each text has its own.",
            _first_text_for_all,
        ),
        Mistake(
            "texts taken for heads",
            "An index of shape (batch, queries, keys) against (batch, heads, ...) lines up with "
            "the heads. Here batch and heads are both 2, so nothing complains. Use unsqueeze(1).",
            _texts_as_heads,
        ),
        Mistake(
            "wraps around instead of clipping",
            "Distances beyond m share the row of m. Yours begin again at the other end.",
            _wraps_around,
        ),
    ),
)

# 5.3 the shift -------------------------------------------------------------------------------


def _slid(scores: Tensor, first_column: Callable[[int, int], int]) -> Tensor:
    """Row i read from column first_column(i, n) on, around the end; later keys 0."""
    n = scores.shape[-1]
    start = torch.tensor([first_column(i, n) for i in range(n)])
    index = (start[:, None] + torch.arange(n)) % n
    return scores.gather(-1, index.expand(scores.shape)).tril()


def _shifted(scores):
    return _slid(scores, lambda i, n: n - 1 - i)


def _pad_and_reshape(scores: Tensor, pad: tuple[int, int] = (1, 0)) -> Tensor:
    n = scores.shape[-1]
    return functional.pad(scores, pad).flatten(-2)[..., n:].unflatten(-1, (n, n))


def _whole_batch_flattened(scores):
    n = scores.shape[-1]
    flat = functional.pad(scores, (1, 0)).flatten()
    count = scores.numel()
    return flat[-count:].reshape(scores.shape).tril() if n else scores


def _score_cases(rng: Random) -> list[Case]:
    def case(*shape, dtype=torch.float32) -> Case:
        return {"scores": normal(rng, *shape, dtype=dtype)}

    by_hand = torch.tensor([[12.0, 11, 10], [22, 21, 20], [32, 31, 30]])
    n = rng.randint(5, 9)
    return [
        {"scores": by_hand},
        case(2, 3, 4, 4),
        case(1, 1),
        case(n, n),
        case(2, 5, 5, dtype=torch.bfloat16),
        case(1, 2, 2, 2, 2),
    ]


SHIFT = Exercise(
    slug="transformer-xl-shift",
    title="The relative shift",
    kind="implement",
    minutes=20,
    points=3,
    name="shifted",
    reference=_shifted,
    cases=_score_cases,
    forbidden=("relative_shift", "skew"),
    hints=(
        "Write down three rows by hand, as in the lesson. Where in row 0 stands the score at "
        "distance 0, and where must it go? And in row 1?",
        "The last row may stay as it is, the one above moves left by one, the one above that by "
        "two. You may do it with a loop, with gather, or with the lesson's pad and reshape.",
        "Pad one column on the left, flatten the last two axes, drop the first n numbers, give "
        "it the old shape. What stands above the diagonal then is not yours: .tril() sets it to 0.",
    ),
    mistakes=(
        Mistake(
            "garbage above the diagonal",
            "The lower half is right. Above the diagonal the reshape leaves the next row's scores, "
            "and zeros of the padding; here 0 is asked for: .tril().",
            _pad_and_reshape,
        ),
        Mistake(
            "padded on the right",
            "A column on the right pushes every row one place too far: pad on the left, (1, 0).",
            lambda scores: _pad_and_reshape(scores, (0, 1)).tril(),
        ),
        Mistake(
            "shifted the wrong way",
            "Rows must move left, and the first one farthest. Row 0 has its only valid number in "
            "the last column, and needs it in the first.",
            lambda scores: _slid(scores, lambda i, n: i + 1 - n),
        ),
        Mistake(
            "order of distances flipped",
            "You take column c as distance c. It is distance n - 1 - c: the largest comes first.",
            lambda scores: _shifted(scores.flip(-1)),
        ),
        Mistake(
            "not shifted at all",
            "Setting the upper half to 0 moves nothing: row 0 still shows the score at the largest "
            "distance.",
            lambda scores: scores.tril(),
        ),
        Mistake(
            "the last row moved, the first not",
            "Row i moves left by n - 1 - i, not by i: the last row is right as it comes.",
            lambda scores: _slid(scores, lambda i, n: i),
        ),
        Mistake(
            "one column off",
            "The diagonal must show distance 0. Yours shows distance 1.",
            lambda scores: _slid(scores, lambda i, n: n - 2 - i),
        ),
        Mistake(
            "flattened across the batch",
            "Each matrix is shifted by itself: flatten the last two axes only, .flatten(-2).",
            _whole_batch_flattened,
        ),
    ),
)

# 5.4 count the strangers ---------------------------------------------------------------------


def _strangers(n: int) -> int:
    return n * (n - 1) // 2 - (n - 1)


STRANGERS = Exercise(
    slug="transformer-xl-strangers",
    title="Measure: how many strangers?",
    kind="measure",
    minutes=10,
    points=1,
    name="strangers",
    reference=lambda: _strangers(64),
    hints=(
        "Let every row carry its own number: torch.arange(1.0, 65)[:, None].expand(64, 64). After "
        "the shift, who stands where?",
        "Compare the shifted matrix with what went in: entries that differ from their row's "
        "number. Those that are 0 come from the padding and are nobody's score.",
    ),
    mistakes=(
        Mistake(
            "padding counted",
            "This is everything above the diagonal. Some of it is 0 from the padded column, and no "
            "row's score.",
            lambda: 64 * 63 // 2,
        ),
        Mistake(
            "only the padding counted",
            "This is the number of zeros. Asked for are scores of another row.",
            63,
        ),
        Mistake(
            "the diagonal counted",
            "The diagonal is distance 0, and right.",
            lambda: 64 * 65 // 2,
        ),
    ),
)

# 5.5 repair: the shift without a causal mask ---------------------------------------------------


def _by_index(q: Tensor, vectors: Tensor, index: Tensor) -> Tensor:
    scores = q @ vectors.to(q.dtype).mT
    return scores.gather(-1, index.expand(*scores.shape[:-1], index.shape[-1]))


def _position_scores(q, vectors):
    n = q.shape[-2]
    return _by_index(q, vectors, n - 1 - _places(n))


def _published_scores(q, vectors):
    n = q.shape[-2]
    return _pad_and_reshape(q @ vectors[:, :n].mT)


def _sliding_right(q, vectors):
    n = q.shape[-2]
    return _by_index(q, vectors, torch.arange(n)[:, None] + torch.arange(n))


def _both_side_cases(rng: Random) -> list[Case]:
    def case(batch, heads, n, dim=4, dtype=torch.float32) -> Case:
        return {
            "q": normal(rng, batch, heads, n, dim, dtype=dtype),
            "vectors": normal(rng, heads, 2 * n - 1, dim, dtype=dtype),
        }

    return [
        case(1, 1, 3),
        case(2, 3, 5, dim=8),
        case(2, 2, rng.randint(6, 9)),
        case(1, 2, 1),
        case(1, 2, 4, dtype=torch.bfloat16),
    ]


BOTH_SIDES = Exercise(
    slug="transformer-xl-both-sides",
    title="Repair: a shift where nothing is masked",
    kind="repair",
    minutes=20,
    points=2,
    name="position_scores",
    reference=_position_scores,
    cases=_both_side_cases,
    properties=(KEEPS_DTYPE_OF_Q,),
    forbidden=("skew", "TransformerXL"),
    hints=(
        "Let q be ones and give vectors[0] the rows 2, 1, 0, -1, -2 (n = 3, dim = 1). Each entry "
        "of the result then is a distance. Which should it be at query 0, key 2?",
        "The published code uses only the first n rows of `vectors`, distances n - 1 to 0. Scores "
        "with all 2n - 1 rows know the later keys, too. Where in a row does key 0 stand?",
        "Key j of query i stands in column n - 1 - (i - j) of q @ vectors.mT. Gather it; or slice "
        "row i from column n - 1 - i on.",
    ),
    mistakes=(
        Mistake(
            "later keys read the next row",
            "This is the code as published. Below the diagonal it is right; above, a query sees "
            "scores of the query after it, and no mask hides them here.",
            _published_scores,
        ),
        Mistake(
            "later keys get 0",
            "Nothing is masked here: later keys have distances -1, -2, ... whose vectors are rows "
            "n, n + 1, ...",
            lambda q, vectors: _position_scores(q, vectors).tril(),
        ),
        Mistake(
            "direction lost",
            "You treat a key two after as one two before. `vectors` has a row for each.",
            lambda q, vectors: _by_index(q, vectors, q.shape[-2] - 1 - _places(q.shape[-2]).abs()),
        ),
        Mistake(
            "sign of the distance flipped",
            "The largest distance comes first: row 0 is n - 1, where the key stands far before.",
            lambda q, vectors: _position_scores(q, vectors.flip(1)),
        ),
        Mistake(
            "rows slide the wrong way",
            "Query 0 has all other keys after it, so its row begins in the middle, at column n - "
            "1. The last query's begins at column 0.",
            _sliding_right,
        ),
        Mistake(
            "not shifted at all",
            "The first n columns are distances n - 1 to 0 for every query. Which distance has key "
            "0 for query 0?",
            lambda q, vectors: (q @ vectors.to(q.dtype).mT)[..., : q.shape[-2]],
        ),
    ),
)

# 5.6 write the test --------------------------------------------------------------------------


def _by_gather(q: Tensor, table: Tensor, positions: Tensor) -> Tensor:
    index = _relative(positions, positions) + len(table) // 2
    return (q @ table.T).gather(-1, index)


def _in_loops(q: Tensor, table: Tensor, positions: Tensor) -> Tensor:
    most = len(table) // 2
    rows = [
        [float(one.double() @ table[i - j + most].double()) for j in positions.tolist()]
        for one, i in zip(q, positions.tolist(), strict=True)
    ]
    return torch.tensor(rows)


def _with_all_vectors(q: Tensor, table: Tensor, positions: Tensor) -> Tensor:
    vectors = table[_relative(positions, positions) + len(table) // 2]
    return torch.einsum("id,ijd->ij", q, vectors)


def _garbage_above(q, table, positions):
    place, right = torch.arange(len(q)), _by_gather(q, table, positions)
    above = place[None, :] > place[:, None]
    return torch.where(above, right.roll(-1, dims=0), right)


def _shift_only(q, table, positions):
    most, n = len(table) // 2, len(q)
    return _pad_and_reshape(q @ table[most : most + n].flip(0).T)


def _later_keys_zero(q, table, positions):
    right = _by_gather(q, table, positions)
    return right.masked_fill(_relative(positions, positions) < 0, 0)


def _clipped_at_four(q, table, positions):
    index = _relative(positions, positions).clamp(-4, 4) + len(table) // 2
    return (q @ table.T).gather(-1, index)


Scores = Callable[[Tensor, Tensor, Tensor], Tensor]


def _agrees(scores: Scores, positions: Tensor, lower: bool = False, exact: bool = False) -> None:
    generator = torch.Generator().manual_seed(0)
    q = torch.randn(len(positions), 4, generator=generator)
    table = torch.randn(41, 4, generator=generator)
    got, want = scores(q, table, positions), _in_loops(q, table, positions)
    if lower:
        got, want = got.tril(), want.tril()
    assert torch.equal(got, want) if exact else torch.allclose(got, want, atol=1e-4)


def _test_scores(scores: Scores) -> None:
    _agrees(scores, torch.tensor([3, 0, 1, 9, 14]))


def _test_nothing(scores: Scores) -> None:
    assert scores(torch.zeros(3, 4), torch.zeros(41, 4), torch.arange(3)).shape == (3, 3)


SHIFT_TEST = Exercise(
    slug="transformer-xl-test",
    title="Write the test: whose score is it?",
    kind="test",
    minutes=15,
    points=3,
    name="test_scores",
    reference=_test_scores,
    versions=(
        Version("gather", True, _by_gather),
        Version("one pair at a time", True, _in_loops),
        Version("a vector for every pair", True, _with_all_vectors),
        Version("pad and reshape", False, _shift_only),
        Version("the next row above the diagonal", False, _garbage_above),
        Version("later keys get 0", False, _later_keys_zero),
        Version(
            "places instead of positions",
            False,
            lambda q, table, positions: _by_gather(q, table, torch.arange(len(q))),
        ),
        Version(
            "sign of the distance flipped",
            False,
            lambda q, table, positions: _by_gather(q, table, -positions),
        ),
        Version("clips at distance 4", False, _clipped_at_four),
        Version(
            "sorts the positions",
            False,
            lambda q, table, positions: _by_gather(q, table, positions.sort().values),
        ),
    ),
    hints=(
        "Make a table in which every row says which distance it is: "
        "torch.arange(-20.0, 21)[:, None], with queries of one 1. Then every entry of the result "
        "should be a distance, and you can write the right matrix down.",
        "Which positions make faults show? 0, 1, 2, ... hide two of them. Take some with a gap, "
        "with a distance above 4, and not in order.",
        "And let the queries differ from row to row: with equal queries nobody can tell whose "
        "score it is. torch.allclose(..., atol=1e-4) compares all entries, those for later keys "
        "too.",
    ),
    mistakes=(
        Mistake(
            "accepts every version",
            "Nothing was raised for any version. A test must `assert`, and look at values: zeros "
            "fit into the right shape.",
            _test_nothing,
        ),
        Mistake(
            "looks below the diagonal only",
            "Keys after the query count as well: two versions are wrong there and nowhere else.",
            lambda scores: _agrees(scores, torch.tensor([3, 6, 7, 11, 16]), lower=True),
        ),
        Mistake(
            "positions without gaps",
            "With 0, 1, 2, ... place and position are the same thing. Take positions with a gap, "
            "and not in order.",
            lambda scores: _agrees(scores, torch.arange(5)),
        ),
        Mistake(
            "positions in order only",
            "One version sorts them first. Give it positions that are not in order.",
            lambda scores: _agrees(scores, torch.tensor([0, 1, 4, 9, 14])),
        ),
        Mistake(
            "asks for equality to the last bit",
            "Two right programs round differently. Allow a small difference: torch.allclose(..., "
            "atol=1e-4).",
            lambda scores: _agrees(scores, torch.tensor([3, 0, 1, 9, 14]), exact=True),
        ),
    ),
)

EXERCISES = (PRICE, SHAW_SCORES, SHIFT, STRANGERS, BOTH_SIDES, SHIFT_TEST)
