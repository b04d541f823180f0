"""What several exercises of this subject need."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from course_grading.exercise.domain import Number

Encoding = Callable[[Tensor, int, float], Tensor]
Exponent = Callable[[Tensor, int], Tensor]
"""From the pairs' numbers 0, 1, ... and dim to the exponents of their frequencies."""
BASE = Number(10, 1_000_000)
FARTHEST = 100_000


def interleaved(first: Tensor, second: Tensor) -> Tensor:
    return torch.stack([first, second], dim=-1).flatten(-2)


def refuse_odd(dim: int) -> None:
    if dim % 2:
        raise ValueError(f"dim must be even, got {dim}")


def exponents_of(dim: int) -> Tensor:
    return torch.arange(0, dim, 2).double() / dim


def varied(
    sine: Exponent = lambda i, dim: 2 * i / dim,
    cosine: Exponent | None = None,  # None: the sine's
    lay_out: Callable[[Tensor, Tensor], Tensor] = interleaved,
    count: Callable[[Tensor], Tensor] = lambda positions: positions,
    fixed_base: float | None = None,
    unit: float = 1.0,
    dtype: torch.dtype = torch.float32,
) -> Encoding:
    """The sinusoidal encoding, with one choice made differently for each wrong answer."""

    def encoding(positions: Tensor, dim: int, base: float) -> Tensor:
        refuse_odd(dim)
        i = torch.arange(dim // 2).double()
        sine_angles, cosine_angles = (
            unit * count(positions).double()[..., None] * (fixed_base or base) ** -exponent(i, dim)
            for exponent in (sine, cosine or sine)
        )
        return lay_out(sine_angles.sin(), cosine_angles.cos()).to(dtype)

    return encoding


encoding_of = varied()
encoding_in_float64 = varied(dtype=torch.float64)


def angles_of(positions: Tensor, dim: int, base: float) -> Tensor:
    """What sine and cosine are taken of: in float32 it is off in proportion to its size.

    It counts twice, since a frequency is rounded several times before it is multiplied.
    """
    angles = 2 * positions.double()[..., None] * base ** -exponents_of(dim)
    return interleaved(angles, angles)
