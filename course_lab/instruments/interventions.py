"""One thing changed in a trained model, and nothing else: tests of what is said to be a cause.

Each function leaves its model alone and returns a changed one, called in the same way. What only
changes RoPE's frequencies or attention factor goes through `stretching.stretched`, and a text that
is cut through `evaluation.sliding_bits`.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from course_lab.instruments import looking
from course_lab.instruments.stretching import stretched
from course_lib.encodings import PositionScheme, Rotary, ScaledFrequencies, TransformerXL
from course_lib.encodings.relative import relative_positions
from course_lib.model import Decoder


def with_scheme(model: Decoder, change: Callable[[PositionScheme], PositionScheme]) -> Decoder:
    """A copy of `model` with `change(scheme)` in place of the scheme of each layer."""
    changed = copy.deepcopy(model)
    blocks: list[Any] = list(changed.blocks)
    for block in blocks:
        block.attention.scheme = change(block.attention.scheme)
    changed.first_scheme = blocks[0].attention.scheme
    return changed


# RoPE: pairs are numbered from the fastest, 0 -----------------------------------------------


def frequencies_of(model: nn.Module) -> ScaledFrequencies:
    """The frequencies and attention factor of a model trained with RoPE, or stretched."""
    rotary = next((module for module in model.modules() if isinstance(module, Rotary)), None)
    if rotary is None:
        raise ValueError("model has no Rotary: take one trained with RoPE")
    return ScaledFrequencies(rotary.frequencies, rotary.attention_factor)


def with_pairs(
    scaled: ScaledFrequencies, pairs: Iterable[int], frequencies: Float[Tensor, " pairs"] | float
) -> ScaledFrequencies:
    """`scaled`, but `pairs` have their numbers of `frequencies`: one for each pair, or for all."""
    index = _checked(pairs, len(scaled.frequencies))
    changed = scaled.frequencies.clone()
    other = torch.as_tensor(frequencies, dtype=torch.float64).expand(len(changed))
    changed[index] = other[index]
    return scaled._replace(frequencies=changed)


def stopped(model: Decoder, pairs: Iterable[int]) -> Decoder:
    """`model` whose `pairs` do not turn: they see content as before, and no distance."""
    return stretched(model, with_pairs(frequencies_of(model), pairs, 0.0))


def removed(model: Decoder, pairs: Iterable[int]) -> Decoder:
    """`model` whose `pairs` are left out of q k altogether: they see nothing."""
    chosen = list(pairs)
    return with_scheme(model, lambda scheme: _Removed(_rotary(scheme), chosen))


def held(
    model: Decoder, pairs: Iterable[int], limit: int = 127, seen_as: int | None = None
) -> Decoder:
    """`model` whose `pairs` see each distance beyond `limit` as `seen_as` (default: as `limit`).

    Up to `limit`, and for all other pairs, scores are what they were.
    """
    chosen, distance = list(pairs), limit if seen_as is None else seen_as
    return with_scheme(model, lambda scheme: _Held(_rotary(scheme), chosen, limit, distance))


def seeing(model: Decoder, seen: Callable[[Tensor, int], Tensor]) -> Decoder:
    """`model` whose pair i sees the distance d as `seen(d, i)`, a tensor of d's shape.

    For RoPE that turns whole heads and has no attention factor.
    """
    return with_scheme(model, lambda scheme: _Seeing(_rotary(scheme), seen))


def by_pair(
    frequencies: Float[Tensor, " pairs"], factor: float, kept: float, divided: float
) -> ScaledFrequencies:
    """Pairs up to number `kept` as they are, from `divided` on `factor` times slower.

    Between the two the blend is linear in the pair's number, as in YaRN's released code. Ends may
    be fractions, and lie beyond the pairs that there are. The attention factor is 1.
    """
    if not kept < divided:
        raise ValueError(f"kept must be below divided, got {kept} and {divided}")
    numbers = torch.arange(len(frequencies), dtype=torch.float64)
    slowed = ((numbers - kept) / (divided - kept)).clamp(0, 1)
    return ScaledFrequencies(frequencies * (1 - slowed + slowed / factor))


def pair_with(turns: float, length: int, dim: int, base: float = 10_000.0) -> float:
    """The number, whole or not, that a pair would have to make `turns` turns in `length` tokens."""
    return dim * math.log(length / (2 * math.pi * turns)) / (2 * math.log(base))


class _Removed(PositionScheme):
    def __init__(self, rotary: Rotary, pairs: list[int]) -> None:
        super().__init__()
        self.rotary, self.columns = rotary, _columns(rotary, pairs)

    def rotate(
        self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor
    ) -> tuple[Tensor, Tensor]:
        q, k = self.rotary.rotate(q, k, q_positions, k_positions)
        return q.masked_fill(self.columns.to(q.device), 0), k


class _Held(PositionScheme):
    looks_at_queries = True

    def __init__(self, rotary: Rotary, pairs: list[int], limit: int, seen_as: int) -> None:
        super().__init__()
        self.rotary, self.columns = rotary, _columns(rotary, pairs)
        self.limit, self.seen_as = limit, seen_as

    def rotate(
        self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor
    ) -> tuple[Tensor, Tensor]:
        return self.rotary.rotate(q, k, q_positions, k_positions)

    def score_bias(
        self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor
    ) -> Float[Tensor, "batch heads queries keys"]:
        """For far keys: what the pairs would score at the distance `seen_as`, less what they do."""
        k = k.masked_fill(~self.columns.to(k.device), 0)
        constant = torch.full_like(q_positions, self.seen_as), torch.zeros_like(k_positions)
        actual, instead = (
            torch.matmul(turned_q, turned_k.mT)
            for turned_q, turned_k in (
                self.rotary.rotate(q, k, q_positions, k_positions),
                self.rotary.rotate(q, k, *constant),
            )
        )
        far = (relative_positions(q_positions, k_positions) > self.limit).unsqueeze(-3)
        return torch.where(far, instead - actual, 0.0) / math.sqrt(q.shape[-1])


class _Seeing(PositionScheme):
    """RoPE's scores made from distances: door 2 gives zeros, and door 3 the whole score."""

    looks_at_queries = True

    def __init__(self, rotary: Rotary, seen: Callable[[Tensor, int], Tensor]) -> None:
        super().__init__()
        if rotary.rotary_dim < rotary.head_dim or rotary.attention_factor != 1:
            raise ValueError("model must turn the whole head, without an attention factor")
        self.rotary, self.seen = rotary, seen

    def rotate(
        self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor
    ) -> tuple[Tensor, Tensor]:
        return torch.zeros_like(q), k

    def score_bias(
        self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor
    ) -> Float[Tensor, "batch heads queries keys"]:
        distance = relative_positions(q_positions, k_positions)
        total: Any = 0.0
        for pair, frequency in enumerate(self.rotary.frequencies.tolist()):
            columns = _columns(self.rotary, [pair]).nonzero().flatten().tolist()
            (a, b), (x, y) = (t[..., columns].unbind(-1) for t in (q, k))
            angle = (self.seen(distance, pair) * frequency).to(q.dtype).unsqueeze(-3)
            along = a[..., None] * x[..., None, :] + b[..., None] * y[..., None, :]
            across = a[..., None] * y[..., None, :] - b[..., None] * x[..., None, :]
            total = total + along * angle.cos() + across * angle.sin()
        bias: Tensor = total / math.sqrt(q.shape[-1])
        return bias


