"""Unpack what a platform sends, without trusting it: names that climb out, bombs, links."""

from __future__ import annotations

import os
import re
import shutil
import stat
import time
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from course_lab.errors import CourseError

WANTED = (".ipynb", ".txt", ".zip")
"""What is unpacked: notebooks, nbgrader's timestamp.txt, and archives that learners handed in. Of
other files only the names are kept."""
LARGEST = 50_000_000
"""Bytes of one file."""
LARGEST_IN_ALL = 4_000_000_000
LARGEST_INSIDE = 200_000_000
"""Bytes of all files of an archive that one learner handed in."""
MOST = 100_000
"""Entries of one archive."""
BROKEN = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, OSError, EOFError)
"""What Python raises for archives that are damaged, encrypted, or packed in an unknown way."""
UTF8 = 0x800


def unpack(archive: Path, into: Path) -> None:
    """Unpack a zip into the new folder `into`.

    Raises CourseError for an archive that is broken or encrypted, that would write outside of
    `into`, or that is larger than any class needs. Nothing of it is left then.
    """
    _unpack(archive, into, LARGEST_IN_ALL, str(archive))


def unpack_inside(folder: Path) -> dict[Path, str]:
    """Turn each archive that a learner handed in, below `folder`, into a folder of its name.

    One that cannot be unpacked is taken away, and returned with the reason: it must not hold up
    the class. Archives in these archives stay closed.
    """
    refused, left = {}, LARGEST_IN_ALL
    for archive in sorted(folder.rglob("*.[zZ][iI][pP]")):
        if archive.is_symlink() or not archive.is_file():
            continue
        packed = archive.replace(archive.with_name(f"{archive.name}.packed"))
        try:
            left -= _unpack(packed, archive, min(left, LARGEST_INSIDE), archive.name)
        except CourseError as error:
            refused[archive] = str(error)
        packed.unlink()
    return refused


def _unpack(archive: Path, into: Path, most: int, name: str) -> int:
    """Unpack one archive, called `name` in what is said of it; returns the bytes of its files."""
    into.mkdir(parents=True)
    unpacked = 0
    try:
        with zipfile.ZipFile(archive) as opened:
            for entry, path in _entries(name, opened):
                target = into / path
                target.parent.mkdir(parents=True, exist_ok=True)
                if target.suffix.lower() not in WANTED:
                    target.touch()
                    continue
                unpacked += entry.file_size
                if unpacked > most or entry.file_size > LARGEST:
                    raise CourseError(
                        f"{name} would unpack to more than notebooks need ({path} alone has "
                        f"{entry.file_size:,} bytes): take it out, and zip the rest again"
                    )
                with opened.open(entry) as source, target.open("wb") as copy:
                    shutil.copyfileobj(source, copy)
                _keep_time(entry, target)
    except BaseException as error:
        shutil.rmtree(into)
        if isinstance(error, BROKEN):
            raise CourseError(f"{name} cannot be unpacked: {error}") from error
        raise
    return unpacked


def _entries(archive: str, opened: zipfile.ZipFile) -> Iterator[tuple[zipfile.ZipInfo, str]]:
    """The files, with their names as their platform meant them."""
    infos = opened.infolist()
    if len(infos) > MOST:
        raise CourseError(f"{archive} has {len(infos):,} entries; a class has at most {MOST:,}")
    for info in infos:
        name = _name(info)
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or re.match(r"[A-Za-z]:", name):
            raise CourseError(f"{archive} would write outside of its folder: {name}")
        if stat.S_ISLNK(info.external_attr >> 16):
            raise CourseError(f"{archive} holds a link, {name}: zip the file itself")
        if not info.is_dir() and "__MACOSX" not in path.parts:
            yield info, name


def _name(info: zipfile.ZipInfo) -> str:
    """With umlauts and Chinese where a program wrote UTF-8 and did not say so."""
    name = info.filename
    if not info.flag_bits & UTF8:
        try:
            name = name.encode("cp437").decode("utf-8")
        except UnicodeError:
            pass
    return name.replace("\\", "/")


def _keep_time(entry: zipfile.ZipInfo, target: Path) -> None:
    try:
        saved = time.mktime((*entry.date_time, 0, 0, -1))
    except (ValueError, OverflowError):
        return
    os.utime(target, (saved, saved))
