"""Rotary tables: what a config's rotary parameters make of frequencies, as transformers does.

Old configs have `rope_theta` and `rope_scaling` at the top, new ones `rope_parameters`, nested by
layer type where layers differ. What a key means, what stands for one that is missing, and which one
counts where two contradict each other: transformers 5, modeling_rope_utils.py and the configs of
the model types.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from course_lab.rope.known import (
    ALTERNATE,
    AXES,
    BY_TURNS,
    NEED_HEAD_DIM,
    NO_YARN,
    UNIT_SQUARE,
    WIDTHS,
)
from course_lab.rope.ladders import (
    OLD_NAMES,
    ORIGINAL,
    TYPES,
    Ladder,
    Stretch,
    axes_of_pairs,
    plain_ladder,
    stretched,
    with_larger_base,
)
from course_lab.rope.parameters import (
    SECTIONS,
    SHARE,
    Parameters,
    Remark,
    Remarks,
    base_of,
    parameters_of,
)
from course_lab.rope.source import Config, Source
from course_lib.errors import CourseError

if TYPE_CHECKING:
    from torch import Tensor

NEEDED = {
    "linear": ("factor",),
    "dynamic": ("factor",),
    "yarn": ("factor", ORIGINAL),
    "llama3": ("factor", ORIGINAL, "low_freq_factor", "high_freq_factor"),
    "longrope": ("short_factor", "long_factor", ORIGINAL),
}
MISSING = f"{ORIGINAL} is missing"
SHARES = (SHARE, "rotary_pct", "rope_pct")
ALIKE = 0.05
"""Lengths that differ by a smaller share are one, rounded."""
MOST_LETTERS = 100
"""A longer rope_type is no name."""
Made = TypeVar("Made")
ON_OR_OFF = ("muse_glimmer_text", "muse_spark_text")
"""Types that read of `layer_rope_theta` no more than whether an entry is 0."""


class Place(NamedTuple):
    """Where a table's parameters come from, and where others would have to stand."""

    given: Config = MappingProxyType({})
    """The parameters, from the config or from its class."""
    layer_type: str = ""
    """The layer type under which they stand; empty if they stand for all layers."""
    old: bool = False
    """Whether the file has `rope_scaling`, which is read before `rope_parameters`."""
    fixed: str = ""
    """Why no entry of the file stretches the model; empty if one does."""
    needs_head_dim: bool = False
    """Whether transformers' code fails on YaRN until the file has a head_dim."""
    others: tuple[Table, ...] = ()
    """Tables of other layer types, also of those that no layer has."""
    reach: int | None = None
    """Tokens that YaRN's factor reaches, where the config's length is another."""
    guessed: bool = False
    """Whether the length before the stretch is missing."""


@dataclass
class Table:
    """The rotary table of the layers of one type."""

    name: str
    """The layer type that it is for; empty if there is one table for all."""
    kind: str
    base: float
    head_dim: int
    """The width of a head, or of the part of it that is given to the rotation."""
    before: Ladder
    """Radians per position of each pair before anything is stretched."""
    after: Ladder
    """And as the model turns them."""
    attention_factor: float
    original_length: int | None
    length: int | None
    sections: tuple[int, ...] = ()
    """Pairs of each axis, where there are several."""
    axes: tuple[int, ...] = ()
    """The axis that each pair turns by, where there are several and the course knows which."""
    temperature: float | None = None
    """`llama_4_scaling_beta`: queries times 1 + beta ln(1 + floor(position / original length))."""
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    place: Place = field(default_factory=Place)

    @property
    def plain(self) -> Tensor:
        """`before`, as a tensor in float64."""
        return _tensor(self.before)

    @property
    def frequencies(self) -> Tensor:
        """`after`, as a tensor in float64."""
        return _tensor(self.after)

    @property
    def is_slowed(self) -> bool:
        """Whether any pair turns otherwise than before the stretch."""
        return self.before != self.after

    @property
    def slowed(self) -> tuple[float, ...]:
        """By how much each pair was slowed; infinity for a pair that stands still."""
        return tuple(one / other if other else math.inf
                     for one, other in zip(self.before, self.after, strict=True))  # fmt: skip


