"""Exercises of lesson 05: can attention know only distances?"""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

import torch
from torch import Tensor

from course_grading.domain import Integers, Number, Positions, Tensors
from course_grading.exercise import Case, Exercise, Mistake, Property, Version, mistake
from course_grading.specs.draw import normal, shuffled
from course_grading.values import Other


def _counted(positions: Tensor) -> Tensor:
    """What stands for positions in an answer that counts 0, 1, 2, ... itself."""
    return torch.arange(len(positions))


# the clipped bias ------------------------------------------------------------------------------


def _clipped_bias(
    place: Callable[[Tensor], Tensor] = lambda positions: positions,
    distance: Callable[[Tensor, Tensor], Tensor] = lambda i, j: i - j,
    row: Callable[[Tensor, int], Tensor] = lambda distance, m: distance.clamp(-m, m) + m,
    heads_first: Callable[[Tensor], Tensor] = lambda looked_up: looked_up.permute(2, 0, 1),
) -> Callable[..., Tensor]:
    """The clipped bias, or what becomes of it when one of these choices is another."""

    def clipped_bias(q_positions, k_positions, table, max_distance):
        distances = distance(place(q_positions)[:, None], place(k_positions))
        return heads_first(table[row(distances, max_distance)])

    return clipped_bias


def _clipped_cases(rng: Random) -> list[Case]:
    def case(q_positions, k_positions, max_distance, heads, dtype=torch.float32) -> Case:
        table = normal(rng, 2 * max_distance + 1, heads, dtype=dtype)
        return {"q_positions": q_positions, "k_positions": k_positions, "table": table,
                "max_distance": max_distance}  # fmt: skip

    repeated = case(torch.tensor([3, 3, 0, 9]), torch.tensor([5, 1, 5, 2, 30]), 4, 8)
    newest, late = rng.randint(20, 60), 8 * rng.randint(130, 200) + torch.arange(7)
    near = torch.tensor([2, 4, 3])
    return [  # the late ones lose count in bfloat16, the last ones in float32
        case(torch.arange(5), torch.arange(5), 2, 3),
        repeated,
        case(torch.tensor([newest]), torch.arange(newest - 6, newest + 1), 3, 2),
        case(torch.tensor([4, 9, 30]), torch.tensor([0, 8, 31, 33]), 2, 3),
        # one query with keys far on either side alone, several with keys on one side or on none
        case(torch.tensor([5]), torch.tensor([7, 30, 6, 500]), 2, 3),
        case(torch.tensor([500]), torch.tensor([7, 30, 499]), 2, 3),
        case(torch.tensor([40, 33, 61]), torch.tensor([3, 33, 1, 9]), 3, 2),
        case(torch.tensor([3, 1]), torch.tensor([20, 4, 9]), 3, 2),
        case(near, near[:2], 3, 2),
        case(shuffled(rng, 6, 40), shuffled(rng, 6, 40), 30, 2),
        case(late, late[2:], 3, 2, torch.bfloat16),
        case(torch.tensor([3]), torch.tensor([3]), 1, 1),
        case(torch.tensor([20_000_001, 40_000, 0]),
             torch.tensor([20_000_000, 40_002, 20_000_002, 200, 1]), 2, 4),
        {**repeated, "q_positions": torch.tensor([3, 5, 0, 9])},
        {**repeated, "k_positions": torch.tensor([5, 1, 4, 2, 30])},
        {**repeated, "table": normal(rng, 9, 8)},
        {**repeated, "table": normal(rng, 5, 8), "max_distance": 2},
        {**repeated, "table": repeated["table"].bfloat16()},
    ]  # fmt: skip


@mistake("positions in the dtype of the table",
         "A bfloat16 holds every whole number only up to 256, a float32 only up to 16 777 216. "
         "Subtract the positions while they are integers.")  # fmt: skip
def _positions_in_the_table_s_dtype(q_positions, k_positions, table, max_distance):
    rounded = (positions.to(table.dtype).long() for positions in (q_positions, k_positions))
    return _clipped_bias()(*rounded, table, max_distance)


