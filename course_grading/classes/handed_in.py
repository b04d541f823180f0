"""What a class has handed in: whose each notebook is, and which sheet it is a copy of.

Whose a file is stands where the platform puts it, at the beginning of the file's path:

- Moodle ("Download all submissions"): `NAME_NUMBER_assignsubmission_file_...`, as a folder or as
  the beginning of a file's name, and `..._onlinetext_` for what was written into a field;
- nbgrader: `submitted/LEARNER/ASSIGNMENT/SHEET.ipynb`, with a timestamp.txt beside it;
- Canvas ("Download submissions"): `nameinoneword_LATE_USER_FILE_SHEET.ipynb`, all in one folder,
  where FILE is a number that grows, and SHEET gets "-1", "-2" when it is handed in again; with
  anonymous grading `LATE_anon_CODE_FILE_SHEET.ipynb`;
- otherwise a folder for each learner.

What comes after that is the learner's to choose. So one layout holds for the whole class, nothing
is read from further down the path, and a zip that a learner handed in is opened when it is known
whose it is.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from course_grading.classes.archives import File, files_inside, files_of
from course_grading.sheets import notebooks
from course_grading.sheets.notebooks import NotebookError
from course_grading.sheets.submissions import NOT_OURS, sheets_of
from course_lib.errors import CourseError

LAYOUTS = {
    "Moodle": r"(?P<learner>[^/]+)_(?P<number>\d+)_assignsubmission_(?:file|onlinetext)_?"
    r"/?(?P<file>.*)",
    "Canvas": r"(?P<learner>[^_/]+)(?:_LATE)?_(?P<number>\d+)_(?P<version>\d+)_(?P<file>[^/]+)",
    "Canvas, anonymous": r"(?:LATE_)?(?P<learner>anon_[^_/]+)_(?P<version>\d+)_(?P<file>[^/]+)",
}
"""How platforms that put a learner's name into the name of a file or folder write it."""
MARK = r"_\d+_assignsubmission_"
"""Of Moodle. In a folder's name the last one is Moodle's, since the name before it can be chosen.
In a file's name what comes behind can be chosen as well."""
NBGRADER = r"(?P<learner>[^/]+)/[^/]+/(?P<file>.*)"
"""Below the folder `submitted`."""
FOLDERS = r"(?P<learner>[^/]+?)(?:/(?P<file>.+)|(?i:\.zip))"
SUBMITTED = "submitted/"
OF_NBGRADER = {"source/", "release/", "autograded/", "feedback/", "formgrader/"}
"""What stands beside it in the folder of a course."""
STAMP = "timestamp.txt"
"""In which nbgrader says when something was handed in."""
LARGEST_OF_ONE = 40_000_000
"""Bytes of notebooks that are read of one learner."""
Who = tuple[str, str]
"""A learner's name, and the platform's number for the learner, "" if it gives none."""


class Owner(NamedTuple):
    """What a path says: whose the file is, and what it was called."""

    who: Who
    version: str
    """The platform's number for the file; "" if it gives none."""
    file: str


class Mark(NamedTuple):
    """What tells the newest of several files: the one with the largest value."""

    value: tuple[float, ...]
    by: str
    """What the value is, in words."""


class Copy(NamedTuple):
    """A notebook that is a copy of a sheet."""

    below: str
    """Its path below the folder of the class."""
    content: bytes
    mark: Mark


@dataclass
class HandedIn:
    """All that one learner has handed in."""

    learner: str
    number: str = ""
    """The platform's number for the learner; "" if it gives none."""
    files: dict[str, Copy] = field(default_factory=dict)
    """The file that counts, by the name of the sheet that it is a copy of."""
    notes: list[str] = field(default_factory=list)
    """What a teacher should know of how the files were chosen."""

    @property
    def who(self) -> Who:
        """What tells this learner from every other, also from one of the same name."""
        return (self.learner, self.number)

    @property
    def identity(self) -> str:
        """The name with the number, to be read."""
        return f"{self.learner} ({self.number})" if self.number else self.learner


