"""A GGUF file's metadata as a config: no weights are read.

The package gguf reads them too (0.19.0: 118 kB, needs numpy, PyYAML, requests and tqdm). It makes
objects of the whole vocabulary, 12 s for a file that takes 0.3 s here, and refuses a file of which
the head alone is there. A test compares the two.

Sources: ggml-org/ggml, docs/gguf.md; for the keys ggml-org/llama.cpp, gguf-py/gguf/constants.py.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from course_lib.errors import CourseError

MAGIC = b"GGUF"
NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q",
           12: "d"}  # fmt: skip
STRING, ARRAY = 8, 9
MOST = 1 << 24
"""More keys, letters or values in one place are a damaged file."""
KEPT = 512
"""Values of a list that are kept; a vocabulary has more, and is passed over."""
PLAIN = {
    "block_count": "num_hidden_layers", "embedding_length": "hidden_size",
    "attention.head_count": "num_attention_heads", "attention.key_length": "head_dim",
    "context_length": "max_position_embeddings", "rope.freq_base": "rope_theta",
    "rope.dimension_count": "rotary_dim", "attention.sliding_window": "sliding_window",
}  # fmt: skip
SCALING = {
    "factor": "factor", "original_context_length": "original_max_position_embeddings",
    "yarn_beta_fast": "beta_fast", "yarn_beta_slow": "beta_slow",
}  # fmt: skip
OTHER_WAYS = {
    "gpt2": "n_positions", "starcoder": "n_positions", "bert": "n_positions", "bloom": "alibi",
    "mpt": "alibi", "t5": "relative_attention_num_buckets",
}  # fmt: skip
"""Architectures that do not rotate, and the key of a config that says what they do."""


def is_gguf(path: Path) -> bool:
    """Whether a file begins as GGUF files do."""
    with path.open("rb") as file:
        return file.read(4) == MAGIC


def config_of(path: Path) -> tuple[dict[str, Any], list[str]]:
    """What the metadata says, in transformers' words, and how it was read."""
    try:
        with path.open("rb") as file:
            found, tensors = metadata(file)
    except (struct.error, ValueError, OverflowError, UnicodeDecodeError):
        raise CourseError(
            f"{path} is a damaged GGUF file, or cut off: fetch it again, or name a config.json"
        ) from None
    kind = found.get("general.architecture")
    if not isinstance(kind, str):
        raise CourseError(f"{path}: general.architecture is missing; name a model's config.json")
    own = {key.removeprefix(f"{kind}."): value for key, value in found.items()
           if key.startswith(f"{kind}.")}  # fmt: skip
    return _config(kind, own, tensors), ["read from the metadata of a GGUF file: no weights"]


def _config(kind: str, own: dict[str, Any], tensors: set[str]) -> dict[str, Any]:
    config: dict[str, Any] = {PLAIN[key]: own[key] for key in PLAIN if key in own}
    heads = config.get("num_attention_heads")
    if isinstance(heads, list):  # a number for each layer
        config["num_attention_heads"] = max(heads)
    if way := OTHER_WAYS.get(kind):
        config = {key: config[key] for key in config if key not in ("rotary_dim", "rope_theta")}
        return config | {way: 32 if "buckets" in way else own.get("context_length") or True}
    if config.get("rotary_dim") is None or config.get("rotary_dim") == config.get("head_dim"):
        config.pop("rotary_dim", None)
    config.setdefault("rope_theta", 10_000.0)  # llama.cpp's
    scaling = {SCALING[key]: own[f"rope.scaling.{key}"] for key in SCALING
               if f"rope.scaling.{key}" in own}  # fmt: skip
    name = own.get("rope.scaling.type")
    if name and name != "none":
        config["rope_scaling"] = {"rope_type": name, **scaling}
    if sections := own.get("rope.dimension_sections"):
        config.setdefault("rope_scaling", {"rope_type": "default"})
        config["rope_scaling"]["mrope_section"] = [one for one in sections if one]
    for tensor in ("rope_freqs.weight", "rope_factors_long.weight"):
        if tensor in tensors:
            config["rope_factors_in_the_file"] = tensor
    if "sliding_window" in config:
        config["rope_layers_with_a_window"] = kind
    return config


def metadata(file: BinaryIO) -> tuple[dict[str, Any], set[str]]:
    """The keys and values at the head of a file, and the names of its tensors."""
    file.seek(4)
    read = _reader(file)
    version = read("I")
    if not 2 <= version <= 3:
        raise ValueError(version)
    tensors, keys = read("Q"), read("Q")
    found = {_string(file): _value(file, read("I")) for _ in range(_few(keys))}
    names = set()
    for _ in range(_few(tensors)):
        names.add(_string(file))
        file.seek(8 * _few(read("I")) + 4 + 8, 1)
    return found, names


def _reader(file: BinaryIO) -> Callable[[str], Any]:
    return lambda kind: struct.unpack(f"<{kind}", file.read(struct.calcsize(f"<{kind}")))[0]


def _few(number: int) -> int:
    if number > MOST:
        raise ValueError(number)
    return number


def _string(file: BinaryIO) -> str:
    length = _few(_reader(file)("Q"))
    letters = file.read(length)
    if len(letters) < length:
        raise ValueError(length)
    return letters.decode("utf-8", "replace")


def _value(file: BinaryIO, kind: int) -> Any:
    if kind in NUMBERS:
        return _reader(file)(NUMBERS[kind])
    if kind == STRING:
        return _string(file)
    if kind != ARRAY:
        raise ValueError(kind)
    inner, count = _reader(file)("I"), _few(_reader(file)("Q"))
    if inner in NUMBERS and count > KEPT:
        file.seek(count * struct.calcsize(NUMBERS[inner]), 1)
        return None
    values = [_value(file, inner) for _ in range(count)]
    return values if count <= KEPT else None
