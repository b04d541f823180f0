"""What several exercises of this subject need."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import torch
from torch import Tensor
from torch.nn import functional

from course_grading.exercise import Property
from course_grading.specs.draw import normal, rounded_in

DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)

KEEPS_DTYPE_OF_Q = Property(
    "the result has the dtype of q", lambda case, value: value.dtype == case["q"].dtype
)


def numbers(rng: Random, *shape: int, dtype: torch.dtype) -> Tensor:
    """Numbers of size 1; in float64, float32 does not hold them."""
    return (1.1 * normal(rng, *shape, dtype=torch.float64)).to(dtype)


def products(scores: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The size of the products that make up each score: they are rounded in the dtype of q."""

    def scale(q: Tensor, vectors: Tensor, *positions: Tensor) -> Tensor:
        sizes = scores(q.double().abs(), vectors.double().abs(), *positions)
        return rounded_in(q.dtype, sizes)

    return scale


def pad_and_reshape(scores: Tensor, pad: tuple[int, int] = (1, 0)) -> Tensor:
    n = scores.shape[-1]
    return functional.pad(scores, pad).flatten(-2)[..., n:].unflatten(-1, (n, n))
