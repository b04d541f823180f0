"""What several exercises of this subject need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from course_grading.exercise.domain import Argument, Described, Number

LIBRARY = ("interpolated", "ntk_aware", "dynamic_ntk", "from_rope_parameters", "METHODS")
FIVE_DIGITS = 84
"""Roundings of float32 that make one part in 100 000, which is what the tasks ask for."""


def by_itself(*case: object) -> float:
    """Every number is right to five digits of its own, however large the others are."""
    return 0.0


def frequencies_of(dim: int, base: float | Tensor) -> Tensor:
    return base ** (-torch.arange(0, dim, 2).double() / dim)


def raised(base: float, dim: int, stretch: Any) -> Any:
    return base * stretch ** (dim / (dim - 2))


OF_A_BASE: dict[str, Argument] = {
    "base": Number(100, 1_000_000), "dim": Described("an even number from 4 to 512"),
    "original_length": Number(128, 8192, whole=True), "length": Number(1, 262_144, whole=True),
}  # fmt: skip


def raising(
    exponent: Callable[[int], float] = lambda dim: dim / (dim - 2),
    stretch: Callable[[float], float] = lambda ratio: max(1.0, ratio),
) -> Callable[[float, int, int, int], float]:
    """The new base, or what becomes of it when the exponent or the stretch is another."""
    return lambda base, dim, original_length, length: (
        base * stretch(length / original_length) ** exponent(dim)
    )


ntk_base = raising()
