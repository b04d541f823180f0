"""The rotary parameters of each layer type: which keys of a config count, and at which level.

`rope_scaling` and `rope_parameters` hold one set of parameters for all layers, or one for each
layer type. Bases and shares stood at the top of the config before, and many files still have them
there. Which of these a class of transformers reads stands in models.json, where `tools.census` has
tried it out. What is set and read by nobody is named in a warning.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from course_lab.rope.known import BASES, STRETCH_ALL, ModelType
from course_lab.rope.layer_types import RENAMED, names_of, total_of
from course_lab.rope.source import Config, Source
from course_lib.errors import CourseError

OLD_BASES = {
    "": ("rope_theta", "rotary_emb_base", "rotary_embedding_base"),
    "full_attention": ("global_rope_theta", "rope_theta"),
    "sliding_attention": ("rope_local_base_freq", "local_rope_theta", "swa_rope_theta"),
    "main": ("rope_theta",),
    "compress": ("compress_rope_theta",),
}
"""Where configs of the old style keep the base of a layer type, for types that are not known."""
OF_OTHERS = ("rotary_base", "rope_base")
"""Keys with a base that other programs write, and no class of transformers reads."""
SHARE = "partial_rotary_factor"
OWN_SHARE = ("bamba", "mimo_v2_flash", "neomme")
"""Types that put their own share where the parameters have none."""
TOP_UNREAD = (*OWN_SHARE, "cohere2_moe", "laguna", "mellum", "step3p5", "zaya")
"""Types that read no share at the top."""
SHARE_INSIDE = ("moonshine_streaming", "nemotron3_5_transcribe_asr_audio",
                "nemotron3_5_transcribe_word_timestamp")  # fmt: skip
"""Types whose share stands in the parameters that they take where a config has none: a share at
the top does not reach it, and parameters in the config replace it. So do all that nest theirs."""
SECTIONS = ("mrope_section", "mrope_interleaved")


class Parameters(NamedTuple):
    """The rotary parameters of the layers of one type."""

    given: Config
    default_base: bool = False
    """Whether the base among them is the model type's, and not the config's."""
    share: float | None = None
    """The model type's share of rotated columns; the config's own, if it has one, is in `given`."""
    share_stands: bool = False
    """Whether the model type's share wins over one at the top of the config."""
    bases: tuple[Any, ...] = ()
    """Where a base is looked for that `given` does not have: keys at the top, and last the class's
    own base, None if it takes none. Empty for a type that is not known."""


class Remark(NamedTuple):
    """Something to say of a table: a warning if it is a fault, else a note."""

    words: str
    is_fault: bool = False


Remarks = tuple[Remark, ...]


def parameters_of(source: Source) -> tuple[Parameters, dict[str, Parameters | None]]:
    """What stands for all layers, and what stands for layer types, if layers differ."""
    old, new = (_object(source, key) for key in ("rope_scaling", "rope_parameters"))
    if source.known is None:
        return _of_unknown(source, old, new)
    if not source.known.bases:
        for key in ("rope_scaling", "rope_parameters"):
            if source.given.get(key):
                source.warnings.append(_unread(source, key, "its frequencies stand in its code"))
        default = source.default("rope_parameters") or {}
        return _filled(source, {}, default), {}
    if _nested(source.default("rope_parameters") or {}) or source.known.by_layer:
        made: dict[str, Parameters | None] = _by_layer(source, source.known, old, new)
        for_all = Parameters({})
    else:
        for_all, made = _for_all(source, source.known, old, new)
    source.warnings += _bases_not_read(source, list((made or {"": for_all}).values()))
    return for_all, made


def _object(source: Source, key: str) -> Config:
    value = source.given.get(key)
    if value is not None and not isinstance(value, dict):
        raise CourseError(
            f"{source.path}: {key} must be an object of keys and values or null, got {value!r:.40}"
        )
    return value or {}


def _unread(source: Source, key: str, why: str) -> str:
    return f"{key} {source.where} is read by nobody: {source.name}'s code does not take it; {why}"


