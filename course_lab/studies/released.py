"""Does what the course found in its small models hold in one that people use?

`course measure released` measures lesson 16's model (`make model` brings it) on six texts. There
are no seeds: the texts take their place, and every comparison is of the same tokens of the same
text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from statistics import fmean
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional

from course_lab import released
from course_lab.findings import Measured
from course_lab.instruments import looking
from course_lab.instruments.evaluation import Difference, difference
from course_lab.instruments.interventions import removed
from course_lab.released.installed import SMOLLM2
from course_lab.released.reading import at_this_place, losses
from course_lab.released.texts import LENGTH, TEXTS, checksum, tokens
from course_lab.studies.study import Entry, Kind, Result, Study
from course_lib import encodings as enc
from course_lib.encodings.relative import relative_positions
from course_lib.errors import CourseError
from course_lib.model.decoder import Cache

TRAINED = 8192
DIM, BASE = 64, 100_000.0
BLOCK = 1024
SHORT = 2048
LAST = 512
HELD = 256
"""Tokens at once where scores of all pairs of tokens are held: 1 GB for 12 288 keys."""
RARE = (20_000, 49_000)
"""Tokens that were merged late, so that texts rarely hold them."""


class Unit(NamedTuple):
    """What is measured at once."""

    question: str
    setting: str
    text: str


# Schemes ----------------------------------------------------------------------------------------


def rotary(scaled: enc.ScaledFrequencies) -> enc.Rotary:
    """The model's rotation, with other frequencies."""
    return enc.Rotary(DIM, layout="interleaved", **scaled._asdict())


def ladder() -> Float[Tensor, " pairs"]:
    """The model's own frequencies."""
    return enc.rotary_frequencies(DIM, BASE)


class Dynamic(enc.Rotary):
    """Dynamic NTK: frequencies for the length read so far, for all keys."""

    def rotate(
        self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor
    ) -> tuple[Tensor, Tensor]:
        length = max(TRAINED, int(k_positions[-1]) + 1)
        self.frequencies = enc.dynamic_ntk(DIM, BASE, 2.0, length, TRAINED).frequencies
        return super().rotate(q, k, q_positions, k_positions)


class Restarted(enc.Rotary):
    """Queries count from 0 again every 512 tokens, keys do not: a cache with wrong positions."""

    def rotate(
        self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor
    ) -> tuple[Tensor, Tensor]:
        return super().rotate(q, k, q_positions % 512, k_positions)


class RoundedPositions(enc.Rotary):
    """Positions in bfloat16, which holds whole numbers up to 256; angles are exact."""

    def table(self, positions: Int[Tensor, "*batch length"]) -> tuple[Tensor, Tensor]:
        rounded = positions.to(torch.bfloat16).to(positions.dtype)
        return super().table(rounded)


class RoundedTable(enc.Rotary):
    """Exact positions and angles; cosines and sines in bfloat16."""

    def table(self, positions: Int[Tensor, "*batch length"]) -> tuple[Tensor, Tensor]:
        cos, sin = super().table(positions)
        return cos.bfloat16().float(), sin.bfloat16().float()


class Held(enc.Rotary):
    """Some pairs see each distance of 8 192 or more as one and the same; others turn on."""

    def __init__(self, pairs: range, seen_as: int) -> None:
        super().__init__(DIM, BASE, "interleaved")
        self.columns = torch.zeros(DIM, dtype=torch.bool)
        self.columns[2 * pairs.start : 2 * pairs.stop] = True
        self.seen_as = seen_as

    def score_bias(
        self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor
    ) -> Float[Tensor, "batch heads queries keys"]:
        """For far keys: what the pairs would score at the distance `seen_as`, less what they do."""
        far = q_positions[:, None] - k_positions >= TRAINED  # (queries, keys)
        seen = far.any(dim=0).sum()  # they come first
        k = k[:, :, :seen].masked_fill(~self.columns, 0)
        held = torch.full_like(q_positions, self.seen_as), torch.zeros_like(k_positions[:seen])
        actual, instead = (
            turned_q @ turned_k.mT
            for turned_q, turned_k in (
                self.rotate(q, k, q_positions, k_positions[:seen]),
                self.rotate(q, k, *held),
            )
        )
        change = torch.where(far[:, :seen], instead - actual, 0.0) / DIM**0.5
        return functional.pad(change, (0, len(k_positions) - int(seen)))


