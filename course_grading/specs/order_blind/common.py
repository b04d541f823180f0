"""What several exercises of this subject need."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


def attention_with(
    may_look: Callable[[Tensor, Tensor], Tensor] = torch.ge,  # of a query's and a key's position
    scale: Callable[[int], float] = lambda head_dim: head_dim**-0.5,
    softmax_axis: int = -1,
    hidden_score: float = -torch.inf,
    places: Callable[[Tensor], Tensor] = lambda positions: positions,
    soft: Callable[[Tensor, int], Tensor] = torch.softmax,
) -> Callable[..., Tensor]:
    """Attention under a causal mask, with one choice made differently for each wrong answer."""

    def masked_attention(q, k, v, q_positions, k_positions):
        query, key = places(q_positions), places(k_positions)
        allowed = may_look(query[..., :, None], key[..., None, :])
        scores = q @ k.transpose(-2, -1) * scale(q.shape[-1])
        lowest = hidden_score if hidden_score == -torch.inf else torch.finfo(q.dtype).min
        hidden = scores.masked_fill(~allowed, max(hidden_score, lowest))
        return soft(hidden, softmax_axis) @ v

    return masked_attention


causal_attention = attention_with()