# Content terms ------------------------------------------------------------------------------


TERMS = {
    "a": "query and key", "b": "query and distance", "c": "key alone", "d": "distance alone",
}  # fmt: skip
"""The terms of Transformer-XL's scores."""


def silenced(model: Decoder, terms: Iterable[str]) -> Decoder:
    """`model` without some terms of Transformer-XL's scores: see TERMS.

    Raises ValueError for another term, or for another scheme.
    """
    chosen = tuple(terms)

    @torch.no_grad()
    def change(scheme: PositionScheme) -> PositionScheme:
        if isinstance(scheme, TransformerXL) and set(chosen) <= TERMS.keys():
            if "c" in chosen:
                scheme.u.zero_()
            if "d" in chosen:
                scheme.v.zero_()
            return _WithoutQuery(scheme, chosen)
        raise ValueError(
            f"terms must be of a to d, of Transformer-XL, got {chosen} for {type(scheme).__name__}"
        )

    return with_scheme(model, change)


class _WithoutQuery(PositionScheme):
    """Transformer-XL without q k (a) or q W R (b)."""

    looks_at_queries = True

    def __init__(self, scheme: TransformerXL, terms: tuple[str, ...]) -> None:
        super().__init__()
        self.scheme, self.terms = scheme, terms

    def score_bias(
        self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor
    ) -> Float[Tensor, "batch heads queries keys"]:
        known = torch.zeros_like(q) if "b" in self.terms else q
        bias = self.scheme.score_bias(known, k, q_positions, k_positions)
        return bias - q @ k.mT / math.sqrt(q.shape[-1]) if "a" in self.terms else bias