class Blind(enc.Rotary):
    """Some heads do not see the keys that stand so many places before the query."""

    def __init__(self, heads: Sequence[int], back: Sequence[int]) -> None:
        super().__init__(DIM, BASE, "interleaved")
        self.heads, self.back = list(heads), torch.tensor(back)

    def score_bias(
        self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor
    ) -> Float[Tensor, "1 heads queries keys"]:
        hidden = torch.zeros(1, q.shape[1], len(q_positions), len(k_positions), dtype=torch.bool)
        hidden[:, self.heads] = torch.isin(q_positions[:, None] - k_positions, self.back)
        return torch.where(hidden, -torch.inf, 0.0)


class OtherValue(enc.Rotary):
    """Later queries give a key its weight, and read another value there."""

    def __init__(self, key: int, change: Float[Tensor, "heads head_dim"]) -> None:
        super().__init__(DIM, BASE, "interleaved")
        self.key, self.change = key, change

    def read(
        self, weights: Tensor, q_positions: Tensor, k_positions: Tensor
    ) -> Float[Tensor, "batch heads queries head_dim"]:
        later = torch.where(q_positions > self.key, weights[..., self.key], 0.0)
        return later[..., None] * self.change[:, None]  # (batch, heads, queries, head_dim)


def with_pairs(first: int, last: int, divided_by: float) -> enc.Rotary:
    """Pairs `first` to `last` turn that many times slower; infinity stops them."""
    frequencies = ladder()
    frequencies[first : last + 1] /= divided_by
    return rotary(enc.ScaledFrequencies(frequencies))


def plain(kind: type[enc.Rotary] = enc.Rotary, base: float = BASE) -> enc.Rotary:
    """The model's rotation, as another class of it does it, or on another base."""
    return kind(DIM, base, "interleaved")


def yarn(factor: float, attention_factor: float | None = None) -> enc.Rotary:
    """YaRN as released, from 8 192 tokens on."""
    return rotary(enc.yarn(DIM, BASE, factor, TRAINED, attention_factor=attention_factor))