@mistake("positions in float32",
         "A float32 holds every whole number only up to 16 777 216. Subtract the positions while "
         "they are integers.")  # fmt: skip
def _positions_in_float32(q_positions, k_positions, table, max_distance):
    rounded = (positions.float().long() for positions in (q_positions, k_positions))
    return _clipped_bias()(*rounded, table, max_distance)


CLIPPED_BIAS = Exercise(
    slug="clipped-bias", title="From offsets to a bias", kind="implement", minutes=20, points=3,
    name="clipped_bias", reference=_clipped_bias(), cases=_clipped_cases,
    roundings=0,
    domain={
        "q_positions": Positions(30_000_000, axes=(1, 1)),
        "k_positions": Positions(30_000_000, axes=(1, 1)),
        "table": Tensors((2, 2), (torch.bfloat16, torch.float32)),
        "max_distance": Number(1, 40, whole=True),
    },
    forbidden=("relative_positions", "clip_to_index", "ClippedBias", "by_distance", "distances_of"),
    hints=(
        "Four steps: a matrix of distances with one row for each query and one column for each "
        "key; clip it; make row numbers of it; look up and bring the heads to the front.",
        "q_positions[:, None] - k_positions is the matrix. After .clamp(-max_distance, "
        "max_distance) its smallest number is -max_distance: what must be added for that to be "
        "row 0?",
        "table[rows] has shape (queries, keys, heads). permute(2, 0, 1) turns it around; reshape "
        "would only cut the same numbers anew.",
    ),
    mistakes=(
        Mistake("distances with the sign flipped",
                "This is j - i: keys before the query get the rows of those after it. Here the "
                "distance is i - j, query minus key.", _clipped_bias(distance=lambda i, j: j - i)),
        Mistake("clipped, but not shifted",
                "Row -2 of a tensor is the second from its end, so no error is raised. Add "
                "max_distance after clipping: rows run from 0 to 2 * max_distance.",
                _clipped_bias(row=lambda distance, m: distance.clamp(-m, m))),
        Mistake("reshaped instead of permuted",
                "The shape is right and the numbers are not: reshape reads them in the order in "
                "which they lie. Use permute(2, 0, 1).",
                _clipped_bias(heads_first=lambda x: x.reshape(x.permute(2, 0, 1).shape))),
        Mistake("heads left at the end",
                "table[rows] has shape (queries, keys, heads). Bring the heads to the front, "
                "without touching the order of the other two.",
                _clipped_bias(heads_first=lambda looked_up: looked_up)),
        Mistake("queries and keys swapped",
                "The heads are in front, but then come keys and queries, in this order. Queries go "
                "down and keys across, as in q[:, None] - k, and then permute(2, 0, 1).",
                _clipped_bias(heads_first=lambda looked_up: looked_up.permute(2, 1, 0))),
        Mistake("before and after not told apart",
                "abs() sends a key three before and one three after to the same row. The table "
                "has 2 * max_distance + 1 rows so that they can differ.",
                _clipped_bias(distance=lambda i, j: (i - j).abs())),
        Mistake("keys after the query all get the middle row",
                "Clip at -max_distance on the lower side, not at 0: the lower half of the table "
                "is for keys after the query.",
                _clipped_bias(row=lambda distance, m: distance.clamp(0, m) + m)),
        Mistake("counts 0, 1, 2, ... instead of using the positions",
                "Positions may have gaps, come in any order, or be those of one new token. "
                "Subtract the positions themselves.", _clipped_bias(place=_counted)),
        Mistake("far distances wrapped around",
                "With % a far key lands in the row of a near one. Far distances must stay in the "
                "first and the last row: use clamp.",
                _clipped_bias(row=lambda distance, m: (distance + m) % (2 * m + 1))),
        Mistake("clipped one too early",
                "Your rows never reach the first and the last row of the table. Clip to "
                "-max_distance and max_distance, both included.",
                _clipped_bias(row=lambda distance, m: distance.clamp(1 - m, m - 1) + m)),
        Mistake("clipped from above only",
                "Keys more than max_distance after the query have negative rows, which count from "
                "the end of the table or lie outside of it. Clip on both sides.",
                _clipped_bias(row=lambda distance, m: distance.clamp(max=m) + m)),
        _positions_in_the_table_s_dtype,
        _positions_in_float32,
    ),
)  # fmt: skip

