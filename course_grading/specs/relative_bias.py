"""Exercises of lesson 05: can attention know only distances?"""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.domain import Integers, Number, Positions, Tensors
from course_grading.exercise import Case, Exercise, Mistake, mistake
from course_grading.specs.draw import normal, shuffled


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
    return [  # the late ones lose count in bfloat16, the last ones in float32
        case(torch.arange(5), torch.arange(5), 2, 3),
        repeated,
        case(torch.tensor([newest]), torch.arange(newest - 6, newest + 1), 3, 2),
        case(torch.tensor([4, 9, 30]), torch.tensor([0, 8, 31, 33]), 2, 3),
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
                "All keys before the query get bucket 0: the decoder sees its past as one bag. "
                "Here a positive distance means the past.",
                _bucket(past=lambda relative: (-relative).clamp(min=0))),
        Mistake("last bucket not open",
                "From max_distance on, the formula gives buckets for which the table has no row. "
                "Clamp to num_buckets - 1.", _bucket(highest=_open)),
        Mistake("sign flipped and last bucket not open",
                "These are the published buckets, unchanged: the past is still one bag.",
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

EXERCISES = (CLIPPED_BIAS, BUCKET_BY_HAND, DECODER_BUCKET)
