"""A model's config.json, with what its model type fills in: standard names, defaults, parts."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from course_lab.rope.files import open_file
from course_lab.rope.known import READ_AT_TOP, ModelType, types
from course_lib.errors import CourseError

Config = Mapping[str, Any]

LANGUAGE = ("text_config", "llm_config", "language_config", "thinker_config", "text_model_config",
            "vlm_config", "decoder",
            "decoder_config", "generator", "text_model", "language_model")  # fmt: skip
"""Where the config of a model of several networks keeps the one that writes text."""
LENGTHS = ("max_position_embeddings", "n_positions", "model_max_length", "max_seq_len",
           "seq_length", "n_ctx", "max_target_positions", "max_source_positions")  # fmt: skip

MOST = {"num_hidden_layers": 10_000, "head_dim": 1 << 20, "hidden_size": 1 << 24,
        "qk_rope_head_dim": 1 << 20}  # fmt: skip
"""Larger numbers are a mistake, and would take memory or hours."""
LARGE = 1e15
ALIASES = {
    "hidden_size": ("n_embd", "d_model", "dim"), "num_attention_heads": ("n_head", "n_heads"),
    "num_hidden_layers": ("n_layer", "n_layers", "num_layers"),
    "max_position_embeddings": ("n_positions",),
}  # fmt: skip
"""What configs of types that transformers does not have call the sizes of a model."""
OUTSIDE = re.compile(
    r"(m?rope|rotary|yarn)_|\w*_rope_|partial_rotary|max_position|original_max_pos"
)
"""Keys that people put beside the part that is read, where nobody looks for them."""


@dataclass
class Source:
    """The config of one network, and what was found while it was read."""

    path: Path
    name: str
    """Its model type; empty if the config does not say."""
    given: Config
    """What the file says, by transformers' standard names."""
    known: ModelType | None
    """None for a type that transformers' release does not have."""
    parts: tuple[str, ...] = ()
    """Keys of the other networks beside it."""
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    levels: tuple[str, ...] = ()
    """The keys under which this config stands in the file, from the outermost on."""
    own_code: Any = None
    """The file's `auto_map`, wherever it stands."""
    loaded: tuple[str, ...] = ()
    """The keys under which transformers keeps this config when it has read the file."""

    @property
    def limit(self) -> tuple[str, Any]:
        """The key under which the file has the length, and its value: where it is to be raised."""
        mine = {"max_position_embeddings": self.known.aliases.get("max_position_embeddings", "")
                if self.known else ""}  # fmt: skip
        for key in LENGTHS:
            if self.given.get(key) is not None:
                other = mine.get(key, "")
                return other if other in self.given else key, self.given[key]
        return LENGTHS[0], None

    @property
    def allowed(self) -> tuple[int | None, bool]:
        """The most tokens that engines allow, and whether that is the class's default: they ask
        the object that transformers makes of the file. None if there is no such number."""
        stated, filled = self.limit[1], map(self.default, LENGTHS)
        most = stated if stated is not None else next((one for one in filled if one), None)
        return most if isinstance(most, int) else None, stated is None

    @property
    def where(self) -> str:
        """In which part of the file this config stands, in words."""
        return f"in {', '.join(self.levels)}" if self.levels else "at the top of the file"

    def get(self, key: str) -> Any:
        """What the file says, else what the type's class fills in, else None."""
        value = self.given.get(key)
        return self.default(key) if value is None and key not in self.given else value

    def default(self, key: str) -> Any:
        """What the type's class fills in."""
        return self.known.defaults.get(key) if self.known else None

    def reads(self, key: str) -> bool:
        """Whether the model's code reads this key; an unknown model's is taken to."""
        return self.known is None or key in self.known.reads

    def whole(self, key: str, least: int = 1) -> int | None:
        """A whole number, or None if neither file nor class has it."""
        value = self.get(key)
        if value is None:
            return None
        most = MOST.get(key, math.inf)
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not least <= value <= most:
            upper = "on" if most == math.inf else f"to {most}"
            raise CourseError(
                f"{self.path}: {key} must be a whole number from {least} {upper}, got {value!r:.40}"
            )
        return int(value)

    def number(self, key: str, value: Any, above: float) -> float:
        """`value`, which stands under `key`. Raises CourseError unless it is a number above."""
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not above < value < LARGE:
            raise CourseError(
                f"{self.path}: {key} must be a number above {above:g} and below {LARGE:g}, "
                f"got {value!r:.40}"
            )
        return float(value)

    def listed(self, key: str, length: int | None) -> list[Any] | None:
        """A list with an entry for each layer. Raises CourseError if it has another length."""
        value = self.get(key)
        if value is None:
            return None
        if not isinstance(value, list):
            raise CourseError(f"{self.path}: {key} must be a list or null, got {value!r:.40}")
        if key not in self.given and length is not None:
            return self._continued(key, value, length)
        if length is not None and len(value) != length:
            raise CourseError(
                f"{self.path}: {key} must have an entry for each of the {length} layers "
                f"(num_hidden_layers), got {len(value)}"
            )
        return value

    def _continued(self, key: str, pattern: list[Any], length: int) -> list[Any]:
        """The class's default for its own number of layers, for this number of layers."""
        if len(pattern) == length:
            return pattern
        periods = range(1, len(pattern) // 2 + 1)
        for period in periods:
            if all(one == pattern[n % period] for n, one in enumerate(pattern)):
                return [pattern[n % period] for n in range(length)]
        self.warnings.append(
            f"{key} is not in the config; for {length} layers it is not known what {self.name} "
            "fills in, and its last layers are taken to go on as the last that are known"
        )
        return (pattern + pattern[-1:] * length)[:length]

    @property
    def length(self) -> int | None:
        """Tokens that the model is made for."""
        key = next((key for key in LENGTHS if self.get(key) is not None), None)
        return self.whole(key) if key else None


def open_config(path: Path, part: str | None = None) -> Source:
    """The network in `path`, a config.json or a folder with one; of several, the one for text.

    `part` names another of them by its key, "vision_config". Raises CourseError for a file that
    is no config, and for a part that it does not have.
    """
    path, config, how = open_file(path)
    source = _of_part(path, config, part)
    source.notes[:0] = how
    source.warnings += _elsewhere(source)
    return source


def _elsewhere(source: Source) -> Iterator[str]:
    """What a GGUF file does not say in its metadata."""
    if tensor := source.given.get("rope_factors_in_the_file"):
        yield (
            f"the factors of its pairs stand in a tensor, {tensor}, and not in the metadata: pairs "
            "are shown as they are before"
        )
    if kind := source.given.get("rope_layers_with_a_window"):
        yield (
            f"which layers have the window, and whether they have another base, stands in "
            f"llama.cpp's code of {kind}, and not in the file"
        )


def _of_part(
    path: Path, config: Config, part: str | None, levels: tuple[str, ...] = (), code: Any = None
) -> Source:
    name = config.get("model_type") or ""
    if not isinstance(name, str) or not name.isprintable() or len(name) > 100:
        raise CourseError(f"{path}: model_type must be a name, got {name!r:.40}")
    known = types().get(name)
    inside = _parts(name, config, known)
    code = config.get("auto_map") or code
    if part is not None and part not in inside:
        there = ", ".join(inside) or "none"
        raise CourseError(f"{path}: there is no part {part!r}; its parts are: {there}")
    chosen = part or _of_text(config, inside, known)
    if chosen is not None:
        inner = config.get(chosen)
        if not isinstance(inner, dict | None):
            raise CourseError(
                f"{path}: {chosen} must be an object of keys and values or null, got {inner!r:.40}"
            )
        flat = inner is None and name in READ_AT_TOP and not part  # Qwen2-VL's first configs
        renamed = {**(config if flat else inner or {}), "model_type": inside[chosen]}
        source = _of_part(path, renamed, None, levels if flat else (*levels, chosen), code)
        if not flat and not part:
            source.warnings += _outside(config, inner or {}, levels, chosen, known is not None)
        source.loaded = (chosen, *source.loaded)
        others = () if part else tuple(key for key in inside if key != chosen)
        source.parts = tuple(dict.fromkeys((*source.parts, *others)))
        return source
    if inside and not _has_width(config, known):
        raise CourseError(
            f"{path}: {name or 'this config'} is made of several networks, and none of them is "
            f"known to be the one that writes text; name one with --part: {', '.join(inside)}"
        )
    aliases = known.aliases if known else _aliases(config)
    given = dict(config) | {
        standard: config[alias] for standard, alias in aliases.items() if alias in config
    }
    return Source(path, name, given, known, tuple(inside), levels=levels, own_code=code)


def _of_text(config: Config, inside: Mapping[str, str], known: ModelType | None) -> str | None:
    """The part that writes text; None if the config is that of a network itself."""
    language = next((key for key in LANGUAGE if key in inside), None)
    if language and (known is None or language in known.parts or not _has_width(config, known)):
        return language
    only = next(iter(inside), None)
    return only if len(inside) == 1 and not _has_width(config, known) else None


def _outside(
    config: Config, inner: Config, levels: tuple[str, ...], part: str, is_known: bool
) -> Iterator[str]:
    """A warning for each key about rotation that stands beside the part that is read."""
    where = f"in {', '.join(levels)}" if levels else "at the top of the file"
    reader = "is read by nobody: it" if is_known else "is not read here: it"
    for key, value in config.items():
        if OUTSIDE.match(key) and value and value != inner.get(key):
            yield f"{key} {where} {reader} belongs into {part}"


def _aliases(config: Config) -> dict[str, str]:
    """Of a type that is not known: other names for sizes that have no usual one here."""
    return {
        standard: found[0]
        for standard, names in ALIASES.items()
        if standard not in config and (found := [name for name in names if name in config])
    }


def _parts(name: str, config: Config, known: ModelType | None) -> dict[str, str]:
    """The networks inside a config, by key, and their types (Qwen3-VL's have the whole's name)."""
    parts = dict(known.parts) if known else {}
    for key, value in config.items():
        if isinstance(value, dict) and _is_network(key, value):
            own = str(value.get("model_type") or "")
            parts[key] = own if own and own != name else parts.get(key, own)
    return parts


def _is_network(key: str, config: Config) -> bool:
    return key in LANGUAGE or bool({"model_type", "hidden_size", "d_model"} & config.keys())


def _has_width(config: Config, known: ModelType | None) -> bool:
    """Whether a config that holds others is that of a network itself."""
    own = {**(known.defaults if known else {}), **config}
    aliases = known.aliases if known else {}
    return any(own.get(key) is not None or aliases.get(key) in own
               for key in ("num_attention_heads", "head_dim", "d_model"))  # fmt: skip
