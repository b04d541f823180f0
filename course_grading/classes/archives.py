"""Unpack what a platform sends, without trusting it: names that climb out, bombs, links."""

from __future__ import annotations

import os
import re
import shutil
import stat
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from course_lab.errors import CourseError

WANTED = (".ipynb", ".txt", ".zip")
"""What is unpacked: notebooks, nbgrader's timestamp.txt, and archives that learners handed in."""
LARGEST = 50_000_000
"""Bytes of one file."""
LARGEST_IN_ALL = 4_000_000_000
MOST = 100_000
"""Entries of one archive."""
UTF8 = 0x800


def unpack(archive: Path, into: Path) -> None:
    """Unpack a zip into the new folder `into`, and each zip in it into a folder of its name.

    Raises CourseError for an archive that is broken or encrypted, that would write outside of
    `into`, or that is larger than any class needs. Nothing of it is left then.
    """
    into.mkdir(parents=True)
    try:
        left = _unpack(archive, into, LARGEST_IN_ALL)
        for inner in sorted(into.rglob("*.zip")):
            left = _unpack(inner, inner.with_suffix(""), left)
            inner.unlink()
    except BaseException:
        shutil.rmtree(into)
        raise


def _unpack(archive: Path, into: Path, left: int) -> int:
    """Unpack one archive, and return how many more bytes may be unpacked."""
    try:
        with zipfile.ZipFile(archive) as opened:
            for entry, name in _entries(archive, opened):
                left -= entry.file_size
                if left < 0 or entry.file_size > LARGEST:
                    raise CourseError(
                        f"{archive} would unpack to more than notebooks need ({name} alone has "
                        f"{entry.file_size:,} bytes): take it out, and zip the rest again"
                    )
                target = into / name
                target.parent.mkdir(parents=True, exist_ok=True)
                with opened.open(entry) as source, target.open("wb") as copy:
                    shutil.copyfileobj(source, copy)
                _keep_time(entry, target)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError) as error:
        raise CourseError(f"{archive} cannot be unpacked: {error}") from error
    return left


def _entries(archive: Path, opened: zipfile.ZipFile) -> Iterator[tuple[zipfile.ZipInfo, str]]:
    """The files that are wanted, with their names as their platform meant them."""
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
        if not info.is_dir() and path.suffix.lower() in WANTED and "__MACOSX" not in path.parts:
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
