"""Put a learner's cells into a released notebook, for grading or for a new release.

Only the learner's answers and own cells are taken from the file. Checks, set-up and text are
the released ones, so it does not matter what was edited, deleted or forged there.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from course_grading.exercise import Exercise
from course_grading.judging.forbidden import (
    bound_names,
    forbidden_in_cells,
    parse,
    reads_grader,
    shortcut,
)
from course_grading.sheets.notebooks import BUTTON, HINTS, Cell
from course_grading.verdicts import Verdict

NOT_ATTEMPTED = "`{name}` is still to be written."
MISSING = (
    "there is no answer cell, and no other cell that defines `{name}`. "
    "`course reset {number}` brings the cell back, `course update` those of a newer release."
)
READS_GRADER = (
    "the cell uses parts of `course_grading` that belong to the grader, so it was not run: "
    "`check`, `hint`, `progress` and `grade_button` are there for you."
)


@dataclass(frozen=True)
class Placed:
    """A cell in its place."""

    cell: Cell
    role: str
    """"answer", "check", "beside" for a cell of the learner's own, "other" for a released one."""
    exercise: str
    """The one that it belongs to; of a released cell that is no answer or check, ""."""
    learners: bool
    """Whether it comes from the learner's file."""


def merge(released: list[Cell], learner: list[Cell]) -> list[Placed]:
    """The released notebook with the learner's answers in their slots and own cells between.

    A learner's own cell comes after the released cell that it followed. An edited released cell
    counts as one: the released one runs first, so that nothing in it can be missing.
    """
    slots = _match(released, learner)
    followed: str = ""
    following: dict[str, list[Cell]] = {}
    for cell in learner:
        slot = slots.get(id(cell))
        followed = slot.id if slot else followed
        if slot is None or _is_edited(cell, slot):
            following.setdefault(followed, []).append(cell)
    answers = {slot.id: cell for cell in learner if (slot := slots.get(id(cell)))}
    first = next((cell.exercise for cell in released if cell.exercise), "")
    placed, exercise = [_beside(cell, first) for cell in following.get("", [])], first
    for cell in released:
        exercise = cell.exercise or exercise
        if cell.role == "answer" and cell.id in answers:
            answer = replace(cell, source=answers[cell.id].source)
            placed.append(Placed(answer, cell.role, exercise, learners=True))
        else:
            placed.append(Placed(cell, cell.role, cell.exercise, learners=False))
        placed += [_beside(learners, exercise) for learners in following.get(cell.id, [])]
    return placed


def _beside(cell: Cell, exercise: str) -> Placed:
    return Placed(cell, "beside", exercise, learners=True)


def _match(released: list[Cell], learner: list[Cell]) -> dict[int, Cell]:
    """For each learner's cell, by identity, the released cell that it is a copy of.

    By cell id; else by nbgrader's name, which a pasted copy shares; else by equal source. Of
    several candidates the first one that was changed is the answer, the others are own cells.
    """
    slots: dict[int, Cell] = {}
    for same in (
        lambda a, b: a.id == b.id,
        lambda a, b: a.grade_id != "" and a.grade_id == b.grade_id,
        lambda a, b: a.source == b.source,
    ):
        filled = {slot.id for slot in slots.values()}
        for slot in released:
            candidates = [
                cell
                for cell in learner
                if id(cell) not in slots and cell.kind == slot.kind and same(slot, cell)
            ]
            if candidates and slot.id not in filled:
                changed = [c for c in candidates if not same_code(c.source, slot.source)]
                slots[id((changed or candidates)[0])] = slot
    return slots


def _is_edited(cell: Cell, slot: Cell) -> bool:
    """Whether the learner wrote into a cell that is no place for answers."""
    free = slot.role == "other" and slot.id != BUTTON
    return free and not same_code(cell.source, slot.source)


