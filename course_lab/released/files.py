"""Reads a released model: a GGUF file, or a folder of transformers.

Decoders are of Llama's architecture, encoders of BERT's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from course_lab.released.encoder import Encoder, EncoderConfig
from course_lab.released.installed import MINILM, MissingModel, installed
from course_lab.released.model import Released, ReleasedConfig
from course_lib.encodings import from_rope_parameters, rotary_frequencies
from course_lib.errors import CourseError

OUTSIDE = {
    "embedding.weight": ("token_embd.weight", "model.embed_tokens.weight"),
    "norm.weight": ("output_norm.weight", "model.norm.weight"),
    "to_scores.weight": ("output.weight", "lm_head.weight"),
}
"""Our names of weights outside of the layers, GGUF's, and transformers'."""
INSIDE = {
    "norm1.weight": (["attn_norm.weight"], ["input_layernorm.weight"]),
    "attention.to_qkv.weight": (
        ["attn_q.weight", "attn_k.weight", "attn_v.weight"],
        ["self_attn.q_proj.weight", "self_attn.k_proj.weight", "self_attn.v_proj.weight"],
    ),
    "attention.to_out.weight": (["attn_output.weight"], ["self_attn.o_proj.weight"]),
    "norm2.weight": (["ffn_norm.weight"], ["post_attention_layernorm.weight"]),
    "gate.weight": (["ffn_gate.weight"], ["mlp.gate_proj.weight"]),
    "up.weight": (["ffn_up.weight"], ["mlp.up_proj.weight"]),
    "down.weight": (["ffn_down.weight"], ["mlp.down_proj.weight"]),
}
"""The same for a layer; one of ours may be several of theirs, one below the other."""
LAYERS = ("blk", "model.layers")
ENCODER_OUTSIDE = {
    "embedding": "word_embeddings",
    "kinds": "token_type_embeddings",
    "norm": "LayerNorm",
}
ENCODER_INSIDE = {
    "attention.to_qkv": [f"attention.self.{part}" for part in ("query", "key", "value")],
    "attention.to_out": ["attention.output.dense"],
    "norm1": ["attention.output.LayerNorm"],
    "up": ["intermediate.dense"],
    "down": ["output.dense"],
    "norm2": ["output.LayerNorm"],
}
"""Our names in an encoder, and transformers'."""
POOLER = ("embeddings.position_ids", "pooler.dense.weight", "pooler.dense.bias")
"""What an encoder's file holds besides; nothing here reads it."""
SPELLINGS = ("smollm", "gpt-2", "llama-bpe")
"""GGUF's names of the ways to cut a text before pairs are merged that are known here."""


Model = TypeVar("Model")


class _Tensors(NamedTuple):
    names: tuple[str, ...]
    """Of all weights in the file."""
    get: Callable[[str], Tensor]
    unused: tuple[str, ...] = ()
    """Names that hold no weights of layers, or the same ones again."""


class _File(NamedTuple):
    config: ReleasedConfig
    tensors: _Tensors
    tokenizer: Any
    """Or a sentence that says why there is none."""
    column: int
    """Of the tables of names."""


def load(path: Path | str | None = None) -> Released:
    """A released model in float32, on the CPU: by default the one that `make model` installs.

    `path` is a GGUF file, or a folder of transformers with config.json and safetensors. Raises
    MissingModel if it is not there, and CourseError, in one line, for a file that is damaged, or
    holds another architecture than Llama's.
    """
    return _read(installed() if path is None else Path(path), _decoder)


def load_encoder(path: Path | str | None = None) -> Encoder:
    """A released encoder, as `load` reads a decoder: by default all-MiniLM-L6-v2.

    `path` is a folder of transformers. Other architectures than BERT's raise CourseError.
    """
    return _read(installed(MINILM).parent if path is None else Path(path), _encoder)


