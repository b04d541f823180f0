"""Which layer of a model is of which type, by any of the keys that say it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from course_lab.rope.known import CHUNKED, LISTED
from course_lab.rope.source import Source

NO_ATTENTION = {
    "linear_attention": "linear attention or a state space", "mamba": "a state space",
    "recurrent": "a recurrence",
    "conv": "a convolution", "moe": "no attention, experts alone", "mlp": "no attention",
    "ssm": "a state space",
}  # fmt: skip
WINDOWED = ("sliding_attention", "chunked_attention", "window_attention", "local_attention",
            "hybrid_sliding", "reference_sliding_attention")  # fmt: skip
PATTERN = {"M": "mamba", "*": "full_attention", "-": "mlp", "E": "moe"}
"""The letters of Nemotron-H's `hybrid_override_pattern`."""
RENAMED = {"attention": "full_attention"}
COUNTED: dict[str, tuple[int | None, str]] = {
    "sliding_window_pattern": (-1, "sliding_attention"),
    "global_attn_every_n_layers": (0, "sliding_attention"),
    "full_attention_interval": (-1, "linear_attention"),
    "attn_layer_period": (None, "mamba"),
}
"""Keys for every how many layers one sees the whole text, which one, and what the others are."""


def total_of(source: Source) -> int | None:
    """How many layers there are; None for a type that counts them otherwise (LXMERT, in three)."""
    if isinstance(source.get("num_hidden_layers"), dict):
        return None
    named = next((v for key in ("layer_types", "layers_block_type", "hybrid_override_pattern")
                  if isinstance(v := source.get(key), (list, str))), None)  # fmt: skip
    return source.whole("num_hidden_layers", least=0) or (len(named) if named else None)


def switch(source: Source, total: int | None) -> Callable[[int], bool]:
    """Whether a layer rotates, by `no_rope_layers`: 1 where it does, whatever its name says."""
    listed: list[Any] = []
    given = source.given.get("no_rope_layers")
    empty = "no_rope_layers" in source.given and not given
    if empty or source.given.get("no_rope_layer_interval"):
        interval = source.whole("no_rope_layer_interval") or 4
        listed = [(number + 1) % interval != 0 for number in range(total or 0)]
    if given or not listed:
        listed = source.listed("no_rope_layers", total) or listed
    return lambda number: not listed or bool(listed[number])


def names_of(source: Source, total: int | None) -> list[str] | None:
    """The type of each layer, by any of the keys that say it; None if no key does."""
    given = source.given
    if (turned := CHUNKED.get(source.name)) and not given.get("layer_types"):
        rotates = switch(source, total)
        return [
            turned.value if rotates(number) else "full_attention" for number in range(total or 0)
        ]
    for key in ("layer_types", "layers_block_type"):
        if given.get(key):
            return [RENAMED.get(one, str(one)) for one in source.listed(key, total) or []]
    if pattern := given.get("hybrid_override_pattern"):
        return [PATTERN.get(letter, letter) for letter in str(pattern)][: total or None]
    if given.get("block_types"):  # RecurrentGemma
        period = source.listed("block_types", None) or []
        names = ["sliding_attention" if one == "attention" else str(one) for one in period]
        return [names[number % len(names)] for number in range(total or 0)]
    if (chosen := _chosen(source)) is not None:
        full, other = chosen
        return ["full_attention" if full(number) else other for number in range(total or 0)]
    for key in ("layer_types", "layers_block_type"):
        if source.default(key):
            return source.listed(key, total)
    return None


def _chosen(source: Source) -> tuple[Callable[[int], bool], str] | None:
    """Which layers see the whole text, by keys that count them, and what the others are."""
    for key, (offset, other) in COUNTED.items():
        every = source.get(key) if key == "attn_layer_period" else source.given.get(key)
        if isinstance(every, int) and every > 0:
            first = offset
            if first is None:
                first = source.whole("attn_layer_offset", least=0) or 0
            return partial(_every, every, first), other
    if source.given.get("full_attn_idxs"):
        return (source.listed("full_attn_idxs", None) or []).__contains__, "conv"
    if source.name in LISTED or source.given.get("attn_layer_indices"):
        return (source.listed("attn_layer_indices", None) or []).__contains__, "mamba"
    return None


def _every(period: int, first: int, number: int) -> bool:
    return (number - first) % period == 0


def window_of(source: Source, name: str, number: int, typed: bool) -> int | None:
    """How far a layer sees back; None if as far as it likes."""
    if name == "chunked_attention":
        return source.whole("attention_chunk_size")
    key = next((k for k in ("sliding_window", "sliding_window_size", "attention_window_size")
                if source.get(k)), None)  # fmt: skip
    if key is None or (typed and name not in WINDOWED):
        return None
    if "use_sliding_window" in {**source.given, **(source.known.defaults if source.known else {})}:
        if not source.get("use_sliding_window"):
            return None
        if not typed and number < (source.get("max_window_layers") or 0):
            return None
    return source.whole(key)