def _tensor(ladder: Ladder) -> Tensor:
    import torch  # takes longer than all that `course rope` does

    return torch.tensor(ladder, dtype=torch.float64)


def tables(source: Source, original_length: int | None = None) -> dict[str, Table | None]:
    """The rotary tables of a model, by layer type ("": one for all); None: not rotated."""
    for_all, by_type = parameters_of(source)
    made = {
        name: None if parameters is None else _table(source, name, parameters, original_length)
        for name, parameters in (by_type or {"": for_all}).items()
    }
    for table in filter(None, made.values()):
        rest = tuple(one for one in made.values() if one and one is not table)
        table.place = table.place._replace(others=rest)
    if source.listed("rope_scaling_layers", None) is not None and for_all.given:  # Molmo 2
        base = base_of(source, "", for_all)[0]
        made["unscaled"] = _table(source, "", Parameters({"rope_theta": base}), original_length)
    return made


def by_base(
    source: Source, bases: list[Any], original_length: int | None
) -> dict[str, Table | None]:
    """The tables of layers with a base each (`layer_rope_theta`), by base; 0 is no rotation.

    A list that the config leaves out is filled with the base for all, wherever that stands.
    """
    for_all, _ = parameters_of(source)
    made: dict[str, Table | None] = {"0": None}
    listed = source.given.get("layer_rope_theta") is not None
    own = listed and source.name not in ON_OR_OFF
    for base in bases:
        if base != 0 or isinstance(base, bool):
            source.number("each base in layer_rope_theta that is not 0", base, above=1)
    for base in dict.fromkeys(bases):
        if base and own:
            parameters = for_all._replace(
                given={**for_all.given, "rope_theta": base}, default_base=False
            )
            made[f"{base:g}"] = _table(source, f"base {base:g}", parameters, original_length)
        elif base:
            table = made[f"{base:g}"] = _table(source, "", for_all, original_length)
            if listed and table.base != base:
                other = (
                    f"base {base:g} of layer_rope_theta is ignored: {source.name} reads there "
                    f"whether a layer rotates, and turns by base {table.base:g}"
                )
                table.warnings = (*table.warnings, other)
    return made


def _table(source: Source, name: str, parameters: Parameters, original_length: int | None) -> Table:
    """What transformers would make of these parameters."""
    given = parameters.given
    kind, of_kind = _kind(source, given)
    base, of_base = base_of(source, name, parameters)
    length = source.length
    width, share, of_width = _width(source, name, parameters, kind)
    extra, of_extra = _extra(source, given)
    used, of_keys = _used(source, name, given, kind, length)
    turned = width if kind == "proportional" else int(width * share)
    plain, sections, of_ladder = _ladder(source, kind, turned, base)
    frequencies, factor = plain, 1.0
    lacking, of_lack = _lacking(source, given, kind, used)
    if kind in TYPES and kind != "axial" and not lacking and turned % 2 == 0:
        asked = {"rope_type": kind, "rope_theta": base, **used}
        frequencies, factor = _stretched(source, asked, turned, share)
        sections = tuple(extra.get("mrope_section", ()))
    if alpha := given.get("alpha"):  # Hunyuan's name for an NTK-aware stretch
        by = source.number("alpha", alpha, above=0)
        frequencies = _in_one_line(source, lambda: with_larger_base(turned, base, by))
    plain_only = bool(of_lack) or kind not in TYPES
    stretch: Config = {} if plain_only else used
    reach = _reach(kind, stretch, length)
    original, made_for, of_length = _lengths(stretch, length, original_length, reach)
    counted = original_length is not None
    meant = map(Remark, _surprises(source, kind, used, original, made_for, counted))
    of_pairs = _remarks_on_pairs(extra, sections, plain, frequencies)
    temperature, of_queries = _temperature(source, given, original)
    said = [
        *of_kind, *of_base, *of_width, *of_extra, *of_keys, *of_ladder, *of_lack, *of_length,
        *meant, *of_pairs, *of_queries,
    ]  # fmt: skip
    notes = tuple(one.words for one in said if not one.is_fault)
    faults = tuple(one.words for one in said if one.is_fault)
    axes = _axes(source, given, sections, len(plain))
    place = Place(
        given, "" if name.startswith("base ") else name,
        bool(source.given.get("rope_scaling")), _fixed(source),
        source.name in NEED_HEAD_DIM and source.given.get("head_dim") is None, reach=reach,
        guessed=bool(stretch) and any(one.words.startswith(MISSING) for one in of_keys),
    )  # fmt: skip
    return Table(
        name, kind, base, width, plain, frequencies, factor, original, made_for, tuple(sections),
        axes, temperature, notes, faults, place,
    )  # fmt: skip


