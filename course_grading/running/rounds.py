"""Grade one notebook: run it in rounds, until each of its exercises has its verdict.

A round is one judge (see `judge_process`). If a cell takes the kernel, or the judge, down with it,
its exercise gets its verdict, and another round without that cell judges what is left. So every
exercise is judged, and each costs at most a round or two.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from course_grading.running import processes
from course_grading.running.graded import Graded, GradedNotebook, MachineFailed
from course_grading.running.judge_process import SETUP, Plan, run
from course_grading.sheets import notebooks
from course_grading.sheets.notebooks import Listed, NotebookError
from course_grading.sheets.renamed import as_today
from course_grading.verdicts import Verdict

STALLED = 30.0
"""Seconds beyond the limit for a cell in which a judge must have told of something."""
LONGEST = 10_000_000
"""Bytes of one event."""
TWICE = Verdict("error", message="two verdicts came for this exercise, so neither counts.")
LEFT_OUT = "A cell beside the answer was left out, since {why}. It begins with `{line}`."
A_NEW_ONE = "`course exercises --force` makes a new one, and keeps a file that is there."
TOO_LONG = Verdict("timed out", message="the notebook as a whole ran too long, and was stopped.")
"""After the time for set-up, and for each exercise twice the limit of a cell and a stall: answers
need no more, but there may be any number of cells beside them."""
ONCE = Verdict(
    "error",
    message="its judge ended after it was shown what it has to tell apart, and nothing is shown "
    "twice. Grade the notebook again.",
)
OWN_CELL = "a cell that came with the notebook did not finish ({why}). Is the machine overloaded?"


@dataclass
class Round:
    """What one judge left behind."""

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    silent: dict[str, Verdict] = field(default_factory=dict)
    """Exercises whose answers were asked, and sent nothing; what to say if that stays so."""
    shown: set[str] = field(default_factory=set)
    """Exercises without a verdict whose answers may have seen what they have to tell apart."""
    slow: set[str] = field(default_factory=set)
    cells: dict[str, dict[str, Any]] = field(default_factory=dict)
    culprit: dict[str, Any] | None = None
    blame: Verdict = field(default_factory=lambda: Verdict("error"))


def grade_notebook(
    path: Path, sheet: Path, specs: str, limits: dict[str, Any], settled: Callable[[], None]
) -> GradedNotebook:
    """The verdicts on the notebook at `path`, which is a learner's copy of the released `sheet`.

    Raises MachineFailed, in a sandbox only, for what ended that no learner's code can reach.
    """
    released = notebooks.read(sheet)
    exercises = notebooks.listed(released)
    verdicts: dict[str, Verdict] = {}

    def settle(slug: str, verdict: Verdict) -> None:
        if slug not in verdicts:
            verdicts[slug] = verdict
            settled()

    try:
        learner = [
            cell
            for cell in as_today(notebooks.read(path))
            if not cell.id.startswith(notebooks.AFTERWARDS)  # a solved sheet may be graded, too
        ]
        must_be_same_notebook(sheet.name, released, learner, exercises)
        with TemporaryDirectory(prefix="round-", ignore_cleanup_errors=True) as folder:
            longest = SETUP + (2 * limits["timeout"] + STALLED) * len(exercises)
            until = time.monotonic() + longest
            plan = Plan(released, learner, specs, folder=Path(folder), until=until, **limits)
            run_rounds(plan, {one.slug for one in exercises}, settle)
    except NotebookError as error:
        for one in exercises:
            settle(one.slug, Verdict("missing", message=f"{error}. {A_NEW_ONE}"))
    except MachineFailed:
        raise
    except Exception as error:  # a bug of ours in one notebook is not to cost another its grade
        if limits.get("sandbox"):
            raise MachineFailed(f"could not be graded: {error!r}") from error
        for one in exercises:
            settle(one.slug, Verdict("error", message=f"could not be graded: {error!r}"))
    graded = tuple(Graded(one, verdicts[one.slug]) for one in exercises)
    return GradedNotebook(sheet.name, str(path), graded)


def must_be_same_notebook(
    name: str,
    released: list[notebooks.Cell],
    learner: list[notebooks.Cell],
    exercises: list[Listed],
) -> None:
    """Raises NotebookError if nothing in `learner` belongs to the released notebook."""
    known = {cell.id for cell in released if cell.exercise}
    for cell in learner:
        if cell.id in known or cell.grade_id in known:
            return
        if any(one.name in cell.source for one in exercises):
            return
    slugs = sorted({cell.exercise for cell in learner if cell.exercise})
    others = f" (it has {', '.join(slugs)})" if slugs else ""
    raise NotebookError(f"{name} is another notebook under this name{others}")


def run_rounds(plan: Plan, pending: set[str], settle: Callable[[str, Verdict], None]) -> None:
    """Run rounds until each exercise in `pending` has its verdict."""
    notes: dict[str, str] = {}
    tried_again = False
    while pending:
        if time.monotonic() > plan.until:
            for slug in pending:
                settle(slug, TOO_LONG)
            return
        result = run_round(plan)
        plan = replace(plan, first=False)
        for slug in pending & set(result.silent):  # some cell broke what all of them need
            alone = run_round(replace(plan, alone=slug)).verdicts
            result.verdicts[slug] = alone.get(slug, result.silent[slug])
        for slug, verdict in result.verdicts.items():
            settle(slug, _with_note(verdict, notes.get(slug)))
        pending = pending - set(result.verdicts)
        culprit = result.culprit
        left_out = plan.left_out | result.slow | ({culprit["name"]} if culprit else set())
        blamed = culprit is not None and bool(culprit["exercise"])
        if culprit and culprit["role"] == "beside":  # the answer itself may be right
            why = result.blame.message
            notes[culprit["exercise"]] = LEFT_OUT.format(line=culprit["begins"], why=why)
        elif culprit and culprit["exercise"]:
            settle(culprit["exercise"], result.blame)
            pending = pending - {culprit["exercise"]}
        for slug in pending & result.shown:
            settle(slug, ONCE)
        pending = pending - result.shown
        if not blamed and tried_again:
            for slug in pending:
                settle(slug, _no_culprit(result))
            return
        if not blamed:  # nobody's fault, perhaps not even the machine's
            tried_again, left_out = True, plan.left_out
        done = {cell["exercise"] for cell in result.cells.values()} - pending
        plan = replace(plan, left_out=frozenset(left_out), done=plan.done | done)


def _no_culprit(result: Round) -> Verdict:
    if result.culprit is None:
        return result.blame
    return Verdict("error", message=OWN_CELL.format(why=result.blame.message.rstrip(".")))


def _with_note(verdict: Verdict, note: str | None) -> Verdict:
    if note is None or verdict.verdict == "passed":
        return verdict
    return replace(verdict, message=f"{verdict.message}\n{note}")


def run_round(plan: Plan) -> Round:
    """One judge, which may end in any way it likes."""
    with TemporaryDirectory(dir=plan.folder, ignore_cleanup_errors=True) as folder:
        plan = replace(plan, folder=Path(folder))
        if plan.sandbox and plan.first:
            plan.sandbox.be_empty()
        elif plan.sandbox:
            plan.sandbox.renew()
        context = processes.context(plan.start_method)
        receiver, sender = context.Pipe(duplex=False)
        judge = context.Process(target=run, args=(plan, sender))  # type: ignore[attr-defined]
        judge.start()
        sender.close()
        events = []
        patience = max(plan.timeout, SETUP) + STALLED
        ended = ""
        try:
            while receiver.poll(max(0.0, min(patience, plan.until - time.monotonic()))):
                events.append(_event(receiver.recv_bytes(LONGEST)))
            ended = f"the judge told nothing for {patience:g} s and was stopped."
            if time.monotonic() > plan.until:
                ended = TOO_LONG.message
        except (EOFError, OSError):  # closed by the judge, or broken by somebody
            judge.join(5)
        judge.kill()
        judge.join()
        processes.end_children(spared=[plan.sandbox.pid] if plan.sandbox else [])
        last = _last_line(plan.folder / "errors.txt")
    result = read_events(events, judge.exitcode or 0)
    if plan.sandbox and judge.exitcode and not ended:
        raise MachineFailed(f"the judge ended with status {judge.exitcode}. {last}".strip())
    ended = ended or f"the judge ended with status {judge.exitcode}."
    if not result.blame.message:
        result.blame = replace(result.blame, message=f"{ended} {last}".strip())
    return result


def _last_line(path: Path) -> str:
    lines = path.read_text(errors="replace").split("\n") if path.exists() else []
    return next((line for line in reversed(lines) if line.strip()), "")[:300]


def _event(sent: bytes) -> dict[str, Any]:
    """What the judge told; somebody else may have written there as well."""
    try:
        event = json.loads(sent)
    except ValueError:
        event = None
    return {"event": None} | event if isinstance(event, dict) else {"event": None}


def read_events(events: list[dict[str, Any]], status: int = 0) -> Round:
    """A round from its events. A cell that started, and neither ended nor died, is the culprit.

    A verdict counts only if the judge came to its end, and if it is the only one on its exercise:
    from a judge that was stopped on the way, anything may have been written in its name.
    """
    result = Round()
    whole = status == 0 and bool(events) and events[-1]["event"] == "done"
    for event in events:
        kind = event["event"]
        if kind == "cells":
            result.cells = {cell["name"]: cell for cell in event["cells"]}
        elif kind == "start":
            result.culprit = result.cells.get(event["cell"])
            if result.culprit and result.culprit.get("once"):
                result.shown.add(result.culprit["exercise"])
        elif kind == "end":
            result.culprit = None
            if not event["again"]:
                result.slow.add(event["cell"])
        elif kind == "verdict" and whole:
            twice = event["exercise"] in result.verdicts
            result.verdicts[event["exercise"]] = TWICE if twice else Verdict.of(event)
        elif kind == "silent" and whole:
            result.silent[event["exercise"]] = Verdict.of(event)
        elif kind in ("died", "broken"):
            result.blame = Verdict(event.get("verdict", "error"), message=event["why"])
    result.shown -= result.verdicts.keys() | result.silent.keys()
    return result
