"""Which files are to be graded, and which released sheet each of them is a copy of.

A file is known by its name, and if that was changed on the way (a download, a second copy), by the
ids of its cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from course_grading.sheets import notebooks
from course_grading.sheets.notebooks import Cell, NotebookError
from course_grading.sheets.renamed import SHEETS, as_today
from course_lib.errors import CourseError

NOT_OURS = re.compile(r"\.ipynb_checkpoints|\.backup")


@dataclass(frozen=True)
class Submission:
    """A learner's notebook."""

    path: Path
    sheet: Path
    """The released notebook that it is a copy of."""


def find(paths: Iterable[Path], released: Path) -> list[Submission]:
    """The notebooks at `paths`, which are files, or folders with a learner's sheets in them.

    Raises CourseError for a path at which there is nothing to be graded.
    """
    sheets = {path.name: path for path in sorted(released.glob("*.ipynb"))}
    found: list[Submission] = []
    for path in paths:
        found += _in_folder(path, sheets) if _is_folder(path) else _file(path, sheets)
    return found


def _is_folder(path: Path) -> bool:
    return path.is_dir() or (path.suffix != ".ipynb" and not path.exists())


def _file(path: Path, sheets: dict[str, Path]) -> list[Submission]:
    if path.name not in sheets and not path.exists():
        if path.stem in SHEETS:
            raise CourseError(
                f"there is no file {path}; it is called {SHEETS[path.stem]}.ipynb now"
            )
        known = ", ".join(sheets)
        raise CourseError(f"{path} is no exercise notebook; there are {known}")
    if not path.exists() and not path.parent.is_dir():
        raise CourseError(f"there is no file {path}")
    copied = [sheets[path.name]] if path.name in sheets else recognised(path, sheets)
    if not copied:
        known = ", ".join(sheets)
        raise CourseError(f"{path} is no exercise notebook: it has no cell of {known}")
    return [Submission(path, sheet) for sheet in copied]


def _in_folder(folder: Path, sheets: dict[str, Path]) -> Iterator[Submission]:
    """One for each sheet. One that was deleted is reported as missing, not forgotten."""
    if not folder.is_dir():
        raise CourseError(
            f"there is no folder {folder}; `course exercises` makes one with notebooks"
        )
    files = sorted(folder.glob("*.ipynb"))
    copies: dict[Path, list[Path]] = {}
    for path in files:
        for sheet in [] if path.name in sheets else recognised(path, sheets):
            copies.setdefault(sheet, []).append(path)
    exact = [sheet for sheet in sheets.values() if (folder / sheet.name).exists()]
    if not exact and not copies:
        raise CourseError(f"{folder} has no exercise notebook in it{_elsewhere(folder, sheets)}")
    for sheet in sheets.values():
        renamed = copies.get(sheet, [])
        if sheet in exact or not renamed:
            yield Submission(folder / sheet.name, sheet)
        else:  # several copies: the one that was saved last
            yield Submission(max(renamed, key=lambda path: path.stat().st_mtime), sheet)


def _elsewhere(folder: Path, sheets: dict[str, Path]) -> str:
    below = sorted(
        {
            str(path.parent.relative_to(folder))
            for path in folder.glob("*/**/*.ipynb")
            if not NOT_OURS.search(str(path)) and (path.name in sheets or recognised(path, sheets))
        }
    )
    if not below:
        return ""
    named = ", ".join(below[:3]) + (", ..." if len(below) > 3 else "")
    return f", but {len(below)} of the folders below it have: {named}; grade each by itself"


def recognised(path: Path, sheets: dict[str, Path]) -> list[Path]:
    """The released sheets whose answers or checks are in the file at `path`."""
    try:
        return sheets_with(notebooks.read(path), sheets)
    except NotebookError:
        return []


def sheets_with(cells: list[Cell], sheets: dict[str, Path]) -> list[Path]:
    """The released sheets whose answers or checks are among these cells.

    There are several if they are of an earlier release's sheet that was split since.
    """
    mine = _names(as_today(cells))
    return [sheet for sheet in sheets.values() if mine & _names(notebooks.read(sheet))]


def _names(cells: list[Cell]) -> set[str]:
    """Of answers and checks: other cells have ids that every sheet has."""
    names = {name for cell in cells for name in (cell.id, cell.grade_id)}
    return {name for name in names if Cell(name, "").exercise}
