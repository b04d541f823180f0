"""Where positions come from, layer by layer."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from course_lab.rope.known import (
    OFF,
    REMARKS,
    ROTATES,
    ROTATES_IF,
    TABLES,
    WAYS,
    WITHOUT_WINDOW,
    release,
)
from course_lab.rope.layer_types import (
    NO_ATTENTION,
    WINDOWED,
    by_type,
    names_of,
    switch,
    total_of,
    window_of,
)
from course_lab.rope.lists import not_read
from course_lab.rope.source import Config, Source
from course_lab.rope.tables import Table, by_base, tables
from course_lab.rope.unread import keys_about_positions, said_otherwise, unread
from course_lib.errors import CourseError

if TYPE_CHECKING:
    from torch import Tensor

SIZES = {"hidden_size", "num_hidden_layers", "num_attention_heads"}
LAYER_COUNTS = {"num_hidden_layers", "layer_types", "layers_block_type", "hybrid_override_pattern"}
FURTHEST = 1 << 20
AT_ONCE = 1 << 22
"""Cosines in memory while the reach of a ladder is looked for."""


@dataclass(frozen=True)
class LayerGroup:
    """Layers that are alike in what gives them positions."""

    layers: tuple[int, ...]
    """Their numbers, from 0; empty if the config does not say how many layers there are."""
    total: int
    """Layers of the whole model; 0 if the config does not say."""
    name: str
    """What the config calls their type; empty if it has no types."""
    kind: str
    """The rope_type of rotated layers; else a key of `known.WAYS`, "none", or "no attention"."""
    words: str
    lesson: str
    """The number of the lesson on it; empty if there is none."""
    window: int | None = None
    table: Table | None = None
    notes: tuple[str, ...] = ()
    """Remarks; nothing is wrong."""
    warnings: tuple[str, ...] = ()
    """Faults of this config, and of what will read it."""

    @property
    def rotates(self) -> bool:
        """Whether queries and keys are rotated in these layers."""
        return self.table is not None

    @property
    def _turned(self) -> Table:
        if self.table is None:
            raise AttributeError(f"layers of kind {self.kind!r} do not rotate: ask `rotates` first")
        return self.table

    @property
    def head_dim(self) -> int:
        """The width of a head, or of the part of it that is given to the rotation."""
        return self._turned.head_dim

    @property
    def base(self) -> float:
        """The base of the rotary ladder."""
        return self._turned.base

    @property
    def frequencies(self) -> Tensor:
        """Radians per position of each pair."""
        return self._turned.frequencies

    @property
    def attention_factor(self) -> float:
        """Multiplies cosines and sines, so scores grow by its square."""
        return self._turned.attention_factor

    @property
    def rotary_dim(self) -> int:
        """How many numbers of a head turn, or could: two for each pair. 0 without rotation."""
        return 2 * len(self.table.frequencies) if self.table else 0

    @property
    def slowed(self) -> Tensor:
        """By how much each pair was slowed; infinity for a pair that stands still."""
        return self._turned.plain / self._turned.frequencies

    @property
    def turns(self) -> Tensor | None:
        """Turns of each pair within the original length, before anything is stretched; None if the
        config does not say the length."""
        length = self._turned.original_length
        return None if length is None else length * self._turned.plain / (2 * math.pi)


@dataclass(frozen=True)
class _Layer:
    """What is known of one layer."""

    name: str = ""
    mixer: str = "attention"
    window: int | None = None
    table: str | None = None
    """The name of its rotary table; None if it does not rotate."""
    why: str = ""
    """Why it does not."""
    temperature: str = ""


def grouped(source: Source, original_length: int | None = None) -> list[LayerGroup]:
    """The layers of a network, those that are alike together."""
    source = by_type(source)
    ways = _ways(source)
    groups = list(_added(source, ways))
    found: dict[str, Table | None] = {}
    if "rotary" in ways:
        bases = source.listed("layer_rope_theta", total_of(source))
        found = (
            by_base(source, bases, original_length) if bases else tables(source, original_length)
        )
    layers = _layers(source, ways, found)
    if any(layer.mixer != "attention" for layer in layers) or "rotary" in ways or not groups:
        groups += _alike(source, layers, found, ways)
    said = (*source.notes, *_remarks(source, ways, layers))
    first = groups[0]
    groups[0] = replace(
        first, notes=(*first.notes, *said),
        warnings=(
            *first.warnings, *source.warnings, *unread(source, ways), *not_read(source),
            *said_otherwise(source, ways),
        ),
    )  # fmt: skip
    return groups


def _ways(source: Source) -> tuple[str, ...]:
    """Where positions come from, by the model type and the keys that choose between ways."""
    known, given = source.known, source.given
    ways = known.ways if known else _guessed(source)
    kind = given.get("position_embedding_type", given.get("position_embeddings_type"))
    if kind is None and known:
        kind = source.get("position_embedding_type") or source.get("position_embeddings_type")
    can_rotate = known is None or any(re.search("rope|rotary", key) for key in known.reads)
    if kind in ("rotary", "rope") and can_rotate:
        return ("rotary",)
    if source.get("alibi"):
        return ("ALiBi",)
    inner = given.get("attn_config")
    if isinstance(inner, dict) and inner.get("alibi") is False:  # MPT
        return ("learned table",)
    if given.get("relative_attention"):  # DeBERTa
        ways = tuple(dict.fromkeys([*ways, "relative vectors"]))
    if given.get("use_relative_position_bias") or given.get("use_shared_relative_position_bias"):
        ways = tuple(dict.fromkeys([*ways, "relative table"]))
    if (switch := ROTATES_IF.get(source.name)) and source.get(switch.value):
        return ("rotary",)
    return ways


def _guessed(source: Source) -> tuple[str, ...]:
    """For a model type that is not known: by its keys."""
    given = source.given
    rotary = any(
        given.get(key) is not None for key in
        ("rope_theta", "rope_scaling", "rope_parameters", "rotary_dim", "rotary_pct",
         "rotary_emb_base", "qk_rope_head_dim", "no_rope_layers", "layer_rope_theta")
    )  # fmt: skip
    which = f"model_type {source.name!r} is not one of transformers {release()}: read"
    source.notes.append(f"{which if source.name else 'without model_type, read'} by its keys alone")
    if rotary:
        return ("rotary",)
    if given.get("alibi"):
        return ("ALiBi",)
    if "relative_attention_num_buckets" in given:
        return ("T5 bias",)
    if "n_positions" in given:
        return ("learned table",)
    raise CourseError(f"{source.path}: {_nothing_said(source)}")


def _nothing_said(source: Source) -> str:
    """Why nothing can be said of a config, and what to give instead."""
    if base := source.given.get("base_model_name_or_path"):
        return f"this is an adapter of {base!r:.80}: give the config.json of that model"
    if not source.name and not source.parts and not source.given.keys() & SIZES:
        return (
            "this is no config of one model (it has neither model_type nor hidden_size): give the "
            "config.json beside a model's weights"
        )
    found = ", ".join(keys_about_positions(source.given))
    if found:
        return (
            f"{source.name or 'it'} is not one of transformers {release()}, and it is not known "
            f"here what its own code makes of {found}"
        )
    return (
        f"nothing in this config says where positions come from, and its model_type "
        f"({source.name or 'missing'}) is not one of transformers {release()}; add its rope_theta, "
        "or a model_type that transformers has"
    )


def _added(source: Source, ways: Sequence[str]) -> Iterator[LayerGroup]:
    """What gives positions to all layers at once."""
    total = total_of(source) or 0
    for way in ways:
        if way == "rotary":
            continue
        words, lesson = WAYS[way]
        if way == "learned table" and source.length:
            words += f": {source.length} of them, and none beyond"
        if way == "T5 bias" and (buckets := source.whole("relative_attention_num_buckets")):
            words += f": {buckets} buckets{_last_bucket(source, buckets)}"
        if way == "ALiBi" and (heads := source.whole("num_attention_heads")):
            words += f", a slope for each of {heads} heads"
        yield LayerGroup(tuple(range(total)), total, "", way, words, lesson)


def _last_bucket(source: Source, buckets: int) -> str:
    """From which distance on all are one to the model; a decoder has all buckets for one side."""
    furthest = source.whole("relative_attention_max_distance") or 128
    starts = []
    for count in (buckets // 2, buckets):
        exact = count // 2
        if 0 < exact < furthest:
            grown = (furthest / exact) ** ((count - 1 - exact) / (count - exact))
            starts.append(math.ceil(exact * grown))
    if len(starts) < 2:
        return ""
    return (
        f"; distances from {starts[0]} on share the last one (in a decoder, from {starts[1]} on), "
        "however far they are"
    )


def _layers(source: Source, ways: Sequence[str], found: Config) -> list[_Layer]:
    """Every layer; one for all if their number is not known."""
    total = total_of(source)
    names = names_of(source, total)
    bases = source.listed("layer_rope_theta", total)
    if names is None and bases is None and found and "" not in found:
        if len(found) > 1:
            source.warnings.append(
                "layer_types is missing: which layers are of which type is not said"
            )
        return [_Layer(name, table=name if found[name] else None) for name in found]
    rotates = switch(source, total)
    made = []
    for number in range(total or 1):
        name = str(names[number]) if names else ""
        mixer = NO_ATTENTION.get(name, "attention")
        table, why = None, OFF.get(source.name, "nothing in its code gives positions to attention")
        if "rotary" in ways:
            table, why = _table_of(source, number, name, found, rotates, bases)
        made.append(_Layer(
            name, mixer, window_of(source, name, number, bool(names)),
            table if mixer == "attention" else None, why,
            _temperature(source, name, table is not None),
        ))  # fmt: skip
    return made


def _table_of(
    source: Source, number: int, name: str, found: Config, rotates: Callable[[int], bool],
    bases: list[Any] | None,
) -> tuple[str | None, str]:  # fmt: skip
    """The name of a layer's table, or None and why it does not rotate."""
    if bases is not None:
        base = bases[number] if number < len(bases) else 0
        return (f"{base:g}", "") if base else (None, "layer_rope_theta is 0 here")
    if number in (source.listed("cross_attention_layers", None) or ()):
        return None, "this layer attends to pictures alone"
    if source.whole("qk_rope_head_dim", least=0) == 0:
        return None, "qk_rope_head_dim is 0"
    if not rotates(number):
        return None, "no_rope_layers has a 0 here"
    rule = ROTATES.get(source.name)
    if rule and name and name != rule.value and not _forced(source, number):
        return None, f"{source.name} rotates in layers of type {rule.value} alone ({rule.source})"
    if source.name in TABLES:
        chosen = "main" if name == TABLES[source.name].value else "compress"
    elif "unscaled" in found:
        chosen = "" if number in source.get("rope_scaling_layers") else "unscaled"
    else:
        chosen = name if name in found else ""
    if chosen not in found:
        return (None, "it has no rotary parameters") if name in NO_ATTENTION else (
            next(iter(found)), "")  # fmt: skip
    if found[chosen] is None:
        return None, f"rope_parameters has null for {chosen}"
    return chosen, ""


