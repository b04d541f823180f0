"""What a class has handed in: whose each notebook is, and which sheet it is a copy of.

A learner's name stands where the platform puts it:

- Moodle ("Download all submissions"): `NAME_NUMBER_assignsubmission_file_...`, as a folder or as
  the beginning of a file's name, and `..._onlinetext_` for what was written into a field;
- nbgrader: `submitted/LEARNER/ASSIGNMENT/SHEET.ipynb`, with a timestamp.txt beside it;
- Canvas ("Download submissions"): `nameinoneword_LATE_USER_FILE_SHEET.ipynb`, all in one folder,
  where FILE is a number that grows, and SHEET gets "-1", "-2" when it is handed in again; with
  anonymous grading `LATE_anon_CODE_FILE_SHEET.ipynb`;
- otherwise a folder for each learner.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from course_grading.submissions import NOT_OURS, recognised
from course_lab.errors import CourseError

PATTERNS = {
    "Moodle": r"(?:.*/)?(?P<learner>[^/]+)_(?P<number>\d+)_assignsubmission_(?:file|onlinetext)_?"
    r"/?(?P<file>.*)",
    "nbgrader": r"(?:.*/)?submitted/(?P<learner>[^/]+)/[^/]+/(?P<file>.*)",
    "Canvas": r"(?:.*/)?(?P<learner>[^_/]+)(?:_LATE)?_(?P<number>\d+)"
    r"_(?P<version>\d+)_(?P<file>[^/]+(?:\.zip/.+)?)",
    "Canvas, anonymous": r"(?:.*/)?(?:LATE_)?(?P<learner>anon_[^_/]+)"
    r"_(?P<version>\d+)_(?P<file>[^/]+(?:\.zip/.+)?)",
    "a folder for each learner": r"(?P<learner>[^/]+)/(?P<file>.+)",
}
"""Where each platform writes the learner, tried in this order on a path below the folder."""
COPY = re.compile(r"(?:Copy of )?(?P<stem>.+?)(?: ?\(\d+\)|-\d+)?")
"""A sheet's name, and what browsers, Colab and Canvas make of it where it was there before."""
SUBMITTED = "submitted"
STAMP = "timestamp.txt"
"""In which nbgrader says when something was handed in."""


class Owner(NamedTuple):
    """What a path says: whose the file is, and what it was called."""

    learner: str
    number: str
    """The platform's number for the learner; "" if it gives none."""
    version: str
    """The platform's number for the file; "" if it gives none."""
    file: str


class Version(NamedTuple):
    """One file of a learner's, and what tells the newest of several."""

    path: Path
    mark: tuple[float, ...]
    by: str
    """What the mark is, in words."""


@dataclass
class HandedIn:
    """All that one learner has handed in."""

    learner: str
    number: str = ""
    files: dict[str, Path] = field(default_factory=dict)
    """The file that counts, by the name of the sheet that it is a copy of."""
    notes: list[str] = field(default_factory=list)
    """What a teacher should know of how the files were chosen."""

    @property
    def identity(self) -> str:
        """What tells this learner from every other, also from one of the same name."""
        return f"{self.learner} ({self.number})" if self.number else self.learner


def collect(
    folder: Path,
    released: Path,
    pattern: str | None = None,
    refused: Mapping[Path, str] = MappingProxyType({}),
) -> list[HandedIn]:
    """Everyone whose name is on a file below `folder`, in alphabetical order.

    Files that are no notebooks are a note for those who handed in nothing else. `refused` are
    archives below `folder` that could not be unpacked, with the reasons: also a note. An archive
    that could be is a folder of its name, as in `ada.zip/sheet.ipynb`.

    `pattern` is a regular expression for a whole path below `folder`, with a group `learner`, and
    if wanted `number`, `version` and `file` (see `Owner`). Raises CourseError if there is no
    notebook, if one says nowhere whose it is, or if the pattern cannot be used.
    """
    patterns = _compiled(pattern)
    sheets = {path.name: path for path in sorted(released.glob("*.ipynb"))}
    learners: dict[tuple[str, str], HandedIn] = {}
    versions: dict[tuple[str, str, str], list[Version]] = defaultdict(list)
    nobody_s = []
    paths = [*_notebooks(folder), *refused]
    folder = _class_folder(folder, paths)
    for path in paths:
        below, owner = _owner(path, folder, patterns)
        if owner is None:
            nobody_s.append(below)
            continue
        who = (owner.learner, owner.number)
        one = learners.setdefault(who, HandedIn(*who))
        if path in refused:
            one.notes.append(refused[path])
            continue
        copied = _sheets_of(path, owner.file, sheets)
        if not copied:
            one.notes.append(f"{below} is a copy of no sheet, and was left out")
        for sheet in copied:
            versions[*who, sheet].append(_version(path, owner))
    if nobody_s:
        others = f" (and {len(nobody_s) - 1} more)" if len(nobody_s) > 1 else ""
        raise CourseError(
            f"{nobody_s[0]}{others} does not say whose it is: put the notebooks of each learner "
            "into a folder of that learner's name, or give --pattern"
        )
    if not learners:
        raise CourseError(f"{folder} has no notebook in it")
    for who, names in _no_notebooks(folder, patterns).items():
        is_none = "is no notebook" if len(names) == 1 else "are no notebooks"
        note = f"{', '.join(names)} {is_none}; nothing else was handed in"
        learners.setdefault(who, HandedIn(*who, notes=[note]))
    for (learner, number, sheet), found in versions.items():
        one = learners[learner, number]
        newest = max(found, key=lambda version: version.mark)
        one.files[sheet] = newest.path
        if len(found) > 1:
            name = newest.path.relative_to(folder).as_posix()
            one.notes.append(f"{len(found)} files for {sheet}: {name} counts, {newest.by}")
    return sorted(learners.values(), key=lambda one: (one.learner.casefold(), one.number))


