"""What a class handed in, file by file: in a folder, in a zip, and in the zips in these.

Nothing is unpacked to the disk. A name is what a platform or a learner wrote, and is only ever
compared: names that climb out, that are too long or that stand there twice do no harm.
"""

from __future__ import annotations

import os
import re
import stat
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from course_grading.texts import readable
from course_lib.errors import CourseError

LARGEST = 50_000_000
"""Bytes of one file."""
MOST = 100_000
"""Entries of one archive."""
LARGEST_LIST = 2_000_000
"""Bytes of the list of what is in a learner's archive: about 20 000 entries. It is read at once."""
BROKEN = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, OSError, EOFError,
          ValueError)  # fmt: skip
"""What Python raises for archives that are damaged, encrypted, or packed in an unknown way."""
UTF8 = 0x800


class File(NamedTuple):
    """One file that was handed in, or what stands in the place of one."""

    below: str
    """Its path below what was given, with `/`, as `texts.readable` writes it."""
    size: int
    """Bytes."""
    saved: float
    """When, in seconds since 1970. Of what lies in a learner's archive: when the archive was."""
    read: Callable[[], bytes]
    """Its content. Raises CourseError, which names it, for what cannot be read."""


def files_of(given: Path) -> list[File]:
    """All files in a folder, or in a zip.

    Raises CourseError if there is nothing at `given`, and for an archive that is broken, or that
    would write outside of its folder.
    """
    if given.is_dir():
        return sorted(_in_folder(given), key=lambda file: file.below)
    if not given.exists():
        raise CourseError(f"there is no folder or zip {given}")
    return list(_in_zip(given, str(given)))


def files_inside(archive: File) -> list[File]:
    """All files in a zip that a learner handed in; archives in it stay closed.

    Raises CourseError for one that cannot be opened.
    """
    name, content = PurePosixPath(archive.below).name, archive.read()
    if _bytes_of_list(content) > LARGEST_LIST:
        raise CourseError(f"{name} has more entries than a learner's work needs")
    return [
        file._replace(below=f"{archive.below}/{file.below}", saved=archive.saved)
        for file in _in_zip(BytesIO(content), name)
    ]


def _bytes_of_list(content: bytes) -> int:
    """How long the list of what is in an archive says it is, wherever its end says so: Python's
    reader looks for the same marks in the last 64 kB. The list itself is not read."""
    end = content[-70_000:]
    small = [end[mark.start() + 12 : mark.start() + 16] for mark in re.finditer(b"PK\5\6", end)]
    large = [end[mark.start() + 40 : mark.start() + 48] for mark in re.finditer(b"PK\6\6", end)]
    return max((int.from_bytes(one, "little") for one in [*small, *large]), default=0)


def _in_folder(folder: Path) -> Iterator[File]:
    """In place of what is in a folder that is not looked into stands a `*`: of a link, and of what
    the system does not open, as it forbids it or its path is too long. `os.walk` of Python 3.11
    calls itself for each folder, and learners' may be deep."""
    waiting = [folder]
    while waiting:
        place = waiting.pop()
        try:
            with os.scandir(place) as entries:
                found = list(entries)
        except OSError:
            yield _in_place_of(place, folder, "/*")
            continue
        for one in found:
            if one.is_dir(follow_symlinks=False):
                waiting.append(Path(one))
            else:
                yield _in_place_of(Path(one), folder, "/*" if os.path.isdir(one) else "")


def _in_place_of(path: Path, folder: Path, end: str = "") -> File:
    size, saved = 0, 0.0
    with suppress(OSError):  # it is read later, and what is wrong is said then
        if not end:
            size, saved = (found := path.lstat()).st_size, found.st_mtime
    return _file(path.relative_to(folder).as_posix() + end, size, saved, partial(_read, path))


def _file(below: str, size: int, saved: float, read: Callable[[str], bytes]) -> File:
    below = readable(below)
    return File(below, size, saved, partial(read, below))


def _read(path: Path, below: str) -> bytes:
    """Of a plain file alone: a link may lead to what is not the learner's, a pipe has no end."""
    try:
        found = path.lstat()
        if stat.S_ISLNK(found.st_mode):
            raise CourseError(f"{below} is a link, and was left out: the file itself is needed")
        if stat.S_ISREG(found.st_mode):
            _must_be_small(below, found.st_size)
        elif not stat.S_ISDIR(found.st_mode):
            raise CourseError(f"{below} is no file that could be read")
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            return file.read(LARGEST)
    except OSError as error:
        raise CourseError(f"{below} cannot be read: {error.strerror}") from error


def _must_be_small(below: str, size: int) -> None:
    if size > LARGEST:
        raise CourseError(f"{below} has {size:,} bytes, more than any notebook needs")


def _in_zip(archive: Path | IO[bytes], name: str) -> Iterator[File]:
    """The files, with their names as their platform meant them."""
    try:
        opened = zipfile.ZipFile(archive)
    except BROKEN as error:
        raise CourseError(f"{name} cannot be unpacked: {error}") from error
    if len(infos := opened.infolist()) > MOST:
        raise CourseError(f"{name} has {len(infos):,} entries; a class has at most {MOST:,}")
    for info in infos:
        below = _name(info)
        path = PurePosixPath(below)
        if path.is_absolute() or below.startswith("../"):  # the platform writes the beginning
            raise CourseError(f"{name} would write outside of its folder: {below}")
        below = "/".join(part for part in path.parts if part != "..")
        if not info.is_dir() and "__MACOSX" not in path.parts:
            yield _file(below, info.file_size, _saved(info), partial(_unpacked, opened, info))


def _unpacked(opened: zipfile.ZipFile, info: zipfile.ZipInfo, below: str) -> bytes:
    if stat.S_ISLNK(info.external_attr >> 16):
        raise CourseError(f"{below} is a link, and was left out: zip the file itself")
    _must_be_small(below, info.file_size)
    try:
        with opened.open(info) as file:  # no more than it says: the rest may be endless
            return file.read(info.file_size)
    except BROKEN as error:
        raise CourseError(f"{below} cannot be unpacked: {error}") from error


def _name(info: zipfile.ZipInfo) -> str:
    """With umlauts and Chinese where a program wrote UTF-8 and did not say so."""
    name = info.filename
    if not info.flag_bits & UTF8:
        with suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return name.replace("\\", "/")


def _saved(entry: zipfile.ZipInfo) -> float:
    try:
        return time.mktime((*entry.date_time, 0, 0, -1))
    except (ValueError, OverflowError):
        return 0.0
