"""What several exercises of this subject need."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from course_grading.exercise import mistake
from course_grading.specs.draw import COUNTS_ITSELF, normal

Rotation = Callable[[Tensor, Tensor, float], Tensor]
LIBRARY = ("rotate", "rotation_table", "rotary_frequencies", "Rotary", "shift_matrix")


def numbers(rng: Random, *shape: int, dtype: torch.dtype) -> Tensor:
    """Numbers of size 1; in float64, float32 does not hold them."""
    return (1.1 * normal(rng, *shape, dtype=torch.float64)).to(dtype)


def frequencies_of(dim: int, base: float, step: float = 2.0) -> Tensor:
    return base ** (-torch.arange(dim // 2).double() * step / dim)


def angles_of(x: Tensor, positions: Tensor, frequencies: Tensor) -> Tensor:
    """(length, pairs), or (batch, 1, length, pairs) to be broadcast over heads."""
    angles = positions.double()[..., None] * frequencies
    return angles if positions.ndim == 1 else angles.unsqueeze(1)


def pairwise(angles: Tensor) -> Tensor:
    return angles.repeat_interleave(2, dim=-1)


def neighbours(x: Tensor) -> Tensor:
    """Every pair (x, y) of neighbours turned by a quarter: (-y, x)."""
    return torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)


def twice(angles: Tensor) -> Tensor:
    return torch.cat([angles, angles], dim=-1)


def halves(x: Tensor) -> Tensor:
    """Every pair (x, y) of columns i and i + dim/2 turned by a quarter: (-y, x)."""
    first, second = x.chunk(2, dim=-1)
    return torch.cat([-second, first], dim=-1)


def turn(
    x: Tensor,
    angles: Tensor,
    spread: Callable[[Tensor], Tensor],
    quarter: Callable[[Tensor], Tensor],
) -> Tensor:
    """Each pair turned by its angle: `spread` gives angles to columns, `quarter` pairs columns."""
    angles = spread(angles)
    return (x.double() * angles.cos() + quarter(x.double()) * angles.sin()).to(x.dtype)


def rotation_of(
    spread: Callable[[Tensor], Tensor] = pairwise,
    quarter: Callable[[Tensor], Tensor] = neighbours,
    frequencies: Callable[[int, float], Tensor] = frequencies_of,
    angles: Callable[[Tensor, Tensor, Tensor], Tensor] = angles_of,
) -> Rotation:
    """The rotation of neighbours, or what becomes of it when one of these choices is another."""

    def rotation(x, positions, base):
        turned_by = angles(x, positions, frequencies(x.shape[-1], base))
        return turn(x, turned_by, spread, quarter)

    return rotation


turn_neighbours = rotation_of()
turn_halves = rotation_of(spread=twice, quarter=halves)


def roundings(x: Tensor, quarter: Callable[[Tensor], Tensor], angles: Tensor) -> Tensor:
    """For the scale of each number: eight roundings of its pair's length, in x's dtype or float32.

    The angle is rounded to float64, which counts where x is in float64: base ** exponent and
    exp(exponent * log(base)) differ by some units in the last place.
    """
    finest = torch.finfo(torch.float64).eps
    units = min(torch.finfo(x.dtype).eps, torch.finfo(torch.float32).eps)
    length = x.double().hypot(quarter(x.double()))
    return length * (8 + 64 * angles * finest / units)


@mistake("frequencies repeated pairwise, rotated as halves",
         "Two layouts mixed: your angles go 0, 0, 1, 1, ..., which belongs to neighbours, and your "
         "partner of column i is i + head_dim/2. The two numbers of a pair turn by different "
         "angles, which is no rotation.")  # fmt: skip
def two_layouts_mixed(x, positions, base):
    return rotation_of(quarter=halves)(x, positions, base)


@mistake("positions not used", COUNTS_ITSELF)
def positions_ignored(x, positions, base):
    return turn_neighbours(x, torch.arange(x.shape[-2]), base)


def of_the_first_text(positions: Tensor) -> Tensor:
    return positions[0] if positions.ndim == 2 else positions
