"""What several exercises of this subject need."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from course_grading.exercise import mistake


def powers(count: int, first: int = 1) -> Tensor:
    """2^(-8 h / count) for `count` numbers h, counted from `first`."""
    return 2.0 ** (-8 * torch.arange(first, first + count, dtype=torch.float64) / count)


def slopes_with(first: int = 1, new: slice = slice(0, None, 2)) -> Callable[[int], Tensor]:
    """ALiBi's slopes, or what becomes of them when h begins elsewhere, or when other finer slopes
    than every second one are taken."""

    def slopes(num_heads):
        power = 2 ** int(math.log2(num_heads))
        extra = powers(2 * power, first)[new][: num_heads - power]
        return torch.cat([powers(power, first), extra]).float()

    return slopes


slopes_of = slopes_with()


@mistake("the formula for powers of two, for every number",
         "2^(-8h/H) is right for 8 heads, but for 12 heads it gives another model's slopes. The "
         "slopes of the power of two below come first, then every other one of twice that "
         "power.")  # fmt: skip
def even_steps(num_heads):
    return powers(num_heads).float()


@mistake("sorted",
         "The numbers are right, their order is not: the extra slopes belong to the last "
         "heads.")  # fmt: skip
def sorted_slopes(num_heads):
    return slopes_of(num_heads).sort(descending=True).values


def distances_of(q_positions: Tensor, k_positions: Tensor) -> Tensor:
    return (q_positions[:, None] - k_positions).abs()