Scheme = Callable[[], enc.Rotary]
STRETCHED: dict[str, Scheme] = {
    "unchanged": plain,
    "YaRN by 2": partial(yarn, 2),
    "interpolation by 2": lambda: rotary(enc.interpolated(ladder(), 2)),
    "NTK-aware by 2": lambda: rotary(enc.ntk_aware(DIM, BASE, 2)),
    "dynamic NTK": partial(plain, Dynamic),
    "YaRN by 4": partial(yarn, 4),
    "NTK-aware by 4": lambda: rotary(enc.ntk_aware(DIM, BASE, 4)),
    "interpolation by 4": lambda: rotary(enc.interpolated(ladder(), 4)),
    "fitted YaRN by 2": lambda: rotary(
        enc.yarn(DIM, BASE, 2, TRAINED, beta_fast=4.0, beta_slow=0.5, ramp="turns")
    ),
    "YaRN by 2, factor 1": partial(yarn, 2, attention_factor=1.0),
}
EIGHTS = ((0, 7), (8, 15), (16, 23), (24, 31))
CHANGED: dict[str, Scheme] = {
    "unchanged": plain,
    "layout half": lambda: enc.Rotary(DIM, BASE, "half"),
    "base 10000": partial(plain, base=10_000.0),
    "base 50000": partial(plain, base=50_000.0),
    "base 1000000": partial(plain, base=1_000_000.0),
    "queries restart": partial(plain, Restarted),
    "bfloat16 positions": partial(plain, RoundedPositions),
    "bfloat16 cosines": partial(plain, RoundedTable),
    **{f"pairs {a} to {b} stopped": partial(with_pairs, a, b, torch.inf) for a, b in EIGHTS},
    **{f"pairs {a} to {b} 4 times slower": partial(with_pairs, a, b, 4.0) for a, b in EIGHTS},
    "pairs 16 to 31 stopped": partial(with_pairs, 16, 31, torch.inf),
    "pairs 19 to 31 stopped": partial(with_pairs, 19, 31, torch.inf),
    "no rotation": partial(with_pairs, 0, 31, torch.inf),
    **{name: scheme for name, scheme in STRETCHED.items() if name != "unchanged"},
}
REMOVED = {f"pairs {a} to {b} removed": range(a, b + 1) for a, b in ((24, 31), (16, 31))}
SHIFTS = (1_000, 100_000)
WINDOWS = (32, 64, 128, 512, 2_048)
CONTEXTS = (4_000, 8_000, 15_000)
DISTANCES = (100, 1_000, 3_900, 7_900, 14_900)
CLOSELY = {8_000: (500, 2_000, 4_500, 5_500, 6_500, 7_500)}
HOLDING = {
    f"pairs {a} to {b} held at {seen_as}": (range(a, b + 1), seen_as)
    for a, b, seen_as in ((20, 31, TRAINED - 1), (20, 31, 12_000), (8, 19, TRAINED - 1))
}
"""Pairs 20 to 31 make less than one turn in 8 192 tokens; 8 to 19 are as many that make more."""
HEADS = 10
"""So many of the model's 270 look one token back most."""
FRONTS = (256, 512, 1_024, 2_048, 4_096, 7_680)
SEVERAL = {
    "every fourth": range(3, 30, 4), "every second": range(1, 30, 2), "first ten": range(10),
    "middle ten": range(10, 20), "last ten": range(20, 30), "all": range(30),
}  # fmt: skip
"""Layers that lose their rotation together."""
NEAR = 128
LONE = 200
JUMPS = (0, 16, 32, 256, 1_024, 4_096)
"""Positions left out: a picture of 32 x 32 pieces leaves out 32, or 1 024, as they are counted."""
HIDDEN = {"first hidden": 0, "another hidden": LONE}
KEPT = {"window and the first": 0, "window and another": LONE}
"""Keys that no later query sees, or that each later query sees besides the NEAR last ones."""
BLINDED = {
    "nothing hidden": range(0),
    "the ten, one back": range(1, 2),
    "the ten, two back": range(2, 3),
    "the others, one back": range(1, 2),
    "all, 2 to 40 back": range(2, 41),
}
"""Which heads do not see which keys: so many places before the query."""
VALUES = {
    "first, zero": (0, "zero"),
    "first, mean of others": (0, "mean"),
    "another, zero": (LONE, "zero"),
    "window and the first, zero": (0, "zero"),
    "window and the first, mean of others": (0, "mean"),
}
"""Keys that keep their weight, and what later queries read there in place of their value."""
FINE = 256


# Measurements -----------------------------------------------------------------------------------


@cache
def _model() -> released.Released:
    return released.load()


def _with(scheme: Scheme) -> released.Released:
    return _model().with_scheme(scheme())


def _mean(values: Tensor) -> float:
    return round(float(values.double().mean()), 4)


def by_place(unit: Unit) -> Result:
    """What tokens cost by their place in a text of 16 384: a record for each block of 1 024."""
    read = losses(_with(STRETCHED[unit.setting]), tokens(_model(), unit.text, LENGTH))
    return Result(
        [{"start": BLOCK * i, "nats": _mean(block)} for i, block in enumerate(read.split(BLOCK))]
    )


def read_alone(unit: Unit) -> Result:
    """What the second half of a text costs if it is all that the model reads: blocks of 1 024."""
    read = losses(_with(STRETCHED[unit.setting]), tokens(_model(), unit.text, LENGTH)[TRAINED:])
    return Result(
        [
            {"start": TRAINED + BLOCK * i, "nats": _mean(block)}
            for i, block in enumerate(read.split(BLOCK))
        ]
    )


