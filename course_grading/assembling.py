"""Put a learner's cells into a released notebook, for grading or for a new release.

Only the learner's answers and own cells are taken from the file. Checks, set-up and text are
the released ones, so it does not matter what was edited, deleted or forged there.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from course_grading.exercise import Exercise
from course_grading.forbidden import bound_names, forbidden_in_cells, parse
from course_grading.notebooks import BUTTON, Cell, grade_id, role_and_exercise

NOT_ATTEMPTED = "`{name}` is still to be written."
MISSING = (
    "there is no answer cell, and no other cell that defines `{name}`. "
    "`course reset {number}` brings the cell back, `course update` those of a newer release."
)


@dataclass(frozen=True)
class Placed:
    """A cell in its place. `learners`: it comes from the learner's file."""

    cell: Cell
    role: str
    exercise: str | None
    learners: bool


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
        followed = slot["id"] if slot else followed
        if slot is None or _is_edited(cell, slot):
            following.setdefault(followed, []).append(cell)
    answers = {slot["id"]: cell for cell in learner if (slot := slots.get(id(cell)))}
    first = next(filter(None, (role_and_exercise(cell)[1] for cell in released)), None)
    placed, exercise = [_beside(cell, first) for cell in following.get("", [])], first
    for cell in released:
        role, of_exercise = role_and_exercise(cell)
        exercise = of_exercise or exercise
        if role == "answer" and cell["id"] in answers:
            answer = {**cell, "source": answers[cell["id"]]["source"]}
            placed.append(Placed(answer, role, exercise, learners=True))
        else:
            placed.append(Placed(cell, role, of_exercise, learners=False))
        placed += [_beside(learners, exercise) for learners in following.get(cell["id"], [])]
    return placed


def _beside(cell: Cell, exercise: str | None) -> Placed:
    return Placed(cell, "beside", exercise, learners=True)


def _match(released: list[Cell], learner: list[Cell]) -> dict[int, Cell]:
    """For each learner's cell, by identity, the released cell that it is a copy of.

    By cell id; else by nbgrader's name, which a pasted copy shares; else by equal source. Of
    several candidates the first one that was changed is the answer, the others are own cells.
    """
    slots: dict[int, Cell] = {}
    for same in (
        lambda a, b: a["id"] == b["id"],
        lambda a, b: grade_id(a) != "" and grade_id(a) == grade_id(b),
        lambda a, b: a["source"] == b["source"],
    ):
        filled = {slot["id"] for slot in slots.values()}
        for slot in released:
            candidates = [
                cell
                for cell in learner
                if id(cell) not in slots
                and cell["cell_type"] == slot["cell_type"]
                and same(slot, cell)
            ]
            if candidates and slot["id"] not in filled:
                changed = [c for c in candidates if not same_code(c["source"], slot["source"])]
                slots[id((changed or candidates)[0])] = slot
    return slots


def _is_edited(cell: Cell, slot: Cell) -> bool:
    """Whether the learner wrote into a cell that is no place for answers."""
    free = role_and_exercise(slot)[0] == "other" and slot["id"] != BUTTON
    return free and not same_code(cell["source"], slot["source"])


def same_code(one: str, other: str) -> bool:
    """Whether two sources differ in nothing but comments and layout."""
    if one.strip() == other.strip():
        return True
    trees = parse(one), parse(other)
    return all(trees) and len({ast.dump(tree) for tree in trees if tree}) == 1


@dataclass
class Assembled:
    """What to run (`cells`), and what is known without running anything (`decided`)."""

    cells: list[Placed]
    asked: list[str]
    decided: dict[str, tuple[str, str]] = field(default_factory=dict)


def assemble(
    released: list[Cell], learner: list[Cell], exercises: dict[str, Exercise]
) -> Assembled:
    """The cells to run, in order; a check cell stays in only if there is something to ask."""
    placed = [one for one in merge(released, learner) if one.cell["cell_type"] == "code"]
    stubs = {cell["id"]: cell["source"] for cell in released}
    written = [one for one in placed if one.learners and not _untouched(one, stubs)]
    assembled = Assembled([], [])
    without_slot: set[str] = set()
    for one in placed:
        if one.role != "answer" or one.exercise is None:
            continue
        exercise = exercises[one.exercise]
        touched = one in written
        elsewhere = any(_defines(other, exercise) for other in written if other is not one)
        used = forbidden_in_cells(exercise, [other.cell["source"] for other in [*written, one]])
        if not touched and not elsewhere:
            verdict = ("not attempted", NOT_ATTEMPTED) if one.learners else ("missing", MISSING)
            decided = (verdict[0], verdict[1].format(name=exercise.name, number=exercise.number))
            assembled.decided[exercise.slug] = decided
        elif used:
            from course_grading.checking import shortcut

            assembled.decided[exercise.slug] = ("not attempted", shortcut(exercise, used))
        else:
            assembled.asked.append(exercise.slug)
            if not touched:
                without_slot.add(exercise.slug)
    assembled.cells = _to_run(placed, written, assembled.asked, without_slot)
    return assembled


def _to_run(
    placed: list[Placed], written: list[Placed], asked: list[str], without_slot: set[str]
) -> list[Placed]:
    """Set-up, the learner's cells, and checks; a check whose answer stands in no slot is last."""
    runs = []
    for one in placed:
        setup = one.role == "other" and one.cell["id"] != BUTTON
        check = one.role == "check" and one.exercise in asked and one.exercise not in without_slot
        if setup or check or one in written:
            runs.append(one)
    return runs + [one for one in placed if one.role == "check" and one.exercise in without_slot]


def _untouched(one: Placed, stubs: dict[str, str]) -> bool:
    return one.role == "answer" and same_code(one.cell["source"], stubs[one.cell["id"]])


def _defines(one: Placed, exercise: Exercise) -> bool:
    tree = parse(one.cell["source"])
    return exercise.name in (bound_names(tree) if tree else one.cell["source"])


def without_markers(source: str) -> str:
    """So that no comment in a learner's cell tells nbval to skip it or to expect an error."""
    return source.replace("NBVAL_", "NBVAL__").replace("PYTEST_VALIDATE_", "PYTEST_VALIDATE__")
