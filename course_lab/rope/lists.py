"""Keys of a config that say something of each layer, and that nothing here reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from course_lab.rope.layer_types import COUNTED, total_of
from course_lab.rope.source import Config, Source

READ = {
    "layer_types", "layers_block_type", "layer_rope_theta", "no_rope_layers", "block_types",
    "cross_attention_layers", "rope_scaling_layers", "full_attn_idxs", "attn_layer_indices",
}  # fmt: skip
"""Lists that are read for every type."""
READ_FOR = {
    "compress_ratios": ("deepseek_v4",), "attention_windows": ("ultrabert",),
    "local_layer_ids": ("inkling_text",), "rope_theta": ("step3p5", "ultrabert"),
    "partial_rotary_factors": ("step3p5",), "sparse_attention_freq": ("minimax_m3_vl_text",),
    "full_attn_layers": ("kimi_linear", ""), "kda_layers": ("kimi_linear", ""),
}  # fmt: skip
"""Lists that are read for these types, and for those that transformers does not have (empty)."""
NOT_OF_POSITIONS = re.compile(
    r"mlp|moe|expert|dense|ffn|intermediate_size|swiglu|activation|token_ids?$|_token$|architectures"
    r"|label|languages|mean$|std$|heads|mtp_|^depths$|hidden_sizes|patch_sizes|strides|kernel_size"
    r"|channels|sr_ratios|out_features|out_indices|indexer_types"
)
"""Keys with lists that say nothing of positions: feed-forward layers, tokens, labels, heads, the
stages of networks for pictures, and which layers choose tokens for others."""
OF_ROTATION = ("rope_scaling", "rope_parameters")
"""Objects whose lists have an entry for each pair, or each axis."""


def not_read(source: Source) -> Iterator[str]:
    """A warning for each list with an entry for each layer that nothing here reads, and for each
    key that counts layers and that the type's class does not read."""
    total = total_of(source)
    further = source.given.get("num_nextn_predict_layers")
    lengths = {total, (total or 0) + (further if isinstance(further, int) else 0)}
    for name, key, values in _lists(source.given):
        read = key in READ or _own(source) in READ_FOR.get(key, ())
        if (total or 0) > 1 and len(values) in lengths and not read:
            yield (
                f"{name} has {len(values)} values, {_shown(values)}, as many as there are layers, "
                "and is not read here: layers may differ in more than is said above"
            )
    if source.known and not source.given.get("layer_types"):
        yield from _counts_not_read(source)


def _counts_not_read(source: Source) -> Iterator[str]:
    for key, count in COUNTED.items():
        every = source.given.get(key)
        if every and source.name not in count.types:
            yield (
                f"{key} = {every!r:.20} is not read: {source.name} does not choose the types of "
                "its layers by it"
            )
        elif isinstance(every, str):
            yield (
                f"{key} = {every!r:.20} is not read: transformers takes a whole number, and fails "
                "on this config unless it has layer_types too"
            )


def _lists(given: Config, inside: str = "") -> Iterator[tuple[str, str, list[Any]]]:
    """The lists of a config and of the objects in it that are no network: name, key, values."""
    for key, value in given.items():
        if NOT_OF_POSITIONS.search(key) or key in OF_ROTATION:
            continue
        if isinstance(value, list):
            yield inside + key, key, value
        elif isinstance(value, dict) and not inside and not _is_network(value):
            yield from _lists(value, f"{key}, ")


def _is_network(value: Config) -> bool:
    return bool({"model_type", "hidden_size", "d_model", "quant_method"} & value.keys())


def _own(source: Source) -> str:
    """The type; empty for one that transformers does not have."""
    return source.name if source.known else ""


def _shown(values: list[Any]) -> str:
    """The first few values of a list."""
    first = ", ".join(f"{one!r:.20}" for one in values[:4])
    return f"[{first}, ...]" if len(values) > 4 else f"[{first}]"