def when_changed(unit: Unit) -> Result:
    """What the first 2 048 tokens of a text cost, with something changed."""
    text = tokens(_model(), unit.text, SHORT)
    if unit.setting.startswith("shifted"):
        read = losses(_model(), text, start=int(unit.setting.split()[-1]))
    else:
        read = losses(_with(CHANGED[unit.setting]), text)
    return Result(
        [{"start": start, "nats": _mean(read[start : start + BLOCK])} for start in (0, BLOCK)]
    )


@torch.no_grad()
def in_windows(unit: Unit) -> Result:
    """What 2 048 tokens of a text cost in windows of several lengths, side by side."""
    text, model = tokens(_model(), unit.text, SHORT + 1), _with(CHANGED[unit.setting])
    records = []
    for length in WINDOWS:
        scores = model(text[:-1].view(-1, length), range(length))
        read = functional.cross_entropy(scores.flatten(0, 1), text[1:], reduction="none")
        records.append({"window": length, "nats": _mean(read)})
    return Result(records)


def when_removed(unit: Unit) -> Result:
    """What the first 2 048 tokens of a text cost if some pairs are left out of all scores."""
    changed = removed(_model(), REMOVED[unit.setting])
    read = losses(changed, tokens(_model(), unit.text, SHORT))
    return Result(
        [{"start": start, "nats": _mean(read[start : start + BLOCK])} for start in (0, BLOCK)]
    )


def in_front(unit: Unit) -> Result:
    """What 512 tokens cost with more and more in front of them.

    Of their own text, or of another one, but for the nearest 256 tokens: the control.
    """
    own = tokens(_model(), unit.text, TRAINED)
    other = tokens(_model(), TEXTS[TEXTS.index(unit.text) - 1], TRAINED)
    records = []
    for front in FRONTS if unit.setting == "own" else FRONTS[1:]:
        near = own[-LAST - (front if unit.setting == "own" else FRONTS[0]) :]
        far = other[: front + LAST - len(near)]
        read = losses(_model(), torch.cat([far, near]))
        records.append({"front": front, "nats": _mean(read[-LAST:])})
    return Result(records)


def told(unit: Unit) -> Result:
    """Is what stands far back found, in texts of three lengths?"""
    return _told(unit, {n: [d for d in DISTANCES if d < n] for n in CONTEXTS})


def told_closely(unit: Unit) -> Result:
    """The same at more distances, within the trained length."""
    return _told(unit, CLOSELY)


def _told(unit: Unit, contexts: Mapping[int, Sequence[int]]) -> Result:
    """Are 20 rare tokens found in their order, and five digits of a code?

    A text of each length holds both at several distances from its end. Then the same tokens come
    again, or the same in another order, or tokens that were never told; and a code is asked for,
    one that was told or one that was not.
    """
    model = _with(STRETCHED[unit.setting])
    draw = torch.Generator().manual_seed(TEXTS.index(unit.text))
    records = []
    for context, distances in contexts.items():
        text = tokens(_model(), unit.text, context)
        placed = _placed(distances, draw)
        parts, at = [], 0
        for secret in sorted(placed, key=lambda secret: -secret.distance):
            parts += [text[at : context - secret.distance], secret.rare, secret.line]
            at = context - secret.distance
        cache = Cache()
        losses(model, torch.cat([*parts, text[at:]]), cache)
        never = _placed([0], draw)[0]
        for secret in placed:
            order = torch.randperm(len(secret.rare), generator=draw)
            endings = {
                "same": secret.rare,
                "another order": secret.rare[order],
                "never told": never.rare,
            }
            copied = {
                f"copy, {name}": _mean(losses(model, ending, at_this_place(cache))[1:])
                for name, ending in endings.items()
            }
            asked = {
                "digits": _found(model, secret.line, cache),
                "digits, never told": _found(model, never.line, cache),
            }
            records.append({"context": context, "distance": secret.distance, **copied, **asked})
    return Result(records)


