"""Which layer of a model is of which type, by any of the keys that say it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from course_lab.rope.known import CHUNKED, LISTED
from course_lab.rope.source import Source
from course_lib.errors import CourseError

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
RENAMED = {
    "attention": "full_attention", "deepseek_sparse_attention": "indexed_attention",
    "qwen_sparse_attention": "indexed_attention",
}  # fmt: skip
"""Names of layer types that transformers has given up, and what it calls them today."""


class Count(NamedTuple):
    """A key for every how many layers one sees the whole text."""

    first: int | None
    """The first that does, up to a multiple; None if `attn_layer_offset` says it."""
    others: str
    """What the other layers are."""
    types: tuple[str, ...]
    """The types whose classes read it."""


COUNTED = {
    "sliding_window_pattern": Count(-1, "sliding_attention", (
        "cohere2", "cohere2_moe", "embedding_gemma2_text", "exaone4", "exaone_moe", "gemma3_text",
        "t5gemma2_decoder", "t5gemma2_text")),
    "global_attn_every_n_layers": Count(0, "sliding_attention", (
        "modernbert", "modernbert-decoder", "afmoe")),
    "full_attention_interval": Count(-1, "linear_attention", (
        "qwen3_5_moe_text", "qwen3_5_text", "qwen3_next", "qwen4_exp_text")),
    "layer_group_size": Count(-1, "linear_attention", ("bailing_hybrid",)),
    "attn_layer_period": Count(None, "mamba", ("jamba", "zamba")),
}  # fmt: skip
FROM_THE_END = ("afmoe",)
"""Types whose first such layer is the last of each period, whatever `COUNTED` says."""
COMPRESSED = {
    0: "sliding_attention", 4: "compressed_sparse_attention", 128: "heavily_compressed_attention",
}  # fmt: skip
"""What the numbers of DeepSeek-V4's `compress_ratios` mean."""
LAST_FULL = ("diffusion_gemma_text", "embedding_gemma2_text", "gemma4_text", "gemma4_unified_text")
"""Types whose last layer sees the whole text, whatever the config says."""
INDEXED = ("glm5_next_text", "dots3_note_text", "qwen4_exp_text")
"""Types that take "full_attention" to be attention to chosen tokens."""
HALVED = ("modernbert", "modernbert-decoder")
"""Types with a window to both sides: `local_attention` is the whole of it."""


def total_of(source: Source) -> int | None:
    """How many layers there are; None for a type that counts them otherwise (LXMERT, in three)."""
    if isinstance(source.get("num_hidden_layers"), dict):
        return None
    named = next((v for key in ("layer_types", "layers_block_type", "hybrid_override_pattern")
                  if isinstance(v := source.get(key), (list, str))), None)  # fmt: skip
    own = [source.given.get(key) for key in ("layers_block_type", "hybrid_override_pattern")]
    if source.name == "nemotron_h":
        for one in own:
            if one and isinstance(one, (list, str)):
                return len(one)  # whatever num_hidden_layers says
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
    names = _said(source, total)
    if names and source.name in LAST_FULL:
        names = [*names[:-1], "full_attention"]
    sparse = source.given.get("use_dsa", "per_layer_config" not in source.given or None)
    if names and source.name in INDEXED and (sparse or source.name != "dots3_note_text"):
        names = ["indexed_attention" if one == "full_attention" else one for one in names]
    return names


