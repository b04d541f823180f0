"""Grade notebooks: decide what can be decided from the file, run the rest, collect verdicts.

A notebook is run in rounds. A round is one subprocess (see `judge_process`). If a cell takes the
kernel, or the subprocess, down with it, its exercise gets its verdict, and another round without
that cell judges what is left. So every exercise is judged, and each costs at most one round.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from course_grading import notebooks
from course_grading.assembling import Placed, assemble, without_markers
from course_grading.exercise import Exercise
from course_grading.notebooks import Cell, NotebookError
from course_grading.renamed import as_today

SPECS = "course_grading.specs"
MAX_OUTPUT = 4_000_000
"""Bytes that one cell may publish."""
STARTUP = 90.0
"""Seconds for a subprocess and its kernel to start, on top of the time for its cells."""


@dataclass(frozen=True)
class Settings:
    """How to grade; tests bring their own released notebooks and specs."""

    timeout: float = 60.0
    released: Path = notebooks.RELEASED
    specs: str = SPECS
    max_output: int = MAX_OUTPUT


@dataclass
class Round:
    """What one subprocess left behind."""

    verdicts: dict[str, dict[str, Any]] = field(default_factory=dict)
    slow: set[str] = field(default_factory=set)
    culprit: str | None = None
    verdict: str = "error"
    why: str = ""


TWICE = {"verdict": "error", "message": "two verdicts came for this exercise, so neither counts."}
LEFT_OUT = "A cell beside the answer was left out, since {why}. It begins with `{line}`."
Progress = Callable[[], None]


def grade(
    paths: list[Path], settings: Settings | None = None, progress: Progress = lambda: None
) -> dict[str, Any]:
    """The report on these notebooks, as `course grade --json` writes it."""
    settings = settings or Settings()
    pool = ThreadPoolExecutor(max_workers=os.cpu_count() or 1)
    try:
        graded = list(pool.map(lambda path: grade_notebook(path, settings, progress), paths))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # not waiting: Ctrl-C has to work
    return {"points": _sum(graded, "points"), "max_points": _sum(graded, "max_points"),
            "notebooks": graded}  # fmt: skip


def _sum(parts: list[dict[str, Any]], key: str) -> int:
    return sum(part[key] for part in parts)


def expected(name: str, settings: Settings) -> dict[str, Exercise]:
    """The exercises that a released notebook has, in order: what a file is scored against."""
    known = import_module(settings.specs).EXERCISES
    cells = notebooks.read(settings.released / name)
    ids = [id for role, id in map(notebooks.role_and_exercise, cells) if role == "check"]
    return {id: known[id] for id in ids}


def grade_notebook(path: Path, settings: Settings, progress: Progress) -> dict[str, Any]:
    """One notebook's part of the report."""
    exercises = expected(path.name, settings)
    verdicts: dict[str, dict[str, Any]] = {}

    def settle(id: str, verdict: dict[str, Any]) -> None:
        if id in exercises and id not in verdicts:
            verdicts[id] = verdict
            progress()

    try:
        released = notebooks.read(settings.released / path.name)
        learner = as_today(notebooks.read(path))
        must_be_same_notebook(path.name, released, learner, exercises)
        assembled = assemble(released, learner, exercises)
        for id, (verdict, message) in assembled.decided.items():
            settle(id, {"verdict": verdict, "message": message})
        run_rounds(assembled.cells, settings, settle)
    except NotebookError as error:
        for id in exercises:
            settle(id, {"verdict": "missing", "message": f"{error}."})
    except Exception as error:  # a bug of ours in one notebook is not to cost another its grade
        for id in exercises:
            settle(id, {"verdict": "error", "message": f"could not be graded: {error!r}"})
    graded = [_scored(exercise, verdicts[id]) for id, exercise in exercises.items()]
    return {"notebook": path.name, "points": _sum(graded, "points"),
            "max_points": _sum(graded, "max_points"), "exercises": graded}  # fmt: skip


def _scored(exercise: Exercise, verdict: dict[str, Any]) -> dict[str, Any]:
    # a message may quote the learner's: no control characters in terminals and XML
    message = "".join(c for c in verdict["message"] if c.isprintable() or c == "\n")
    return {
        "id": exercise.slug,
        "number": exercise.number,
        "title": exercise.title,
        "points": min(max(verdict.get("points", 0), 0), exercise.points),
        "max_points": exercise.points,
        "verdict": verdict["verdict"],
        "mistake": verdict.get("mistake"),
        "message": message,
    }


def must_be_same_notebook(
    name: str, released: list[Cell], learner: list[Cell], exercises: dict[str, Exercise]
) -> None:
    """Raises NotebookError if nothing in `learner` belongs to the released notebook."""
    known = {cell["id"] for cell in released if notebooks.role_and_exercise(cell)[1]}
    names = [exercise.name for exercise in exercises.values()]
    for cell in learner:
        if cell["id"] in known or notebooks.grade_id(cell) in known:
            return
        if any(word in cell["source"] for word in names):
            return
    slugs = sorted({slug for _, slug in map(notebooks.role_and_exercise, learner) if slug})
    others = f" (it has {', '.join(slugs)})" if slugs else ""
    raise NotebookError(f"{name} is another notebook under this name{others}")


