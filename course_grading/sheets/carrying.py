"""Carry answers from sheets of an earlier release into the sheets of this one.

`course update` of the release that a learner had starts this module of the release that was
pulled: `python -m course_grading.sheets.carrying FOLDER`, with {"sheets": [{"name", "base",
"mine", "backup"}]} as JSON on stdin. So the module's name and what it reads stay as they are. For
each sheet that the learner changed there are its cells as they were released, its cells as the
learner left them, and where the whole file is kept. FOLDER holds the new sheets already. A sheet
may have been renamed, split or merged since: an answer goes to the sheet that has its exercise
now. Nothing is said to be in before it was read back.
"""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from course_grading.sheets import notebooks, renamed
from course_grading.sheets.assembling import merge, same_code
from course_grading.sheets.notebooks import Cell
from course_grading.sheets.release import counted

Sheets = dict[str, list[Cell]]
"""Cells by the name of the file that they are in."""


@dataclass(frozen=True)
class OldSheet:
    """A sheet of an earlier release that a learner changed."""

    name: str
    base: list[Cell]
    """Its cells as they were released."""
    mine: list[Cell]
    """Its cells as the learner left them."""
    backup: str
    """Where the whole file is kept."""


def carry(folder: Path, old_sheets: list[OldSheet]) -> Iterator[str]:
    """Write the answers into the sheets in `folder`; one line for each old sheet."""
    sheets = {path.name: notebooks.read(path) for path in sorted(folder.glob("*.ipynb"))}
    homes = {
        cell.exercise: name
        for name, cells in sheets.items()
        for cell in cells
        if cell.role == "answer"
    }
    for old in old_sheets:
        placed = list(_placed(old, homes, sheets))
        for name in {cell.home for cell in placed if cell.changed} & sheets.keys():
            sheets[name] = _merged(sheets[name], list(_cells_for(name, sheets[name], placed)))
            notebooks.write(folder / name, notebooks.as_notebook(sheets[name]))
    for old in old_sheets:
        yield _report(folder, old, list(_placed(old, homes, sheets)), homes)


class Placed(NamedTuple):
    """A learner's cell under today's names, and where it belongs."""

    cell: Cell
    changed: bool
    home: str
    """The new sheet that has the exercise at which the cell stands."""


def _placed(old: OldSheet, homes: dict[str, str], sheets: Sheets) -> Iterator[Placed]:
    released = {cell.id: cell.source for cell in old.base}
    today = renamed.as_today(old.mine)
    of_cells = [homes.get(_exercise_at(cell.id)) for cell in today]
    home = old.name if old.name in sheets else next(filter(None, of_cells), old.name)
    for was, cell, of_cell in zip(old.mine, today, of_cells, strict=True):
        home = of_cell or home
        yield Placed(cell, released.get(was.id) != was.source, home)


def _exercise_at(cell_id: str) -> str:
    """The slug in a cell id such as `task-rotary-rotate`; no slug where there is no exercise."""
    return cell_id.partition("-")[2]


def _cells_for(name: str, new: list[Cell], placed: list[Placed]) -> Iterator[Cell]:
    """The learner's changed cells for a sheet, between unchanged ones that mark their places."""
    in_new = {cell.id: cell for cell in new}
    answered = {one.cell.id for one in placed if one.changed and one.cell.id}
    for cell, changed, home in placed:
        if changed and home == name:
            yield cell
        elif not changed and cell.id in in_new and cell.id not in answered:
            yield in_new[cell.id]


def _merged(new: list[Cell], mine: list[Cell]) -> list[Cell]:
    """The cells of both, each with an id of its own."""
    used: set[str] = set()
    cells = []
    for one in merge(new, mine):
        name = one.cell.id
        name = name if name and name not in used else secrets.token_hex(4)
        used.add(name)
        cells.append(replace(one.cell, id=name))
    return cells


def _report(folder: Path, old: OldSheet, placed: list[Placed], homes: dict[str, str]) -> str:
    """What became of the answers in an old sheet, as the files now say."""
    stubs = {renamed.cell_id(cell.id): cell.source for cell in old.base}
    answers: dict[str, Cell] = {}
    for cell, changed, _ in placed:
        stub = stubs.get(cell.id, "")
        if cell.role == "answer" and changed and not same_code(cell.source, stub):
            answers.setdefault(cell.exercise, cell)
    arrived: dict[str, int] = {}
    says = []
    for slug, cell in answers.items():
        home = homes.get(slug, "")
        now = {c.id: c.source for c in notebooks.read(folder / home)} if home else {}
        if now.get(cell.id) == cell.source:
            arrived[home] = arrived.get(home, 0) + 1
        else:
            says.append(f"no place for the answer to {slug}, copy it by hand")
    for home, number in arrived.items():
        elsewhere = f" {home}" if home != old.name else ""
        says.append(f"{counted(number, 'answer')} in{elsewhere}")
    own = sum(one.changed and one.cell.role != "answer" for one in placed)
    if own and not homes:  # a lesson
        says.append(f"{counted(own, 'cell')} of yours in")
    return f"{old.name}: {'; '.join(says or ['no answers'])}; your file is kept as {old.backup}"


def _old_sheet(name: str, base: list[Any], mine: list[Any], backup: str) -> OldSheet:
    return OldSheet(name, list(map(Cell.of, base)), list(map(Cell.of, mine)), backup)


def main() -> int:
    """Carry over what stands on stdin into the folder that is named."""
    sheets = [_old_sheet(**sheet) for sheet in json.load(sys.stdin)["sheets"]]
    for line in carry(Path(sys.argv[1]), sheets):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
