"""Small tasks made of random tokens: exact answers, nothing to download."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor, nn

IGNORE = -100  # the target where there is nothing to predict; cross_entropy skips it


class Batch(NamedTuple):
    """Tokens to read, and the token to answer at each place (IGNORE: no question there)."""

    tokens: Int[Tensor, "batch length"]
    targets: Int[Tensor, "batch length"]


Task = Callable[[torch.Generator], Batch]


def steps_back(distance: int, vocab_size: int, length: int, batch: int = 64) -> Task:
    """At every place: which token stood `distance` places before? Chance is 1 / vocab_size."""
    if not 0 <= distance < length:
        raise ValueError(f"distance must be from 0 to length - 1 = {length - 1}, got {distance}")

    def draw(generator: torch.Generator) -> Batch:
        tokens = torch.randint(vocab_size, (batch, length), generator=generator)
        targets = tokens.roll(distance, dims=1)
        targets[:, :distance] = IGNORE
        return Batch(tokens, targets)

    return draw


@torch.no_grad()
def right_answers(model: nn.Module, batch: Batch, positions: Int[Tensor, " length"]) -> Tensor:
    """Which places `model` answers right: 1 or 0 for each, NaN where nothing was asked."""
    place = next(model.parameters()).device
    tokens, targets = (t.to(place) for t in batch)
    right = (model(tokens, positions.to(place)).argmax(dim=-1) == targets).float()
    return right.masked_fill(targets == IGNORE, torch.nan).cpu()