def _forced(source: Source, number: int) -> bool:
    """Cohere 2 with experts rotates in its first, dense layers too, and some types in all layers
    if there is no window."""
    if source.name in WITHOUT_WINDOW and source.get("sliding_window") is None:
        return True
    kinds = source.get("mlp_layer_types")
    return bool(
        source.get("prefix_dense_sliding_window_pattern") == 1 and isinstance(kinds, list)
        and number < len(kinds) and kinds[number] == "dense"
    )  # fmt: skip


def _temperature(source: Source, name: str, rotates: bool) -> str:
    """By how much a layer's queries grow with their position, in words."""

    def given(key: str) -> float:
        return source.number(key, source.get(key), above=0)

    if source.get("attn_temperature_tuning") and not rotates and source.get("floor_scale"):
        return (
            "queries are multiplied in layers without rotation, by "
            f"1 + {given('attn_scale'):g} ln(1 + floor((position + 1) / {given('floor_scale'):g}))"
        )
    if source.get("log_scaling_n_floor") and name not in WINDOWED:
        return (
            f"queries are multiplied by 1 + {given('log_scaling_alpha'):g} ln(position / "
            f"{given('log_scaling_n_floor'):g}) beyond that many tokens"
        )
    return ""


def _alike(
    source: Source, layers: list[_Layer], found: Config, ways: Sequence[str]
) -> Iterator[LayerGroup]:
    """Layers with the same answers, in the order of the first of each."""
    known = len(layers) == total_of(source)
    positions = [way for way in ways if way != "rotary"]
    for one in dict.fromkeys(layers):
        numbers = tuple(n for n, layer in enumerate(layers) if layer == one) if known else ()
        total = len(layers) if known else 0
        table = found.get(one.table) if one.table is not None else None
        notes, warnings = [], []
        if one.temperature:
            notes.append(one.temperature)
        if table is not None:
            notes, warnings = [*notes, *table.notes], list(table.warnings)
            kind, words, lesson = table.kind, *_rotation(table)
            if table.temperature is not None:
                notes.append(
                    f"queries are multiplied by 1 + {table.temperature:g} ln(1 + floor(position / "
                    f"{table.original_length})) (llama_4_scaling_beta)"
                )
            if rest := source.whole("qk_nope_head_dim", least=0):
                notes.append(
                    f"{rest} more numbers of each head are not rotated: the rotated "
                    f"{table.head_dim} stand apart, one key for all heads (lesson 15)"
                )
        elif one.mixer != "attention":
            kind, words, lesson = "no attention", one.mixer, ""
        elif positions:
            continue
        else:
            kind, words, lesson = "none", f"no positions: {one.why}", "01"
        yield LayerGroup(numbers, total, one.name, kind, words, lesson, one.window, table,
                         tuple(notes), tuple(warnings))  # fmt: skip


