"""A passkey test that a model learns in seconds: many questions in every text."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from course_lab.tasks import IGNORE, Batch, Task

KEYS, VALUES = 16, 8
PAIRS = KEYS * VALUES
VOCAB = PAIRS + KEYS + 1
"""Tokens: a key together with its value, then questions about a key, then one filler."""


def recall(length: int, batch: int = 16) -> Task:
    """Every key is told once, at a random place, with its value; all other places ask.

    A question names a key that was told before it; the answer is that key's value, one of the
    first `VALUES` tokens. Before the first key there is filler. Chance is 1 / VALUES.
    """
    if length <= KEYS:
        raise ValueError(f"length must be above the number of keys, {KEYS}, got {length}")

    def draw(generator: torch.Generator) -> Batch:
        told_at = torch.rand(batch, length, generator=generator).argsort(dim=1)[:, :KEYS]
        values = torch.randint(VALUES, (batch, KEYS), generator=generator)
        before = told_at[:, None, :] < torch.arange(length)[:, None]
        chances = torch.rand(batch, length, KEYS, generator=generator)
        asked = chances.masked_fill(~before, -1).argmax(dim=-1)
        any_told = before.any(dim=-1)
        tokens = torch.where(any_told, PAIRS + asked, VOCAB - 1)
        targets = torch.where(any_told, values.gather(1, asked), IGNORE)
        tokens.scatter_(1, told_at, torch.arange(KEYS) * VALUES + values)
        targets.scatter_(1, told_at, IGNORE)
        return Batch(tokens, targets)

    return draw


@torch.no_grad()
def accuracy_in_bins(model: nn.Module, length: int, bins: int, batch: int = 32) -> Tensor:
    """The share of right answers by how far back the key was told, in `bins` equal parts."""
    tokens, targets = recall(length, batch)(torch.Generator().manual_seed(10**6))
    place = next(model.parameters()).device
    scores = model(tokens.to(place), torch.arange(length, device=place)).cpu()
    right = (scores.argmax(dim=-1) == targets)[targets != IGNORE].double()
    told = (tokens < PAIRS)[:, None, :] & (
        tokens[:, None, :] // VALUES == (tokens - PAIRS)[:, :, None]
    )
    distance = torch.arange(length) - told.int().argmax(dim=-1)
    part = distance[targets != IGNORE] * bins // length
    total = torch.zeros(bins).double().index_add_(0, part, right)
    return total / torch.bincount(part, minlength=bins)
