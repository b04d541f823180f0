"""What a config says of positions and nobody reads: it is named, never passed over in silence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from course_lab.rope.known import ABOUT_POSITIONS, BASES, CAVEATS, ROTATES_IF, WAYS
from course_lab.rope.parameters import SHARE
from course_lab.rope.source import Config, Source

DEEPEST = 8
"""Objects inside of objects that are looked into."""
UNDERSTOOD = {
    "rope_theta", "rope_scaling", "rope_parameters", "rotary_dim", "rotary_pct", "rope_pct",
    "rotary_emb_base", "rotary_embedding_base", "partial_rotary_factor", "rope_local_base_freq",
    "global_rope_theta", "local_rope_theta", "swa_rope_theta", "compress_rope_theta",
    "no_rope_layers", "no_rope_layer_interval", "layer_rope_theta", "position_embedding_type",
    "position_embeddings_type", "alibi", "use_mem_rope", "qk_rope_head_dim", "qk_nope_head_dim",
    "attn_temperature_tuning", "floor_scale", "attn_scale", "log_scaling_n_floor",
    "log_scaling_alpha", "rope_scaling_layers", "relative_attention",
    "relative_attention_num_buckets", "relative_attention_max_distance", "rotary_value",
    "use_rotary_embedding", "partial_rotary_factors", "sliding_window_pattern",
    "global_attn_every_n_layers", "full_attention_interval", "layer_group_size", "compress_ratios",
    "linear_attn_config", "use_sliding_window", "max_window_layers", "local_attention",
    "attention_windows", "local_layer_ids", "sparse_attention_config", "use_dsa",
    "first_k_dense_replace", "prefix_dense_sliding_window_pattern", "use_bidirectional_attention",
    "per_layer_config",
}  # fmt: skip
"""Keys about positions that are read here."""
OF_A_STRETCH = (
    "rope_type", "factor", "beta_fast", "beta_slow", "mscale", "mscale_all_dim", "low_freq_factor",
    "high_freq_factor", "short_factor", "long_factor", "attention_factor", "mrope_section",
    "mrope_interleaved", "original_max_position_embeddings",
)  # fmt: skip
"""Keys that belong into the parameters, and say nothing beside them."""
OF_ROTATION = (*BASES, SHARE, "rotary_pct", "rope_scaling", "rope_parameters")
"""Keys that say nothing to a model that does not rotate."""
NO_EFFECT = {
    "rope_factors_in_the_file": "said by `source.open_config`, of a GGUF file",
    "rope_layers_with_a_window": "said by `source.open_config`, of a GGUF file",
    "rope_interleave": "which columns make a pair (lesson 09); the frequencies stay as they are",
    "rope_interleaved": "which columns make a pair (lesson 09); the frequencies stay as they are",
    "use_long_context": "a base that Zamba 2 has already put under rope_theta",
}
"""Keys about positions that do not change what is said here, and what they do."""
NAMED = {
    "alibi": "ALiBi", "rotary": "rotary", "rope": "rotary", "absolute": "learned table",
    "learned": "learned table", "sinusoidal": "sinusoids",
}  # fmt: skip
"""Ways by the names that `position_embedding_type` has for them."""


def unread(source: Source, ways: Sequence[str]) -> Iterator[str]:
    """What is not in the config, and keys about positions that are set and not read here."""
    if source.name in CAVEATS:
        caveat = CAVEATS[source.name]
        yield f"{caveat.value} ({caveat.source})"
    for key, value in source.given.items():
        if key in OF_A_STRETCH and "rotary" in ways and source.known:
            if value is not None and source.default(key) is None:
                yield (
                    f"{key} {source.where} is read by nobody: it belongs into rope_parameters, "
                    "or into rope_scaling in a file that has it"
                )
        elif key in OF_ROTATION and value and source.known and not _can_rotate(source, ways):
            yield f"{key} {source.where} is read by nobody: {source.name} does not rotate"
        elif isinstance(value, dict):
            yield from _in_object(source, key, value)
        elif _is_about_positions(key, value) and source.reads(key):
            yield f"{key} is not understood here, and may change what is said above"


def _can_rotate(source: Source, ways: Sequence[str]) -> bool:
    """Whether the model rotates, or could, if another of its keys said so."""
    own = source.known.ways if source.known else ()
    return "rotary" in ways or "rotary" in own or source.name in ROTATES_IF


def _in_object(source: Source, key: str, value: Config) -> Iterator[str]:
    """Of an object about positions, or one that holds keys about them, however deep."""
    mine = source.known.parts if source.known else source.parts
    if key in UNDERSTOOD or key in mine or not value:
        return
    whole = _is_about_positions(key, value)
    for name in [key] if whole else [f"{key}.{one}" for one in _inner_keys(value)]:
        if source.known and not source.reads(key):
            yield f"{name} is not read by {source.name}'s code in transformers, nor here"
        else:
            yield f"{name} is not understood here, and may change what is said above"


def _inner_keys(config: Config, depth: int = 0) -> Iterator[str]:
    """The keys about positions in an object and in the objects in it, as paths."""
    yield from (one for one in keys_about_positions(config) if one != "alibi")
    for key, value in config.items():
        if isinstance(value, dict) and not ABOUT_POSITIONS.search(key) and depth < DEEPEST:
            yield from (f"{key}.{one}" for one in _inner_keys(value, depth + 1))


def keys_about_positions(config: Config) -> list[str]:
    """The keys of a config that concern positions and are set."""
    ours = {"model_type", "position_embedding_type"}
    return [
        key
        for key, value in config.items()
        if ABOUT_POSITIONS.search(key) and value not in (None, False) and key not in ours
    ]


def _is_about_positions(key: str, value: object) -> bool:
    if key in NO_EFFECT or key in UNDERSTOOD or key == "mscale" or value in (None, False):
        return False
    return bool(ABOUT_POSITIONS.search(key))


def said_otherwise(source: Source, ways: Sequence[str]) -> Iterator[str]:
    """Where the config has something in it that speaks against what is read."""
    yield from _own_code(source)
    kind = source.given.get("position_embedding_type")
    way = NAMED.get(kind) if isinstance(kind, str) else None
    if way and way not in ways and (way == "rotary" or way in WAYS):
        yield (
            f"position_embedding_type is {kind!r}, and {source.name or 'what reads this'} does "
            f"not do that: it takes {' and '.join(ways) or 'no positions'}"
        )


def _own_code(source: Source) -> Iterator[str]:
    """Of a repository that brings its own classes: the library's defaults need not be theirs."""
    found = source.own_code
    named = found.items() if isinstance(found, dict) else [("AutoModel", found)]
    classes = {key: one.rpartition("--")[2] for key, one in named
               if isinstance(one, str) and re.fullmatch(r"[\w./-]+", one)
               and re.match("Auto(Config|Model)|Flax|TF", key)}  # fmt: skip
    if not classes:
        return
    theirs = ", ".join(sorted(set(classes.values())))
    if source.known is None:
        yield (
            f"auto_map: the model's own code, {theirs:.160}, decides what its keys mean; here they "
            "are read as they are usually meant"
        )
        return
    yield (
        f"auto_map: the repository brings classes of its own, {theirs:.160}, and they may do "
        f"otherwise than transformers' class of {source.name}, which is read here. Where the file "
        "leaves a key out, the default of that class may not be the default of this one"
    )