# a bucket by hand ------------------------------------------------------------------------------

BUCKET_BY_HAND = Exercise(
    slug="t5-bucket", title="A bucket by hand", kind="predict", minutes=5, points=1,
    name="bucket", reference=27,
    hints=(
        "The encoder looks both ways, so each side has 16 buckets. How many of those are exact?",
        "Eight are exact, for distances 0 to 7. The other eight grow by equal ratios from 8 to "
        "128: 8 + floor(8 * ln(30 / 8) / ln(128 / 8)).",
        "That is the bucket for a key 30 *before* the query. Keys after it use the upper 16.",
    ),
    mistakes=(
        Mistake("a key before the query",
                "That is the bucket for 30 tokens before. Keys after the query have the upper "
                "half.", 11),
        Mistake("the decoder's buckets",
                "That is how a decoder counts, which has all 32 buckets for the past. The encoder "
                "has 16 for each side.", 20),
        Mistake("one too many",
                "8 ln(30 / 8) / ln(16) is 3.81. Drop the fraction instead of rounding: a bucket "
                "begins where a whole number is reached. And buckets are counted from 0.", 28),
        Mistake("the fraction kept",
                "8 ln(30 / 8) / ln(16) is 3.81. A bucket has a whole number: drop the fraction.",
                24 + 8 * math.log(30 / 8) / math.log(16)),
        Mistake("exact part forgotten",
                "The eight exact buckets come first; the logarithmic ones are counted after them.",
                19),
        Mistake("ratio of the logarithms left out",
                "ln(30 / 8) is 1.32, but the eight buckets share ln(128 / 8) = 2.77: the "
                "logarithm has to be multiplied by 8 / 2.77. Equal steps of the distance itself "
                "lead to the same bucket.", 25),
        Mistake("logarithm of the distance itself",
                "The logarithmic part begins at 8, so it is the logarithm of 30 / 8 out of that of "
                "128 / 8, not of 30 out of 128.", 29),
    ),
)  # fmt: skip

# repair: T5 buckets with the sign flipped ------------------------------------------------------


def _log_share(distance: Tensor, exact: int, max_distance: int) -> Tensor:
    return (distance / exact).log() / math.log(max_distance / exact)


def _bucket(
    past: Callable[[Tensor], Tensor] = lambda relative: relative.clamp(min=0),
    share: Callable[[Tensor, int, int], Tensor] = _log_share,
    highest: Callable[[int], int] = lambda num_buckets: num_buckets - 1,
    whole: Callable[[Tensor], Tensor] = torch.floor,
) -> Callable[..., Tensor]:
    """T5's buckets in a decoder, or what becomes of them when one of these choices is another."""

    def bucket(relative, num_buckets, max_distance):
        distance, exact = past(relative), num_buckets // 2
        ratio = share(distance.clamp(min=exact).double(), exact, max_distance)
        far = exact + whole(ratio * (num_buckets - exact) + 1e-9).long()
        return torch.where(distance < exact, distance, far.clamp(max=highest(num_buckets)))

    return bucket


def _open(num_buckets: int) -> int:
    return 10**9


def _bucket_cases(rng: Random) -> list[Case]:
    def case(relative, num_buckets, max_distance) -> Case:
        return {"relative": relative, "num_buckets": num_buckets, "max_distance": max_distance}

    positions = shuffled(rng, 6, 400)
    repeated = case(torch.tensor([-90, -3, 0, 2, 5, 9, 15, 20, 40, 100, 112]), 32, 128)
    return [
        case(torch.tensor([0, 1, 3, 5, 10, 15]), 8, 16),
        repeated,
        case(torch.tensor([16, 19, 127, 128, 129, 500, 100_000]), 32, 128),
        case(positions[:, None] - positions, 32, 128),
        case(positions[:, None] - positions - rng.randint(0, 9), 10, 60),
        case(torch.tensor(rng.randint(17, 90)), 32, 128),
        case(torch.arange(60), 9, 40),
        case(torch.arange(-3, 30).reshape(11, 3), 4, 17),
        case(torch.arange(20, 5500, 9), 64, 6000),  # too far for bfloat16 and float16
        case(torch.arange(-40, 200).reshape(4, 3, 20), 32, 128),
        {**repeated, "num_buckets": 12},
        {**repeated, "max_distance": 60},
    ]