def when_held(unit: Unit) -> Result:
    """What tokens 8 192 to 12 287 cost if some pairs see no distance that training lacked."""
    text, cache = tokens(_model(), unit.text, TRAINED + 4 * BLOCK), Cache()
    losses(_model(), text[:TRAINED], cache)  # no key is far yet
    read = losses(_model().with_scheme(Held(*HOLDING[unit.setting])), text[TRAINED:], cache, HELD)
    return Result(
        [
            {"start": TRAINED + BLOCK * i, "nats": _mean(block)}
            for i, block in enumerate(read.split(BLOCK))
        ]
    )


def when_it_rises(unit: Unit) -> Result:
    """What tokens 8 192 to 11 263 cost in blocks of 256, unchanged and with slow pairs held."""
    text, cache = tokens(_model(), unit.text, TRAINED + 3 * BLOCK), Cache()
    losses(_model(), text[:TRAINED], cache)  # no key is far yet
    free = losses(_model(), text[TRAINED:], at_this_place(cache))
    held = _model().with_scheme(Held(*HOLDING[unit.setting]))
    kept = losses(held, text[TRAINED:], cache)
    blocks = zip(free.split(FINE), kept.split(FINE), strict=True)
    return Result(
        [
            {"start": TRAINED + FINE * i, "unchanged": _mean(one), "held": _mean(other)}
            for i, (one, other) in enumerate(blocks)
        ]
    )


def heads(unit: Unit) -> Result:
    """Where each head looks in the first 1 024 tokens of a text, and with which of its pairs.

    Shares of a query's weight on the token before, on the first token and on its own; the mean
    distance; and how much of |q| |k|, summed over pairs, belongs to each eight of them.
    """
    text = tokens(_model(), unit.text, BLOCK)
    records = []
    for layer, (q, k, weights) in enumerate(looking.by_layer(_model(), text)):
        sizes = (t.unflatten(-1, (-1, 2)).norm(dim=-1).mean(dim=-2) for t in (q, k))
        by_pair = torch.stack(list(sizes)).prod(dim=0)  # (heads, pairs)
        by_eights = (by_pair / by_pair.sum(dim=-1, keepdim=True)).unflatten(-1, (4, -1)).sum(-1)
        distance = relative_positions(torch.arange(BLOCK), torch.arange(BLOCK)).clamp(min=0)
        for head, of in enumerate(weights):
            records.append({
                "layer": layer, "head": head, "one back": looking.one_back(of),
                "first": _mean(of[1:, 0]), "itself": _mean(of.diagonal()),
                "distance": _mean((of * distance).sum(dim=-1)),
                "eights": [round(x, 4) for x in by_eights[head].tolist()],
            })  # fmt: skip
    return Result(records)


def when_blind(unit: Unit) -> Result:
    """What 20 rare tokens cost when they come again after 100 others, if heads do not see a key.

    Blind are those ten heads that look one back most in the text, the 260 others, or all. Four rows
    come again in their order, and in another one. The text itself is read as well.
    """
    text = tokens(_model(), unit.text, BLOCK)
    model = _model()
    if back := BLINDED[unit.setting]:
        ten = {*most_one_back(_model(), text)}
        every = {(layer, head) for layer in range(30) for head in range(9)}
        who = {"the ten": ten, "the others": every - ten, "all": every}
        model = blind(_model(), who[unit.setting.split(",")[0]], back)
    draw = torch.Generator().manual_seed(TEXTS.index(unit.text))
    copied: dict[str, list[Tensor]] = {"copy": [], "copy, another order": []}
    for secret in _placed([100] * 4, draw):
        cache = Cache()
        losses(model, torch.cat([text[:500], secret.rare, text[500:600]]), cache)
        shuffled = secret.rare[torch.randperm(len(secret.rare), generator=draw)]
        for name, row in zip(copied, (secret.rare, shuffled), strict=True):
            copied[name].append(losses(model, row, at_this_place(cache)))
    means = {name: _mean(torch.cat(rows)) for name, rows in copied.items()}
    return Result([{**means, "nats": _mean(losses(model, text))}])


def most_one_back(
    model: released.Released, text: Int[Tensor, " length"], count: int = HEADS
) -> list[tuple[int, int]]:
    """The heads (layer, number) that look one token back most in a text, the first one most."""
    back = [
        (looking.one_back(of), layer, head)
        for layer, (_, _, weights) in enumerate(looking.by_layer(model, text))
        for head, of in enumerate(weights)
    ]
    return [(layer, head) for _, layer, head in sorted(back, reverse=True)[:count]]