def collect(
    given: Path,
    released: Path,
    pattern: str | None = None,
    tell: Callable[[str], None] = lambda note: None,
) -> list[HandedIn]:
    """Everyone whose name is on a file in `given`, a folder or a zip, in alphabetical order.

    What cannot be read, or is no copy of a sheet, is a note for its learner. Other files than
    notebooks, and hidden ones, are a note for those who handed in nothing else.

    `pattern` is a regular expression for a whole path below `given`, with a group `learner`, and
    if wanted `number`, `version` and `file` (see `Owner`). Raises CourseError if there is no
    notebook, if one says nowhere whose it is, or if the pattern cannot be used.

    Folders around the class are passed over, and `tell` hears of it: one of them may be a
    learner's, with whose names that learner likes. If one learner alone is in there: CourseError.
    """
    sheets = {path.name: path for path in sorted(released.glob("*.ipynb"))}
    files = files_of(given)
    if not any(map(_wanted, files)):
        raise CourseError(f"{given} has no notebook in it")
    everything = files
    files, layout, around = _class_folder(files, given.name)
    if pattern:
        layout = _compiled(pattern)
        if any(_owner(file.below, layout) for file in everything):
            files, around = everything, ""
    by_owner: dict[Who, list[tuple[File, Owner]]] = defaultdict(list)
    unclaimed = []
    for file in files:
        if _beside_the_class(file.below):
            continue
        if owner := _owner(file.below, layout):
            by_owner[owner.who].append((file, owner))
        elif _wanted(file):
            unclaimed.append(file.below)
    if unclaimed:
        others = f" (and {len(unclaimed) - 1} more)" if len(unclaimed) > 1 else ""
        raise CourseError(
            f"{unclaimed[0]}{others} does not say whose it is: put the notebooks of each learner "
            "into a folder of that learner's name, or give --pattern"
        )
    if around and len(by_owner) == 1:
        [(learner, _)] = by_owner
        raise CourseError(
            f"{around} may be the folder of a learner, or of a class in which {learner} alone has "
            "handed in: give --pattern, or the folder that is inside"
        )
    if around:
        some = ", ".join(sorted(learner for learner, _ in by_owner)[:3])
        more = ", ..." if len(by_owner) > 3 else ""
        tell(f"{around} is taken for a folder around a class of {len(by_owner)}: {some}{more}")
    stamps = {file.below: file for file in files if _name(file) == STAMP}
    learners = [_read(HandedIn(*who), own, sheets, stamps) for who, own in by_owner.items()]
    return sorted(learners, key=lambda one: (one.learner.casefold(), one.number))


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise CourseError(f"--pattern {pattern!r} is no regular expression: {error}") from error
    if "learner" not in compiled.groupindex:
        raise CourseError(f"--pattern {pattern!r} needs a group (?P<learner>...)")
    return compiled


def _name(file: File) -> str:
    return file.below.rpartition("/")[2]


def _wanted(file: File) -> bool:
    return file.below.lower().endswith((".ipynb", ".zip")) and not _hidden(file)


def _hidden(file: File) -> bool:
    return bool(NOT_OURS.search(file.below)) or _name(file).startswith(".")


def _beside_the_class(below: str) -> bool:
    """What a teacher's machine puts there: .DS_Store, .ipynb_checkpoints, __MACOSX."""
    return below.startswith((".", "__MACOSX/"))


def _class_folder(files: list[File], name: str) -> tuple[list[File], re.Pattern[str], str]:
    """The files below the folder of the class, its layout, and what folders are around it. Often an
    archive wraps this folder into another one, or into several."""
    around = ""
    while True:
        tops = _tops(files)
        folders = {top for top in tops if top.endswith("/")}
        if SUBMITTED in folders and folders <= OF_NBGRADER | {SUBMITTED}:
            return _below(SUBMITTED, files), re.compile(NBGRADER), around
        if f"{name}/" == SUBMITTED:
            return files, re.compile(NBGRADER), around
        if layout := _platform(tops):
            return files, re.compile(layout), around
        wrapper = folders.pop() if len(folders) == 1 else ""
        inside = _below(wrapper, files)
        deep = all(file.below.count("/") for file in inside if _wanted(file))
        within = _tops(inside)
        learners = len({top for top in within if top.endswith("/")}) > 1 and deep
        if not wrapper or not (learners or _platform(within) or SUBMITTED in within):
            return files, re.compile(FOLDERS), around
        files, name, around = inside, wrapper.rstrip("/"), around + wrapper


def _tops(files: list[File]) -> set[str]:
    """What stands at the top: files, and folders with a slash."""
    tops = {"".join(file.below.partition("/")[:2]) for file in files}
    return {top for top in tops if not _beside_the_class(top)}


def _below(folder: str, files: list[File]) -> list[File]:
    start = len(folder)
    inside = (file for file in files if file.below.startswith(folder))
    return [file._replace(below=file.below[start:]) for file in inside]


