"""What several exercises of this subject need."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from course_grading.exercise import Case


def frequencies_for(dim: int, base: float) -> Tensor:
    return base ** (-torch.arange(0, dim, 2).double() / dim)


def turns_of(frequencies: Tensor, length: float) -> Tensor:
    return length * frequencies / (2 * math.pi)


def kept_share_unbounded(turns: Tensor, slow: float, fast: float) -> Tensor:
    return (turns - slow) / (fast - slow)


def kept_share(turns: Tensor, slow: float, fast: float) -> Tensor:
    return kept_share_unbounded(turns, slow, fast).clamp(0, 1)


def blend_of(frequencies: Tensor, keep: Tensor, factor: float) -> Tensor:
    return keep * frequencies + (1 - keep) * frequencies / factor


def one_at_a_time(case: Case, **others: object) -> list[Case]:
    """The case, and for each argument one that has another value there, and differs in no more."""
    return [case, *({**case, name: value} for name, value in others.items())]
