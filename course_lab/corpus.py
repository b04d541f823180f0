"""Text to train on that every learner has already: bytes, split into training and validation."""

from __future__ import annotations

import hashlib
import sysconfig
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import UInt8
from torch import Tensor

# Tests and programs that come with the library, and folders and files that are tables of data.
LEFT_OUT = {
    "test", "tests", "idlelib", "lib2to3", "turtledemo", "site-packages", "dist-packages",
    "encodings", "pydoc_data", "entities.py", "stringprep.py",
}  # fmt: skip
LEAST = 1_000_000  # bytes; a standard library with sources has several times as many
SHARE = 0.1  # of the files, for validation


class Corpus(NamedTuple):
    """Bytes to train on and bytes to measure with, from different files."""

    train: UInt8[Tensor, " bytes"]
    validation: UInt8[Tensor, " bytes"]


def python_source(library: Path | None = None) -> Corpus:
    """The source of Python's standard library, or of the one in the folder `library`.

    Without its tests, idlelib, lib2to3 and tables of data. A file's name alone decides to which
    part it belongs, so the split holds from one Python to the next, though the text differs a
    little. Raises FileNotFoundError where Python was installed without sources.
    """
    library = library or Path(sysconfig.get_paths()["stdlib"])
    names = (path.relative_to(library) for path in library.rglob("*.py"))
    kept = [
        name
        for name in names
        if not LEFT_OUT.intersection(name.parts)
        and not name.name.startswith("_sysconfigdata")  # written where this Python was built
    ]
    source = split({name.as_posix(): (library / name).read_bytes() for name in kept})
    size = len(source.train) + len(source.validation)
    if size < LEAST:
        raise FileNotFoundError(
            f"this Python has no sources of its library, {size} bytes of them in {library}: run "
            "the course with a Python that has them (python.org, conda, a distribution's full "
            "package), or train on text of your own with corpus.text(folder)"
        )
    return source


def text(path: str | Path) -> Corpus:
    """The user's own text: all files of a folder, split by name, or one file, split by place.

    Files that are not UTF-8 are left out. Raises FileNotFoundError if `path` does not exist,
    and ValueError if what is there leaves nothing for one of the two parts.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no {path}: give a text file, or a folder of them")
    if path.is_file():
        data = path.read_bytes()
        cut = round(len(data) * (1 - SHARE))
        parts = Corpus(_tensor([data[:cut]]), _tensor([data[cut:]]))
    else:
        files = {
            p.relative_to(path).as_posix(): p.read_bytes()
            for p in path.rglob("*")
            if p.is_file() and not p.name.startswith(".")
        }
        parts = split({name: data for name, data in files.items() if _is_text(data)})
    for part, data in parts._asdict().items():
        if not len(data):
            raise ValueError(
                f"{path} leaves no text for {part}: give a longer file, or a folder with more "
                "files (about one in ten is kept for validation)"
            )
    return parts


def split(files: dict[str, bytes]) -> Corpus:
    """Put each file into one part, by the SHA-256 of its name, in order of names."""
    parts: dict[bool, list[bytes]] = {True: [], False: []}
    for name in sorted(files):
        drawn = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4]) / 2**32
        parts[drawn < SHARE].append(files[name])
    return Corpus(train=_tensor(parts[False]), validation=_tensor(parts[True]))


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in data


def _tensor(chunks: Iterable[bytes]) -> UInt8[Tensor, " bytes"]:
    joined = bytearray(b"".join(chunks))
    return torch.frombuffer(joined, dtype=torch.uint8) if joined else torch.empty(0).byte()
