"""Repair: every past token is the same."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Case, Mistake, Repair, mistake
from course_grading.exercise.domain import Integers, Number
from course_grading.specs.draw import shuffled


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
        case(torch.tensor([-500, 16, 19, 127, 128, 129, 100_000]), 32, 128),
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


EXERCISE = Repair(
    slug="t5-decoder-bucket", title="Repair: every past token is the same",
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