def _platform(tops: set[str]) -> str | None:
    """The layout of most of what stands at the top."""
    for layout in LAYOUTS.values():
        named = [bool(re.fullmatch(layout, top)) for top in tops]
        if 2 * sum(named) > len(named):
            return layout
    return None


def _owner(below: str, layout: re.Pattern[str]) -> Owner | None:
    """What the path says of whose the file is."""
    match = layout.fullmatch(below)
    if not match:
        return None
    if len(re.findall(MARK, below)) > 1 and "/" not in below:  # any of them may be the learner's
        return Owner((below, ""), "", below)
    known = match.groupdict(default="")
    who = known["learner"].strip(), known.get("number", "")
    return Owner(who, known.get("version", ""), known.get("file") or below)


def _read(
    one: HandedIn, own: list[tuple[File, Owner]], sheets: dict[str, Path], stamps: dict[str, File]
) -> HandedIn:
    """With the files that count, and notes on the others."""
    copies: dict[str, list[Copy]] = defaultdict(list)
    left = LARGEST_OF_ONE
    for file, name, mark in _notebooks(one, own, stamps):
        try:
            if file.size > notebooks.LARGEST:
                raise CourseError(
                    f"{file.below} was left out: it has {file.size:,} bytes, and no "
                    f"notebook of the course needs {notebooks.LARGEST:,}"
                )
            left -= file.size
            if left < 0:
                raise CourseError(
                    f"{file.below} was left out: before it stand {LARGEST_OF_ONE:,} bytes of the "
                    "same learner's"
                )
            content = file.read()
            copied = _sheets_of(name, content, sheets)
        except CourseError as error:
            one.notes.append(str(error))
            continue
        if not copied:
            one.notes.append(f"{file.below} is a copy of no sheet, and was left out")
        for sheet in copied:
            copies[sheet].append(Copy(file.below, content, mark))
    for sheet, found in copies.items():
        one.files[sheet] = newest = sorted(found, key=lambda copy: copy.mark.value)[-1]
        if len(found) > 1:
            one.notes.append(
                f"{len(found)} files for {sheet}: {newest.below} counts, {newest.mark.by}"
            )
    return one


def _notebooks(
    one: HandedIn, own: list[tuple[File, Owner]], stamps: dict[str, File]
) -> Iterator[tuple[File, str, Mark]]:
    """A learner's notebooks, those in archives too, with their names and what tells the newest."""
    others = []
    if all(_hidden(file) for file, _ in own):
        names = ", ".join(file.below for file, _ in own)
        one.notes.append(f"{names}: hidden, and left out; nothing else was handed in")
        return
    own = [(file, owner) for file, owner in own if not _hidden(file)]
    for file, owner in own:
        mark = _mark(file, owner, stamps)
        if file.below.lower().endswith(".zip"):
            try:
                inside = [inner for inner in files_inside(file) if not _hidden(inner)]
            except CourseError as error:
                one.notes.append(str(error))
                continue
            for inner in inside:
                if inner.below.lower().endswith(".ipynb"):  # of two, the upper one counts
                    depth = inner.below.count("/")
                    yield inner, inner.below, mark._replace(value=(*mark.value, -depth))
        elif file.below.lower().endswith((".ipynb", "/*")):
            yield file, owner.file, mark
        elif _name(file) != STAMP:
            others.append(PurePosixPath(owner.file).name)
    if len(others) == len([file for file, _ in own if _name(file) != STAMP]):
        is_none = "is no notebook" if len(others) == 1 else "are no notebooks"
        one.notes.append(f"{', '.join(others)} {is_none}; nothing else was handed in")


def _sheets_of(file: str, content: bytes, sheets: dict[str, Path]) -> list[str]:
    try:
        found = sheets_of(file, lambda: notebooks.cells_of(content, file), sheets)
    except NotebookError:
        return []
    return [sheet.name for sheet in found]


def _mark(file: File, owner: Owner, stamps: dict[str, File]) -> Mark:
    """The platform's own, or else when the file was saved."""
    if re.fullmatch(r"\d{1,18}", owner.version):
        return Mark((int(owner.version), file.saved), "by the platform's number for the file")
    with suppress(KeyError, CourseError, UnicodeError, ValueError):
        stamp = stamps[file.below.removesuffix(owner.file) + STAMP].read().decode().strip()
        when = datetime.fromisoformat(re.sub(r" ?(UTC|UCT|GMT)$", "+00:00", stamp))
        return Mark((when.timestamp(), file.saved), f"by its {STAMP}")
    return Mark((file.saved,), "since it was saved last")