def _read(where: Path, read: Callable[[Path], Model]) -> Model:
    if not where.exists():
        raise MissingModel(f"there is no file {where}: name a GGUF file or a folder with a model")
    try:
        return read(where)
    except (OSError, ValueError, KeyError, IndexError, TypeError, SafetensorError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise CourseError(f"{where} cannot be read: {reason}") from error


def _decoder(where: Path) -> Released:
    file = _from_folder(where) if where.is_dir() else _from_gguf(where)
    make = partial(Released, file.config)
    with torch.device("meta"):
        names = make({}, "").state_dict()
    sources = {name: [pair[file.column]] for name, pair in OUTSIDE.items() if name in names}
    if file.config.tied:
        sources["to_scores.weight"] = sources["embedding.weight"]
    for layer in range(file.config.num_layers):
        for name, pairs in INSIDE.items():
            inside = [f"{LAYERS[file.column]}.{layer}.{part}" for part in pairs[file.column]]
            sources[f"blocks.{layer}.{name}"] = inside
    weights = _weights(sources, file.tensors, names, "Llama")
    return make(dict(weights), file.tokenizer)


def _weights(
    sources: Mapping[str, Sequence[str]], file: _Tensors, ours: Mapping[str, Tensor], kind: str
) -> Iterator[tuple[str, Tensor]]:
    """Every weight by our name. Raises ValueError for one that is missing, strange or misshapen."""
    wanted = {part for parts in sources.values() for part in parts}
    if missing := sorted(wanted - set(file.names)):
        raise ValueError(f"it has no weights {missing[0]}, and {len(missing) - 1} others")
    if strange := sorted(set(file.names) - wanted - set(file.unused)):
        raise ValueError(
            f"it has weights {strange[0]}, and {len(strange) - 1} others, that {kind}'s "
            "architecture does not have: another kind of model"
        )
    for name, parts in sources.items():
        weight = torch.cat([file.get(part) for part in parts]) if parts[1:] else file.get(parts[0])
        shape = tuple(ours[name].shape)
        if tuple(weight.shape) != shape:
            raise ValueError(
                f"{' + '.join(parts)} has shape {tuple(weight.shape)}, its sizes ask for {shape}"
            )
        yield name, weight


# GGUF --------------------------------------------------------------------------------------------


def _from_gguf(path: Path) -> _File:
    try:
        import gguf
    except ImportError as error:
        raise MissingModel(
            "GGUF files are read with the package gguf: type `make model`"
        ) from error
    reader = gguf.GGUFReader(path)
    fields = reader.fields

    def say(key: str, default: Any = None) -> Any:
        return fields[key].contents() if key in fields else default

    kind = say("general.architecture")
    if kind != "llama":
        raise ValueError(f"its architecture is {kind}: only Llama's is read here")
    if (scaling := say("llama.rope.scaling.type", "none")) != "none":
        raise ValueError(f"its rotation is stretched ({scaling}), which is read of folders alone")
    tensors = {tensor.name: tensor for tensor in reader.tensors}

    def get(name: str) -> Tensor:
        tensor = tensors[name]
        return torch.from_numpy(gguf.dequantize(tensor.data, tensor.tensor_type).copy())

    heads, dim = say("llama.attention.head_count"), say("llama.embedding_length")
    base, divisors = say("llama.rope.freq_base", 10_000.0), "rope_freqs.weight"
    ladder: tuple[float, ...] = ()
    if divisors in tensors:  # Llama 3.1's rescaling, kept as one number for each pair
        ladder = tuple((rotary_frequencies(dim // heads, base) / get(divisors)).tolist())
    if say("llama.rope.dimension_count", dim // heads) != dim // heads:
        raise ValueError("it rotates a part of each head: only whole ones are read here")
    config = ReleasedConfig(
        vocab_size=int(tensors["token_embd.weight"].shape[1]),
        dim=dim,
        num_layers=say("llama.block_count"),
        num_heads=heads,
        hidden_dim=say("llama.feed_forward_length"),
        num_kv_heads=say("llama.attention.head_count_kv", heads),
        norm_epsilon=say("llama.attention.layer_norm_rms_epsilon"),
        name=say("general.name", path.stem),
        base=base,
        length=say("llama.context_length", 0),
        layout="interleaved",  # llama.cpp's converter puts the two columns of a pair side by side
        frequencies=ladder,
        tied="output.weight" not in tensors,
    )
    return _File(config, _Tensors(tuple(tensors), get, (divisors,)), _spelling(say), 0)


def _spelling(say: Callable[..., Any]) -> Any:
    """The tokenizer of a GGUF file: pairs of letters merged in the order of its table."""
    kind, cut = say("tokenizer.ggml.model"), say("tokenizer.ggml.pre", "")
    if kind != "gpt2" or cut not in SPELLINGS:
        return f"its tokenizer ({kind}, {cut}) is not known here: give the model tokens"
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers

    words = say("tokenizer.ggml.tokens")
    merges = [tuple(pair.split(" ")) for pair in say("tokenizer.ggml.merges")]
    spelling = Tokenizer(models.BPE({word: number for number, word in enumerate(words)}, merges))
    first: list[Any] = []
    if cut == "smollm":
        first = [pre_tokenizers.Digits(individual_digits=True)]
    elif cut == "llama-bpe":
        pattern = (
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
            r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        )
        first = [pre_tokenizers.Split(Regex(pattern), "isolated")]
    letters = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=cut != "llama-bpe")
    spelling.pre_tokenizer = pre_tokenizers.Sequence([*first, letters])
    spelling.decoder = decoders.ByteLevel()
    special = [w for w, t in zip(words, say("tokenizer.ggml.token_type"), strict=True) if t == 3]
    spelling.add_special_tokens([AddedToken(word, special=True) for word in special])
    return spelling


# A folder of transformers ------------------------------------------------------------------------


def _from_folder(folder: Path) -> _File:
    said = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    if said.get("model_type") != "llama":
        raise ValueError(f"its model_type is {said.get('model_type')}: only llama is read here")
    heads, dim, length = (
        said["num_attention_heads"],
        said["hidden_size"],
        said["max_position_embeddings"],
    )
    if said.get("head_dim") not in (None, dim // heads):
        raise ValueError(f"its heads have {said['head_dim']} columns, not {dim} / {heads}")
    rope = {"rope_theta": said.get("rope_theta", 10_000.0)}
    rope |= said.get("rope_parameters") or said.get("rope_scaling") or {}
    scaled = from_rope_parameters(rope, dim // heads, max_position_embeddings=length)

    config = ReleasedConfig(
        vocab_size=said["vocab_size"],
        dim=dim,
        num_layers=said["num_hidden_layers"],
        num_heads=heads,
        hidden_dim=said["intermediate_size"],
        num_kv_heads=said.get("num_key_value_heads") or heads,
        norm_epsilon=said["rms_norm_eps"],
        name=said.get("_name_or_path") or folder.name,
        base=rope["rope_theta"],
        length=length,
        layout="half",
        frequencies=tuple(scaled.frequencies.tolist()),
        attention_factor=scaled.attention_factor,
        tied=said.get("tie_word_embeddings", False),
    )
    unused = ("lm_head.weight",) if config.tied else ()
    return _File(config, _in_folder(folder, unused), _spelling_of(folder), 1)


def _encoder(folder: Path) -> Encoder:
    said = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    for key, read in {"model_type": "bert", "hidden_act": "gelu"}.items():
        if said.get(key) != read:
            raise ValueError(f"its {key} is {said.get(key)}: of encoders only {read} is read here")
    if (kind := said.get("position_embedding_type", "absolute")) != "absolute":
        raise ValueError(f"its positions are {kind}, and no table that is added")
    config = EncoderConfig(
        vocab_size=said["vocab_size"],
        dim=said["hidden_size"],
        num_layers=said["num_hidden_layers"],
        num_heads=said["num_attention_heads"],
        hidden_dim=said["intermediate_size"],
        norm_epsilon=said["layer_norm_eps"],
        length=said["max_position_embeddings"],
        name=folder.name,
    )
    with torch.device("meta"):
        names = Encoder(config, {}, "").state_dict()
    sources = {"scheme.table": ["embeddings.position_embeddings.weight"]}
    for ours, theirs in ENCODER_OUTSIDE.items():
        for part in ("weight", "bias") if ours == "norm" else ("weight",):
            sources[f"{ours}.{part}"] = [f"embeddings.{theirs}.{part}"]
    for layer in range(config.num_layers):
        for ours, parts in ENCODER_INSIDE.items():
            for end in ("weight", "bias"):
                inside = [f"encoder.layer.{layer}.{part}.{end}" for part in parts]
                sources[f"blocks.{layer}.{ours}.{end}"] = inside
    weights = _weights(sources, _in_folder(folder, POOLER), names, "BERT")
    return Encoder(config, dict(weights), _spelling_of(folder))


def _in_folder(folder: Path, unused: tuple[str, ...]) -> _Tensors:
    where: dict[str, Path] = {}
    for file in sorted(folder.glob("*.safetensors")):
        with safe_open(file, "pt") as weights:
            where |= dict.fromkeys(weights.keys(), file)

    def get(name: str) -> Tensor:
        with safe_open(where[name], "pt") as weights:
            tensor: Tensor = weights.get_tensor(name)
        return tensor.float()

    return _Tensors(tuple(where), get, unused)


def _spelling_of(folder: Path) -> Any:
    if not (folder / "tokenizer.json").exists():
        return f"{folder} has no tokenizer.json: give the model tokens"
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise MissingModel(
            "texts are cut with the package tokenizers: type `make model`"
        ) from error
    spelling = Tokenizer.from_file(str(folder / "tokenizer.json"))
    spelling.no_truncation()  # some files cut every text, and fill it up, to one length
    spelling.no_padding()
    return spelling