def _said(source: Source, total: int | None) -> list[str] | None:
    """What the keys say, before a class changes it."""
    given = source.given
    if (turned := CHUNKED.get(source.name)) and not given.get("layer_types"):
        rotates = switch(source, total)
        return [
            turned.value if rotates(number) else "full_attention" for number in range(total or 0)
        ]
    for key in ("layer_types", "layers_block_type"):
        if given.get(key):
            return [RENAMED.get(str(one), str(one)) for one in source.listed(key, total) or []]
    if pattern := given.get("hybrid_override_pattern"):
        if not isinstance(pattern, str) or len(pattern) < (total or 0):
            raise CourseError(
                f"{source.path}: hybrid_override_pattern must have a letter for each of the "
                f"{total} layers (num_hidden_layers), got {pattern!r:.40}"
            )
        return [PATTERN.get(letter, letter) for letter in pattern][: total or None]
    if given.get("block_types"):  # RecurrentGemma
        period = source.listed("block_types", None) or []
        names = ["sliding_attention" if one == "attention" else str(one) for one in period]
        return [names[number % len(names)] for number in range(total or 0)]
    if total and (own := _by_own_keys(source, total)):
        return own
    if (chosen := _chosen(source)) is not None:
        full, other = chosen
        return ["full_attention" if full(number) else other for number in range(total or 0)]
    for key in ("layer_types", "layers_block_type"):
        if source.default(key):
            return source.listed(key, total)
    return None


def _by_own_keys(source: Source, total: int) -> list[str] | None:
    """By keys that one type alone has, or reads in its own way; None if the file has none."""
    if _listed_by_kimi(source):
        return _kimi_linear(source, total)
    if source.name in OWN:
        return OWN[source.name](source, total)
    if source.default("max_window_layers") is None:
        return None
    first = source.whole("max_window_layers", least=0) or 0
    narrow = source.get("use_sliding_window") is not False and source.get("sliding_window")
    return [
        "sliding_attention" if narrow and number >= first else "full_attention"
        for number in range(total)
    ]


def _qwen2_moe(source: Source, total: int) -> list[str]:
    """Its windows stand in every other layer, and before `max_window_layers`."""
    first = source.whole("max_window_layers", least=0) or 0
    narrow = source.get("use_sliding_window")
    return [
        "sliding_attention" if narrow and number % 2 == 0 and number < first else "full_attention"
        for number in range(total)
    ]


def _smollm3(source: Source, total: int) -> list[str]:
    rotates = switch(source, total)
    narrow = source.get("use_sliding_window") and source.get("sliding_window")
    return ["sliding_attention" if narrow and not rotates(number) else "full_attention"
            for number in range(total)]  # fmt: skip


def _deepseek_v4(source: Source, total: int) -> list[str]:
    """By `compress_ratios`, which may go on for layers that predict further tokens."""
    ratios = source.listed("compress_ratios", None)
    if ratios is None:  # two layers of one kind, then two kinds in turns
        return [COMPRESSED[4 if n > 1 and n % 2 else 128] for n in range(total)]
    known = list(COMPRESSED)
    wrong = [one for one in ratios if one not in known]
    if wrong or len(ratios) < total:
        got = f"{wrong[0]!r:.40}" if wrong else f"{len(ratios)} of them"
        raise CourseError(
            f"{source.path}: compress_ratios must have 0, 4 or 128 for each of the {total} layers "
            f"(num_hidden_layers), got {got}"
        )
    return [COMPRESSED[one] for one in ratios[:total]]


def _listed_by_kimi(source: Source) -> bool:
    """Whether layers are listed as Kimi Linear lists them, for a class that reads it."""
    inner = source.given.get("linear_attn_config")
    reads = source.known is None or source.name == "kimi_linear"
    return reads and isinstance(inner, dict) and {"full_attn_layers", "kda_layers"} <= inner.keys()


def _kimi_linear(source: Source, total: int) -> list[str]:
    """By the two lists of `linear_attn_config`, which count layers from 1."""
    names = [""] * total
    for key, name in (("full_attn_layers", "full_attention"), ("kda_layers", "linear_attention")):
        listed = source.given["linear_attn_config"][key]
        for number in listed if isinstance(listed, list) else [listed]:
            if not isinstance(number, int) or not 1 <= number <= total:
                raise CourseError(
                    f"{source.path}: linear_attn_config, {key} must list layers from 1 to {total}, "
                    f"got {number!r:.40}"
                )
            names[number - 1] = name
    if "" in names:
        raise CourseError(
            f"{source.path}: linear_attn_config must name each layer from 1 to {total} in "
            f"full_attn_layers or in kda_layers; layer {names.index('') + 1} is in neither"
        )
    return names