def _fixed(source: Source) -> str:
    """Why no entry of the file stretches the model."""
    if source.known and not source.known.bases:
        others = " and SGLang's" if source.name == "gptj" else ""
        vllm = " (vLLM 0.33.0's gpt_j.py does, which was not tried here)" if others else ""
        return f"transformers'{others} code of this model reads no rope_parameters{vllm}"
    if source.known and (fact := NO_YARN.get(source.name)):
        return f"{fact.value} ({fact.source})"
    return ""


def _kind(source: Source, given: Config) -> tuple[str, Remarks]:
    """The rope_type, by the name that it has today."""
    kind = given.get("rope_type") or given.get("type") or "default"
    if not isinstance(kind, str):
        raise CourseError(
            f"{source.path}: rope_type must be one of {', '.join(TYPES)}, got {kind!r:.40}"
        )
    if not kind.isprintable() or len(kind) > MOST_LETTERS:
        raise CourseError(f"{source.path}: rope_type must be a name, got {kind!r:.40}")
    kind = OLD_NAMES.get(kind, kind)
    default = source.default("rope_parameters") or {}
    axial = default.get("rope_type") == "axial" or source.name in AXES
    if kind == "default" and axial:
        kind = "axial"
    if kind in TYPES:
        return kind, ()
    unknown = (
        f"rope_type {kind!r} is unknown; there are {', '.join(TYPES)}. What follows "
        "is RoPE before any stretching"
    )
    return kind, (Remark(unknown, is_fault=True),)


def _width(
    source: Source, name: str, parameters: Parameters, kind: str
) -> tuple[int, float, Remarks]:
    """How many numbers of a head RoPE is given, and the share of them that it turns."""
    key = "qk_rope_head_dim"
    if width := source.whole(key, least=0):
        width, share, said = _split_off(source, name, parameters, kind, width)
    else:
        width = head_width(source, name)
        share, key, said = _share(source, parameters, kind, width)
    turned = int(width * share)
    usual = (source.default("rope_parameters") or {}).get(SHARE) or 1
    too_wide = share > 1 and usual <= 1 and key != "qk_rope_head_dim"
    rounded = (
        turned % 2 and turned < width - 1 and kind == "default" and source.known
        and source.known.partial and not source.known.sections and key != "qk_rope_head_dim"
    )  # fmt: skip
    if rounded and turned > 4 and not parameters.given.get("mrope_section"):
        up = (
            f"{turned} of {width} columns are to be turned, an odd number: transformers makes "
            f"{turned // 2 + 1} pairs, and turns {turned + 1}"
        )
        return width, share, (*said, Remark(up, is_fault=True))
    if too_wide or turned < 4 or turned % 2:
        raise CourseError(
            f"{source.path}: RoPE would turn {turned} of head_dim {width} numbers; give "
            f"it an even number of them, from 4 up to head_dim ({key})"
        )
    return width, share, said


def _split_off(
    source: Source, name: str, parameters: Parameters, kind: str, part: int
) -> tuple[int, float, Remarks]:
    """A part of each head that is split off for the rotation, and the share that its table has.

    The model's code turns the whole part; a table of another width makes it fail.
    """
    whole, usual = part, 1.0
    if source.name == "deepseek_v4":  # it works the part out from a share at the top
        whole = head_width(source, name)
        top = source.given.get(SHARE)
        usual = part / whole if top is None else source.number(SHARE, top, above=0)
        part = int(whole * usual)
        parameters = parameters._replace(share=usual, share_stands=True)
    elif source.name == "mistral4":
        whole = part + (source.whole("qk_nope_head_dim", least=0) or 0)
        old = bool(source.given.get("rope_scaling"))
        usual = 1.0 if old else part / whole
        parameters = parameters._replace(share=usual, share_stands=not old)
    elif source.name == "dots3_note_text":  # whatever stands in the config
        whole = head_width(source, name)
        return part, 1.0, _unread(source, parameters.given, SHARES, part / whole)
    share, _, said = _share(source, parameters, kind, whole)
    turned = int(whole * share)
    if turned != part:
        fails = (
            f"{SHARE} {share:g} makes a table of {turned // 2} pairs, and {part // 2} are to be "
            "turned (qk_rope_head_dim): transformers' code fails on this config"
        )
        said = (*said, Remark(fails, is_fault=True))
    return part, share * whole / part, said


