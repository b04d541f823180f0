"""Rotary tables: what a config's rotary parameters make of frequencies, as transformers does.

Old configs have `rope_theta` and `rope_scaling` at the top, new ones `rope_parameters`, nested by
layer type where layers differ. What a key means, what stands for one that is missing, and which one
counts where two contradict each other: transformers 5, modeling_rope_utils.py and the configs of
the model types.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from course_lab.rope.known import ALTERNATE, AXES, UNIT_SQUARE, WIDTHS
from course_lab.rope.source import Config, Source
from course_lib.encodings import (
    axis_of_pair,
    from_rope_parameters,
    ntk_aware,
    rotary_frequencies,
)
from course_lib.encodings.rope_parameters import OLD_NAMES, ROPE_TYPES
from course_lib.errors import CourseError

ORIGINAL = "original_max_position_embeddings"
NEEDED = {
    "linear": ("factor",),
    "dynamic": ("factor",),
    "yarn": ("factor", ORIGINAL),
    "llama3": ("factor", ORIGINAL, "low_freq_factor", "high_freq_factor"),
    "longrope": ("short_factor", "long_factor", ORIGINAL),
}
OLD_BASES = {
    "": ("rope_theta", "rotary_emb_base", "rotary_embedding_base"),
    "full_attention": ("global_rope_theta", "rope_theta"),
    "sliding_attention": ("rope_local_base_freq", "local_rope_theta", "swa_rope_theta"),
    "main": ("rope_theta",),
    "compress": ("compress_rope_theta",),
}
"""Where configs of the old style keep the base of a layer type, at the top."""
SHARES = ("partial_rotary_factor", "rotary_pct", "rope_pct")
SECTIONS = ("mrope_section", "mrope_interleaved")
BOTH = ("modernbert", "modernbert-decoder")
"""Types that stretch all their layers by a `rope_scaling` of the old style, not the full ones."""


@dataclass
class Table:
    """The rotary table of the layers of one type."""

    name: str
    """The layer type that it is for; empty if there is one table for all."""
    kind: str
    base: float
    head_dim: int
    """The width of a head, or of the part of it that is given to the rotation."""
    plain: Tensor
    """Radians per position of each pair before anything is stretched."""
    frequencies: Tensor
    attention_factor: float
    original_length: int | None
    length: int | None
    sections: tuple[int, ...] = ()
    """Pairs of each axis, where there are several."""
    axes: tuple[int, ...] = ()
    """The axis that each pair turns by, where there are several and the course knows which."""
    temperature: float | None = None
    """`llama_4_scaling_beta`: queries times 1 + beta ln(1 + floor(position / original length))."""
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def tables(source: Source, original_length: int | None = None) -> dict[str, Table | None]:
    """The rotary tables of a model, by layer type ("": one for all); None: not rotated."""
    given, nested = _parameters(source)
    made: dict[str, Table | None] = {}
    for name, parameters in (nested or {"": given}).items():
        if parameters is None:
            made[name] = None
        else:
            made[name] = _Reading(source, name, parameters).table(original_length)
    if source.listed("rope_scaling_layers", None) is not None and given:  # Molmo 2
        plain = {"rope_theta": given.get("rope_theta")}
        made["unscaled"] = _Reading(source, "", plain).table(original_length)
    return made


def by_base(
    source: Source, bases: list[Any], original_length: int | None
) -> dict[str, Table | None]:
    """The tables of layers with a base each (`layer_rope_theta`), by base; 0 is no rotation."""
    given, _ = _parameters(source)
    made: dict[str, Table | None] = {"0": None}
    for base in dict.fromkeys(bases):
        if base:
            reading = _Reading(source, f"base {base:g}", {**given, "rope_theta": base})
            made[f"{base:g}"] = reading.table(original_length)
    return made


def _parameters(source: Source) -> tuple[Config, dict[str, Config | None]]:
    """What stands for all layers, and what stands for layer types, if layers differ."""
    old, new = source.given.get("rope_scaling"), source.given.get("rope_parameters")
    for key, value in (("rope_scaling", old), ("rope_parameters", new)):
        if value is not None and not isinstance(value, dict):
            raise CourseError(
                f"{source.path}: {key} must be an object of keys and values or null, "
                f"got {value!r:.40}"
            )
    if old and new:
        source.warnings.append("rope_parameters is ignored: rope_scaling stands beside it")
    given = old or new or {}
    default = source.default("rope_parameters") or {}
    inner, by_default = _nested(given), _nested(default)
    if inner:
        return {}, {name: _filled(one, by_default.get(name)) for name, one in inner.items()}
    local = any(source.given.get(key) is not None for key in OLD_BASES["sliding_attention"])
    if by_default or local:
        names = list(by_default) or ["full_attention", "sliding_attention"]
        stretched = names if source.name in BOTH else [n for n in names if n != "sliding_attention"]
        return {}, {
            name: None if by_default.get(name, {}) is None else
            _filled(given if given and name in stretched else {}, by_default.get(name, {}))
            for name in names
        }  # fmt: skip
    return _filled(given, default) or {}, {}


def _nested(parameters: Config) -> dict[str, Any]:
    """The parameters of each layer type, null for one that does not rotate; empty if flat."""
    inner = {key: value for key, value in parameters.items() if isinstance(value, dict)}
    absent = {key: None for key, value in parameters.items() if value is None and inner}
    return {**inner, **{key: None for key in absent if key.endswith("attention")}}


def _filled(given: Config | None, default: Config | None) -> Config | None:
    """Parameters with what stands for those that are missing; a kind brings its own with it."""
    if given is None or (default is None and not given):
        return given
    default = default or {}
    if not given:
        return {**default, "filled": True}
    kept = ("partial_rotary_factor", "rope_theta", *SECTIONS)
    return {**{key: default[key] for key in kept if default.get(key) is not None},
            "filled": "rope_theta" not in given and "rope_theta" in default, **given}  # fmt: skip


class _Reading:
    """Parameters of one table while they are read."""

    def __init__(self, source: Source, name: str, given: Config) -> None:
        self.source, self.name = source, name
        self.filled = bool(given.get("filled"))
        self.given = {key: value for key, value in given.items() if key != "filled"}
        self.notes: list[str] = []
        self.warnings: list[str] = []

    def table(self, original_length: int | None) -> Table:
        """What transformers would make of these parameters."""
        kind, base = self._kind(), self._base()
        length = self.source.length
        width, share = self._sizes(kind)
        used = {"rope_theta": base} | ({} if share == 1 else {"partial_rotary_factor": share})
        extra = self._extra()
        used |= self._taken(kind, length)
        turned = width if kind == "proportional" else int(width * share)
        plain = rotary_frequencies(turned, base)
        sections: tuple[int, ...] = ()
        if kind == "axial":
            plain, sections = self._on_axes(turned, base)
        frequencies, factor = plain, 1.0
        if kind in ROPE_TYPES and kind != "axial" and not self._missing(kind, used):
            try:
                scaled = from_rope_parameters(
                    used | extra | {"rope_type": kind}, width, length, length
                )
            except ValueError as error:
                raise CourseError(f"{self.source.path}: {error}") from None
            frequencies, factor = scaled.frequencies, scaled.attention_factor
            sections = getattr(scaled, "sections", ())
        if alpha := self.given.get("alpha"):  # Hunyuan's name for an NTK-aware stretch
            frequencies = ntk_aware(turned, base, self.source.number("alpha", alpha, 0)).frequencies
        original = original_length or used.get(ORIGINAL) or length
        original = None if original is None else int(original)
        if ORIGINAL in used and length == original and (factor_ := used.get("factor") or 1) > 1:
            length = int(used[ORIGINAL] * factor_)
            self.notes.append(f"max_position_embeddings is the trained length, {original}")
        self._note(kind, used, original, length, original_length is not None)
        if standing := int((frequencies == 0).sum()):
            self.notes.append(f"{standing} pairs stand still")
        if extra and not extra["mrope_interleaved"] and sum(sections) != len(plain):
            self.warnings.append(
                f"mrope_section {list(sections)} adds up to {sum(sections)} pairs, and there are "
                f"{len(plain)}: transformers' code fails on this config"
            )
        return Table(self.name, kind, base, width, plain, frequencies, factor, original, length,
                     tuple(sections), self._axes(sections, len(plain)),
                     self._temperature(original), self.notes, self.warnings)  # fmt: skip

    def _axes(self, sections: Sequence[int], pairs: int) -> tuple[int, ...]:
        """The axis of each pair; nothing where there is one axis, or sections do not say it."""
        if self.source.name == "pixtral":
            return tuple(pair % 2 for pair in range(pairs))
        if sum(sections) != pairs or self.source.name in ALTERNATE:
            return ()
        try:
            return tuple(axis_of_pair(sections, self._interleaved()).tolist())
        except ValueError:  # they cannot be interleaved, and transformers takes what comes out
            return ()

    def _interleaved(self) -> bool:
        known = self.source.known
        return known.interleaved if known and known.sections else bool(
            self.given.get("mrope_interleaved"))  # fmt: skip

    def _on_axes(self, turned: int, base: float) -> tuple[Tensor, tuple[int, ...]]:
        """Rows and columns (and time): a ladder for each, or the even and odd pairs of one."""
        if self.source.name == "pixtral":
            pairs = turned // 2
            return rotary_frequencies(turned, base), (pairs - pairs // 2, pairs // 2)
        axes = int(AXES[self.source.name].value) if self.source.name in AXES else 2
        ladder = rotary_frequencies(2 * (turned // axes // 2), base)
        if self.source.name in UNIT_SQUARE:
            self.notes.append("coordinates go from -1 to 1, and angles are 2 pi times as large")
        return ladder.repeat(axes), (len(ladder),) * axes

    def _kind(self) -> str:
        kind = self.given.get("rope_type") or self.given.get("type") or "default"
        if not isinstance(kind, str):
            raise CourseError(
                f"{self.source.path}: rope_type must be one of {', '.join(ROPE_TYPES)}, "
                f"got {kind!r:.40}"
            )
        kind = OLD_NAMES.get(kind, kind)
        default = self.source.default("rope_parameters") or {}
        axial = default.get("rope_type") == "axial" or self.source.name in AXES
        if kind == "default" and axial:
            kind = "axial"
        if kind not in ROPE_TYPES:
            self.warnings.append(
                f"rope_type {kind!r} is unknown; there are {', '.join(ROPE_TYPES)}. What follows "
                "is RoPE before any stretching"
            )
        return str(kind)

    def _base(self) -> float:
        given = self.source.given
        inside = self.given.get("rope_theta")
        keys = OLD_BASES.get(self.name, OLD_BASES[""])
        found = next(((key, given[key]) for key in keys if given.get(key) is not None), None)
        if inside is not None and not self.filled:
            if found and not self.name and found[1] != inside:
                self.warnings.append(
                    f"{found[0]} {found[1]} at the top is ignored: {inside} stands in the "
                    "parameters"
                )
            return self.source.number("rope_theta", inside, above=1)
        if found:
            return self.source.number(found[0], found[1], above=1)
        if inside is None:
            inside = next((d for key in keys if (d := self.source.default(key)) is not None), None)
        if inside is not None:
            self.notes.append(
                f"the base is not in the config; {self.source.name} takes {inside:.0f}"
            )
            return float(inside)
        if self.source.known:
            self.notes.append(f"the base, 10000, stands in {self.source.known.source}")
        else:
            self.warnings.append("rope_theta is missing; transformers takes 10000")
        return 10_000.0

    def _sizes(self, kind: str) -> tuple[int, float]:
        """How many numbers of a head RoPE is given, and the share of them that it turns."""
        source = self.source
        separate = source.whole("qk_rope_head_dim", least=0)
        if separate:  # the part that is split off for the rotation: no share of it once more
            return self._even(separate, 1.0, "qk_rope_head_dim")
        width = head_width(source, self.name)
        share, key = self._share(kind, width)
        return self._even(width, share, key)

    def _share(self, kind: str, width: int) -> tuple[float, str]:
        source, given = self.source, self.source.given
        turned = given.get("rotary_dim", source.default("rotary_dim"))
        if turned is not None and self._reads("rotary_dim"):
            source.number("rotary_dim", turned, above=0)
            return turned / width, "rotary_dim"
        if given.get("rotary_dim") is not None:
            self.warnings.append(f"rotary_dim is ignored: {source.name} does not read it")
        for where in (self.given, given):
            for key in SHARES:
                if where.get(key) is not None:
                    share = source.number(key, where[key], above=0)
                    known = source.known
                    if share != 1 and kind == "default" and known and not known.partial:
                        self.warnings.append(f"{key} is ignored: {source.name} turns whole heads")
                        return 1.0, key
                    return share, key
        return float(source.default("partial_rotary_factor") or 1.0), "partial_rotary_factor"

    def _even(self, width: int, share: float, key: str) -> tuple[int, float]:
        turned = int(width * share)
        own = self.source.default("rope_parameters") or {}
        over = share > 1 and share != own.get("partial_rotary_factor")
        if over or turned < 4 or turned % 2:
            raise CourseError(
                f"{self.source.path}: RoPE would turn {turned} of head_dim {width} numbers; give "
                f"it an even number of them, from 4 up to head_dim ({key})"
            )
        return width, share

    def _reads(self, key: str) -> bool:
        """Whether the model's code reads this key; an unknown model's is taken to."""
        return self.source.known is None or key in self.source.known.reads

    def _extra(self) -> dict[str, Any]:
        """The sections of several axes."""
        known, sections = self.source.known, self.given.get("mrope_section")
        if sections is None and known and known.sections:
            sections = list(known.sections)
        if sections is None:
            return {}
        if not isinstance(sections, list) or not all(isinstance(n, int) for n in sections):
            raise CourseError(
                f"{self.source.path}: mrope_section must be a list of whole numbers, the pairs of "
                f"each axis, got {sections!r:.40}"
            )
        interleaved = self._interleaved()
        if interleaved:
            self.notes.append("the axes take turns among the first pairs (interleaved)")
        return {"mrope_section": sections, "mrope_interleaved": interleaved}

    def _temperature(self, original: int | None) -> float | None:
        beta = self.given.get("llama_4_scaling_beta")
        if beta is None or original is None:
            return None
        if not self._reads("llama_4_scaling_beta"):
            self.warnings.append(
                f"llama_4_scaling_beta is ignored: {self.source.name} does not read it"
            )
            return None
        return self.source.number("llama_4_scaling_beta", beta, above=-math.inf)

    def _taken(self, kind: str, length: int | None) -> dict[str, Any]:
        """The parameters that this type takes, with the original length that stands outside."""
        names = {"rope_type", "type", "rope_theta", *SHARES, *SECTIONS, "alpha",
                 "llama_4_scaling_beta"}  # fmt: skip
        given = {key: value for key, value in self.given.items() if value is not None}
        taken = ROPE_TYPES[kind][1] if kind in ROPE_TYPES else set(given)
        idle = taken_by_its_siblings(given) if kind in ROPE_TYPES else set()
        for key in sorted(given.keys() - taken - names):
            known = self.source.known
            if key not in idle and (known is None or key in known.reads):
                self.warnings.append(f"{key} is not understood here, and may change what follows")
            else:
                self.warnings.append(f"{key} is ignored: rope_type {kind!r} does not take it")
        used = {key: value for key, value in given.items() if key in taken - names}
        if kind in ("yarn", "llama3", "longrope"):
            outside = self.source.get(ORIGINAL)
            if outside is not None and not self.name:  # Phi-3
                used[ORIGINAL] = outside
            elif ORIGINAL not in used and length is not None:
                used[ORIGINAL] = length
                self.warnings.append(
                    f"{ORIGINAL} is missing; transformers takes max_position_embeddings, {length}, "
                    "which is wrong if that is the length after stretching"
                )
        for key in used.keys() - {"short_factor", "long_factor", "truncate"}:
            self.source.number(key, used[key], above=0)
        return used

    def _missing(self, kind: str, used: Mapping[str, Any]) -> bool:
        if kind == "dynamic" and self.given.get("alpha"):
            return True
        missing = [key for key in NEEDED.get(kind, ()) if key not in used]
        if kind == "dynamic" and self.source.length is None:
            missing.append("max_position_embeddings")
        if missing:
            self.warnings.append(
                f"rope_type {kind!r} needs {', '.join(missing)}; transformers refuses this config. "
                "What follows is RoPE before any stretching"
            )
        return bool(missing)

    def _note(
        self, kind: str, used: Config, original: int | None, length: int | None, given: bool
    ) -> None:
        """What surprises, and is as its makers meant it."""
        factor = used.get("factor") or 1.0
        times = length / original if length and original else 1.0
        if ORIGINAL in used and factor > 1 and times > 1 and not math.isclose(factor, times):
            self.notes.append(f"the factor is {factor:g} for {times:g} times the length")
        if kind == "llama3" and used.get("low_freq_factor") == used.get("high_freq_factor"):
            self.notes.append(
                "low_freq_factor equals high_freq_factor: there is no ramp between kept and slowed"
            )
        if kind in ("linear", "proportional") and factor != 1 and not given:
            self.notes.append(
                "the length before stretching is not in the config; turns are counted in "
                f"max_position_embeddings, {length} (--original-length takes another)"
            )
        if kind == "dynamic" and length:
            self.notes.append(f"nothing changes up to {length} tokens; then the base grows")
        own = self._reads("mscale_all_dim") and self.source.whole("qk_rope_head_dim", least=0)
        if own and used.get("mscale") and (all_dim := used.get("mscale_all_dim")):
            grown = (0.1 * all_dim * math.log(factor) + 1) ** 2
            self.notes.append(
                f"mscale_all_dim: attention multiplies its scores by {grown:.3f} besides"
            )
        if used.get("truncate") is False:
            self.notes.append("the ends of the ramp are not rounded to whole pairs")
        if (how := ALTERNATE.get(self.source.name)) is not None:
            self.notes.append(f"{how.value} ({how.source})")
        if kind == "proportional":
            self.notes.append("the ladder is that of the whole head; its slow end stands still")


def taken_by_its_siblings(given: Config) -> set[str]:
    """Keys that another rope_type takes: known, and idle here."""
    return set().union(*(keys for _, keys in ROPE_TYPES.values())) & given.keys()


def head_width(source: Source, layer_type: str = "") -> int:
    """The width of a head of the layers of this type."""
    if (other := _wider(source, layer_type)) is not None:
        return other
    key = WIDTHS[source.name].value if source.name in WIDTHS else "head_dim"
    if key != "embed_dim" and (width := source.whole(key)) is not None:
        return width
    whole = WIDTHS[source.name].value if key == "embed_dim" else "hidden_size"
    hidden, heads = (source.whole(one) for one in (whole, "num_attention_heads"))
    if hidden is None or heads is None or hidden < heads:
        raise CourseError(
            f"{source.path}: head_dim is missing; add it, or hidden_size and num_attention_heads"
        )
    return hidden // heads


def _wider(source: Source, layer_type: str) -> int | None:
    """Gemma 4's: heads of another width in layers of one type."""
    if layer_type == "full_attention" and (width := source.get("global_head_dim")) is not None:
        return int(source.number("global_head_dim", width, above=0))
    layers, each = source.get("layer_types"), source.get("per_layer_config")
    if not layer_type or not isinstance(layers, list) or not isinstance(each, dict):
        return None
    of_type = {number for number, name in enumerate(layers) if name == layer_type}
    for number, one in each.items():
        if str(number).isdecimal() and int(number) in of_type and "head_dim" in one:
            return int(source.number(f"per_layer_config, {number}, head_dim", one["head_dim"], 0))
    return None