def _ultrabert(source: Source, total: int) -> list[str] | None:
    windows = source.listed("attention_windows", total)
    if windows is None:
        return None
    return ["sliding_attention" if one else "full_attention" for one in windows]


def _inkling(source: Source, total: int) -> list[str] | None:
    local = source.listed("local_layer_ids", None)
    if local is None:
        return None
    return ["hybrid_sliding" if number in local else "hybrid" for number in range(total)]


def _minimax_m3(source: Source, total: int) -> list[str] | None:
    inner = source.given.get("sparse_attention_config")
    sparse = inner.get("sparse_attention_freq") if isinstance(inner, dict) else None
    if not isinstance(sparse, list):
        return None
    if len(sparse) != total:
        raise CourseError(
            f"{source.path}: sparse_attention_config, sparse_attention_freq must have an entry for "
            f"each of the {total} layers (num_hidden_layers), got {len(sparse)}"
        )
    return ["minimax_m3_sparse" if one else "full_attention" for one in sparse]


def _cohere2_moe(source: Source, total: int) -> list[str] | None:
    """Dense layers at the start have a period of their own."""
    keys = ("first_k_dense_replace", "sliding_window_pattern")
    if not any(source.given.get(key) for key in (*keys, "prefix_dense_sliding_window_pattern")):
        return None
    dense = source.whole("first_k_dense_replace", least=0) or 0
    period = source.whole("sliding_window_pattern") or 4
    prefix = source.whole("prefix_dense_sliding_window_pattern") or 1
    full = [_every(prefix, -1, n) for n in range(dense)]
    full += [_every(period, -1, n) for n in range(total - dense)]
    return ["full_attention" if one else "sliding_attention" for one in full]


def _zamba(source: Source, total: int) -> list[str]:
    """Its period begins after three layers that are always the same."""
    period, offset = source.whole("attn_layer_period") or 6, source.whole("attn_layer_offset", 0)
    after = ["hybrid" if n % period == (4 if offset is None else offset) else "linear_attention"
             for n in range(total - 3)]  # fmt: skip
    return ["linear_attention", "linear_attention", "hybrid", *after][:total]


def _dots3_note(source: Source, total: int) -> list[str]:
    narrow = source.given.get("use_sliding_window", True)
    return ["sliding_attention" if narrow and n >= 2 and n % 4 != 1 else "full_attention"
            for n in range(total)]  # fmt: skip


FULL: dict[str, Callable[[int, int], bool]] = {
    "beam": lambda n, total: n % 6 == 5 or n == total - 1,
    "neomme": lambda n, total: n % 6 == 5 or n == total - 1,
    "flint": lambda n, total: n < 2 or n % 4 == 1 or n == total - 1,
    "mimo_v2_flash": lambda n, total: n == 0 or n % 6 == 5,
    "muse_glimmer_text": lambda n, total: (total - 1 - n) % 4 == 0,
    "muse_spark_text": lambda n, total: (total - 1 - n) % 4 == 0,
    "muse_glimmer_vision": lambda n, total: n % 4 == 3 or n == total - 1,
    "muse_spark_vision": lambda n, total: n % 4 == 3 or n == total - 1,
    "olmo_hybrid": lambda n, total: n % 4 == 3 or n == total - 1 < 3,
    "kimi_linear": lambda n, total: n > 0 and n % 4 == 0,
    "lfm3": lambda n, total: n % 4 == 2,
    "lfm3_vl_vision": lambda n, total: n >= 2 and n % 2 == 0,
}
"""Types whose classes count out by a rule of their own which layers see the whole text."""
OTHERS = {
    "muse_glimmer_vision": "window_attention", "muse_spark_vision": "window_attention",
    "olmo_hybrid": "linear_attention", "kimi_linear": "linear_attention",
    "lfm3": "conv", "lfm3_vl_vision": "conv",
}  # fmt: skip
"""What their other layers are, if not sliding ones."""


