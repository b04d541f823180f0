"""The files in which people have a model's settings, as a config.json would say them."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from course_lab.rope.gguf import config_of as config_of_gguf
from course_lab.rope.gguf import is_gguf
from course_lab.rope.known import types
from course_lab.rope.other_formats import as_config
from course_lib.errors import CourseError

STANDARD_INPUT = "-"
BESIDE = ("config.json", "params.json", "adapter_config.json")
"""What is looked for in a folder, in this order."""
INDEX = re.compile(
    r".*(\.safetensors|\.bin)(\.index\.json)?|tokenizer.*\.json|generation_config.json"
)
"""Files beside a config.json that say nothing of positions."""
LARGEST = 64 << 20
LARGEST_BY_HAND = 1 << 20
"""Bytes that a slow reader of JSON5 or YAML is given."""
LOADERS = {"json5": "json5", "yaml": "pyyaml"}


def open_file(path: Path) -> tuple[Path, dict[str, Any], list[str]]:
    """A file's path, its content as a config.json would say it, and how it was read.

    `path` is a folder, a file, or "-" for standard input. Raises CourseError, in one line with the
    file and a remedy, for what is no config.
    """
    if str(path) == STANDARD_INPUT:
        return Path("standard input"), *_of_text(Path("standard input"), sys.stdin.read())
    path = _found(path)
    if is_gguf(path):
        return path, *config_of_gguf(path)
    if INDEX.fullmatch(path.name):
        beside = path.with_name("config.json")
        if not beside.is_file():
            raise CourseError(
                f"{path} says nothing of positions: give the config.json that belongs beside it"
            )
        return beside, *_read(beside)
    return path, *_read(path)


def _found(given: Path) -> Path:
    """The file that a path means."""
    if not given.is_dir():
        if not given.exists():
            raise CourseError(_not_there(given))
        return given
    for name in BESIDE:
        if (given / name).is_file():
            return given / name
    weights = sorted(given.glob("*.gguf"))
    if weights:
        return weights[0]
    below = [*given.glob("snapshots/*/config.json"), *given.glob("*_Transformer/config.json")]
    there = f"; there is {below[0]}" if below else ""
    raise CourseError(f"{given} has no config.json{there}")


def _not_there(path: Path) -> str:
    """What is missing, and where it may be."""
    if re.fullmatch(r"[\w.-]+/[\w.-]+", str(path)) and not path.parent.exists():
        return (
            f"there is no file {path}. Nothing is downloaded here: give the folder in which a "
            "model lies, or its config.json"
        )
    return f"there is no file {path}"


def _read(path: Path) -> tuple[dict[str, Any], list[str]]:
    if path.stat().st_size > LARGEST:
        raise CourseError(f"{path} is too large for a config; name a model's config.json")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise CourseError(
            f"{path} is no text (not UTF-8); name a model's config.json, or a GGUF file"
        ) from None
    return _of_text(path, text)


def _of_text(path: Path, text: str) -> tuple[dict[str, Any], list[str]]:
    """The object in a text: JSON, else JSON with comments or commas too many, else YAML."""
    how: list[str] = []
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        found, how = _leniently(path, text, f"not JSON ({error})")
    if not isinstance(found, dict):
        raise CourseError(f"{path} holds no object of keys and values; name a model's config.json")
    found = {str(key): value for key, value in found.items()}
    _look_for_a_base(path, found)
    config, more = as_config(path, found, types())
    return config, [*how, *more]


def _leniently(path: Path, text: str, why: str) -> tuple[Any, list[str]]:
    refused = CourseError(f"{path} is {why:.200}; name a model's config.json")
    if len(text) > LARGEST_BY_HAND:
        raise refused
    looks_like_json = text.lstrip()[:1] in ("{", "/")
    loader: Callable[[str], Any]
    try:
        if looks_like_json:
            import json5

            loader, how = json5.loads, "read as JSON5: comments or commas that JSON does not have"
        else:
            import yaml  # type: ignore[import-untyped]

            loader, how = yaml.safe_load, "read as YAML"
    except ModuleNotFoundError as error:
        raise CourseError(
            f"{path} is {why:.200}; pip install {LOADERS[error.name or '']} to read it as it is"
        ) from None
    try:
        found = loader(text)
    except Exception as error:  # both have errors of their own, and recurse
        said = " ".join(str(error).split())
        other = how.split(":")[0].removeprefix("read as ")
        raise CourseError(
            f"{path} is {why:.150}, nor {other} ({said:.120}); name a model's config.json"
        ) from None
    if not isinstance(found, dict):
        raise refused
    return found, [how]


BASES = ("base_model_name_or_path", "model_name_or_path", "base_model",
         "pretrained_model_name_or_path")  # fmt: skip
"""How adapters and trainers call the model that they start from."""


def _look_for_a_base(path: Path, found: Mapping[str, Any]) -> None:
    """Raise CourseError, with the model's name, for a file that only names another model."""
    base = next((found[key] for key in BASES if isinstance(found.get(key), str)), None)
    if base is None or {"hidden_size", "model_type", "rope_theta", "dim", "n_embd"} & found.keys():
        return
    kind = "an adapter of" if "base_model_name_or_path" in found else "a trainer's file for"
    here = (Path(base) / "config.json").is_file()
    remedy = f"course rope {base} reads it" if here else "give the config.json of that model"
    raise CourseError(f"{path}: this is {kind} {base!r:.80}: {remedy}")
