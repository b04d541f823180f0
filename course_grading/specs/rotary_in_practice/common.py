"""What several exercises of this subject need."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import torch
from torch import Tensor

from course_grading.exercise.domain import Tensors
from course_grading.specs.draw import normal

LIBRARY = ("rotate", "Rotary", "rotation_table")
DTYPES = (torch.bfloat16, torch.float16, torch.float32, torch.float64)


@dataclass(frozen=True)
class Alike(Tensors):
    """Tensors that are declared as another argument is, so that the line on the sheet is short."""

    like: str = ""

    def says(self) -> str:
        return f"as `{self.like}`" + ", or empty" * self.empty


def angles_of(
    positions: Tensor, dim: int, base: float, dtype: torch.dtype = torch.float64
) -> Tensor:
    frequencies = base ** (-torch.arange(0, dim, 2).to(dtype) / dim)
    return positions.to(dtype)[..., None] * frequencies


def halves_of(x: Tensor, angles: Tensor, table_dtype: torch.dtype = torch.float64) -> Tensor:
    """Pairs (i, i + dim / 2) turned by angles (..., length, dim / 2), in x's dtype."""
    first, second = x.double().chunk(2, dim=-1)
    cos, sin = angles.cos().to(table_dtype), angles.sin().to(table_dtype)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1).to(x.dtype)


def lengths(x: Tensor) -> Tensor:
    """How long the pairs of x are, in halves."""
    return torch.hypot(*x.double().chunk(2, dim=-1))


def order_of(head_dim: int) -> Tensor:
    return torch.cat([torch.arange(0, head_dim, 2), torch.arange(1, head_dim, 2)])


def precise(rng: Random, *shape: int, dtype: torch.dtype) -> Tensor:
    """Random numbers that a narrower dtype cannot hold."""
    return normal(rng, *shape, dtype=dtype) / 1.3