def same_code(one: str, other: str) -> bool:
    """Whether two sources differ in nothing but comments and layout."""
    if one.strip() == other.strip():
        return True
    trees = parse(one), parse(other)
    return all(trees) and len({ast.dump(tree) for tree in trees if tree}) == 1


@dataclass(frozen=True)
class ToRun:
    """A cell as a judge runs it."""

    name: str
    """Its number, the same in every round."""
    role: str
    exercise: str
    source: str

    @property
    def begins(self) -> str:
        """Its first line, to say which cell is meant."""
        return next((line.strip() for line in self.source.splitlines() if line.strip()), "")[:60]


@dataclass
class Assembled:
    """What to run (`cells`), and what is known without running anything (`decided`)."""

    cells: list[ToRun] = field(default_factory=list)
    decided: dict[str, Verdict] = field(default_factory=dict)


def assemble(
    released: list[Cell], learner: list[Cell], exercises: Mapping[str, Exercise]
) -> Assembled:
    """The cells to run, in order; a check cell stays in only if there is something to ask."""
    placed = [one for one in merge(released, learner) if one.cell.kind == "code"]
    stubs = [cell.source for cell in released if cell.role == "answer"]
    written = [one for one in placed if one.learners and not _is_stub(one, stubs)]
    ours = [one for one in written if reads_grader(one.cell.source)]
    decided: dict[str, Verdict] = {}
    without_slot: set[str] = set()
    asked: set[str] = set()
    for one in placed:
        if one.role != "answer":
            continue
        exercise = exercises[one.exercise]
        touched = one in written
        elsewhere = any(_defines(other, exercise) for other in written if other is not one)
        used = forbidden_in_cells(exercise, [other.cell.source for other in [*written, one]])
        if not touched and not elsewhere:
            verdict = "not attempted" if one.learners else "missing"
            says = NOT_ATTEMPTED if one.learners else MISSING
            message = says.format(name=exercise.name, number=exercise.number)
            decided[exercise.slug] = Verdict(verdict, message=message)
        elif one in ours:
            decided[exercise.slug] = Verdict("not attempted", message=READS_GRADER)
        elif used:
            decided[exercise.slug] = Verdict("not attempted", message=shortcut(exercise, used))
        else:
            asked.add(exercise.slug)
            if not touched:
                without_slot.add(exercise.slug)
    written = [one for one in written if one not in ours]
    cells = _to_run(placed, written, asked, without_slot)
    return Assembled(
        [ToRun(f"cell-{placed.index(one)}", one.role, one.exercise, _source(one)) for one in cells],
        decided,
    )


def _to_run(
    placed: list[Placed], written: list[Placed], asked: set[str], without_slot: set[str]
) -> list[Placed]:
    """Set-up, the learner's cells, and checks; a check whose answer stands in no slot is last."""
    runs = []
    for one in placed:
        setup = one.role == "other" and not _only_for_the_learner(one.cell)
        check = one.role == "check" and one.exercise in asked - without_slot
        if setup or check or one in written:
            runs.append(one)
    return runs + [one for one in placed if one.role == "check" and one.exercise in without_slot]


def _only_for_the_learner(cell: Cell) -> bool:
    """Whether a released cell has nothing that an answer could need."""
    return cell.id == BUTTON or cell.id.startswith(HINTS)


def _is_stub(one: Placed, stubs: list[str]) -> bool:
    """Whether nothing was written into it, also where a stub was pasted below an answer."""
    return any(same_code(one.cell.source, stub) for stub in stubs)


def _defines(one: Placed, exercise: Exercise) -> bool:
    tree = parse(one.cell.source)
    return exercise.name in (bound_names(tree) if tree else one.cell.source)


def _source(one: Placed) -> str:
    """No comment in a learner's cell tells nbval to skip it or to expect an error."""
    source = one.cell.source
    return re.sub("(NBVAL|PYTEST_VALIDATE)_", r"\1__", source) if one.learners else source