def _compiled(pattern: str | None) -> list[re.Pattern[str]]:
    if pattern is None:
        return [re.compile(known) for known in PATTERNS.values()]
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise CourseError(f"--pattern {pattern!r} is no regular expression: {error}") from error
    if "learner" not in compiled.groupindex:
        raise CourseError(f"--pattern {pattern!r} needs a group (?P<learner>...)")
    return [compiled]


def _notebooks(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*.ipynb")):
        if path.is_file() and not path.is_symlink() and not NOT_OURS.search(str(path)):
            yield path


def _class_folder(folder: Path, paths: list[Path]) -> Path:
    """The folder of learners' folders: often an archive wraps it into another one."""
    while True:
        inside = {path.relative_to(folder).parts for path in paths}
        tops = {parts[0] for parts in inside}
        if len(tops) != 1 or any(len(parts) < 3 for parts in inside):
            return folder
        if SUBMITTED in tops or len({parts[1] for parts in inside}) < 2:
            return folder
        folder /= tops.pop()


def _no_notebooks(
    folder: Path, patterns: list[re.Pattern[str]]
) -> dict[tuple[str, str], list[str]]:
    """The names of all other files that say whose they are, by learner and number."""
    names = defaultdict(list)
    for path in sorted(folder.rglob("*")):
        hidden = NOT_OURS.search(str(path)) or path.name.startswith(".")
        if path.is_file() and path.suffix not in (".ipynb", ".zip") and not hidden:
            _, owner = _owner(path, folder, patterns)
            if owner and path.name != STAMP:
                names[owner.learner, owner.number].append(Path(owner.file).name)
    return names


def _owner(path: Path, folder: Path, patterns: list[re.Pattern[str]]) -> tuple[str, Owner | None]:
    """The path below the folder of the class, and what it says of whose it is."""
    below = unicodedata.normalize("NFC", path.relative_to(folder).as_posix())
    whole = f"{SUBMITTED}/{below}" if folder.name == SUBMITTED else below
    for pattern in patterns:
        if match := pattern.fullmatch(whole):
            known = match.groupdict(default="")
            file = known.get("file") or whole
            learner = known["learner"].strip().removesuffix(".zip")
            return below, Owner(learner, known.get("number", ""), known.get("version", ""), file)
    return below, None


def _sheets_of(path: Path, file: str, sheets: dict[str, Path]) -> list[str]:
    """The sheets that a file is a copy of: by its name, or else by its cells."""
    stem = COPY.fullmatch(Path(file).stem)
    name = f"{stem['stem']}.ipynb" if stem else ""
    return [name] if name in sheets else [sheet.name for sheet in recognised(path, sheets)]


def _version(path: Path, owner: Owner) -> Version:
    """What tells the newest: the platform's own mark, or else when the file was saved."""
    saved = path.stat().st_mtime
    if owner.version.isdigit():
        return Version(path, (int(owner.version), saved), "by the platform's number for the file")
    with suppress(OSError, ValueError):
        stamp = (path.parent / STAMP).read_text(encoding="utf-8").strip()
        when = datetime.fromisoformat(re.sub(r" ?(UTC|UCT|GMT)$", "+00:00", stamp))
        return Version(path, (when.timestamp(), saved), f"by its {STAMP}")
    return Version(path, (saved,), "since it was saved last")
