"""What the model types of the installed transformers do with positions: read off their own code.

`python -m tools.census` builds every model type from its default config, without weights (on
PyTorch's meta device, about a minute), and writes course_lab/rope/models.json, with which
`course rope` fills in what a config leaves out, and docs/models.md.
"""

from __future__ import annotations

import contextlib
import copy
import importlib
import inspect
import json
import re
import sys
import warnings
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from course_lab.rope.known import ABOUT_POSITIONS, BASES, FILE

WAYS = (
    ("rotary", r"Rotary|RoPE|Rope(?=[A-Z])"),
    ("sinusoids", r"Sinus|Sine|FixedPosition|SinCos|EmbeddingCosine|PositionalEmbedding[12]D"
     r"|pos_encoding |(?<!Rel)(?<!Relative)PositionalEncoding |Canary\w*PositionalEmbedding"
     r"|(Fsmt|Audio\w*)PositionalEmbedding"),
    ("T5 bias", r"\.relative_attention_bias (Embedding|\()"),
    ("relative table", r"relative_position_bias|rel_pos_[hw] |rel_pos\w*_bias|RelativeBias"
     r"|PositionBias|SegmentPosition|RelativeAttentionBias|continuous_position_bias|attention_biases"),
    ("relative vectors", r"distance_embedding |Rel\w*Position|rel_pos_emb |rel_attn "
     r"|rel_embeddings |pos_bias_u|rel_logits_proj|emb_rel_k|RelativeAttention "
     r"|relative_pos_embeddings |r_w_bias|\.rel_pos "),
    ("convolution", r"pos_conv_embed|PositionalConv"),
    ("learned table", r"position\w*_?embed\w* |embed_positions |pos_embed\w* |wpe |pos_emb\w* "
     r"|positions_embed |pos_embed|row_embedd\w+ |PositionEmbeddings? |position_embedder "
     r"|AbsolutePosition|position_encodings? "),
)  # fmt: skip
"""How a module, parameter or buffer is called that gives positions: "path Class "; first match."""
IGNORED = re.compile(r"(^|\.)(post|\w*norm|\w*drop)[^.]* ")
KEYS = (
    "hidden_size", "num_attention_heads", "head_dim", "num_hidden_layers",
    "max_position_embeddings", "layer_types", "layers_block_type", "sliding_window",
    "sliding_window_size", "rope_parameters", "rope_theta", "partial_rotary_factor",
    "rotary_dim", "qk_rope_head_dim", "qk_nope_head_dim", "kv_lora_rank", "no_rope_layers",
    "no_rope_layer_interval", "layer_rope_theta", "position_embedding_type",
    "position_embeddings_type", "alibi", "use_mem_rope", "global_head_dim",
    "attention_head_dim", "kv_channels", "attention_chunk_size", "attn_temperature_tuning",
    "floor_scale", "attn_scale", "log_scaling_n_floor", "log_scaling_alpha",
    "original_max_position_embeddings", "relative_attention_num_buckets",
    "relative_attention_max_distance", "use_sliding_window", "max_window_layers",
    "model_max_length", "rotary_embedding_base", "embed_dim", "rope_scaling_layers",
    "compress_rope_theta", "attn_layer_period", "attn_layer_offset", "block_types",
    "per_layer_config", "mlp_layer_types", "prefix_dense_sliding_window_pattern",
    "rope_interleave", "memory_attention_hidden_size", "memory_attention_num_attention_heads",
    "d_model", "num_heads", "rotary_value", "cross_attention_layers", "local_attention",
)  # fmt: skip
"""Keys whose defaults `course rope` needs."""
TWEAKS: dict[str, dict[str, Any]] = {
    "dots1": {"layer_types": None}, "ministral": {"head_dim": 128}, "nemotron": {"head_dim": 128},
    "hunyuan_v1_dense": {"head_dim": 128}, "hunyuan_v1_moe": {"head_dim": 128},
    "hunyuan_vl_text": {"head_dim": 128}, "esm": {"vocab_size": 33},
    "cohere_compass_text": {"rope_parameters": {
        "full_attention": None,
        "sliding_attention": {"rope_type": "default", "rope_theta": 10_000.0}}},
    "diffusion_gemma_text": {"num_experts": 8, "top_k_experts": 2, "moe_intermediate_size": 8},
}  # fmt: skip
"""What a type's default config lacks to be built."""


class Built(NamedTuple):
    """What a model type's class holds that gives positions."""

    ways: tuple[str, ...]
    rotary: dict[str, nn.Module]
    """The modules that make rotary tables from this type's config, on the CPU, by path."""


