"""Which files are to be graded, and which released sheet each of them is a copy of.

A file is known by its name, and if that was changed on the way, by its cells: by their ids, or
where an editor dropped these (Colab, Deepnote, jupytext), by the tasks and checks in them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from course_grading.sheets import notebooks
from course_grading.sheets.notebooks import Cell, NotebookError
from course_grading.sheets.renamed import SHEETS, as_today
from course_lib.errors import CourseError

NOT_OURS = re.compile(r"(?:^|/)\.(?:ipynb_checkpoints|backup)/")
"""Folders of copies that JupyterLab and the course make."""
COPY = re.compile(r"(?:Copy of )?(?P<stem>.+?)(?: ?\(\d+\)|-\d+)?")
"""A sheet's name, and what browsers, Colab and Canvas make of it where it was there before."""


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
    copied = sheets_of(path.name, lambda: notebooks.read(path), sheets)
    if not copied:
        known = ", ".join(sheets)
        raise CourseError(
            f"{path} is no exercise notebook: it has neither the name nor a task, an answer or a "
            f"check of {known}"
        )
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
            if not NOT_OURS.search(path.relative_to(folder).as_posix())
            and (path.name in sheets or recognised(path, sheets))
        }
    )
    if not below:
        return ""
    named = ", ".join(below[:3]) + (", ..." if len(below) > 3 else "")
    return f", but {len(below)} of the folders below it have: {named}; grade each by itself"


def recognised(path: Path, sheets: dict[str, Path]) -> list[Path]:
    """The released sheets that the file at `path` is a copy of; none if it cannot be read."""
    try:
        return sheets_of(path.name, lambda: notebooks.read(path), sheets)
    except NotebookError:
        return []


def sheets_of(name: str, cells: Callable[[], list[Cell]], sheets: dict[str, Path]) -> list[Path]:
    """The released sheets that a file with this name and these cells is a copy of.

    Cells are read, and a NotebookError raised, only if the name is not enough.
    """
    copy = COPY.fullmatch(PurePosixPath(name).stem)
    for stem in (PurePosixPath(name).stem, copy["stem"] if copy else ""):
        if sheet := sheets.get(f"{stem}.ipynb"):
            return [sheet]
    return sheets_with(cells(), sheets)


def sheets_with(cells: list[Cell], sheets: dict[str, Path]) -> list[Path]:
    """The released sheets whose answers, tasks or checks are among these cells.

    There are several if they are of an earlier release's sheet that was split since.
    """
    mine = as_today(cells)
    names, texts = _names(mine), {_words(cell) for cell in mine}
    return [
        sheet
        for sheet in sheets.values()
        if (released := notebooks.read(sheet))
        and (names & _names(released) or texts & set(map(_words, filter(_tells, released))))
    ]


def _names(cells: list[Cell]) -> set[str]:
    """Of answers and checks: other cells have ids that every sheet has."""
    names = {name for cell in cells for name in (cell.id, cell.grade_id)}
    return {name for name in names if Cell(name, "").exercise}


def _tells(cell: Cell) -> bool:
    """Whether a released cell's text stands in one sheet alone: set-up and first lines may not."""
    return cell.role == "check" or cell.id.startswith("task-")


def _words(cell: Cell) -> str:
    return " ".join(cell.source.split())