def _share(
    source: Source, parameters: Parameters, kind: str, width: int
) -> tuple[float, str, Remarks]:
    """The share of a head that is turned, and the key that says it.

    What the parameters of the config say comes first, then its top, then the model type's own.
    """
    given, firm = parameters.given, parameters.share_stands
    inside = SHARES if source.known is None else (SHARE,)
    at_top: tuple[str, ...] = SHARES
    if source.known is not None:  # GPT-NeoX has its own name for it
        at_top = ("rotary_pct",) if source.reads("rotary_pct") else (SHARE,)
    wheres = [(given, inside)] + ([] if firm else [(source.given, at_top)])
    shares = [(key, where[key]) for where, keys in wheres for key in keys
              if where.get(key) is not None]  # fmt: skip
    turned = source.given.get("rotary_dim", source.default("rotary_dim"))
    said: Remarks = ()
    if turned is not None and source.reads("rotary_dim"):
        if not shares or not (source.known and source.known.partial):
            return source.number("rotary_dim", turned, above=0) / width, "rotary_dim", ()
    elif source.given.get("rotary_dim") is not None:
        unread = f"rotary_dim is ignored: {source.name} does not read it"
        said = (Remark(unread, is_fault=True),)
    nothing = any(key in source.given for key in at_top) and not firm  # null: the whole head
    usual = 1.0 if nothing else parameters.share or source.default(SHARE) or 1.0
    key, share = shares[0] if shares else (SHARE, usual)
    share = source.number(key, share, above=0)
    whole = kind in ("default", "axial") and source.known and not source.known.partial
    if share != 1 and whole and shares:
        ignored = f"{key} is ignored: {source.name} turns whole heads"
        return 1.0, key, (*said, Remark(ignored, is_fault=True))
    taken = 1.0 if whole else share
    unread_keys = [key for key in SHARES if key not in at_top or firm or given.get(SHARE)]
    others = {} if source.known is None else {k: v for k, v in given.items() if k != SHARE}
    return taken, key, (*said, *_unread(source, others, unread_keys, taken))


def _unread(source: Source, given: Config, keys: Sequence[str], share: float) -> Remarks:
    """Shares in a config that are not read, where another one counts."""
    if source.known is None:
        return ()
    found = [(key, where[key]) for where in (given, source.given) for key in keys
             if where.get(key) is not None]  # fmt: skip
    return tuple(
        Remark(f"{key} {value!r:.40} is ignored: {source.name} turns {share:.3g} of a head", True)
        for key, value in dict(found).items() if value != share
    )  # fmt: skip


def _extra(source: Source, given: Config) -> tuple[dict[str, Any], Remarks]:
    """The sections of several axes."""
    sections = given.get("mrope_section")
    if sections is None and source.known and source.known.sections:
        sections = list(source.known.sections)
    if sections is None:
        return {}, ()
    if source.known and not source.known.sections and not source.reads("mrope_section"):
        one = f"mrope_section is ignored: {source.name}'s positions have one axis"
        return {}, (Remark(one, is_fault=True),)
    if not isinstance(sections, list) or not all(isinstance(n, int) for n in sections):
        raise CourseError(
            f"{source.path}: mrope_section must be a list of whole numbers, the pairs of "
            f"each axis, got {sections!r:.40}"
        )
    extra = {"mrope_section": sections, "mrope_interleaved": _interleaved(source, given)}
    turns = Remark("the axes take turns among the first pairs (interleaved)")
    return extra, (turns,) if extra["mrope_interleaved"] else ()


def _interleaved(source: Source, given: Config) -> bool:
    if source.known and source.known.sections:
        return source.known.interleaved
    return bool(given.get("mrope_interleaved"))


