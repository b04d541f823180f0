"""What the rotary parameters of a published model do: its config.json, read as transformers does.

Old configs have `rope_theta` and `rope_scaling` at the top, new ones `rope_parameters`, nested by
layer type where layers differ. What a key means, what stands for one that is missing, and which one
counts where two contradict each other: transformers 5, modeling_rope_utils.py.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from course_lab.errors import CourseError
from course_lib.encodings import ScaledFrequencies, from_rope_parameters, rotary_frequencies
from course_lib.encodings.extension import ROPE_TYPES

Config = Mapping[str, Any]

ORIGINAL = "original_max_position_embeddings"
TEXT = ("text_config", "llm_config", "language_config", "thinker_config")
"""Where the config of a model for several media keeps the language model's."""
NEEDED = {
    "linear": ("factor",),
    "dynamic": ("factor",),
    "yarn": ("factor", ORIGINAL),
    "llama3": ("factor", ORIGINAL, "low_freq_factor", "high_freq_factor"),
    "longrope": ("short_factor", "long_factor", ORIGINAL),
}
GEMMA3 = {"head_dim": 256, "max_position_embeddings": 131_072, "rope_theta": 1_000_000.0,
          "rope_local_base_freq": 10_000.0}  # fmt: skip
DEFAULTS: dict[str, Config] = {
    "gemma3_text": GEMMA3,
    "gpt_neox": {"rotary_pct": 0.25, "rotary_emb_base": 10_000},
}
"""What a model type's published configs leave out, as its class in transformers fills it in."""
FURTHEST = 1 << 20


class Rope(NamedTuple):
    """The rotary encoding of the layers of one type."""

    layers: str
    """Their type; empty if all layers are alike."""
    kind: str
    base: float
    head_dim: int
    plain: Tensor
    """Radians per position of each pair before anything is stretched."""
    scaled: ScaledFrequencies
    original_length: int
    length: int
    """Tokens that the model is made for."""
    notes: tuple[str, ...]
    """Remarks; nothing is wrong."""
    warnings: tuple[str, ...]
    """Faults of this config, and of what will read it."""

    @property
    def slowed(self) -> Tensor:
        """By how much each pair was slowed; infinity for a pair that stands still."""
        return self.plain / self.scaled.frequencies

    @property
    def turns(self) -> Tensor:
        """Turns of each pair within the original length, before anything is stretched."""
        return self.original_length * self.plain / (2 * math.pi)


def read(path: Path, original_length: int | None = None) -> list[Rope]:
    """The rotary encodings of a model: one, or one for each type of layer that differs.

    `path` is a config.json or a folder with one. `original_length` takes the place of the length
    that the config names, or does not name. Raises CourseError, with key, value and remedy, for a
    config that cannot be read.
    """
    path = path / "config.json" if path.is_dir() else path
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise CourseError(f"{path} is not JSON ({error}); name a model's config.json") from None
    if not isinstance(config, dict):
        raise CourseError(f"{path} holds no object of keys and values; name a model's config.json")
    parts = list(_parts(path, _of_text(config)))
    return [part.rope(original_length) for part in parts]


def reach(frequencies: Tensor, furthest: int = FURTHEST) -> int:
    """The first distance at which the mean cosine over all pairs falls below zero.

    There a key equal to the query scores lower than one that has nothing to do with it. At most
    `furthest`. Source: Men et al. 2024, Base of RoPE Bounds Context Length (arXiv 2405.14591).
    """
    for start in range(0, furthest, 4096):
        distances = torch.arange(start, min(start + 4096, furthest), dtype=torch.float64)
        below = torch.cos(distances[:, None] * frequencies).mean(dim=-1) < 0
        if below.any():
            return start + int(below.nonzero()[0])
    return furthest


def _of_text(config: Config) -> Config:
    """The config of the language model, with what its model type's configs leave out."""
    for key in TEXT:
        if isinstance(config.get(key), dict):
            return _of_text(config[key])
    return {**DEFAULTS.get(config.get("model_type", ""), {}), **config}


