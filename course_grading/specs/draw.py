"""What several specs need: random tensors, reproducible from a Random, and what they say alike."""

from __future__ import annotations

from random import Random

import torch
from torch import Tensor

from course_grading.exercise import Property

COUNTS_ITSELF = (
    "You count 0, 1, 2, ... yourself. Use the numbers in `positions`: they may have gaps, "
    "and rows of a batch may differ."
)
KEEPS_DTYPE = Property(
    "the result has the dtype of x", lambda case, value: value.dtype == case["x"].dtype
)


def rounded_in(dtype: torch.dtype, size: Tensor) -> Tensor:
    """For an exercise's `scale`: numbers of this size are rounded to `dtype` on the way.

    There, a scale counts roundings to float32 for the dtypes with fewer digits.
    """
    return size * max(1.0, torch.finfo(dtype).eps / torch.finfo(torch.float32).eps)


def normal(rng: Random, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Numbers of size 1."""
    return torch.randn(shape, generator=_generator(rng), dtype=torch.float64).to(dtype)


def shuffled(rng: Random, count: int, below: int | None = None) -> Tensor:
    """`count` different positions under `below`, in random order."""
    return torch.randperm(below or count, generator=_generator(rng))[:count]


def _generator(rng: Random) -> torch.Generator:
    return torch.Generator().manual_seed(rng.getrandbits(32))