def _used(
    source: Source, name: str, given: Config, kind: str, length: int | None
) -> tuple[dict[str, Any], Remarks]:
    """The parameters that this type takes, with the original length that stands outside."""
    names = {"rope_type", "type", "rope_theta", *SHARES, *SECTIONS, "alpha",
             "llama_4_scaling_beta"}  # fmt: skip
    given = {key: value for key, value in given.items() if value is not None}
    taken, idle = set(given), set[str]()
    if kind in TYPES:
        taken = TYPES[kind][1]
        idle = set().union(*(keys for _, keys in TYPES.values()))  # another type takes them
    said = []
    for key in sorted(given.keys() - taken - names):
        if key not in idle and source.reads(key):
            said.append(f"{key} is not understood here, and may change what follows")
        else:
            said.append(f"{key} is ignored: rope_type {kind!r} does not take it")
    used = {key: value for key, value in given.items() if key in taken - names}
    if kind in ("yarn", "llama3", "longrope"):
        outside = source.get(ORIGINAL)
        at_top = source.known is None or source.default(ORIGINAL) is not None  # Phi-3
        if outside is not None and not name and at_top:
            used[ORIGINAL] = outside
        elif ORIGINAL not in used and length is not None:
            used[ORIGINAL] = length
            said.append(
                f"{MISSING}; transformers takes max_position_embeddings, {length}, "
                "which is wrong if that is the length after stretching"
            )
    for key in sorted(used.keys() - {"short_factor", "long_factor", "truncate"}):
        source.number(key, used[key], above=0)
    return used, tuple(Remark(words, is_fault=True) for words in said)


