"""Results as they come: appended to a file, so that a run which was ended goes on from there."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from course_grading.classes.handed_in import Who
from course_grading.running.runner import Settings
from course_grading.running.sandbox import PACKAGES
from course_lib.errors import CourseError

FILE = "results.jsonl"
OWN = 0o600
"""Results and what questions are drawn from are nobody's business but the teacher's."""


class Store:
    """What is known of a class: a line of JSON for each notebook of each learner.

    A line that was cut short by a power failure is skipped, and its notebook graded again. Raises
    CourseError if the folder cannot be used, or if another run uses it.
    """

    def __init__(self, folder: Path):
        self.path = folder / FILE
        self.results: dict[tuple[Who, str], dict[str, Any]] = {}
        """By learner and key."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for result in self._read():
                self.results[_who(result), result["key"]] = result
            self.path.touch(mode=OWN)
            self._file = self.path.open("a", encoding="utf-8")
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise CourseError(
                f"another run writes to {self.path}: wait for it, or stop it"
            ) from error
        except OSError as error:
            raise CourseError(f"{self.path} cannot be used: {error.strerror}") from error

    def _read(self) -> Iterator[dict[str, Any]]:
        lines = self.path.read_bytes().splitlines() if self.path.exists() else []
        for line in lines:
            try:
                result = json.loads(line)
            except ValueError:
                continue
            if isinstance(result, dict) and {"learner", "number", "key"} <= result.keys():
                yield result
        if lines and not self.path.read_bytes().endswith(b"\n"):
            with self.path.open("ab") as file:
                file.write(b"\n")

    def has(self, learner: Who, key: str) -> bool:
        """Whether this notebook of this learner has its result."""
        return (learner, key) in self.results

    def add(self, learner: Who, result: dict[str, Any]) -> None:
        """Keep a result: it is on the disk then. Only the first one of a notebook counts."""
        if self.has(learner, result["key"]):
            return
        result = {"learner": learner[0], "number": learner[1], **result}
        try:
            self._file.write(json.dumps(result, ensure_ascii=False) + "\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise CourseError(
                f"{self.path} cannot be written: {error.strerror}. What was graded before is in "
                "it; make room, and run the command again to go on"
            ) from error
        self.results[learner, result["key"]] = result


def _who(result: dict[str, Any]) -> Who:
    return str(result["learner"]), str(result["number"])


def key_of(content: bytes, released: bytes, settings: Settings) -> str:
    """A name for a notebook, graded by this course in this way: alike names, alike results."""
    limits = asdict(settings) | {"released": "", "specs": settings.specs}
    digest = hashlib.sha256(content)
    for part in (released, version().encode(), repr(sorted(limits.items())).encode()):
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()[:20]


@cache
def version() -> str:
    """A name for the code that grades."""
    digest = hashlib.sha256()
    for package in PACKAGES:
        for path in sorted(package.rglob("*.py")):
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()
