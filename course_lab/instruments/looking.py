"""Looking into a trained decoder: queries, keys, attention weights and outputs of its layers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from course_lib.model import Decoder, View, attention_weights
from course_lib.model.attention import pairs_allowed, shared


class Layer(NamedTuple):
    """What one layer computes when the model reads a batch of texts."""

    q: Float[Tensor, "batch heads length head_dim"]  # before rotation
    k: Float[Tensor, "batch kv_heads length head_dim"]  # before rotation
    out: Float[Tensor, "batch length dim"]  # of the whole block, as the next one gets it


class Looks(NamedTuple):
    """What one layer's heads look with, and where."""

    q: Float[Tensor, "heads length head_dim"]  # rotated
    k: Float[Tensor, "heads length head_dim"]  # rotated; the same for heads that share it
    weights: Float[Tensor, "heads length length"]  # rows are queries and sum to 1, or less


@torch.no_grad()
def layers(
    model: Decoder,
    tokens: Int[Tensor, "batch length"],
    mask: Bool[Tensor, "length length"] | None = None,
) -> list[Layer]:
    """Queries, keys and output of every layer; positions are 0, 1, 2, ... `mask` is `View`'s."""
    place = next(model.parameters()).device
    kept = []

    def keep(block: Any, inputs: tuple, out: Tensor) -> None:
        attention = block.attention
        parts = attention.to_qkv(block.norm1(inputs[0])).split(attention.widths, dim=-1)
        q, k, _ = (t.unflatten(-1, (-1, model.config.head_dim)).transpose(1, 2) for t in parts)
        kept.append(Layer(q, k, out))

    handles = [block.register_forward_hook(keep) for block in model.blocks]
    try:
        model(tokens.to(place), torch.arange(tokens.shape[1], device=place), mask)
    finally:
        for handle in handles:
            handle.remove()
    return kept


def by_layer(
    model: Decoder,
    tokens: Int[Tensor, " length"],
    mask: Bool[Tensor, "length length"] | None = None,
) -> Iterator[Looks]:
    """What the heads of each layer of a causal model look with, and where, in one text.

    A layer's window hides keys here as in the model, and so does `mask`, which is `View`'s. With
    sinks, the weights of a query sum to less than 1. Raises ValueError if `tokens` is not a single
    text.
    """
    if tokens.ndim != 1:
        raise ValueError(f"tokens must be one text, of shape (length,), got {tuple(tokens.shape)}")
    blocks = list[Any](model.blocks)
    for block, (q, k, _) in zip(blocks, layers(model, tokens[None], mask), strict=True):
        attention, positions = block.attention, torch.arange(len(tokens), device=q.device)
        visible = pairs_allowed(View(positions, positions, mask=mask, window=attention.window))
        k = shared(k, q.shape[1])
        bias = attention.scheme.score_bias(q, k, positions, positions)
        q, k = attention.scheme.rotate(q, k, positions, positions)
        seen = attention_weights(q, k, bias, visible, attention.sinks)
        yield Looks(q[0].cpu(), k[0].cpu(), seen[0].cpu())


def weights(
    model: Decoder, tokens: Int[Tensor, " length"]
) -> Float[Tensor, "layers heads length length"]:
    """Where every head of a causal model looks in one text: rows are queries, as in `by_layer`.

    Raises ValueError if `tokens` is not a single text.
    """
    return torch.stack([looks.weights for looks in by_layer(model, tokens)])


def one_back(weights: Float[Tensor, "length length"]) -> float:
    """The mean weight that queries give the token right before their own."""
    return weights.diagonal(-1).mean().item()
