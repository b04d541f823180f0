"""The learner's notebooks on disk: bring new ones, bring one back, keep copies.

What a learner wrote is theirs. A file is written only if it holds nothing of theirs, or if they ask
for it, and then a copy is kept in `.backup` beside it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course_grading.sheets import notebooks
from course_grading.sheets.notebooks import Cell, NotebookError
from course_lab.command_line import write_bytes

if TYPE_CHECKING:
    from course_grading.exercise import Exercise


def generated(solutions: Path, exercises: dict[str, Exercise]) -> dict[str, list[Cell]]:
    """Every sheet, as its solution makes it. Raises NotebookError if one is faulty."""
    from course_grading.sheets.release import generate  # which loads torch: graders do without

    sheets = {}
    for path in sorted(solutions.glob("*.ipynb")):
        try:
            cells = generate(path, exercises)["cells"]
        except NotebookError as error:
            raise NotebookError(f"{path}: {error}") from None
        sheets[path.name] = [Cell.of(cell) for cell in cells]
    return sheets


def release(sheets: dict[str, list[Cell]], released: Path) -> None:
    """Write the sheets from which learners' copies are made."""
    for name, cells in sheets.items():
        notebooks.write(released / name, notebooks.as_notebook(cells))


def refresh(
    folder: Path, sheets: dict[str, list[Cell]], before: dict[str, list[Cell]], force: bool = False
) -> Iterator[str]:
    """Copy sheets to `folder`, around what learners changed; one line for each.

    `before` is what was released until now: a file equal to it holds nothing of a learner's.
    """
    for name, new in sorted(sheets.items()):
        target = folder / name
        line = f"{name}: written"
        if target.exists() and _holds_work(target, [new, before.get(name, new)]):
            if not force:
                yield f"{target.name}: left alone, it was changed (--force keeps a backup of it)"
                continue
            line += f", yours is kept as {backup(target)}"
        notebooks.write(target, notebooks.as_notebook(new))
        yield line


def _holds_work(path: Path, releases: list[list[Cell]]) -> bool:
    """Whether a file has more in it than one of `releases`; one that cannot be read may have."""
    try:
        sources = _sources(notebooks.read(path))
    except NotebookError:
        return True
    return sources not in [_sources(cells) for cells in releases]


def _sources(cells: list[Cell]) -> list[tuple[str, str]]:
    return [(cell.kind, cell.source.rstrip()) for cell in cells]


def backup(path: Path) -> Path:
    """Copy `path` to a name that is free."""
    stamp = time.strftime("%Y-%m-%d-%H%M%S")
    folder = path.parent / ".backup"
    folder.mkdir(exist_ok=True)
    copy = folder / f"{path.stem}-{stamp}.ipynb"
    while copy.exists():
        copy = copy.with_stem(copy.stem + "-again")
    write_bytes(copy, path.read_bytes())
    return copy


def reset(folder: Path, released: Path, exercise: Exercise) -> str:
    """Bring back one exercise's answer cell as it was released; everything else stays."""
    name = f"answer-{exercise.slug}"
    for source in sorted(released.glob("*.ipynb")):
        original = next((cell for cell in notebooks.read(source) if cell.id == name), None)
        if original:
            return _reset_cell(folder / source.name, original)
    raise NotebookError(f"no released notebook has the exercise {exercise.number}")


def _reset_cell(path: Path, original: Cell) -> str:
    cells = notebooks.read(path)
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8-sig"))
    wanted, check = original.id, original.id.replace("answer", "check")
    names = [cell.id for cell in cells], [cell.grade_id for cell in cells]
    places = [column.index(wanted) for column in names if wanted in column]
    before = [column.index(check) for column in names if check in column]
    if places:
        notebook["cells"][places[0]] = original.plain()
    else:
        notebook["cells"].insert(before[0] if before else len(cells), original.plain())
    kept = backup(path)
    notebooks.write(path, notebook)
    return f"{path.name}: {wanted} is as released again; your file is kept as {kept}"