def _of_unknown(
    source: Source, old: Config, new: Config
) -> tuple[Parameters, dict[str, Parameters | None]]:
    """For a type that transformers does not have: whatever its keys may mean."""
    if old and new:
        source.warnings.append("rope_parameters is ignored: rope_scaling stands beside it")
    given = old or new
    if inner := _nested(given):
        source.warnings += _beside(source, "rope_scaling" if old else "rope_parameters", given,
                                   set(inner))  # fmt: skip
        return Parameters({}), {
            name: None if one is None else _filled(source, one, {}, True)
            for name, one in inner.items()
        }
    if not any(source.given.get(key) is not None for key in OLD_BASES["sliding_attention"]):
        return _filled(source, given, {}), {}
    return Parameters({}), {
        "full_attention": _filled(source, given, {}), "sliding_attention": _filled(source, {}, {}),
    }  # fmt: skip


def _nested(parameters: Config) -> dict[str, Any]:
    """The parameters of each layer type, null for one that does not rotate; empty if flat."""
    inner = {key: value for key, value in parameters.items() if isinstance(value, dict)}
    absent = {key: None for key, value in parameters.items() if value is None and inner}
    return {**inner, **{key: None for key in absent if key.endswith("attention")}}


def _split(source: Source, key: str, given: Config) -> tuple[dict[str, Any], Config]:
    """Parameters by layer type, as far as the config has layers of that type; or those for all."""
    listed = source.given.get("layer_types")
    named = {str(one) for one in listed} if isinstance(listed, list) else set[str]()
    names = {*_types_of(source), *named, *(RENAMED.get(one, one) for one in named),
             *_nested(source.default("rope_parameters") or {})}  # fmt: skip
    inner = {name: one for name, one in given.items() if name in names}
    for name, one in inner.items():
        if one is not None and not isinstance(one, dict):
            raise CourseError(
                f"{source.path}: {key}, {name} must be an object of keys and values or null, "
                f"got {one!r:.40}"
            )
    source.warnings += _beside(source, key, given, set(inner))
    return inner, {} if inner else {k: v for k, v in given.items() if not isinstance(v, dict)}


def _beside(source: Source, key: str, given: Config, read: set[str]) -> Iterator[str]:
    """What stands among parameters at a level that nobody reads."""
    for name, value in given.items():
        if isinstance(value, dict) and name not in read:
            yield (
                f"{key}, {name} is read by nobody: {source.name or 'this config'} has no layers of "
                f"that type{'' if read else ', and takes one set of parameters for all layers'}"
            )
        elif read and name not in read and value is not None:
            yield (
                f"{key}, {name} is read by nobody: where parameters stand by layer type, each "
                "layer type has its own"
            )


def _for_all(
    source: Source, known: ModelType, old: Config, new: Config
) -> tuple[Parameters, dict[str, Parameters | None]]:
    """For a class that has one set of parameters for all layers."""
    if old and known.flat.get("rope_scaling") == []:
        source.warnings.append(_unread(source, "rope_scaling", "it reads rope_parameters"))
        old = {}
    if old and new:
        source.warnings.append("rope_parameters is ignored: rope_scaling stands beside it")
    key = "rope_scaling" if old else "rope_parameters"
    inner, flat = _split(source, key, old or new)
    default = source.default("rope_parameters") or {}
    if inner and not known.by_layer:
        source.warnings.append(
            f"{key} has parameters by layer type: {source.name} takes one set for all layers, and "
            "transformers' code fails on this config"
        )
    if inner:
        return Parameters({}), {
            name: None if one is None else _filled(
                source, one, default, True, _bases(known, "by layer", name))
            for name, one in inner.items()
        }  # fmt: skip
    form = key if old or new else "alone"
    flat = flat or ({"rope_type": "default"} if old or new else {})
    return _filled(source, flat, default, False, _bases(known, form, "")), {}


