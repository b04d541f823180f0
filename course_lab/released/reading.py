"""How well a released model predicts a text, token by token."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from course_lib.model import Decoder
from course_lib.model.decoder import Cache

PIECE = 1024
"""Tokens at once: their scores for every token of the vocabulary fill 200 MB."""


@torch.no_grad()
def losses(
    model: Decoder,
    tokens: Int[Tensor, " length"],
    cache: Cache | None = None,
    start: int = 0,
    piece: int = PIECE,
) -> Float[Tensor, " targets"]:
    """Nats that each token but the first costs, given those before it and those in `cache`.

    The cache grows by these tokens; without one, `start` is the position of the first.
    """
    cache = cache if cache is not None else Cache()
    if cache.positions is not None:
        start = int(cache.positions[-1]) + 1
    found = []
    for at in range(0, len(tokens), piece):
        part, targets = tokens[at : at + piece], tokens[at + 1 : at + piece + 1]
        scores = model(part[None], range(start + at, start + at + len(part)), cache=cache)[0]
        found.append(functional.cross_entropy(scores[: len(targets)], targets, reduction="none"))
    return torch.cat(found)


def at_this_place(cache: Cache) -> Cache:
    """A cache that can grow while `cache` stays as it is; they share what they hold."""
    return Cache(cache.positions, dict(cache.layers))