def blind(
    model: released.Released, heads: Iterable[tuple[int, int]], back: Sequence[int]
) -> released.Released:
    """The model, but these heads (layer, number) do not see the keys `back` places back."""
    by_layer: dict[int, list[int]] = {}
    for layer, head in heads:
        by_layer.setdefault(layer, []).append(head)
    return model.with_scheme(
        lambda layer: Blind(by_layer[layer], back) if layer in by_layer else plain()
    )


def without_rotation(unit: Unit) -> Result:
    """What 1 024 tokens cost if some layers do not rotate: each layer alone, or several."""
    text = tokens(_model(), unit.text, BLOCK)
    sets = {f"layer {layer}": [layer] for layer in range(_model().config.num_layers)}
    if unit.setting == "several":
        sets = {"none": [], **{name: [*chosen] for name, chosen in SEVERAL.items()}}
    records = []
    for name, chosen in sets.items():
        schemes = [enc.NoPosition() if layer in chosen else plain() for layer in range(30)]
        model = _model().with_scheme(schemes.__getitem__)
        records.append({"layers": name, "nats": _mean(losses(model, text))})
    return Result(records)


def first_token(unit: Unit) -> Result:
    """What the last 512 of 1 024 tokens cost, and which share of their weight the first key gets.

    The share is the mean over layers, heads and queries. A key may be hidden from all later
    queries, the first token replaced by another, or the text may begin 64 tokens later. In a window
    a query sees the last 128 keys alone, or these and one key far back.
    """
    text = tokens(_model(), unit.text, BLOCK)
    if unit.setting == "first replaced":
        draw = torch.Generator().manual_seed(TEXTS.index(unit.text))
        text[0] = torch.randint(*RARE, (), generator=draw)
    if unit.setting == "64 tokens later":
        text = text[64:]
    nats, by_key = _paid_and_seen(text, _seen(unit.setting, len(text)))
    first, second = by_key[:2].tolist()
    return Result([{"nats": nats, "first": round(first, 4), "second": round(second, 4)}])


def other_value(unit: Unit) -> Result:
    """The same if a key keeps its weight, and later queries read another value there.

    Nothing, or the mean of the first values of the five other texts. A first token sees itself
    alone, so its values follow from it and from nothing else.
    """
    key, instead = VALUES[unit.setting]
    text = tokens(_model(), unit.text, BLOCK)
    own = values_of(_model(), text[: key + 1])
    other = torch.zeros_like(own)
    if instead == "mean":
        firsts = [tokens(_model(), name, 1) for name in TEXTS if name != unit.text]
        other = torch.stack([values_of(_model(), first) for first in firsts]).mean(dim=0)
    model = _model().with_scheme(lambda layer: OtherValue(key, (other - own)[layer]))
    nats, by_key = _paid_and_seen(text, _seen(unit.setting.split(",")[0], len(text)), model)
    return Result([{"nats": nats, "weight": round(float(by_key[key]), 4)}])