def _bases(known: ModelType, form: str, name: str, usual: Config | None = None) -> tuple[Any, ...]:
    """Where the class looks for the base of a layer type, and last its own base.

    `usual` are the parameters that the class fills in, which have the base of a layer type that no
    layer has by default.
    """
    found = known.bases.get(form) or known.bases.get("alone") or {}
    if name in found:
        return tuple(found[name])
    *keys, own = next(iter(found.values()), ["rope_theta", None])
    return (*keys, own and (usual or {}).get("rope_theta", own))


def _by_layer(
    source: Source, known: ModelType, old: Config, new: Config
) -> dict[str, Parameters | None]:
    """For a class that has parameters by layer type."""
    usual = _nested(source.default("rope_parameters") or {})
    inner, flat = _split(source, "rope_parameters", new)
    inner_old, flat_old = _split(source, "rope_scaling", old)
    form = "by layer" if inner or inner_old else "alone"
    if inner and inner_old:
        source.warnings.append("rope_parameters is ignored: rope_scaling stands beside it")
    given: dict[str, Any] = dict(inner_old or inner)
    for name in usual if given and not known.fills else ():
        if name not in given and usual[name] is not None and name in _types_of(source):
            source.warnings.append(
                f"rope_parameters has nothing for {name}: transformers' code fails on this config. "
                f"What follows has there what {source.name} takes where there are no parameters"
            )
    for key, one in (("rope_parameters", flat), ("rope_scaling", flat_old)):
        if not one:
            continue
        form = key if form == "alone" else form
        for name in _reached(source, known, key, list(usual)):
            given[name] = {**(given.get(name) or {}), **_with_kind(source, known, key, one, name)}
    return {
        name: None if (name in given and given[name] is None)
        or (name not in given and usual.get(name, {}) is None)
        else _filled(
            source, (given[name] or {"rope_type": "default"}) if name in given else {},
            usual.get(name) or {}, True, _bases(known, form, name, usual.get(name)),
        )
        for name in {**usual, **given}
    }  # fmt: skip


def _types_of(source: Source) -> list[str]:
    return names_of(source, total_of(source)) or []


def _reached(source: Source, known: ModelType, key: str, names: list[str]) -> list[str]:
    """The layer types to which parameters for all layers go, and a word if that is no one."""
    reached = known.flat.get(key)
    if reached is None:
        source.warnings.append(
            f"{key} has one set of parameters for all layers: {source.name} takes them by layer "
            f"type ({', '.join(names)}), and transformers' code fails on this config"
        )
        everywhere = source.name in STRETCH_ALL
        return [name for name in names if everywhere or name != "sliding_attention"]
    if not reached:
        source.warnings.append(
            f"{key} {source.where} is read by nobody: {source.name} takes parameters by layer "
            f"type, so what stands in it belongs under {', '.join(names)} inside of rope_parameters"
        )
    return reached


def _with_kind(source: Source, known: ModelType, key: str, given: Config, name: str) -> Config:
    """The parameters without `type`, where the class reads `rope_type` alone."""
    kind = given.get("type")
    if key != "rope_scaling" or kind is None or "rope_type" in given:
        return given
    if name in (known.flat.get("type") or [name]) and known.flat.get("type") != []:
        return given
    said = (
        f"type {kind!r:.20} in rope_scaling is read by nobody: {source.name} takes the kind of "
        "stretch from rope_type, and nothing is stretched"
    )
    if said not in source.warnings:
        source.warnings.append(said)
    return {k: v for k, v in given.items() if k == "rope_theta"}


def _filled(
    source: Source, given: Config, default: Config, nested: bool = False,
    bases: tuple[Any, ...] = (),
) -> Parameters:  # fmt: skip
    """Parameters with what stands for those that are missing; a kind brings its own with it."""
    share, inside = default.get(SHARE), nested or source.name in SHARE_INSIDE
    own, firm = source.name in OWN_SHARE, source.name in TOP_UNREAD
    if not given:
        rest = {key: value for key, value in default.items() if key != SHARE}
        firm = firm or (inside and share is not None)
        return Parameters(rest, bool(default), share, firm, bases)
    usual = {key: default[key] for key in ("rope_theta", *SECTIONS) if default.get(key) is not None}
    by_default = given.get("rope_theta") is None and "rope_theta" in default
    kept = {key: value for key, value in given.items() if key != "rope_theta" or value is not None}
    return Parameters({**usual, **kept}, by_default, share if own or not inside else None, firm,
                      bases)  # fmt: skip