def _rotation(table: Table) -> tuple[str, str]:
    if table.sections:
        what = "positions on several axes" if table.kind != "axial" else "rows and columns"
        return f"queries and keys are rotated by {what}", "18"
    lessons = {"default": "08", "linear": "13", "dynamic": "14", "proportional": "10"}
    return "queries and keys are rotated", lessons.get(table.kind, "15")


def _remarks(source: Source, ways: Sequence[str], layers: list[_Layer]) -> Iterator[str]:
    if source.name in REMARKS:
        remark = REMARKS[source.name]
        yield f"{remark.value} ({remark.source})"
    if "rotary" not in ways and not any(way in WAYS for way in ways):
        mixers = any(layer.mixer != "attention" for layer in layers)
        yield (
            "order comes from the layers that are no attention" if mixers else
            f"what order {source.name} sees comes from masks, convolutions or recurrences"
        )  # fmt: skip
    if source.known and len(layers) > 1 and not LAYER_COUNTS & source.given.keys():
        yield f"how many layers there are is not in the config; {source.name} takes {len(layers)}"
    if source.known:
        yield f"read as transformers {release()} reads {source.name} ({source.known.source})"
    if source.parts:
        yield f"other parts of this config: {', '.join(source.parts)} (--part reads one of them)"


def reach(frequencies: Sequence[float] | Tensor, furthest: int = FURTHEST) -> int:
    """The first distance at which the mean cosine over all pairs falls below zero.

    There a key equal to the query scores lower than one that has nothing to do with it. At most
    `furthest`. Source: Men et al. 2024, Base of RoPE Bounds Context Length (arXiv 2405.14591).
    """
    import numpy as np

    paces = np.asarray(frequencies, dtype=np.float64)
    if (paces == 0).mean() >= 0.5:  # pairs that stand outweigh the others
        return furthest
    block = max(1, min(4096, AT_ONCE // len(paces)))
    steps = np.arange(block)[:, None] * paces  # (distances, pairs)
    cos, sin = np.cos(steps), np.sin(steps)
    for start in range(0, furthest, block):  # cos(a + b) = cos a cos b - sin a sin b
        below = cos @ np.cos(start * paces) < sin @ np.sin(start * paces)
        if below.any():
            return min(start + int(below.argmax()), furthest)
    return furthest