@torch.no_grad()
def values_of(
    model: released.Released, text: Int[Tensor, " length"]
) -> Float[Tensor, "layers heads head_dim"]:
    """What queries read at the last token of a text, in every layer and head."""
    found, blocks = [], list[Any](model.blocks)

    def keep(to_qkv: Any, inputs: tuple, out: Tensor) -> None:
        value = out[0, -1].split(blocks[0].attention.widths)[2].unflatten(0, (-1, DIM))
        found.append(value.repeat_interleave(model.config.num_heads // len(value), dim=0))

    handles = [block.attention.to_qkv.register_forward_hook(keep) for block in blocks]
    try:
        model(text[None], range(len(text)))
    finally:
        for handle in handles:
            handle.remove()
    return torch.stack(found)


def lone_key(unit: Unit) -> Result:
    """The same for key 200, if its token sees itself alone: does it become a second first key?

    Queries see all keys, or in a window the last 128 and key 200.
    """
    text = tokens(_model(), unit.text, BLOCK)
    seen = _seen("window and another" if "window" in unit.setting else "", len(text))
    seen[LONE, :LONE] = False
    nats, by_key = _paid_and_seen(text, seen)
    first, lone = by_key[[0, LONE]].tolist()
    return Result([{"nats": nats, "first": round(first, 4), "lone": round(lone, 4)}])


@torch.no_grad()
def after_a_jump(unit: Unit) -> Result:
    """What the last 512 of 1 024 tokens cost if so many positions are left out before them.

    As if something stood there that the model does not see. `soon` are the first 32 of the 512.
    """
    text, positions = tokens(_model(), unit.text, BLOCK), torch.arange(BLOCK)
    positions[-LAST:] += int(unit.setting)
    scores = _model()(text[None], positions)[0]
    nats = functional.cross_entropy(scores[-LAST - 1 : -1], text[-LAST:], reduction="none")
    return Result([{"nats": _mean(nats), "soon": _mean(nats[:32])}])


@torch.no_grad()
def _paid_and_seen(
    text: Int[Tensor, " length"],
    seen: Bool[Tensor, "length length"],
    model: released.Released | None = None,
) -> tuple[float, Float[Tensor, " length"]]:
    """What the last 512 tokens cost, and the mean weight that they give to each key."""
    model = model or _model()
    scores = model(text[None], range(len(text)), seen)[0]
    nats = functional.cross_entropy(scores[-LAST - 1 : -1], text[-LAST:], reduction="none")
    weights = [
        look.weights[:, -LAST:].mean(dim=(0, 1)) for look in looking.by_layer(model, text, seen)
    ]
    return _mean(nats), torch.stack(weights).mean(dim=0)


def _seen(setting: str, length: int) -> Bool[Tensor, "length length"]:
    """True where a query may look, causality aside."""
    seen = torch.ones(length, length, dtype=torch.bool)
    if setting.startswith("window"):
        seen = seen.triu(1 - NEAR)
    if setting in KEPT:
        seen[KEPT[setting] :, KEPT[setting]] = True
    if setting in HIDDEN:
        seen[HIDDEN[setting] + 1 :, HIDDEN[setting]] = False
    return seen


class Secret(NamedTuple):
    """What a text is made to hold."""

    distance: int
    rare: Int[Tensor, " 20"]
    line: Int[Tensor, " tokens"]


NAMES = ("Anna", "Boris", "Clara", "David", "Elena", "Felix")


def _placed(distances: Sequence[int], draw: torch.Generator) -> list[Secret]:
    names = [NAMES[i] for i in torch.randperm(len(NAMES), generator=draw)]
    found = []
    for distance, name in zip(distances, names, strict=False):
        rare = torch.randint(*RARE, (20,), generator=draw)
        code = "".join(map(str, torch.randint(10, (5,), generator=draw).tolist()))
        found.append(Secret(distance, rare, _model().tokens(f"\nThe code of {name} is {code}.\n")))
    return found


@torch.no_grad()
def _found(model: released.Released, line: Tensor, cache: Cache) -> float:
    """The share of a code's five digits that are the model's first choice, each after the true
    ones before it."""
    digits = [i for i, token in enumerate(line) if model.text(token[None]).strip().isdigit()]
    start = int(cache.positions[-1]) + 1 if cache.positions is not None else 0
    scores = model(line[None], range(start, start + len(line)), cache=at_this_place(cache))[0]
    right = scores[[i - 1 for i in digits]].argmax(dim=-1) == line[digits]
    return _mean(right)


# The study --------------------------------------------------------------------------------------


def _of(*settings: str) -> Callable[[str], list[Unit]]:
    """The units of a question that is asked in these settings, of each text."""
    return lambda question: [Unit(question, s, text) for s in settings for text in TEXTS]


def _kind(
    question: str, measure: Callable[[Unit], Result], settings: Iterable[str], *code: Any
) -> Kind[Unit]:
    """A question; `code` is what `measure` calls besides what all of them do."""
    used = (measure, losses, rotary, plain, *code)
    return Kind(question, _of(*settings), measure, _settings, lambda unit: used)


def _settings(unit: Unit) -> Entry:
    return {"weights": SMOLLM2.sha256[:8], "letters": checksum(unit.text)}


_LOOKS = (looking.by_layer, looking.one_back)
STUDY = Study(
    "released", "The model of lesson 16, which `make model` brings, on six texts (hours).", Unit,
    kinds=(
        _kind("changed", when_changed, [*CHANGED, *(f"shifted by {n}" for n in SHIFTS)]),
        _kind("removed", when_removed, REMOVED),
        _kind("in front", in_front, ["own", "other"]),
        _kind("told", told, ["unchanged", "YaRN by 2"], _told, _placed, _found),
        _kind("by place", by_place, STRETCHED),
        _kind("heads", heads, ["unchanged"], *_LOOKS),
        _kind("blind", when_blind, BLINDED, *_LOOKS, most_one_back, blind, Blind, _placed),
        _kind("told closely", told_closely, ["unchanged", "YaRN by 2"], _told, _placed, _found),
        _kind("held", when_held, HOLDING, Held),
        _kind("rising", when_it_rises, ["pairs 20 to 31 held at 8191"], Held),
        _kind("alone", read_alone, ["unchanged"]),
        _kind("in windows", in_windows, ["unchanged", "layout half", "no rotation"]),
        _kind("without rotation", without_rotation, ["one by one", "several"]),
        _kind("first token", first_token,
              ["unchanged", *HIDDEN, "first replaced", "64 tokens later", "window", *KEPT],
              _seen, _paid_and_seen, *_LOOKS),
        _kind("lone key", lone_key, ["all keys", "window and a lone key"],
              _seen, _paid_and_seen, *_LOOKS),
        _kind("value", other_value, VALUES, OtherValue, values_of, _seen, _paid_and_seen, *_LOOKS),
        _kind("jump", after_a_jump, [str(jump) for jump in JUMPS]),
    ),
)  # fmt: skip


def measured(question: str, settings: Iterable[str]) -> list[str]:
    """Those of `settings` that were measured on all texts."""
    units = [result["unit"] for result in STUDY.results()]
    counts = Counter(unit["setting"] for unit in units if unit["question"] == question)
    return [setting for setting in settings if counts[setting] == len(TEXTS)]


def read(question: str, setting: str, field: str = "nats", **where: Any) -> list[Measured]:
    """What was measured of each text: the mean over all records of a text that are asked for.

    `where` says which: `start=range(8192, 16384)`, `distance=1000`. Raises CourseError if nothing
    was measured.
    """
    found: dict[str, list[float]] = {text: [] for text in TEXTS}
    for record in STUDY.records(question=question, setting=setting):
        if all(
            record[k] in v if isinstance(v, range) else record[k] == v for k, v in where.items()
        ):
            found[record["text"]].append(record[field])
    if not all(found.values()):
        raise CourseError(f"{question}, {setting} was not measured for {where}: {STUDY.again}")
    return [Measured(text, 0, fmean(values), "six texts") for text, values in found.items()]


def dearer(one: Sequence[Measured], other: Sequence[Measured]) -> Difference:
    """By how much the first is dearer than the second, text by text, with its standard error."""
    return difference(*(torch.tensor([record.value for record in side]) for side in (one, other)))


def looking_back() -> list[tuple[tuple[int, int], list[float]]]:
    """Each head (layer, number), those first that look one token back most: means over texts.

    Its shares of weight one back and on the first token, its mean distance, and the shares of the
    four eights of pairs.
    """
    found: dict[tuple[int, int], list[list[float]]] = {}
    for record in STUDY.records(question="heads"):
        values = [record[name] for name in ("one back", "first", "distance")] + record["eights"]
        found.setdefault((record["layer"], record["head"]), []).append(values)
    means = {head: [fmean(of) for of in zip(*rows, strict=True)] for head, rows in found.items()}
    return sorted(means.items(), key=lambda item: -item[1][0])