def _by_rule(source: Source, total: int) -> list[str]:
    """For a file that says nothing: by the rule of its class, which holds for any depth."""
    other = OTHERS.get(source.name, "sliding_attention")
    full = FULL[source.name]
    names = ["full_attention" if full(n, total) else other for n in range(total)]
    if source.name == "lfm3":
        names = ["sliding_attention" if n and n % 4 == 0 else one for n, one in enumerate(names)]
    return names


OWN: dict[str, Callable[[Source, int], list[str] | None]] = {
    "qwen2_moe": _qwen2_moe, "smollm3": _smollm3, "deepseek_v4": _deepseek_v4,
    "ultrabert": _ultrabert, "inkling_text": _inkling, "minimax_m3_vl_text": _minimax_m3,
    "cohere2_moe": _cohere2_moe, "zamba": _zamba, "dots3_note_text": _dots3_note,
    **dict.fromkeys(FULL, _by_rule),
}  # fmt: skip
"""Types with keys of their own, each as its configuration class reads them."""


def _chosen(source: Source) -> tuple[Callable[[int], bool], str] | None:
    """Which layers see the whole text, by keys that count them, and what the others are."""
    for key, count in COUNTED.items():
        every = source.get(key) if key == "attn_layer_period" else source.given.get(key)
        if not isinstance(every, int) or isinstance(every, bool) or every <= 0:
            continue
        if source.known and source.name not in count.types:
            continue
        first = -1 if source.name in FROM_THE_END else count.first
        if first is None:
            first = source.whole("attn_layer_offset", least=0) or 0
        return partial(_every, every, first), count.others
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
    if typed and name not in WINDOWED:
        return None
    each = source.get("per_layer_config")
    own = next(
        (one for key, one in each.items() if str(key).isdecimal() and int(key) == number), None
    ) if isinstance(each, dict) else None  # fmt: skip
    window = _width(source)
    if isinstance(own, dict) and "sliding_window" in own:
        window = own["sliding_window"]
        if window is not None:
            key = f"per_layer_config, {number}, sliding_window"
            window = int(source.number(key, window, above=0))
    if window is None or "use_sliding_window" not in {
        **source.given, **(source.known.defaults if source.known else {})
    }:  # fmt: skip
        return window
    if not source.get("use_sliding_window") and source.name != "dots3_note_text":
        return None
    first = source.get("max_window_layers") if source.known is None else None
    return None if not typed and number < (first or 0) else window


def _width(source: Source) -> int | None:
    """The window of the layers that have one, by any of the keys that say it."""
    given = source.given
    if source.name in HALVED and source.get("local_attention"):
        return (source.whole("local_attention", least=2) or 2) // 2
    if source.name == "mimo_v2_flash" and given.get("sliding_window_size") is not None:
        return (source.whole("sliding_window_size") or 0) + 1
    if source.name == "ultrabert" and (windows := source.listed("attention_windows", None)):
        return next((int(one) for one in windows if one), source.whole("sliding_window"))
    keys = ("sliding_window", "sliding_window_size", "attention_window_size")
    key = next((key for key in keys if given.get(key)), None)
    if key is None and "sliding_window" not in given:
        key = next((key for key in keys if source.get(key)), None)
    window = source.whole(key) if key else None
    if window and source.name == "gemma3_text" and given.get("use_bidirectional_attention"):
        return window // 2 + 1
    return window


def by_type(source: Source) -> Source:
    """The source with rotary parameters by layer type, or a base for each layer, as its class
    makes them of the keys that makers write."""
    total = total_of(source)
    if not total:
        return source
    if source.name in ("step3p5", "ultrabert"):
        return _listed_bases(source, total)
    if source.name == "deepseek_v4":
        return _two_tables(source)
    if source.name == "neomme" and source.given.get("per_layer_config") is None:
        return _long_windows(source, total)
    usual, inner = source.default("layer_rope_theta"), source.given.get("rope_parameters")
    if usual is None or source.given.get("layer_rope_theta") is not None:
        return source
    read = source.known.bases.get("alone", {}).get("", ["rope_theta"]) if source.known else []
    base = source.given.get("rope_theta") if "rope_theta" in read else None
    if isinstance(inner, dict) and inner.get("rope_theta") is not None:
        base = inner["rope_theta"]
    if base is None and len(usual) == total:
        return source
    base = max(usual) if base is None else source.number("rope_theta", base, above=1)
    still = FULL.get(source.name, lambda *_: False)
    bases = [0 if still(number, total) else base for number in range(total)]
    return replace(source, given={**source.given, "layer_rope_theta": bases})


