"""Small tasks made of random tokens: exact answers, nothing to download."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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


def copying(count: int, vocab_size: int, batch: int = 64) -> Task:
    """`count` random tokens, a sign to begin (vocab_size - 1), and all of them once more."""
    return _told_again(count, vocab_size, batch, lambda tokens: tokens)


def reversing(count: int, vocab_size: int, batch: int = 64) -> Task:
    """`count` random tokens, a sign to begin (vocab_size - 1), and all of them backwards."""
    return _told_again(count, vocab_size, batch, lambda tokens: tokens.flip(1))


def passkey(
    length: int, distance: int | None = None, vocab_size: int = 32, batch: int = 64
) -> Task:
    """Recall of a value by its key: one question, at the end, about a pair `distance` back.

    A text of random filler holds three or four pairs of a key and, after it, its value; the last
    token is one of the keys, and the answer the value that followed it, `distance` places before
    the question (default: drawn anew for each text). Keys are the first quarter of the vocabulary,
    values the second, filler the rest. Chance is 4 / vocab_size.
    """
    if length < 16 or vocab_size % 4 or vocab_size < 16:
        raise ValueError(
            "passkey needs length 16 or more and a vocab_size of 16 or more that 4 divides, got "
            f"{length} and {vocab_size}"
        )
    if distance is not None and not 1 <= distance <= length - 2:
        raise ValueError(f"distance must be from 1 to length - 2 = {length - 2}, got {distance}")
    kinds = vocab_size // 4

    def draw(generator: torch.Generator) -> Batch:
        tokens = torch.randint(2 * kinds, vocab_size, (batch, length), generator=generator)
        keys = torch.rand(batch, kinds, generator=generator).argsort(dim=1)[:, :4]
        values = torch.randint(kinds, 2 * kinds, (batch, 4), generator=generator)
        back = torch.randint(1, length - 1, (batch,), generator=generator)
        if distance is not None:
            back.fill_(distance)
        slots = torch.rand(batch, (length - 1) // 2, generator=generator).argsort(dim=1)
        rows = torch.arange(batch)
        for pair in range(4):
            # all an even number of places apart, so that no two pairs overlap
            place = back if pair == 0 else 1 + 2 * slots[:, pair] + (back + 1) % 2
            fits = (place <= length - 2) & ((place != back) | (pair == 0))
            row, at = rows[fits], length - 1 - place[fits]
            tokens[row, at - 1] = keys[fits, pair]
            tokens[row, at] = values[fits, pair]
        tokens[:, -1] = keys[:, 0]
        targets = torch.full_like(tokens, IGNORE)
        targets[:, -1] = values[:, 0]
        return Batch(tokens, targets)

    return draw


def own_index(length: int, vocab_size: int, batch: int = 64) -> Task:
    """At every place of a text of random tokens: which place is this, counted from 0?"""
    if not 1 <= length <= vocab_size:
        raise ValueError(f"length must be from 1 to vocab_size = {vocab_size}, got {length}")

    def draw(generator: torch.Generator) -> Batch:
        tokens = torch.randint(vocab_size, (batch, length), generator=generator)
        return Batch(tokens, torch.arange(length).expand(batch, -1))

    return draw


def bracket_depth(length: int, deepest: int, batch: int = 64) -> Task:
    """Opening (0) and closing (1) brackets: how many are open after each? From 0 to `deepest`.

    Chance is about 1 / (deepest + 1); a model needs a vocabulary of deepest + 1, at least 2.
    """
    if length < 1 or deepest < 1:
        raise ValueError(f"length and deepest must be 1 or more, got {length} and {deepest}")

    def draw(generator: torch.Generator) -> Batch:
        closing = torch.rand(batch, length, generator=generator) < 0.5
        depth, depths = torch.zeros(batch, dtype=torch.long), []
        for place in range(length):
            closing[:, place] = (closing[:, place] & (depth > 0)) | (depth == deepest)
            depth = depth + torch.where(closing[:, place], -1, 1)
            depths.append(depth)
        return Batch(closing.long(), torch.stack(depths, dim=1))

    return draw


def _told_again(
    count: int, vocab_size: int, batch: int, order: Callable[[torch.Tensor], torch.Tensor]
) -> Task:
    if count < 1 or vocab_size < 2:
        raise ValueError(
            f"count must be 1 or more and vocab_size 2 or more, got {count} and {vocab_size}"
        )

    def draw(generator: torch.Generator) -> Batch:
        told = torch.randint(vocab_size - 1, (batch, count), generator=generator)
        begin = torch.full((batch, 1), vocab_size - 1)
        again = order(told)
        unasked = torch.full((batch, count), IGNORE)
        return Batch(torch.cat([told, begin, again[:, :-1]], dim=1), torch.cat([unasked, again], 1))

    return draw


@torch.no_grad()
def right_answers(model: nn.Module, batch: Batch, positions: Int[Tensor, " length"]) -> Tensor:
    """Which places `model` answers right: 1 or 0 for each, NaN where nothing was asked."""
    place = next(model.parameters()).device
    tokens, targets = (t.to(place) for t in batch)
    right = (model(tokens, positions.to(place)).argmax(dim=-1) == targets).float()
    return right.masked_fill(targets == IGNORE, torch.nan).cpu()


def accuracy_by_distance(
    model: nn.Module, task_at: Callable[[int], Task], distances: Iterable[int], seed: int = 10**6
) -> dict[int, float]:
    """The share of right answers to `task_at(distance)`, for each distance; one batch of each.

    Positions are 0, 1, 2, ...
    """
    found = {}
    for distance in distances:
        batch = task_at(distance)(torch.Generator().manual_seed(seed))
        answers = right_answers(model, batch, torch.arange(batch.tokens.shape[1]))
        found[distance] = answers.nanmean().item()
    return found
