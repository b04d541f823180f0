"""Where a learner is in the course: lessons opened, points, what comes next.

Nothing is kept for it. JupyterLab lays a copy of each notebook that it opens into a folder beside
the notebook, and a saved sheet holds what its checks said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from course_grading.exercise import Exercise, numbered
from course_grading.sheets.notebooks import as_text
from course_grading.sheets.release import counted
from course_lab.command_line import home

COPIES = ".ipynb_checkpoints"
SAID = re.compile(r"(passed|failed)(?:, (\d+) of)?")


class LastCheck(NamedTuple):
    """What the last check of an exercise said."""

    verdict: str
    points: int


def course_folder() -> Path:
    """The course that the working directory belongs to: the folder with `notebooks` in it."""
    here = Path.cwd()
    if (here.parent / "notebooks").is_dir():
        return here.parent
    return home("notebooks").parent


def opened(folder: Path) -> list[str]:
    """The lessons of `folder` that JupyterLab has opened, by name."""
    lessons = (path.stem for path in sorted((folder / "notebooks").glob("[0-9]*.ipynb")))
    copies = folder / "notebooks" / COPIES
    return [lesson for lesson in lessons if (copies / f"{lesson}-checkpoint.ipynb").exists()]


def saved(sheet: Path, exercises: Sequence[Exercise]) -> dict[str, LastCheck]:
    """What the checks of a saved sheet say of its numbered exercises, by slug.

    Of a file that is no notebook: nothing.
    """
    try:
        cells = json.loads(sheet.read_text(encoding="utf-8"))["cells"]
        said = {cell.get("id"): _text(cell) for cell in cells}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    outcomes = {}
    for exercise in exercises:
        found = re.search(
            rf"^{re.escape(exercise.number)} {SAID.pattern}",
            said.get(f"check-{exercise.slug}", ""), re.MULTILINE,
        )  # fmt: skip
        if found:
            points = exercise.points if found[1] == "passed" else int(found[2] or 0)
            outcomes[exercise.slug] = LastCheck(found[1], points)
    return outcomes


def _text(cell: Mapping[str, Any]) -> str:
    """What a cell printed, and the error that it ended with."""
    outputs = cell.get("outputs", [])
    return "\n".join(as_text(one.get("text", "")) + one.get("evalue", "") for one in outputs)


def progress_lines(
    folder: Path, sheets: Mapping[str, Sequence[Exercise]], tried: Mapping[str, LastCheck]
) -> list[str]:
    """What `progress` prints. `tried` is what this kernel checked, and newer than what is saved."""
    known = numbered(sheets)
    sheets = {name: [known[exercise.slug] for exercise in sheet] for name, sheet in sheets.items()}
    outcomes: dict[str, LastCheck] = {}
    for name, exercises in sheets.items():
        outcomes |= saved(folder / "exercises" / f"{name}.ipynb", exercises)
    outcomes |= tried
    return [
        *_of_lessons(folder, sheets), *_of_exercises(sheets, outcomes),
        _next(folder, sheets, outcomes),
    ]  # fmt: skip


def _of_lessons(folder: Path, sheets: Mapping[str, Sequence[Exercise]]) -> list[str]:
    seen = opened(folder)
    of = sum((folder / "notebooks" / f"{name}.ipynb").exists() for name in sheets)
    which = f": {', '.join(name[:2] for name in seen)}" if seen else ""
    return [f"lessons opened in JupyterLab: {len(seen)} of {of}{which}"]


def _of_exercises(
    sheets: Mapping[str, Sequence[Exercise]], outcomes: Mapping[str, LastCheck]
) -> list[str]:
    everything = [exercise for exercises in sheets.values() for exercise in exercises]
    said = []
    for exercise in everything:
        if outcome := outcomes.get(exercise.slug):
            points = f"{outcome.points} of {counted(exercise.points, 'point')}"
            said.append(f"  {exercise.number:6}{outcome.verdict:15}{points:16}{exercise.title}")
    got = sum(outcome.points for outcome in outcomes.values())
    every = counted(sum(exercise.points for exercise in everything), "point")
    return [f"exercises checked: {len(said)} of {len(everything)}, {got} of {every}", *said]


def _next(
    folder: Path, sheets: Mapping[str, Sequence[Exercise]], outcomes: Mapping[str, LastCheck]
) -> str:
    """The first exercise that is open in the sheet of the furthest lesson, else a lesson."""
    names, seen = list(sheets), opened(folder)
    if not seen:
        return f"next: lesson {_title(folder, names[0])}"
    for exercise in sheets[seen[-1]]:
        if outcomes.get(exercise.slug, LastCheck("", 0)).verdict != "passed":
            return f"next: exercise {exercise.number}, {exercise.title}"
    ahead = names[names.index(seen[-1]) + 1 :]
    return f"next: lesson {_title(folder, ahead[0])}" if ahead else "next: nothing, that was all"


def _title(folder: Path, name: str) -> str:
    """The heading of a lesson; of the museum, which has none, that of its sheet."""
    for path in (folder / "notebooks" / f"{name}.ipynb", folder / "exercises" / f"{name}.ipynb"):
        if path.exists():
            first = as_text(json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"])
            return first.splitlines()[0].removeprefix("# ").removeprefix("Exercises ")
    return name