def _long_windows(source: Source, total: int) -> Source:
    """NeoMME's windows are short and long in turns, whatever its depth."""
    usual = (source.default("per_layer_config") or {}).values()
    longer = max((one.get("sliding_window") or 0 for one in usual), default=0)
    names = names_of(source, total) or []
    narrow = [number for number, name in enumerate(names) if name in WINDOWED]
    each = {str(number): {"sliding_window": longer} for number in narrow[1::2]}
    return replace(source, given={**source.given, "per_layer_config": each})


def _two_tables(source: Source) -> Source:
    """DeepSeek-V4 stretches its compressed layers alone, and without a factor on attention."""
    given = dict(source.given)
    if isinstance(names := given.get("layer_types"), list):  # which may go on for further tokens
        given["layer_types"] = names[: total_of(source)]
    source = replace(source, given=given)
    old = given.get("rope_scaling") or given.get("rope_parameters") or {}
    if not isinstance(old, dict) or not old or {"main", "compress"} <= old.keys():
        return source
    usual = source.default("rope_parameters") or {}
    main, compress = (
        {**usual.get(name, {}), **({"rope_theta": base} if base is not None else {})}
        for name, base in (
            ("main", given.get("rope_theta")), ("compress", given.get("compress_rope_theta")),
        )
    )  # fmt: skip
    kind = old.get("rope_type") or old.get("type") or "default"
    stretched = {key: value for key, value in old.items() if key not in ("rope_theta", "type")}
    stretched |= {"rope_type": kind, "rope_theta": compress["rope_theta"]}
    if kind == "yarn":
        stretched.setdefault("attention_factor", 1.0)
    parameters = {"main": main, "compress": {**compress, **stretched}}
    kept = {key: value for key, value in given.items() if key != "rope_scaling"}
    return replace(source, given={**kept, "rope_parameters": parameters})


def _listed_bases(source: Source, total: int) -> Source:
    """Step 3.5 lists bases and shares of heads by layer, and lists go on for layers that predict
    further tokens; UltraBERT lists a base for each of the first layers."""
    further = source.whole("num_nextn_predict_layers", least=0) or 0
    given = {
        key: value[:total] if isinstance(value, list) and len(value) == total + further else value
        for key, value in source.given.items()
    }
    source = replace(source, given=given)
    names = names_of(source, total) or []
    old = given.get("rope_parameters")
    if isinstance(old, dict) and all(isinstance(old.get(name), dict) for name in names):
        return source
    bases, shares = given.get("rope_theta"), given.get("partial_rotary_factors")
    if source.name == "ultrabert" and not isinstance(bases, list):
        return source
    for key, value in (("rope_theta", bases), ("partial_rotary_factors", shares)):
        if isinstance(value, list) and source.name == "step3p5":
            source.listed(key, total)
    made: dict[str, dict[str, Any]] = {}
    for number, name in enumerate(names[: len(bases) if isinstance(bases, list) else None]):
        one: dict[str, Any] = {"rope_type": "default"}
        for key, values in (("rope_theta", bases), ("partial_rotary_factor", shares)):
            value = values[number] if isinstance(values, list) else values
            one |= {} if value is None else {key: value}
        if made.setdefault(name, one) != one:
            source.warnings.append(
                f"layers of type {name} have different values in rope_theta or "
                f"partial_rotary_factors; {source.name} takes those of the first of them"
            )
    if isinstance(old := given.get("rope_scaling"), dict) and "full_attention" in made:
        made["full_attention"] |= old
    dropped = ("rope_theta", "partial_rotary_factors", "rope_scaling")
    kept = {key: value for key, value in given.items() if key not in dropped}
    return replace(source, given={**kept, "rope_parameters": made})