def _parts(path: Path, config: Config) -> Iterator[_Part]:
    """One for all layers, or one for each type of layer that has parameters of its own."""
    old, new = config.get("rope_scaling"), config.get("rope_parameters")
    for key, value in (("rope_scaling", old), ("rope_parameters", new)):
        if value is not None and not isinstance(value, dict):
            raise CourseError(
                f"{path}: {key} must be an object of keys and values or null, got {value!r:.40}"
            )
    given = old or new or {}
    nested = {key: value for key, value in given.items() if isinstance(value, dict)}
    local = config.get("rope_local_base_freq")
    if nested:
        parts = [_Part(path, config, layers, inner) for layers, inner in nested.items()]
    elif local is not None:
        sliding = {"rope_theta": local}
        parts = [_Part(path, config, "full_attention", given),
                 _Part(path, config, "sliding_attention", sliding)]  # fmt: skip
    else:
        parts = [_Part(path, config, "", given)]
    if old and new:
        parts[0].warnings.append("rope_parameters is ignored: rope_scaling stands beside it")
    yield from parts


@dataclass
class _Part:
    """Layers of one type, and what was found while their parameters were read."""

    path: Path
    config: Config
    layers: str
    given: Config
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def rope(self, original_length: int | None) -> Rope:
        """What transformers would make of these parameters."""
        kind, base = self._kind(), self._base()
        length = self._whole("max_position_embeddings", self.config.get("max_position_embeddings"))
        head_dim, share = self._sizes()
        used = {"rope_theta": base} | ({} if share == 1 else {"partial_rotary_factor": share})
        used |= self._taken(kind, length)
        turned = head_dim if kind == "proportional" else int(head_dim * share)
        plain = rotary_frequencies(turned, base)
        scaled = ScaledFrequencies(plain)
        if kind in ROPE_TYPES and not self._missing(kind, used):
            try:
                scaled = from_rope_parameters(used | {"rope_type": kind}, head_dim, length, length)
            except ValueError as error:
                raise CourseError(f"{self.path}: {error}") from None
        original = int(original_length or used.get(ORIGINAL) or length)
        if ORIGINAL in used and length == original and (factor := used.get("factor", 1)) > 1:
            length = int(original * factor)
            self.notes.append(f"max_position_embeddings is the trained length, {original}")
        self._note(kind, used, original, length, original_length is not None)
        if standing := int((scaled.frequencies == 0).sum()):
            self.notes.append(f"{standing} pairs stand still")
        return Rope(self.layers, kind, base, head_dim, plain, scaled, original, length,
                    tuple(self.notes), tuple(self.warnings))  # fmt: skip

    def _kind(self) -> str:
        kind = self.given.get("rope_type") or self.given.get("type") or "default"
        kind = "longrope" if kind == "su" else kind  # Phi-3's first name for it
        if kind not in ROPE_TYPES:
            self.warnings.append(
                f"rope_type {kind!r} is unknown; there are {', '.join(ROPE_TYPES)}. What follows "
                "is RoPE before any stretching"
            )
        return str(kind)

    def _base(self) -> float:
        inside, outside = self.given.get("rope_theta"), self.config.get("rope_theta")
        outside = self.config.get("rotary_emb_base") if outside is None else outside
        if not self.layers and inside is not None and outside not in (None, inside):
            self.warnings.append(
                f"rope_theta {outside} at the top is ignored: {inside} stands in the parameters"
            )
        base = outside if inside is None else inside
        if base is None:
            self.warnings.append("rope_theta is missing; transformers takes 10000")
            return 10_000.0
        return self._number("rope_theta", base, above=1)

    def _sizes(self) -> tuple[int, float]:
        """How many numbers of a head RoPE is given, and the share of them that it turns."""
        config = self.config
        width = config.get("qk_rope_head_dim") or config.get("head_dim")
        if width is None:
            hidden, heads = config.get("hidden_size"), config.get("num_attention_heads")
            if hidden is None or heads is None:
                raise CourseError(
                    f"{self.path}: head_dim is missing; add it, or hidden_size and "
                    "num_attention_heads"
                )
            width = self._whole("hidden_size", hidden) // self._whole("num_attention_heads", heads)
        width = self._whole("head_dim", width)
        share: float = 1.0
        for value in (self.given.get("partial_rotary_factor"),
                      config.get("partial_rotary_factor"), config.get("rotary_pct")):  # fmt: skip
            if value is not None:
                share = self._number("partial_rotary_factor", value, above=0)
                break
        if config.get("rotary_dim") is not None:
            share = self._whole("rotary_dim", config["rotary_dim"]) / width
        turned = int(width * share)
        if share > 1 or turned < 4 or turned % 2:
            raise CourseError(
                f"{self.path}: RoPE would turn {turned} of head_dim {width} numbers; give it an "
                "even number of them, from 4 up to head_dim"
            )
        return width, share

    def _taken(self, kind: str, length: int) -> dict[str, Any]:
        """The parameters that this type takes, with the original length that stands outside."""
        names = {"rope_type", "type", "rope_theta", "partial_rotary_factor"}
        given = {key: value for key, value in self.given.items() if value is not None}
        taken = ROPE_TYPES[kind][1] if kind in ROPE_TYPES else set(given)
        for key in given.keys() - taken - names:
            self.warnings.append(f"{key} is ignored: rope_type {kind!r} does not take it")
        used = {key: value for key, value in given.items() if key in taken - names}
        if kind in ("yarn", "llama3", "longrope"):
            if self.config.get(ORIGINAL) is not None:  # Phi-3
                used[ORIGINAL] = self.config[ORIGINAL]
            elif ORIGINAL not in used:
                used[ORIGINAL] = length
                self.warnings.append(
                    f"{ORIGINAL} is missing; transformers takes max_position_embeddings, {length}, "
                    "which is wrong if that is the length after stretching"
                )
        for key in used.keys() - {"short_factor", "long_factor", "truncate"}:
            self._number(key, used[key], above=0)
        return used

    def _missing(self, kind: str, used: Config) -> bool:
        missing = [key for key in NEEDED.get(kind, ()) if key not in used]
        if missing:
            self.warnings.append(
                f"rope_type {kind!r} needs {', '.join(missing)}; transformers refuses this config. "
                "What follows is RoPE before any stretching"
            )
        return bool(missing)

    def _note(self, kind: str, used: Config, original: int, length: int, given: bool) -> None:
        """What surprises, and is as its makers meant it."""
        factor, times = used.get("factor", 1.0), length / original
        if ORIGINAL in used and factor > 1 and times > 1 and not math.isclose(factor, times):
            self.notes.append(f"the factor is {factor:g} for {times:g} times the length")
        if kind in ("linear", "proportional") and factor != 1 and not given:
            self.notes.append(
                "the length before stretching is not in the config; turns are counted in "
                f"max_position_embeddings, {length} (--original-length takes another)"
            )
        if kind == "dynamic":
            self.notes.append(f"nothing changes up to {length} tokens; then the base grows")
        if used.get("mscale") and (all_dim := used.get("mscale_all_dim")):
            grown = (0.1 * all_dim * math.log(factor) + 1) ** 2
            self.notes.append(
                f"mscale_all_dim: DeepSeek's attention multiplies its scores by {grown:.3f} besides"
            )
        if used.get("truncate") is False:
            self.notes.append("the ends of the ramp are not rounded to whole pairs")

    def _number(self, key: str, value: Any, above: float) -> float:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not above < value < math.inf:
            raise CourseError(
                f"{self.path}: {key} must be a number above {above:g}, got {value!r:.40}"
            )
        return float(value)

    def _whole(self, key: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise CourseError(
                f"{self.path}: {key} must be a whole number from 1 on, got {value!r:.40}"
            )
        return value