def _bases_not_read(source: Source, of_types: list[Parameters | None]) -> Iterator[str]:
    """A warning for each base at the top that no layer type takes."""
    each = [one for one in of_types if one is not None]
    inside = [None if one.default_base else one.given.get("rope_theta") for one in each]
    read = {key for one, base in zip(each, inside, strict=True) if base is None
            for key in one.bases[:-1]}  # fmt: skip
    in_use = [base for base in inside if base is not None]
    for key in (*BASES, *OF_OTHERS):
        value = source.given.get(key)
        if value is None or key in read or value in in_use or _is_inside(each, key):
            continue
        instead = sorted({f"{one.bases[-1]:.0f}" for one, base in zip(each, inside, strict=True)
                          if base is None and one.bases and one.bases[-1] is not None})  # fmt: skip
        takes = f", and takes {' and '.join(instead)}" if instead else ""
        yield (
            f"{key} {value!r:.40} {source.where} is read by nobody: {source.name}'s class does not "
            f"look there{takes}"
        )


def _is_inside(each: list[Parameters], key: str) -> bool:
    """Whether this key would be read, if the parameters had no base: `base_of` says so."""
    return any(key in one.bases and not one.default_base for one in each)


def base_of(source: Source, name: str, parameters: Parameters) -> tuple[float, Remarks]:
    """The base: of the parameters, else at the top of the config, else the model type's."""
    inside = None if parameters.default_base else parameters.given.get("rope_theta")
    keys = parameters.bases[:-1] if source.known else OLD_BASES.get(name, OLD_BASES[""])
    if source.known and not parameters.bases:
        keys = tuple(key for key in OLD_BASES[""] if source.reads(key))
    top = next(((k, source.given[k]) for k in keys if source.given.get(k) is not None), None)
    if inside is not None:
        said: Remarks = ()
        if top and top[1] != inside:
            ignored = (
                f"{top[0]} {top[1]!r:.40} {source.where} is ignored: {inside!r:.40} stands in the "
                "parameters"
            )
            said = (Remark(ignored, is_fault=True),)
        return source.number("rope_theta", inside, above=1), said
    if top:
        return source.number(*top, above=1), ()
    return _base_of_class(source, parameters, keys)


def _base_of_class(
    source: Source, parameters: Parameters, keys: tuple[str, ...]
) -> tuple[float, Remarks]:
    """The base that the class of the model type takes where a config has none."""
    if source.known is None:
        missing = "rope_theta is missing; transformers takes 10000"
        return 10_000.0, (Remark(missing, is_fault=True),)
    usual = parameters.given.get("rope_theta") if parameters.default_base else None
    if parameters.bases:
        taken = parameters.bases[-1]
    else:
        taken = usual or next((d for key in keys if (d := source.default(key)) is not None), None)
    null = next((key for key in keys if key in source.given), None)
    if parameters.bases and (taken is None or null):
        taken = usual or taken or 10_000.0
        which = f"{null} is null" if null else "rope_theta is missing in the parameters"
        fails = (
            f"{which}: transformers' code fails on this config. What follows has base {taken:.0f}, "
            f"which {source.name}'s class takes where nothing is said"
        )
        return float(taken), (Remark(fails, is_fault=True),)
    if taken is None:
        return 10_000.0, (Remark(f"the base, 10000, stands in {source.known.source}"),)
    words = (
        f"the base is not in the config: {taken:.0f} is the default of {source.name}'s class in "
        f"transformers ({source.known.source.replace('modeling_', 'configuration_')})"
    )
    return float(taken), (Remark(words),)
