"""Write an edition in another language into a folder of the course, around what learners changed.

What was written is kept beside it, in `.written`. So a file that a learner changed is told from one
that is only older, and a new translation comes in around their answers, notes and outputs.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from course_grading.sheets import carrying, notebooks
from course_grading.sheets.notebooks import Cell, NotebookError, as_notebook, as_text
from course_grading.sheets.workspace import backup
from course_lab.phrases import PHRASES
from tools.translation import catalogue, edition, pages
from tools.translation.contract import CODE, FENCED

WRITTEN = ".written"
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|[/#])([^)\s#]+)(?:#([^)\s]+))?(?=[)\s])")

Notebook = dict[str, Any]


def write(course: Path, translations: Path, released: Path, folder: Path) -> Iterator[str]:
    """Write all pages of `course` into `folder`, which lies in it; a line for each file that holds
    a learner's work and had to change."""
    texts, lessons = contents(course, translations, released)
    said = pages.said(course, translations)
    (folder / WRITTEN).mkdir(parents=True, exist_ok=True)
    notebooks.write_text(folder / PHRASES, json.dumps(said, ensure_ascii=False, indent=1) + "\n")
    inside = {*texts, *lessons}
    anchors = {
        file: edition.anchors_of((course / file).read_text(encoding="utf-8"), markdown)
        for file, markdown in texts.items()
    }
    for file, markdown in texts.items():
        target = folder / file
        target.parent.mkdir(parents=True, exist_ok=True)
        notebooks.write_text(target, with_links(markdown, file, inside, anchors))
    for file, notebook in lessons.items():
        for cell in notebook["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = with_links(as_text(cell["source"]), file, inside, anchors)
    sheets = {file: lessons.pop(file) for file in [*lessons] if file.startswith("exercises/")}
    for file, notebook in lessons.items():
        yield from _bring(folder, file, notebook)
    for path in sorted((folder / WRITTEN).glob("*/*.ipynb")):
        file = path.relative_to(folder / WRITTEN).as_posix()
        if file not in inside and not file.startswith("exercises/"):
            yield from _leave(folder, file)
    yield from _bring_sheets(folder, sheets)


def contents(
    course: Path, translations: Path, released: Path
) -> tuple[dict[str, str], dict[str, Notebook]]:
    """The pages and the notebooks of an edition by their paths, with links as in the English."""
    texts: dict[str, str] = {}
    found: dict[str, Notebook] = {}
    said = pages.said(course, translations)
    for page in pages.every(course):
        if page.kind == "around":
            continue
        entries = catalogue.read(pages.path_of(translations, page))
        if page.kind == "docs":
            english = page.path.read_text(encoding="utf-8")
            file = page.path.relative_to(course).as_posix()
            texts[file] = edition.translated_page(english, entries)
        elif page.kind == "notebooks":
            found[f"{page.name}.ipynb"] = edition.translated(page.notebook(), entries, said)
        else:
            sheet = released / page.path.name
            for path, to in ((page.path, "solutions"), (sheet, "exercises")):
                if path.exists() and (to == "exercises" or path != sheet):
                    english_sheet = json.loads(path.read_text(encoding="utf-8"))
                    found[f"{to}/{path.name}"] = edition.translated(english_sheet, entries)
    if first := texts.get("README.md"):
        texts["README.md"] = edition.marked(first, edition.ENGLISH_STAYS)
    if lesson := found.get("notebooks/00_start_here.ipynb"):
        title = lesson["cells"][0]
        title["source"] = edition.marked(as_text(title["source"]), edition.ENGLISH_STAYS)
    return texts, found


def with_links(
    markdown: str, file: str, inside: set[str], anchors: Mapping[str, Mapping[str, str]]
) -> str:
    """Markdown of `file` in a folder of the course, with links that lead out of this folder to what
    it does not hold, and to the translated headings of the pages that it holds."""
    folders = {str(parent) for path in inside for parent in PurePosixPath(path).parents}

    def rewritten(link: re.Match[str]) -> str:
        path, heading = link.groups()
        there = os.path.normpath(PurePosixPath(file).parent / path)
        path = path if there in inside or there in folders else f"../{path}"
        return f"{path}#{anchors.get(there, {}).get(heading, heading)}" if heading else path

    parts, end = [], 0
    for code in sorted(
        [*FENCED.finditer(markdown), *CODE.finditer(markdown)], key=lambda found: found.start()
    ):
        if code.start() >= end:
            parts += [LINK.sub(rewritten, markdown[end : code.start()]), code[0]]
            end = code.end()
    return "".join([*parts, LINK.sub(rewritten, markdown[end:])])


# What was written last


def _was_written(folder: Path, file: str) -> list[Cell] | None:
    """The cells of a notebook as they were written into the edition; None if nobody knows."""
    try:
        return notebooks.read(folder / WRITTEN / file)
    except NotebookError:
        return None


def _write(folder: Path, file: str, notebook: Mapping[str, Any]) -> None:
    notebooks.write(folder / file, dict(notebook))
    _note(folder, file, notebook)


def _note(folder: Path, file: str, notebook: Mapping[str, Any]) -> None:
    """Keep what is written: the cells, and a checksum of the whole with its outputs."""
    cells = as_notebook(_cells(notebook))
    cells["metadata"] = {"course": {"checksum": _checksum(notebook)}}
    notebooks.write(folder / WRITTEN / file, cells)


def _cells(notebook: Mapping[str, Any]) -> list[Cell]:
    return [Cell.of(cell) for cell in notebook["cells"]]


def _checksum(notebook: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(notebook, sort_keys=True).encode()).hexdigest()


def _is_written(folder: Path, file: str, notebook: Mapping[str, Any]) -> bool:
    """Whether this very notebook was written last, and the file is still there."""
    try:
        kept = json.loads((folder / WRITTEN / file).read_text(encoding="utf-8"))
        known = kept["metadata"]["course"]["checksum"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return (folder / file).exists() and bool(known == _checksum(notebook))


# Around what learners changed


def _bring(folder: Path, file: str, new: Notebook) -> Iterator[str]:
    """Write a lesson or a solution, or its new words into a file that a learner changed."""
    if _is_written(folder, file, new):
        return
    base = _was_written(folder, file)
    if not _holds_work(folder / file, base, new):
        _write(folder, file, new)
    elif not _has_other_cells(base, new):
        yield from _with_new_words(folder, file, base, new)
    else:
        kept = backup(folder / file)
        _write(folder, file, new)
        yield f"{file}: written anew, since its code has changed; yours is kept as {kept}"


def _leave(folder: Path, file: str) -> Iterator[str]:
    """Delete a notebook that the course no longer has, unless a learner changed it."""
    if _holds_work(folder / file, _was_written(folder, file), None):
        yield f"{file}: left where it is; the course no longer has it"
    else:
        (folder / file).unlink(missing_ok=True)
        (folder / WRITTEN / file).unlink()


def _bring_sheets(folder: Path, new: dict[str, Notebook]) -> Iterator[str]:
    """Write the sheets, and carry answers over where a release has other cells."""
    written = sorted((folder / WRITTEN / "exercises").glob("*.ipynb"))
    gone = [file for path in written if (file := f"exercises/{path.name}") not in new]
    base = {file: _was_written(folder, file) for file in [*new, *gone]}
    work = [file for file in [*new, *gone] if _holds_work(folder / file, base[file], new.get(file))]
    if any(_has_other_cells(base[file], new.get(file)) for file in work):
        # Where it is not known what was written, it counts as what is written now.
        was = {file: base[file] or _cells(new[file]) for file in work}
        yield from _carried(folder, new, was)
    else:
        for file, sheet in new.items():
            yield from _bring(folder, file, sheet)
    for file in gone:
        (folder / file).unlink(missing_ok=True)
        (folder / WRITTEN / file).unlink()


def _has_other_cells(base: list[Cell] | None, new: Notebook | None) -> bool:
    """Whether a sheet has other code than when it was written, or is gone."""
    return new is None or (base is not None and _code(base) != _code(_cells(new)))


def _carried(folder: Path, new: dict[str, Notebook], was: dict[str, list[Cell]]) -> Iterator[str]:
    """Carry the learner's cells into new sheets; `was` says how the changed ones were written."""
    old = [
        carrying.OldSheet(
            PurePosixPath(file).name,
            base,
            notebooks.read(folder / file),
            str(backup(folder / file)),
        )
        for file, base in was.items()
    ]
    with tempfile.TemporaryDirectory() as name:
        made = Path(name)
        for file, sheet in new.items():
            notebooks.write(made / PurePosixPath(file).name, sheet)
        lines = list(carrying.carry(made, old))
        for file, sheet in new.items():
            text = (made / PurePosixPath(file).name).read_text(encoding="utf-8")
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            notebooks.write_text(folder / file, text)
            _note(folder, file, sheet)
    yield from lines


def _code(cells: list[Cell]) -> list[tuple[str, str]]:
    """A notebook's cells without their words."""
    return [(cell.id, cell.source.rstrip() if cell.kind == "code" else "") for cell in cells]


def _holds_work(path: Path, base: list[Cell] | None, new: Notebook | None) -> bool:
    """Whether a file has other cells than were written, or are to be written."""
    if not path.exists():
        return False
    try:
        mine = _sources(notebooks.read(path))
    except NotebookError:
        return True
    return mine not in [_sources(base or []), _sources(_cells(new) if new else [])]


def _sources(cells: list[Cell]) -> list[tuple[str, str]]:
    return [(cell.kind, cell.source.rstrip()) for cell in cells]


def _with_new_words(
    folder: Path, file: str, base: list[Cell] | None, new: Notebook
) -> Iterator[str]:
    """New words for the Markdown cells that a learner left as they were written; all else stays.

    Where it is not known what was written, all cells with our ids have ours, and a copy is kept.
    """
    path = folder / file
    try:
        notebooks.read(path)
    except NotebookError as error:
        yield f"{file}: left alone, {error}"
        return
    words = {cell.id: cell.source for cell in _cells(new) if cell.kind == "markdown"}
    before = {cell.id: cell.source.rstrip() for cell in base or ()}
    mine: Notebook = json.loads(path.read_text(encoding="utf-8-sig"))
    changed = False
    for cell in mine["cells"]:
        source, id = as_text(cell.get("source", "")), cell.get("id")
        ours = cell.get("cell_type") == "markdown" and id in words
        if ours and source != words[id] and (base is None or source.rstrip() == before.get(id)):
            cell["source"], changed = words[id], True
    if changed and base is None:
        yield f"{file}: its words are new; yours is kept as {backup(path)}"
    if changed:
        notebooks.write(path, mine)
    _note(folder, file, new)