# Rounds


def run_rounds(
    cells: list[Placed], settings: Settings, settle: Callable[[str, dict[str, Any]], None]
) -> None:
    """Run rounds until each check cell among `cells` has its verdict."""
    numbered: list[dict[str, Any]] = [
        {"id": f"cell-{number}", "role": one.role, "exercise": one.exercise,
         "source": without_markers(one.cell["source"]) if one.learners else one.cell["source"]}
        for number, one in enumerate(cells)
    ]  # fmt: skip
    done: set[str] = set()
    left_out: dict[str | None, str] = {}
    while pending := [c for c in numbered if c["role"] == "check" and c["exercise"] not in done]:
        result = run_round(numbered, settings)
        for id, verdict in result.verdicts.items():
            settle(id, _with_note(verdict, left_out.get(id)))
        done |= set(result.verdicts)
        culprit = next((c for c in numbered if c["id"] == result.culprit), None)
        blamed = culprit["exercise"] if culprit else None
        blame = {"verdict": result.verdict, "message": result.why}
        if culprit and culprit["role"] == "beside":  # the answer itself may be right
            left_out[blamed] = LEFT_OUT.format(line=_first_line(culprit["source"]), why=result.why)
        elif blamed:
            settle(blamed, blame)
            done.add(blamed)
        if culprit is None or culprit["role"] == "other":
            for cell in pending:
                settle(cell["exercise"], blame)
            return
        numbered = [
            cell
            for cell in numbered
            if cell is not culprit
            and cell["id"] not in result.slow
            and not (cell["role"] == "check" and cell["exercise"] in done)
        ]


def _with_note(verdict: dict[str, Any], note: str | None) -> dict[str, Any]:
    if note is None or verdict["verdict"] == "passed":
        return verdict
    return {**verdict, "message": f"{verdict['message']}\n{note}"}


def _first_line(source: str) -> str:
    return next((line.strip() for line in source.splitlines() if line.strip()), "")[:60]


def run_round(cells: list[dict[str, Any]], settings: Settings) -> Round:
    """Run `cells` in one subprocess, which may end in any way it likes."""
    limit = STARTUP + (settings.timeout + 10) * len(cells)
    with tempfile.TemporaryDirectory(prefix="course-", ignore_cleanup_errors=True) as folder:
        plan = {"cells": cells, "specs": settings.specs, "timeout": settings.timeout,
                "max_output": settings.max_output, "folder": folder}  # fmt: skip
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "course_grading.judge_process"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            cwd=folder, env=clean_environment(folder), text=True, start_new_session=True,
        )  # fmt: skip
        try:
            events, errors = process.communicate(json.dumps(plan), timeout=limit)
            ended = f"the grading process ended with status {process.returncode}."
        except subprocess.TimeoutExpired:
            process.kill()
            events, errors = process.communicate()
            ended = f"grading was stopped after {limit:g} s."
    result = read_events(list(map(_event, events.split("\n")[:-1])), process.returncode)
    result.why = result.why or f"{ended} {errors[-500:]}".strip()
    return result


def clean_environment(folder: str) -> dict[str, str]:
    """Ours, without what could steer pytest, IPython or matplotlib in there."""
    steering = ("PYTEST", "JPY_", "JUPYTER", "IPYTHON", "MPL", "NBVAL", "COLUMNS")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(steering)}
    return kept | {
        "TMPDIR": folder,  # so that nothing is left of a kernel that died
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "IPYTHONDIR": f"{folder}/ipython",
        "JUPYTER_RUNTIME_DIR": f"{folder}/runtime",
        "JUPYTER_CONFIG_DIR": f"{folder}/config",
        "COURSE_GRADING": "1",
    }


def _event(line: str) -> dict[str, Any]:
    """What the judge wrote on a line; something else may have written there as well."""
    with suppress(ValueError):
        event = json.loads(line)
        if isinstance(event, dict):
            return {"event": None} | event
    return {"event": None}


def read_events(events: list[dict[str, Any]], status: int = 0) -> Round:
    """A round from its events. A cell that started, and neither ended nor died, is the culprit.

    A verdict counts only if the judge came to its end, and if it is the only one on its exercise:
    from a judge that was stopped on the way, anything may have been written in its name.
    """
    result = Round()
    whole = status >= 0 and bool(events) and events[-1]["event"] == "done"
    for event in events:
        if event["event"] == "start":
            result.culprit = event["cell"]
        elif event["event"] == "end":
            result.culprit = None
            if not event["again"]:
                result.slow.add(event["cell"])
        elif event["event"] == "verdict" and whole:
            twice = event["exercise"] in result.verdicts
            result.verdicts[event["exercise"]] = TWICE if twice else event
        elif event["event"] in ("died", "broken"):
            result.verdict, result.why = event.get("verdict", "error"), event["why"]
    return result
