"""Small tasks made of random tokens: exact answers, nothing to download."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import one_hot

IGNORE = -100  # the target where there is nothing to predict; cross_entropy skips it


class Batch(NamedTuple):
    """Tokens to read, and the token to answer at each place (IGNORE: no question there)."""

    tokens: Int[Tensor, "batch length"]
    targets: Int[Tensor, "batch length"]


Task = Callable[[torch.Generator], Batch]


def steps_back(
    distance: int, vocab_size: int, length: int, batch: int = 64, start_mark: bool = False
) -> Task:
    """At every place: which token stood `distance` places before? Chance is 1 / vocab_size.

    With `start_mark` every text begins with a token that occurs nowhere else, vocab_size, and
    which is no answer: a model needs a vocabulary of vocab_size + 1 then.
    """
    if not 0 <= distance < length:
        raise ValueError(f"distance must be from 0 to length - 1 = {length - 1}, got {distance}")

    def draw(generator: torch.Generator) -> Batch:
        tokens = torch.randint(vocab_size, (batch, length), generator=generator)
        if start_mark:
            tokens[:, 0] = vocab_size
        targets = tokens.roll(distance, dims=1)
        targets[:, : distance + start_mark] = IGNORE
        return Batch(tokens, targets)

    return draw


def token_at(
    place: int, vocab_size: int, length: int, batch: int = 64, start_mark: bool = False
) -> Task:
    """At `place` and every later one: which token stands at `place`? Chance is 1 / vocab_size.

    A reader of its own token alone gets more, since it may stand at `place` itself.

    With `start_mark` every text begins with a token that occurs nowhere else, vocab_size: a model
    needs a vocabulary of vocab_size + 1 then.
    """
    if not 0 <= place < length:
        raise ValueError(f"place must be from 0 to length - 1 = {length - 1}, got {place}")
    if start_mark and place == 0:
        raise ValueError("place must be from 1 on with a start mark, which stands at 0, got 0")

    def draw(generator: torch.Generator) -> Batch:
        tokens = torch.randint(vocab_size, (batch, length), generator=generator)
        if start_mark:
            tokens[:, 0] = vocab_size
        targets = tokens[:, place : place + 1].repeat(1, length)
        targets[:, :place] = IGNORE
        return Batch(tokens, targets)

    return draw


def latest_name(length: int, names: int = 8, batch: int = 64) -> Task:
    """At every place: which name occurred last, here or before? Chance is 1 / names.

    A reader of its own token alone gets more, since a name is its own answer.

    A token in five is a name, one of the first `names` tokens, and the first of a text always is;
    the others are filler, one of as many tokens more.
    """
    _check_counts(length=length, names=names)

    def draw(generator: torch.Generator) -> Batch:
        filler = torch.randint(names, 2 * names, (batch, length), generator=generator)
        drawn = torch.randint(names, (batch, length), generator=generator)
        is_name = torch.rand(batch, length, generator=generator) < 0.2
        is_name[:, 0] = True
        tokens = torch.where(is_name, drawn, filler)
        latest = torch.where(is_name, torch.arange(length), 0).cummax(dim=1).values
        return Batch(tokens, tokens.gather(1, latest))

    return draw


def named_distance(length: int, vocab_size: int = 8, batch: int = 64) -> Task:
    """At every place with token t: which token stood t + 1 places before? Chance 1 / vocab_size."""
    _check_counts(length=length, vocab_size=vocab_size)

    def draw(generator: torch.Generator) -> Batch:
        tokens = torch.randint(vocab_size, (batch, length), generator=generator)
        source = torch.arange(length) - tokens - 1
        targets = tokens.gather(1, source.clamp(min=0)).masked_fill(source < 0, IGNORE)
        return Batch(tokens, targets)

    return draw


def last_seen(length: int, vocab_size: int = 8, batch: int = 64) -> Task:
    """At every place: how many places before did its token occur last?

    Asked where the answer is from 1 to vocab_size - 1. Chance is 1 / (vocab_size - 1), and always 1
    gets more, since near is likelier than far.
    """
    _check_counts(length=length, vocab_size=vocab_size)

    def draw(generator: torch.Generator) -> Batch:
        tokens = torch.randint(vocab_size, (batch, length), generator=generator)
        same = (tokens[:, :, None] == tokens[:, None]).tril(-1)  # (batch, places, before)
        back = torch.arange(length)[:, None] - torch.arange(length)
        answer = torch.where(same, back, length).amin(dim=-1)
        return Batch(tokens, answer.masked_fill(answer >= vocab_size, IGNORE))

    return draw


def runs_with_holes(length: int, run: int = 8, letters: int = 8, batch: int = 64) -> Task:
    """Runs of one letter, half of the letters hidden behind a hole: which letter is behind it?

    Each place begins a new run, of a random letter, with chance 1 / run; the hole is the token
    `letters`. Chance is 1 / letters.
    """
    _check_counts(length=length, run=run, letters=letters)

    def draw(generator: torch.Generator) -> Batch:
        new_run = torch.rand(batch, length, generator=generator) < 1 / run
        drawn = torch.randint(letters, (batch, length + 1), generator=generator)
        text = drawn.gather(1, new_run.cumsum(dim=1))
        hidden = torch.rand(batch, length, generator=generator) < 0.5
        return Batch(text.masked_fill(hidden, letters), text.masked_fill(~hidden, IGNORE))

    return draw


def own_index(length: int, vocab_size: int, batch: int = 64) -> Task:
    """At every place of a text of random tokens: which place is this, counted from 0?"""
    if not 1 <= length <= vocab_size:
        raise ValueError(f"length must be from 1 to vocab_size = {vocab_size}, got {length}")

    def draw(generator: torch.Generator) -> Batch:
        tokens = torch.randint(vocab_size, (batch, length), generator=generator)
        return Batch(tokens, torch.arange(length).expand(batch, -1))

    return draw


def _check_counts(**counts: int) -> None:
    for name, count in counts.items():
        if count < 1:
            raise ValueError(f"{name} must be 1 or more, got {count}")


@torch.no_grad()
def right_answers(model: nn.Module, batch: Batch, positions: Int[Tensor, " length"]) -> Tensor:
    """Which places `model` answers right: 1 or 0 for each, NaN where nothing was asked."""
    place = next(model.parameters()).device
    tokens, targets = (t.to(place) for t in batch)
    right = (model(tokens, positions.to(place)).argmax(dim=-1) == targets).float()
    known: Tensor = right.masked_fill(targets == IGNORE, torch.nan).cpu()
    return known


def shares_by_part(
    right: Float[Tensor, "batch length"], part: Int[Tensor, "batch length"]
) -> Float[Tensor, " parts"]:
    """The share of right answers among questions of part 0, 1, ...; NaN for a part without any.

    `right` is what `right_answers` returns; parts are distances or places, in bins.
    """
    asked = ~right.isnan()
    right, part = right[asked].double(), part[asked]
    return torch.bincount(part, weights=right) / torch.bincount(part)


# What a reader gets who does not know where tokens stand -------------------------------------


def others(batch: Batch) -> Float[Tensor, "length length"]:
    """For each place all other places: what a reader without a mask has besides its own token."""
    return 1 - torch.eye(batch.tokens.shape[1])


def past(batch: Batch, back: int = 1) -> Float[Tensor, "length length"]:
    """For each place those at least `back` before it: what a causal mask shows."""
    length = batch.tokens.shape[1]
    return torch.ones(length, length).tril(-back)


def neighbours(batch: Batch) -> Float[Tensor, "length length"]:
    """For each place the two next to it: what a reader has who cannot tell before from after."""
    one_before = past(batch) - past(batch, back=2)
    return one_before + one_before.T


def bag_ceiling(batch: Batch, chances: Float[Tensor, "*batch length length"]) -> float:
    """The best expected share of right answers for a reader to whom a text is a bag of tokens.

    `chances[..., i, j]` is how likely the answer at place i is the token at place j, as far as this
    reader knows; rows need not sum to 1. Where tokens are drawn independently, all that the reader
    sees and cannot tell apart are equally likely. It names the token with the largest sum.
    """
    kinds = one_hot(batch.tokens).float()  # (batch, length, kinds)
    by_kind = chances @ kinds  # (batch, length, kinds)
    share = by_kind.amax(dim=-1) / by_kind.sum(dim=-1)
    return share[batch.targets != IGNORE].mean().item()


def own_or_other(batch: Batch) -> Float[Tensor, "length length"]:
    """What `token_at` may ask for, to a reader without a mask: its own place is an unknown one.

    With n places that are asked, the answer is its own token with chance 1 / n, and else any of
    the others.
    """
    own = 1 / (batch.targets != IGNORE).any(dim=0).sum()
    return own * torch.eye(batch.tokens.shape[1]) + (1 - own) / others(batch).sum(0) * others(batch)


def own_or_past(batch: Batch, place: int) -> Float[Tensor, "length length"]:
    """What `token_at` may ask for, to a reader of the past that can count: itself at `place`."""
    chances = past(batch)
    chances[place] = torch.eye(len(chances))[place]
    return chances


def names_so_far(batch: Batch, names: int = 8) -> Float[Tensor, "batch length length"]:
    """What `latest_name` may ask for, to a reader of the past: its own token, or any name in it."""
    is_name = (batch.tokens < names).float()
    own, before = torch.eye(batch.tokens.shape[1]), is_name[:, None] * past(batch)
    return torch.where(is_name[:, :, None] == 1, own, before)


def share_right(guesses: Int[Tensor, "batch length"], batch: Batch) -> float:
    """The share of right answers if `guesses` are given."""
    asked = batch.targets != IGNORE
    return (guesses == batch.targets)[asked].float().mean().item()


def nearest_letter(batch: Batch, letters: int = 8) -> Int[Tensor, "batch length"]:
    """The visible letter nearest to each place of `runs_with_holes`, the earlier of two."""
    places = torch.arange(batch.tokens.shape[1])
    away = (places[:, None] - places).abs()  # (places, places)
    away = torch.where(batch.tokens[:, None] == letters, len(places), away)
    return batch.tokens.gather(1, away.argmin(dim=-1))


def commonest_letter(batch: Batch, letters: int = 8) -> Int[Tensor, "batch length"]:
    """The visible letter that occurs most often in each text of `runs_with_holes`."""
    counts = one_hot(batch.tokens, letters + 1)[..., :letters].sum(dim=1)  # (batch, letters)
    return counts.argmax(dim=-1, keepdim=True).expand_as(batch.tokens)
