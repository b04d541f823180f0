"""What several exercises of this subject need."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor


def differences(q: Tensor, k: Tensor) -> Tensor:
    return q.long()[..., :, None] - k.long()[..., None, :]


def counted_from_zero(q: Tensor, k: Tensor) -> Tensor:
    return torch.arange(q.shape[-1])[:, None] - torch.arange(k.shape[-1])


def first_row(q: Tensor, k: Tensor) -> Tensor:
    return differences(*(t[:1].expand_as(t) if t.ndim == 2 else t for t in (q, k)))


def by_keys(k: Tensor) -> float:
    return math.log1p(k.shape[-1])


def log_bias_of(
    distances: Callable[[Tensor, Tensor], Tensor] = differences,
    fall: Callable[[Tensor], Tensor] = lambda d: torch.log1p(d.clamp(min=0)),
    scale: Callable[[Tensor], float] = lambda k: 1.0,
) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    def log_bias(q_positions, k_positions, slopes):
        falls = fall(distances(q_positions, k_positions).double()) / scale(k_positions)
        return -(slopes[:, None, None] * falls.unsqueeze(-3)).float()

    return log_bias


def without_head_axis(q_positions: Tensor, k_positions: Tensor, slopes: Tensor) -> Tensor:
    fall = torch.log1p(differences(q_positions, k_positions).clamp(min=0).float())
    return -slopes[:, None, None] * fall
