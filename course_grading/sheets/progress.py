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
from course_grading.sheets.routes import SHORT_ROUTES, numbers
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
        *_next(folder, sheets, outcomes),
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


def _open(
    sheets: Mapping[str, Sequence[Exercise]], outcomes: Mapping[str, LastCheck]
) -> dict[str, list[Exercise]]:
    """The exercises not passed yet in each sheet in which one was passed or failed."""
    begun = {
        name: [exercise for exercise in exercises if not _passed(exercise, outcomes)]
        for name, exercises in sheets.items()
        if any(_tried(exercise, outcomes) for exercise in exercises)
    }
    return {name: left for name, left in begun.items() if left}


def _tried(exercise: Exercise, outcomes: Mapping[str, LastCheck]) -> bool:
    """Whether something was handed to its check: a stub is no answer."""
    return exercise.slug in outcomes and outcomes[exercise.slug].verdict != "not attempted"


def _passed(exercise: Exercise, outcomes: Mapping[str, LastCheck]) -> bool:
    return exercise.slug in outcomes and outcomes[exercise.slug].verdict == "passed"


def _next(
    folder: Path, sheets: Mapping[str, Sequence[Exercise]], outcomes: Mapping[str, LastCheck]
) -> list[str]:
    """What was begun and left open, and then the lessons after the last one with a pass.

    A lesson that was only opened changes nothing: one may look into any.
    """
    begun = _open(sheets, outcomes)
    passed = [n for n, those in sheets.items() if any(_passed(one, outcomes) for one in those)]
    if not begun:
        return _lessons(folder, sheets, outcomes, passed, "next")
    lines = ["begun and left open:"]
    for name, left in begun.items():
        says = [f"{e.number} (failed)" if _tried(e, outcomes) else e.number for e in left]
        lines.append(f"  {name[:2]}    {', '.join(says)}")
    first = next(iter(begun.values()))[0]
    lines.append(f"next: exercise {first.number}, {first.title}")
    return lines + (_lessons(folder, sheets, outcomes, passed, "then") if passed else [])


def _lessons(
    folder: Path,
    sheets: Mapping[str, Sequence[Exercise]],
    outcomes: Mapping[str, LastCheck],
    passed: Sequence[str],
    word: str,
) -> list[str]:
    """The next lesson in order, and those of the short routes where they go on to another.

    Of routes that are not begun, their first lesson, as long as lesson 00 is the last one passed.
    """
    names = list(sheets)
    left = [n for n in names if not all(_passed(one, outcomes) for one in sheets[n])]
    last = names.index(passed[-1]) if passed else -1
    ahead = [name for name in left if names.index(name) > last and name not in passed]
    in_order = (ahead or [name for name in left if name not in passed] or [""])[0]
    if not in_order:
        return [] if left else ["next: nothing, that was all"]
    found: dict[str, list[str]] = {in_order: []}
    for route, stops in SHORT_ROUTES.items():
        on_route = [name for name in names if int(name[:2]) in numbers(stops)]
        if last <= 0 or names[last] in on_route:
            for name in [name for name in on_route if name in ahead][:1]:
                found.setdefault(name, []).append(route)
    lines: list[str] = []
    for name, routes in found.items():
        ways = " and ".join(f'"{route}"' for route in routes)
        if not lines:
            also = f", also on the short route {ways}" if routes else ""
            lines.append(f"{word}: lesson {_title(folder, name)}{also}")
        else:
            lines.append(f"  on the short route {ways}: lesson {_title(folder, name)}")
    return lines


def _title(folder: Path, name: str) -> str:
    """The heading of a lesson; of the museum, which has none, that of its sheet."""
    for path in (folder / "notebooks" / f"{name}.ipynb", folder / "exercises" / f"{name}.ipynb"):
        if path.exists():
            first = as_text(json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"])
            return first.splitlines()[0].removeprefix("# ").removeprefix("Exercises ")
    return name