@mistake("an encoder's buckets",
         "Half of your buckets are for keys after the query, as in an encoder. A decoder has all "
         "of them for the past.")  # fmt: skip
def _buckets_of_an_encoder(relative, num_buckets, max_distance):
    side = _bucket(past=torch.abs)(relative, num_buckets // 2, max_distance)
    return side + num_buckets // 2 * (relative < 0)


@mistake("no exact half",
         "Distances below num_buckets // 2 have a bucket each; the logarithm begins after "
         "them.")  # fmt: skip
def _exact_part_lost(relative, num_buckets, max_distance):
    distance = relative.clamp(min=1).double()
    bucket = (distance.log() / math.log(max_distance) * num_buckets + 1e-9).long()
    return bucket.clamp(max=num_buckets - 1)


DECODER_BUCKET = Exercise(
    slug="t5-decoder-bucket", title="Repair: every past token is the same", kind="repair",
    minutes=10, points=2, name="decoder_bucket", reference=_bucket(), cases=_bucket_cases,
    domain={
        "relative": Integers(-500, 100_000, (0, 3)),
        "num_buckets": Number(4, 64, whole=True),
        "max_distance": Number(16, 6000, whole=True),
    },
    forbidden=("t5_bucket", "T5Bias"),
    hints=(
        "published_bucket(torch.arange(20), 32, 128): which distances does it tell apart, and "
        "which should it tell apart? Then try negative ones.",
        "The minus in the first line belongs to memory minus query. With i - j, the past is "
        "positive already: relative.clamp(min=0).",
        "Then try a distance of 500 with 32 buckets. The last bucket is open: clamp what you get "
        "to num_buckets - 1.",
    ),
    mistakes=(
        Mistake("sign flipped",
                "All keys before the query get bucket 0: the bias tells no past token from "
                "another. Here a positive distance means the past.",
                _bucket(past=lambda relative: (-relative).clamp(min=0))),
        Mistake("last bucket not open",
                "From max_distance on, the formula gives buckets for which the table has no row. "
                "Clamp to num_buckets - 1.", _bucket(highest=_open)),
        Mistake("sign flipped and last bucket not open",
                "These are the published buckets, unchanged: the bias still tells no past token "
                "from another.",
                _bucket(past=lambda relative: (-relative).clamp(min=0), highest=_open)),
        Mistake("one bucket too many",
                "Buckets are counted from 0, so the last one is num_buckets - 1. Clamp the bucket "
                "to that, or a distance to less than max_distance.",
                _bucket(highest=lambda num_buckets: num_buckets)),
        Mistake("rounded to the nearest bucket",
                "A bucket begins where a whole number is reached: drop the fraction instead of "
                "rounding.", _bucket(whole=torch.round)),
        Mistake("bucket rounded up",
                "A bucket begins where a whole number is reached: drop the fraction instead of "
                "rounding up.", _bucket(whole=torch.ceil)),
        Mistake("future mirrored into the past",
                "abs() gives keys after the query the buckets of keys before it. In a decoder "
                "they get bucket 0.", _bucket(past=torch.abs)),
        _buckets_of_an_encoder,
        Mistake("linear instead of logarithmic",
                "Beyond the exact half, buckets grow by equal ratios, not by equal steps: it is "
                "the logarithm of the distance that is divided evenly.",
                _bucket(share=lambda distance, exact, limit: (distance - exact) / (limit - exact))),
        _exact_part_lost,
    ),
)  # fmt: skip

# write the test --------------------------------------------------------------------------------

Bias = Callable[[Tensor, Tensor], Tensor]
STEPS = torch.tensor([-0.5, 0.25, 1.0])  # of three heads
LAST_HEAD = torch.tensor([0.0, 0.0, 1.0])[:, None, None]


def _bias(
    place: Callable[[Tensor], Tensor] = lambda positions: positions,
    distance: Callable[[Tensor, Tensor], Tensor] = lambda i, j: i[:, None] - j,
    number: Callable[[Tensor], Tensor] = lambda distance: distance.abs(),
    more: Callable[[Tensor, Tensor], Tensor] = lambda i, j: torch.zeros(3, 1, 1),
) -> Bias:
    """A bias of three heads, `more` of which may depend on something else than distances."""

    def bias(q_positions, k_positions):
        distances = distance(place(q_positions), place(k_positions))
        return STEPS[:, None, None] * number(distances) + more(q_positions, k_positions)

    return bias


def _in_a_row(i, j):
    """Distances of queries and keys that are counted, the last of both at one place."""
    return torch.arange(len(j) - len(i), len(j))[:, None] - torch.arange(len(j))


def _from_a_table(q_positions, k_positions):
    table = torch.sin(7.0 * torch.arange(33).double()[:, None] * torch.tensor([1, 2, 5]))
    rows = (q_positions[:, None] - k_positions).clamp(-16, 16) + 16
    return table[rows].permute(2, 0, 1)


def _one_by_one(q_positions, k_positions):
    rows = [[[step * (i - j) / 8 for j in k_positions.tolist()] for i in q_positions.tolist()]
            for step in (1.0, 0.1)]  # fmt: skip
    return torch.tensor(rows).reshape(2, len(q_positions), len(k_positions))


def _position_less_position(q_positions, k_positions):
    return 0.1 * q_positions.float()[:, None] - 0.1 * k_positions.float()[None, None]


TO = 6000
"""The first position about which nothing is promised."""


def _test_distances(
    bias: Bias,
    q_positions: tuple[int, ...] = (300, 5, 1000),
    k_positions: tuple[int, ...] = (0, 997, 7, 297, 3, 1001),
    rows: Callable[[Tensor], Tensor] = lambda got: got,
    room: float = 2e-3,
    sweep: bool = True,
) -> None:
    """Each pair alone, and again in another place, gives what it gives among the others.

    And each distance up to 5999, at all keys, gives what it gives at all queries.
    """
    if sweep:
        places, first, last = torch.arange(TO), torch.tensor([0]), torch.tensor([TO - 1])
        for before, after in (((last, places), (places.flip(0), first)),
                              ((first, places.flip(0)), (places, last))):  # fmt: skip
            of_keys, of_queries = rows(bias(*before))[:, 0], rows(bias(*after))[..., 0]
            assert torch.allclose(of_keys, of_queries, atol=room, rtol=0)
    got = rows(bias(torch.tensor(q_positions), torch.tensor(k_positions)))
    for a, i in enumerate(q_positions):
        for b, j in enumerate(k_positions):
            for moved in (0, 4000):
                alone = rows(bias(torch.tensor([i + moved]), torch.tensor([j + moved])))
                assert torch.allclose(got[:, a, b], alone[:, 0, 0], atol=room, rtol=0)


def _test_move(bias: Bias, by: int, room: float = 1e-3) -> None:
    here = torch.arange(6)
    moved = bias(here + by, here + by)
    assert torch.allclose(bias(here, here), moved, atol=room, rtol=0)


def _test_diagonals(bias: Bias) -> None:
    got = bias(torch.arange(6), torch.arange(6))
    for offset in range(-5, 6):
        on_it = got.diagonal(offset, 1, 2)
        assert torch.allclose(on_it, on_it[:, :1], atol=1e-3)


@mistake("accepts every version",
         "Nothing was raised for any version. Either nothing is asserted, or only what every bias "
         "satisfies, such as its shape.")  # fmt: skip
def _test_shape(bias: Bias) -> None:
    assert bias(torch.arange(4), torch.arange(5)).shape[1:] == (4, 5)


@mistake("compares with one bias",
         "The test asks for the numbers of one certain bias, and rejects others that know only "
         "distances as well. Compare a bias with itself, at other positions.")  # fmt: skip
def _test_one_bias(bias: Bias) -> None:
    here = torch.tensor([9, 2, 700])
    got, expected = bias(here, here), _bias()(here, here)
    assert got.shape == expected.shape and torch.allclose(got.float(), expected, atol=1e-3)


@mistake("asks for the last bit",
         "One right version computes with rounded numbers, which differ in their last digits from "
         "place to place. Allow a small difference, such as 1e-3.")  # fmt: skip
def _test_to_the_last_bit(bias: Bias) -> None:
    _test_distances(bias, room=0.0)


DISTANCES_TEST = Exercise(
    slug="distances-test", title="Write the test: does it know only distances?", kind="test",
    minutes=20, points=3, name="test_only_distances", reference=_test_distances,
    versions=(
        Version("two heads, one number at a time", True, _one_by_one),
        Version("a table with a limit of 16, in float64", True, _from_a_table),
        Version("the same for both directions", True, _bias()),
        Version("one term for the query, one for the key", True, _position_less_position,
                "This bias is 0.1 i - 0.1 j, so it depends on i - j alone, but for rounding."),
        Version("a little more for late keys", False,
                _bias(more=lambda i, j: 0.05 * (j >= 600).expand(3, 1, -1)),
                "Its numbers are larger by 0.05 for keys from position 600 on."),
        Version("the last head looks at the query's position", False,
                _bias(more=lambda i, j: 0.01 * i[:, None] * LAST_HEAD)),
        Version("a little more for one late key", False,
                _bias(more=lambda i, j: 0.05 * (j == 3001).expand(3, 1, -1)),
                "Its numbers are larger by 0.05 for one key, whose position is below 6000. Ask for "
                "every key."),
        Version("a little less for one late query", False,
                _bias(more=lambda i, j: -0.05 * (i == 5077)[None, :, None].expand(3, -1, 1)),
                "Its numbers are smaller by 0.05 for one query, whose position is below 6000. Ask "
                "for every query."),
        Version("more for the first token of the text", False,
                _bias(more=lambda i, j: 2.0 * (j == 0).expand(3, 1, -1)),
                "Its numbers differ for a key at position 0 alone."),
        Version("counts rows and columns itself", False, _bias(distance=_in_a_row),
                "It gives right numbers for positions 0, 1, 2, ..., wherever they begin."),
        Version("divided by the number of keys", False,
                _bias(number=lambda distance: distance.abs() * 8 / distance.shape[-1]),
                "The same pair of tokens gets another bias in a longer text."),
        Version("positions rounded to bfloat16", False,
                _bias(place=lambda positions: positions.bfloat16().float()),
                "Positions up to 256 come through unchanged."),
        Version("positions that begin anew after 512", False,
                _bias(place=lambda positions: positions % 512),
                "It is right as long as all positions lie below 512."),
        Version("the first query's distances for all", False,
                _bias(distance=lambda i, j: i[:1].expand(len(i))[:, None] - j)),
        Version("keys sorted", False,
                _bias(place=lambda positions: positions.sort().values),
                "It is right as long as positions come in rising order."),
        Version("distances from the last key", False,
                _bias(more=lambda i, j: 0.05 * (j.max() - j).expand(3, 1, -1)),
                "When the whole text moves, its numbers stay. A key that is added changes them."),
    ),
    hints=(
        "You do not know the numbers of the bias, so you cannot compare with them. What can you "
        "compare a bias with? With itself: the same distance must give the same number, at other "
        "positions, in another call, beside other tokens.",
        "It is not enough to move a text: several wrong versions do not change when positions 0, "
        "1, 2, ... all move. Ask for one pair alone, and for the same pair among other queries and "
        "keys.",
        "Take positions with gaps, not in order, some of them above 512, such as queries 300, 5, "
        "1000 and keys 0, 997, 7. Compare each number with what the bias gives for the pair alone, "
        "and for the pair moved by 4000, with room for rounding, for all heads. Then let one query "
        "meet all keys below 6000, and one key all queries: the same distances, at every token.",
    ),
    mistakes=(
        _test_shape,
        _test_one_bias,
        _test_to_the_last_bit,
        Mistake("only moves a whole text",
                "The test moves positions 0, 1, 2, ... together. Versions that count rows, divide "
                "by the number of keys or take the first query's distances do not change then. "
                "Compare a pair with the same pair beside other tokens, too.",
                lambda bias: _test_move(bias, 1000)),
        Mistake("moves a text by a little",
                "The test moves a text and stays at small positions, where rounded positions and "
                "those that begin anew show nothing. Move further, and compare a pair with the "
                "same pair beside other tokens.",
                lambda bias: _test_move(bias, 10)),
        Mistake("only the diagonals of one text",
                "The test compares the numbers on each diagonal of one short text. Versions whose "
                "numbers change with the text or at large positions pass.", _test_diagonals),
        Mistake("one head only",
                "The test looks at the first head. One wrong version is wrong in its last head "
                "alone.", lambda bias: _test_distances(bias, rows=lambda got: got[:1])),
        Mistake("some tokens only",
                "The test looks at some queries and keys. Some versions are wrong for one token, "
                "at a large position. Ask for each token below 6000: one query with all keys, and "
                "one key with all queries.",
                lambda bias: _test_distances(bias, sweep=False)),
        Mistake("too much room",
                "The test accepts differences of several units. Some wrong versions are off by "
                "less.", lambda bias: _test_distances(bias, room=5.0)),
    ),
)  # fmt: skip

# harder: further than the table is long -------------------------------------------------------

TEXT = 150
STEEP = 40.0


def _far_tables(
    layers: Callable[[int, int], int] = lambda distance, m: -(-distance // (m - 1)),
    steps: Callable[[int, int, int], list[int]] | None = None,
    high: float = STEEP,
    low: float = 0.0,
    sign: int = 1,
) -> Callable[[int, int], Tensor]:
    """One table for each layer, all of one row that is higher than the others."""

    def tables(distance, max_distance):
        count = layers(distance, max_distance)
        each = (steps or _largest_first)(distance, max_distance, count)
        made = torch.full((count, 2 * max_distance + 1), low)
        made[torch.arange(count), max_distance + sign * torch.tensor(each)] = high
        return made

    return tables


def _largest_first(distance: int, max_distance: int, count: int) -> list[int]:
    left, steps = distance, []
    for _ in range(count):
        steps.append(min(left, max_distance - 1))
        left -= steps[-1]
    return steps


def _read_through(tables: Tensor) -> Tensor:
    """What share each token reads of each first value, after all layers."""
    place, far = torch.arange(TEXT), tables.shape[-1] // 2
    rows = (place[:, None] - place).clamp(-far, far) + far
    share = torch.eye(TEXT, dtype=torch.float64)
    for table in tables.double():
        share = table[rows].softmax(dim=-1) @ share
    return share


def _far_evidence(made, distance, max_distance):
    """What the stacked layers read, and signs of why it is something else."""
    if not isinstance(made, Tensor) or made.ndim != 2 or made.shape[1] != 2 * max_distance + 1:
        kind = made.type if isinstance(made, Other) else type(made).__name__
        shape = tuple(made.shape) if isinstance(made, Tensor) else kind
        raise RuntimeError(
            f"tables must be a tensor of shape (layers, {2 * max_distance + 1}), got {shape}"
        )
    fewest = -(-distance // (max_distance - 1))
    if len(made) > 3 * fewest + 100 or not len(made):
        raise RuntimeError(f"one layer at least, and far fewer than you made, got {len(made)}")
    share = _read_through(made)
    numbers = bool(share.isfinite().all())
    right = share.diagonal(-distance) if numbers else torch.ones(1)
    middle = share[TEXT // 2] if numbers else torch.eye(TEXT)[TEXT // 2 - distance]
    mean = TEXT // 2 - float((middle * torch.arange(TEXT)).sum())
    return {"numbers": numbers, "reads": bool(right.min() >= 0.99),
            "layers too many": max(0, len(made) - fewest) if right.min() >= 0.99 else 0,
            "mean distance": round(mean) if abs(mean) < 1000 else 0}  # fmt: skip


def _far_cases(rng: Random) -> list[Case]:
    pairs = [(6, 4), (7, 4), (6, 3), (1, 2), (40, 8), (40, 2), (rng.randint(21, 39), 7), (3, 8),
             (rng.randint(9, 20), 5), (8, 8)]  # fmt: skip
    return [{"distance": distance, "max_distance": limit} for distance, limit in pairs]


def _holds(what: str) -> Callable[[Case, Any], bool]:
    return lambda case, evidence: bool(evidence[what])


FAR_TABLES = Exercise(
    slug="far-tables", title="Harder: further than the table is long", kind="design",
    minutes=20, points=3, name="tables", reference=_far_tables(), cases=_far_cases,
    weighing=_far_evidence,
    domain={
        "distance": Number(1, 40, whole=True),
        "max_distance": Number(2, 8, whole=True),
    },
    properties=(
        Property("all readings are numbers, those of the first tokens of a text as well",
                 _holds("numbers")),
        Property("from position `distance` on, each token reads at least 0.99 of the value that "
                 "stands `distance` before it, in a text of 150 tokens", _holds("reads")),
        Property("there is no layer more than needed",
                 lambda case, evidence: evidence["layers too many"] == 0),
    ),
    hints=(
        "One layer with one high row copies the value from a fixed distance to each token. Where "
        "does the second layer find what the first one copied?",
        "Distances add up from layer to layer: 3 + 3 = 6. Which is the largest distance that a "
        "table with the limit max_distance still has for itself?",
        "The largest step is max_distance - 1, since the last row is shared by all that is further "
        "away. Take as many steps of that size as fit, and one layer for the rest. A bias of 40 "
        "leaves hardly any weight to 149 other keys.",
    ),
    mistakes=(
        Mistake("steps of max_distance",
                "The row for max_distance is shared by all keys further away, so the head reads a "
                "mixture of them. The largest distance with a row to itself is one less.",
                _far_tables(lambda distance, m: -(-distance // m),
                            lambda distance, m, count: _largest_first(distance, m + 1, count))),
        Mistake("distances with the sign flipped",
                "The high rows are those of keys after the query. A key that stands before it has "
                "a row above the middle one.", _far_tables(sign=-1)),
        Mistake("one step for each token",
                "Every layer goes one token back. It works, with more layers than needed: a step "
                "can be as large as max_distance - 1.",
                _far_tables(lambda distance, m: distance,
                            lambda distance, m, count: [1] * count)),
        Mistake("the last step as large as the others",
                "All layers go back by max_distance - 1, so together they reach too far unless "
                "that divides the distance. The last layer has to go the rest.",
                _far_tables(steps=lambda distance, m, count: [m - 1] * count)),
        Mistake("no layer for the rest",
                "distance // (max_distance - 1) layers fall short where there is a rest. It needs "
                "a layer of its own.",
                _far_tables(lambda distance, m: max(1, distance // (m - 1)))),
        Mistake("one layer for every distance",
                "A single layer reaches max_distance - 1 tokens back. Beyond that its last row is "
                "a mixture.",
                _far_tables(lambda distance, m: 1,
                            lambda distance, m, count: [min(distance, m)])),
        Mistake("one layer that stays where it is",
                "All distances are reached, but one layer reads its own token: ask for the "
                "smallest number of layers that can reach the distance.",
                _far_tables(lambda distance, m: -(-distance // (m - 1)) + 1)),
        Mistake("a bias that is too small",
                "The high row has to win against all other keys of a text of 150 tokens, in every "
                "layer. A bias of 5 is e^5 = 148 times a weight, and there are 149 others.",
                _far_tables(high=5.0)),
        Mistake("minus infinity everywhere else",
                "The first tokens of a text have no key at that distance. All their scores are "
                "then minus infinity, and the softmax of those is no number. Take a large number "
                "for the one row instead.", _far_tables(high=0.0, low=-math.inf)),
    ),
)  # fmt: skip

EXERCISES = (CLIPPED_BIAS, BUCKET_BY_HAND, DECODER_BUCKET, DISTANCES_TEST, FAR_TABLES)
