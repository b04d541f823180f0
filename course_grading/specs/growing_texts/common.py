"""What several exercises of this subject need."""

from __future__ import annotations

import torch
from torch import Tensor


def turned_by(x: Tensor, positions: Tensor, frequencies: Tensor) -> Tensor:
    """Pairs (i, i + dim / 2) turned by frequencies that may differ from row to row."""
    angles = positions.double()[:, None] * frequencies
    first, second = x.double().chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)
