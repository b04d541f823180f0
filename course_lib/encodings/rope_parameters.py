"""The `rope_parameters` of a Hugging Face config: their keys, and the frequencies they ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any, NamedTuple

from jaxtyping import Float
from torch import Tensor

from course_lib.encodings import extension
from course_lib.encodings.angles import rotary_frequencies
from course_lib.encodings.extension import ScaledFrequencies


class AxialFrequencies(NamedTuple):
    """What parameters for several axes ask for: `AxialRotary(head_dim, **this._asdict())`."""

    frequencies: Float[Tensor, " pairs"]
    attention_factor: float
    sections: tuple[int, ...]
    interleaved: bool


def from_rope_parameters(
    parameters: Mapping[str, Any], head_dim: int, length: int | None = None,
    max_position_embeddings: int | None = None, layer_type: str | None = None,
) -> ScaledFrequencies | AxialFrequencies:  # fmt: skip
    """The frequencies that a Hugging Face config's `rope_parameters` ask for.

    `length` is that of the text at hand ("dynamic" and "longrope" depend on it; None: as before
    any text). `max_position_embeddings` is the config's, which "dynamic" and Phi-3's
    style need; `layer_type` chooses among parameters nested by layer type (Gemma 3). Frequencies
    cover the rotated part of `head_dim`; for "proportional" all of it, with zeros at the end.

    With `mrope_section` (Qwen2-VL; `mrope_interleaved`: Qwen3-VL), and for the type "axial", which
    gives rows and columns of a picture half of the pairs and a ladder each, the result also names
    the `sections`.

    DeepSeek's models also multiply their softmax scale by a number that follows from
    `mscale_all_dim`. That number belongs to attention and is not returned here.

    Raises ValueError, by name, for an unknown type, a missing key, a value that is no number where
    one is needed, and a key that would change the result and is not supported.

    Source: transformers, modeling_rope_utils.py, whose keys and defaults these are.
    """
    if not isinstance(parameters, Mapping):
        raise ValueError(f"parameters must be a mapping with rope_theta, got {parameters!r}")
    parameters = _of_layer(parameters, layer_type)
    kind = parameters.get("rope_type", parameters.get("type", "default"))
    kind = OLD_NAMES.get(kind, kind)
    if kind not in ROPE_TYPES:
        raise ValueError(f"rope_type {kind!r} is not supported; there are {', '.join(ROPE_TYPES)}")
    reader, keys = ROPE_TYPES[kind]
    common = {"rope_type", "type", "rope_theta", "partial_rotary_factor", *_MROPE}
    unknown = {key for key, value in parameters.items() if value is not None} - common - keys
    if unknown:
        raise ValueError(
            f"rope_type {kind!r} does not take {', '.join(sorted(unknown))}: results would differ "
            "from the model's; remove it if it has no effect"
        )
    parameters = {**parameters, "max_position_embeddings": max_position_embeddings}
    _check_numbers(parameters | {"head_dim": head_dim, "length": length})
    given = parameters.get("partial_rotary_factor")
    share = 1.0 if given is None else given
    width = head_dim if kind == "proportional" else int(head_dim * share)
    scaled = reader(_Config(parameters, kind, width, share, length))
    sections, interleaved = (parameters.get(key) for key in _MROPE)
    if kind == "axial":
        sections = [width // 4] * 2
    return AxialFrequencies(*scaled, tuple(sections), bool(interleaved)) if sections else scaled


class _Config(NamedTuple):
    parameters: Mapping[str, Any]
    kind: str
    dim: int
    share: float
    length: int | None

    def get(self, key: str, default: Any = None) -> Any:
        value = self.parameters.get(key)
        value = default if value is None else value
        if value is None:
            remedy = ": give the config's" if key == _MAXIMUM else ""
            raise ValueError(
                f"rope_type {self.kind!r} needs {key}, which these parameters do not have{remedy}"
            )
        return value

    @property
    def base(self) -> Any:
        return self.get("rope_theta")

    def frequencies(self) -> Tensor:
        return rotary_frequencies(self.dim, self.base)

    def factor(self) -> float:
        """The extension; where a config leaves it out, the ratio of the two lengths."""
        given: float | None = self.parameters.get("factor")
        return self.get(_MAXIMUM) / self.get(_ORIGINAL) if given is None else given


def _read_dynamic(c: _Config) -> ScaledFrequencies:
    original = c.get(_MAXIMUM)
    return extension.dynamic_ntk(c.dim, c.base, c.get("factor"), c.length or original, original)


def _read_yarn(c: _Config) -> ScaledFrequencies:
    given, factor = c.parameters, c.factor()
    attention_factor, mscale = given.get("attention_factor"), given.get("mscale")
    if attention_factor is None and mscale and (all_dim := given.get("mscale_all_dim")):  # DeepSeek
        by_text, by_all = (extension.yarn_factor(factor, weight) for weight in (mscale, all_dim))
        attention_factor = by_text / by_all
    fast, slow = given.get("beta_fast") or 32.0, given.get("beta_slow") or 1.0
    return extension.yarn(
        c.dim, c.base, factor, c.get(_ORIGINAL), fast, slow,
        truncate=given.get("truncate", True), attention_factor=attention_factor,
    )  # fmt: skip


def _read_longrope(c: _Config) -> ScaledFrequencies:
    original, short, long = map(c.get, (_ORIGINAL, "short_factor", "long_factor"))
    scaled = extension.longrope(c.dim, c.base, short, long, c.length or 0, original, c.factor())
    return scaled._replace(attention_factor=c.get("attention_factor", scaled.attention_factor))


def _read_proportional(c: _Config) -> ScaledFrequencies:
    frequencies = c.frequencies()
    frequencies[int(c.share * c.dim // 2) :] = 0
    return extension.interpolated(frequencies, c.get("factor", 1.0))


def _read_axial(c: _Config) -> ScaledFrequencies:
    if c.dim % 4:
        raise ValueError(f"head_dim must be a multiple of 4 for two axes of pairs, got {c.dim}")
    return ScaledFrequencies(rotary_frequencies(c.dim // 2, c.base).repeat(2))


OLD_NAMES = {"su": "longrope", "mrope": "default"}
"""What the first configs of Phi-3 and of Qwen2-VL call these types."""
_MROPE = ("mrope_section", "mrope_interleaved")
_MAXIMUM = "max_position_embeddings"
_ORIGINAL = "original_max_position_embeddings"
_LLAMA = ("factor", _ORIGINAL, "low_freq_factor", "high_freq_factor")
ROPE_TYPES: dict[str, tuple[Callable[[_Config], ScaledFrequencies], set[str]]] = {
    "default": (lambda c: ScaledFrequencies(c.frequencies()), set()),
    "linear": (lambda c: extension.interpolated(c.frequencies(), c.get("factor")), {"factor"}),
    "dynamic": (_read_dynamic, {"factor"}),
    "yarn": (_read_yarn, {"factor", _ORIGINAL, "attention_factor", "beta_fast", "beta_slow",
                          "mscale", "mscale_all_dim", "truncate"}),
    "longrope": (_read_longrope, {"factor", _ORIGINAL, "attention_factor", "short_factor",
                                  "long_factor"}),
    "llama3": (lambda c: extension.llama3(c.frequencies(), *map(c.get, _LLAMA)), set(_LLAMA)),
    "proportional": (_read_proportional, {"factor"}),
    "axial": (_read_axial, set()),
}  # fmt: skip


def _check_numbers(values: Mapping[str, Any]) -> None:
    for key in values.keys() - {"rope_type", "type", "truncate", "mrope_interleaved"}:
        value, takes_list = values[key], key in ("mrope_section", "short_factor", "long_factor")
        numbers = value if takes_list and isinstance(value, (list, tuple)) else [value]
        fits = all(isinstance(n, Real) and not isinstance(n, bool) for n in numbers)
        if value is not None and not (fits and takes_list == isinstance(value, (list, tuple))):
            kind = "a list of numbers" if takes_list else "a number"
            raise ValueError(f"{key} must be {kind}, got {value!r}: give numbers without quotes")


def _of_layer(parameters: Mapping[str, Any], layer_type: str | None) -> Mapping[str, Any]:
    nested = {key: value for key, value in parameters.items() if isinstance(value, Mapping)}
    if not nested:
        return parameters
    if layer_type not in nested:
        raise ValueError(
            f"layer_type must be one of {', '.join(nested)}, got {layer_type!r}: layers differ here"
        )
    return nested[layer_type]