# What a model reads -------------------------------------------------------------------------


class Windowed(nn.Module):
    """A model whose layers each see the last `keys` tokens only, the token at hand included.

    With `far`, a layer also sees keys at the distances from far[0] to far[1] - 1. What a layer
    reads may hold what earlier layers read, so n layers reach n (keys - 1) tokens back. To hide
    text, cut it.
    """

    def __init__(self, model: Decoder, keys: int, far: tuple[int, int] = (0, 0)) -> None:
        super().__init__()
        if keys < 1:
            raise ValueError(f"keys must be 1 or more, got {keys}: a token sees itself")
        self.model, self.keys, self.far = model, keys, far

    def forward(self, tokens: Tensor, positions: Int[Tensor, " length"]) -> Tensor:
        distance = relative_positions(positions, positions)
        far = (self.far[0] <= distance) & (distance < self.far[1])
        scores: Tensor = self.model(tokens, positions, mask=(distance < self.keys) | far)
        return scores


class Shifted(nn.Module):
    """A model to which the first token of every text stands at position `start`."""

    def __init__(self, model: nn.Module, start: int) -> None:
        super().__init__()
        self.model, self.start = model, start

    def forward(self, tokens: Tensor, positions: Int[Tensor, "*batch length"]) -> Tensor:
        scores: Tensor = self.model(tokens, positions + self.start)
        return scores


class Replaced(nn.Module):
    """A model that sees another text in place of the first bytes of each text.

    `other` holds some texts, all as long as what they replace; which of them is taken follows from
    the tokens replaced.
    """

    def __init__(self, model: nn.Module, other: Int[Tensor, "texts far"]) -> None:
        super().__init__()
        self.model, self.other = model, other

    def forward(self, tokens: Int[Tensor, "batch length"], positions: Tensor) -> Tensor:
        far = self.other.shape[1]
        chosen = tokens[:, :far].sum(dim=1) % len(self.other)
        other = self.other.to(tokens.device)[chosen]
        scores: Tensor = self.model(torch.cat([other, tokens[:, far:]], dim=1), positions)
        return scores


# How large an intervention is ---------------------------------------------------------------


@torch.no_grad()
def score_change(
    model: Decoder, changed: Decoder, tokens: Int[Tensor, "batch length"], beyond: int = 0
) -> float:
    """By how much `changed` moves the attention scores of `model`: a root mean square.

    Over all layers, heads and keys that stand more than `beyond` before their query. Both schemes
    get the queries and keys of `model`, in every layer, so this is the size of the intervention
    and not of what follows from it.
    """
    positions = torch.arange(tokens.shape[1], device=next(model.parameters()).device)
    far = relative_positions(positions, positions) > beyond
    squares = []
    for layer, block, other in zip(
        looking.layers(model, tokens), model.blocks, changed.blocks, strict=True
    ):
        pair: list[Any] = [block, other]
        before, after = (_scores(each.attention.scheme, layer, positions) for each in pair)
        squares.append((after - before)[..., far].square().mean())
    return torch.stack(squares).mean().sqrt().item()


def _scores(scheme: PositionScheme, layer: looking.Layer, positions: Tensor) -> Tensor:
    bias = scheme.score_bias(layer.q, layer.k, positions, positions)
    q, k = scheme.rotate(layer.q, layer.k, positions, positions)
    scores = q @ k.mT / math.sqrt(q.shape[-1])  # (batch, heads, queries, keys)
    return scores if bias is None else scores + bias


def _rotary(scheme: PositionScheme) -> Rotary:
    if not isinstance(scheme, Rotary):
        raise ValueError(f"model must be trained with RoPE, got {type(scheme).__name__}")
    return scheme


def _columns(rotary: Rotary, pairs: list[int]) -> Bool[Tensor, " head_dim"]:
    """Which columns of a head belong to `pairs`."""
    index, half = _checked(pairs, rotary.rotary_dim // 2), rotary.rotary_dim // 2
    columns = torch.zeros(rotary.head_dim, dtype=torch.bool)
    if rotary.layout == "half":
        columns[index] = columns[index + half] = True
    else:
        columns[2 * index] = columns[2 * index + 1] = True
    return columns


def _checked(pairs: Iterable[int], count: int) -> Int[Tensor, " chosen"]:
    index = torch.tensor(list(pairs), dtype=torch.long)
    if len(index) and not (0 <= index.min() and index.max() < count):
        raise ValueError(f"pairs must be from 0 to {count - 1}, got {index.tolist()}")
    return index