def configs() -> Iterator[tuple[str, Any]]:
    """Every model type and its default config; None for one that cannot be made."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    _quiet()
    for name in sorted(CONFIG_MAPPING):
        try:
            yield name, CONFIG_MAPPING[name](**TWEAKS.get(name, {}))
        except Exception:
            yield name, None


def _quiet() -> None:
    from transformers.utils import logging

    logging.set_verbosity_error()
    warnings.filterwarnings("ignore", module="transformers")


def modeling(config: Any) -> ModuleType | None:
    """The module with the classes of this config: its own, or that of a model it shares."""
    from transformers.models.auto.modeling_auto import MODEL_MAPPING

    with contextlib.suppress(ImportError):
        return importlib.import_module(
            type(config).__module__.replace("configuration_", "modeling_")
        )
    return sys.modules.get(getattr(MODEL_MAPPING.get(type(config), None), "__module__", ""))


def built(config: Any) -> Built:
    """What the classes of this config hold that gives positions, from a model without weights."""
    module = modeling(config)
    if module is None:
        return Built((), {})
    _rotary_on_cpu(module)
    model = _model(module, config)
    if model is None:
        return _from_source(module, config)
    held = [f".{path} {type(one).__name__} " for path, one in model.named_modules() if path]
    held += [f".{path} " for path, _ in [*model.named_parameters(), *model.named_buffers()]]
    rotary = {
        path: one for path, one in model.named_modules()
        if isinstance(getattr(one, "made_from", None), type(config)) and tables(one)
    }  # fmt: skip
    return Built(_ways(held), rotary)


def tables(rotary: nn.Module) -> dict[str, Tensor]:
    """The frequencies that a rotary module holds, by layer type ("": the one for all)."""
    ending = "inv_freq"
    return {
        name.removesuffix(ending).rstrip("_"): values
        for name, values in rotary.named_buffers(recurse=False)
        if name.endswith(ending) and "original" not in name and values.device.type == "cpu"
    }


def attention_factor(rotary: nn.Module, layer_type: str) -> float:
    """What a rotary module multiplies cosines and sines with."""
    name = f"{layer_type}_attention_scaling" if layer_type else "attention_scaling"
    return float(getattr(rotary, name, 1.0))


@cache
def _rotary_on_cpu(module: ModuleType) -> None:
    """Let rotary modules make their tables on the CPU, and remember their config."""
    for _, one in inspect.getmembers(module, inspect.isclass):
        name = one.__name__
        if issubclass(one, nn.Module) and re.search("Rotary|RoPE|Rope", name) and (
            "__init__" in vars(one) and not hasattr(one, "config_class")
        ):  # fmt: skip
            setattr(one, "__init__", _remembering(one.__init__))  # noqa: B010


def _remembering(init: Any) -> Any:
    def remembered(self: Any, *args: Any, **kwargs: Any) -> None:
        with torch.device("cpu"):
            init(self, *args, **kwargs)
        self.made_from = next((a for a in [*args, *kwargs.values()] if hasattr(a, "to_dict")), None)

    return remembered


def _model(module: ModuleType, config: Any) -> nn.Module | None:
    """The smallest model of this config's classes that can be built."""
    found: list[Any] = [
        one for _, one in inspect.getmembers(module, inspect.isclass)
        if getattr(one, "config_class", None) is type(config) and one.__module__ == module.__name__
        and not one.__name__.endswith("PreTrainedModel")
    ]  # fmt: skip
    found.sort(key=lambda one: ("For" in one.__name__, len(one.__name__)))
    for one in found[:6] or _shared(config):
        try:
            with torch.device("meta"):
                model: nn.Module = one(config)
        except Exception:
            continue
        return model
    return None


def _shared(config: Any) -> list[Any]:
    """The class of another type that this config's models are made of."""
    from transformers.models.auto.modeling_auto import MODEL_MAPPING

    one = MODEL_MAPPING.get(type(config), None)
    return [one] if inspect.isclass(one) else []


def _from_source(module: ModuleType, config: Any) -> Built:
    """For a type whose model cannot be built: from the classes that name its config."""
    own = type(config).__name__
    held: list[str] = []
    rotary: dict[str, Any] = {}
    members: list[tuple[str, Any]] = inspect.getmembers(module, inspect.isclass)
    for _, one in members:
        if not issubclass(one, nn.Module) or one.__module__ != module.__name__:
            continue
        source = _classes(module).get(one.__name__, "")
        if not re.search(rf"config: \"?{own}\b", source):
            continue
        held += [f".{m[1]} {m[2]} " for m in re.finditer(r"self\.(\w+) = (?:nn\.)?(\w+)", source)]
        if re.search("RotaryEmbedding$|RopePosition", one.__name__):
            with contextlib.suppress(Exception):  # this default config lacks something
                rotary[one.__name__] = one(config)
    if not rotary and "rotary" in BY_HAND.get(config.model_type, ()):
        named = [one for name, one in members
                 if name.endswith("RotaryEmbedding") and own.startswith(name[:-15])]  # fmt: skip
        rotary = {one.__name__: one(config) for one in sorted(named, key=lambda c: len(c.__name__))}
    return Built(_ways(held), {path: one for path, one in rotary.items() if tables(one)})