def _ladder(
    source: Source, kind: str, turned: int, base: float
) -> tuple[Ladder, tuple[int, ...], Remarks]:
    """Frequencies before anything is stretched, and for pictures the pairs of each axis.

    These have a ladder for each axis, rows and columns (and time), or share the pairs of one.
    """
    if kind != "axial" or turned % 2:  # an odd number is rounded up, and the exponents are not
        return plain_ladder(turned, base), (), ()
    if source.name in BY_TURNS:
        pairs = turned // 2
        return plain_ladder(turned, base), (pairs - pairs // 2, pairs // 2), ()
    axes = int(AXES[source.name].value) if source.name in AXES else 2
    ladder = plain_ladder(2 * (turned // axes // 2), base)
    square = Remark("coordinates go from -1 to 1, and angles are 2 pi times as large")
    said = (square,) if source.name in UNIT_SQUARE else ()
    return ladder * axes, (len(ladder),) * axes, said


def _stretched(source: Source, asked: Config, columns: int, share: float) -> Stretch:
    """The frequencies that parameters ask for, and their attention factor."""
    return _in_one_line(source, lambda: stretched(asked, columns, source.length, share))


def _in_one_line(source: Source, make: Callable[[], Made]) -> Made:
    try:
        return make()
    except (ValueError, OverflowError) as error:
        raise CourseError(f"{source.path}: {error}") from None


def _lacking(source: Source, given: Config, kind: str, used: Config) -> tuple[bool, Remarks]:
    """Whether parameters that the type needs are missing."""
    if kind == "dynamic" and given.get("alpha"):
        return True, ()
    missing = [key for key in NEEDED.get(kind, ()) if key not in used]
    if kind == "dynamic" and source.length is None:
        missing.append("max_position_embeddings")
    if not missing:
        return False, ()
    refused = (
        f"rope_type {kind!r} needs {', '.join(missing)}; transformers refuses this config. "
        "What follows is RoPE before any stretching"
    )
    return True, (Remark(refused, is_fault=True),)


def _reach(kind: str, used: Config, length: int | None) -> int | None:
    """Tokens that YaRN's factor reaches, where the config says another length, and a stretched one.

    Llama 3's rule is published with factors that are no ratio of lengths.
    """
    original, factor = used.get(ORIGINAL), used.get("factor") or 1
    if kind != "yarn" or not original or length in (None, original):
        return None
    reach = int(original * factor)
    return None if math.isclose(reach, length or 0, rel_tol=ALIKE) else reach


def _lengths(
    used: Config, length: int | None, original_length: int | None, reach: int | None
) -> tuple[int | None, int | None, Remarks]:
    """The length in which turns are counted, and the one that the model is made for."""
    original = original_length or used.get(ORIGINAL) or length
    if original is None:
        return None, None, ()
    original, factor = int(original), used.get("factor") or 1
    if reach and length:
        apart = f"factor {factor:g} reaches {reach} tokens, and max_position_embeddings says "
        apart += f"{length}" + (", less" if reach > length else ", more")
        return original, max(reach, length), (Remark(apart, is_fault=True),)
    if ORIGINAL not in used or length not in (None, original) or factor <= 1:
        return original, length or original, ()
    before = f"max_position_embeddings is the length before the stretch, {original}"
    said = (Remark(before),) if length else ()
    return original, int(used[ORIGINAL] * factor), said


def _surprises(
    source: Source, kind: str, used: Config, original: int | None, length: int | None,
    counted: bool,
) -> Iterator[str]:  # fmt: skip
    """What surprises, and is as its makers meant it; `counted` if a length for turns was given."""
    factor = used.get("factor") or 1.0
    times = length / original if length and original else 1.0
    of_ratio = kind != "yarn" and ORIGINAL in used and factor > 1 and times > 1
    if of_ratio and not math.isclose(factor, times):
        yield f"the factor is {factor:g} for {times:g} times the length"
    low, high = used.get("low_freq_factor"), used.get("high_freq_factor")
    if kind == "llama3" and low is not None and low == high:
        yield "low_freq_factor equals high_freq_factor: there is no ramp between kept and slowed"
    if kind in ("linear", "proportional") and factor != 1 and not counted:
        yield (
            "the length before stretching is not in the config; turns are counted in "
            f"max_position_embeddings, {length} (--original-length takes another)"
        )
    if kind == "dynamic" and length:
        yield f"nothing changes up to {length} tokens; then the base grows"
    apart = source.reads("mscale_all_dim") and source.whole("qk_rope_head_dim", least=0)
    if apart and used.get("mscale") and (all_dim := used.get("mscale_all_dim")):
        grown = (0.1 * all_dim * math.log(factor) + 1) ** 2
        yield f"mscale_all_dim: attention multiplies its scores by {grown:.3f} besides"
    if used.get("truncate") is False:
        yield "the ends of the ramp are not rounded to whole pairs"
    if (how := ALTERNATE.get(source.name)) is not None:
        yield f"{how.value} ({how.source})"
    if kind == "proportional":
        yield "the ladder is that of the whole head; its slow end stands still"


def _remarks_on_pairs(
    extra: Config, sections: Sequence[int], plain: Ladder, frequencies: Ladder
) -> Iterator[Remark]:
    if standing := frequencies.count(0):
        yield Remark(f"{standing} pairs stand still")
    if extra and not extra["mrope_interleaved"] and sum(sections) != len(plain):
        yield Remark(
            f"mrope_section {list(sections)} adds up to {sum(sections)} pairs, and there are "
            f"{len(plain)}: transformers' code fails on this config", is_fault=True,
        )  # fmt: skip


def _axes(source: Source, given: Config, sections: Sequence[int], pairs: int) -> tuple[int, ...]:
    """The axis of each pair; nothing where there is one axis, or sections do not say it."""
    if source.name in BY_TURNS:
        return tuple(pair % 2 for pair in range(pairs))
    if sum(sections) != pairs or source.name in ALTERNATE:
        return ()
    try:
        return axes_of_pairs(sections, _interleaved(source, given))
    except ValueError:  # they cannot be interleaved, and transformers takes what comes out
        return ()


def _temperature(
    source: Source, given: Config, original: int | None
) -> tuple[float | None, Remarks]:
    """`llama_4_scaling_beta`, where the model type reads it."""
    beta = given.get("llama_4_scaling_beta")
    if beta is None or original is None:
        return None, ()
    if not source.reads("llama_4_scaling_beta"):
        unread = f"llama_4_scaling_beta is ignored: {source.name} does not read it"
        return None, (Remark(unread, is_fault=True),)
    return source.number("llama_4_scaling_beta", beta, above=-math.inf), ()


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
        if not str(number).isdecimal() or int(number) not in of_type or not isinstance(one, dict):
            continue
        if one.get("head_dim") is not None:
            return int(source.number(f"per_layer_config, {number}, head_dim", one["head_dim"], 0))
    return None