@cache
def _classes(module: ModuleType) -> dict[str, str]:
    """The source of each class: inspect would parse the whole file for every one of them."""
    pieces = re.split(r"^class (\w+)", inspect.getsource(module), flags=re.MULTILINE)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


def _ways(held: list[str]) -> tuple[str, ...]:
    found = set()
    for line in held:
        if not IGNORED.search(line):
            found |= {next((way for way, named in WAYS if re.search(named, line)), "")}
    return tuple(way for way, _ in WAYS if way in found)


BY_HAND = {
    "bloom": ("ALiBi",), "mpt": ("ALiBi",), "gptj": ("rotary",), "codegen": ("rotary",),
    "roformer": ("rotary",), "t5_gemma_module": ("rotary",), "videomae": ("sinusoids",),
    "perceiver": ("learned table",), "idefics_vision": ("learned table",),
    "dinat": ("relative table",),
    "layoutlmv2": ("relative table", "learned table"),
    "layoutxlm": ("relative table", "learned table"),
}  # fmt: skip
"""Types whose code gives positions where no module of theirs is to be seen."""


def described(name: str, config: Any) -> dict[str, Any]:
    """What models.json says of a model type: `ModelType`."""
    module, own = modeling(config), config.to_dict()
    settings = sys.modules[type(config).__module__]
    code = "".join(_code(one) for one in (module, settings) if one)
    parts = {key: value["model_type"] for key, value in own.items()
             if isinstance(value, dict) and value.get("model_type")}  # fmt: skip
    found = built(config)
    sources = [_classes(sys.modules[type(one).__module__])[type(one).__name__]
               for one in found.rotary.values()]  # fmt: skip
    return {
        "source": "/".join((module or settings).__name__.split(".")[-2:]) + ".py",
        "ways": list(BY_HAND.get(name, found.ways)),
        "defaults": _defaults(config, own),
        "aliases": dict(type(config).attribute_map), "parts": parts,
        "partial": any("partial_rotary_factor" in source for source in sources),
        "reads": sorted(_mentioned(code)),
        **_axes("".join(sources)),
        "by_layer": any("layer_type" in source for source in sources),
        **where_bases_stand(name),
    }  # fmt: skip


LINEAR = {"rope_type": "linear", "factor": 2.0}
ACCEPTED: tuple[dict[str, Any], ...] = (
    LINEAR, {"rope_type": "default"},
    {"rope_type": "longrope", "short_factor": [1.0] * 48, "long_factor": [1.0] * 48},
)  # fmt: skip
"""Parameters of which a class takes one at least."""
A_BASE = 123_457.0


def where_bases_stand(name: str) -> dict[str, Any]:
    """By trying them out: which keys at the top of a config move the base of which layer type.

    "bases" has, for a config without rotary parameters and for parameters of each form without a
    base, a list for each layer type ("": one for all): the keys that are read, and then what the
    class takes; null where it takes nothing. "flat" has the layer types that flat parameters reach
    under each key; null where transformers' code fails on them.
    """
    usual = rotary_parameters(name, {})
    if usual is None:
        return {"bases": {}, "flat": {}, "fills": False}
    labels = [label for label in usual if label] or ["full_attention"]
    nested = {label: {"rope_type": "default"} for label in labels}
    forms: dict[str, list[dict[str, Any]]] = {
        "alone": [{}], "by layer": [{"rope_parameters": nested}],
    }  # fmt: skip
    forms |= {key: [{key: one} for one in ACCEPTED] for key in ("rope_scaling", "rope_parameters")}
    bases = {form: found for form, files in forms.items()
             if (found := _keys_that_count(name, files, usual))}  # fmt: skip
    one_layer = rotary_parameters(name, {"rope_parameters": dict(list(nested.items())[:1])}) or {}
    old = {"type": "linear", "factor": 2.0}
    tried = {"rope_scaling": {"rope_scaling": LINEAR}, "type": {"rope_scaling": old},
             "rope_parameters": {"rope_parameters": LINEAR}}  # fmt: skip
    flat = {key: _stretched(rotary_parameters(name, file), usual) for key, file in tried.items()}
    return {"bases": bases, "flat": flat, "fills": len(labels) > 1 and labels[-1] in one_layer}


Found = dict[str, tuple[str | None, float | None]]


def rotary_parameters(name: str, file: dict[str, Any]) -> Found | None:
    """Type and base by layer type in a class's config of this file; None if it cannot be made."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    _quiet()
    try:
        config = CONFIG_MAPPING[name](**{**TWEAKS.get(name, {}), **copy.deepcopy(file)})
    except Exception:
        return None
    found = getattr(config, "rope_parameters", None)
    if not isinstance(found, dict) or not found:
        return None
    names = getattr(config, "_rope_type_labels", None) or getattr(config, "layer_types", None)
    inner = {label: one for label, one in found.items() if label in (names or ())}
    return {
        label: (one.get("rope_type"), one.get("rope_theta"))
        for label, one in (inner or {"": found}).items() if one is not None
    }  # fmt: skip


def _keys_that_count(name: str, files: list[dict[str, Any]], usual: Found) -> dict[str, list[Any]]:
    """For each layer type the keys at the top that move its base, and the base without them."""
    file = next((one for one in files if rotary_parameters(name, one)), None)
    plain = None if file is None else rotary_parameters(name, file)
    if plain is None or ("" in plain and "" not in usual):
        return {}
    found: dict[str, list[Any]] = {label: [] for label in plain}
    for key in BASES:
        moved = rotary_parameters(name, {**(file or {}), key: A_BASE}) or {}
        for label, (_, base) in moved.items():
            if base == A_BASE and label in found:
                found[label].append(key)
    return {label: [*keys, plain[label][1]] for label, keys in found.items()}


def _stretched(found: Found | None, usual: Found) -> list[str] | None:
    """The layer types that are stretched; None if there is a fault."""
    if found is None or ("" in found and "" not in usual):
        return None
    return [label for label, (kind, _) in found.items() if kind == "linear"]


def _defaults(config: Any, own: dict[str, Any]) -> dict[str, Any]:
    """What the class fills in; not a head width that it works out from other keys."""
    names = {key: type(config).attribute_map.get(key, key) for key in KEYS}
    found = {key: own[name] for key, name in names.items() if own.get(name) is not None}
    if not {"layer_types", "layers_block_type"} & found.keys():
        kinds = getattr(config, "layers_block_type", None) or getattr(config, "layer_types", None)
        layers = getattr(config, "num_hidden_layers", None)
        if isinstance(kinds, list) and len(kinds) == layers:
            found["layers_block_type"] = kinds
    if own.get("use_sliding_window") is False and (window := _off(config)):
        found["sliding_window"] = window
    width = own.get("head_dim")
    if width is None and not config.is_heterogeneous:
        width = getattr(config, "head_dim", None)
    fixed = isinstance(getattr(type(config), "head_dim", None), int)
    hidden, heads = (found.get(key) for key in ("hidden_size", "num_attention_heads"))
    worked_out = isinstance(hidden, int) and isinstance(heads, int) and width == hidden // heads
    found.pop("head_dim", None)
    return found | ({"head_dim": width} if isinstance(width, int) and (fixed or not worked_out)
                    else {})  # fmt: skip


def _off(config: Any) -> int | None:
    """The window that a class would take if its `use_sliding_window` were true."""
    window = getattr(type(config), "sliding_window", None)
    return window if isinstance(window, int) else None


def _axes(code: str) -> dict[str, Any]:
    """The pairs of each axis that a rotary class takes by default, and whether axes take turns."""
    sections = re.search(r"mrope_section\", (\[[^]]*\])", code)
    return {"sections": json.loads(sections[1]) if sections else [],
            "interleaved": "slice(offset, length, 3)" in code}  # fmt: skip


@cache
def _code(module: ModuleType) -> str:
    """Source without docstrings."""
    return re.sub(r'""".*?"""', "", inspect.getsource(module), flags=re.DOTALL)


@cache
def _mentioned(code: str) -> set[str]:
    """Keys about positions that code takes from a config, by attribute or by name."""
    words = re.findall(r"config\.(\w+)|[\"'](\w+)[\"']|self\.(\w+)", code)
    return {key for found in words for key in found if key and ABOUT_POSITIONS.search(key)}


def main() -> None:
    """Write course_lab/rope/models.json."""
    import transformers

    found = {name: described(name, config) for name, config in configs() if config is not None}
    lines = [f"    {json.dumps(name)}: {json.dumps(one)}" for name, one in found.items()]
    FILE.write_text(
        f'{{"transformers": "{transformers.__version__}", "types": {{\n'
        + ",\n".join(lines) + "\n}}\n",
        encoding="utf-8",
    )  # fmt: skip


if __name__ == "__main__":
    main()
