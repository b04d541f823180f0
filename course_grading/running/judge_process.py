"""One notebook run by nbval inside a process of its own; the judging happens here.

The kernel asks (see `kernel_side`); this process, which the kernel cannot reach, draws the
questions and judges the answers. What happens is sent, event by event, to the process that started
this one (see `rounds`), so that a judge which ends at once leaves behind how far it came.
"""

from __future__ import annotations

import json
import math
import os
import re
import secrets
from dataclasses import dataclass, replace
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import nbval.plugin
import pytest

from course_grading.running import processes
from course_grading.running.kernels import KernelDied, WaitingKernel, WatchedKernel
from course_grading.sheets.notebooks import Cell, as_notebook, write
from course_grading.verdicts import Verdict

if TYPE_CHECKING:
    from course_grading.running.sandbox import Sandbox

SETUP = 90.0
"""Seconds at least for a cell that came with the notebook: a slow machine is not the learner's."""
MEMORY = 4_000_000_000
"""Bytes of addresses that a judge may have, besides those it begins with: how much it reads and
computes is up to a learner's code."""
SILENT = Verdict(
    "error",
    message="no answer came back. Does a cell replace a function of Python's or a library's?",
)
UNDEFINED = "no cell defines `{name}`: the answer must be called that."


@dataclass(frozen=True)
class Plan:
    """What a judge is to do."""

    released: list[Cell]
    learner: list[Cell]
    specs: str
    timeout: float
    max_output: int
    folder: Path
    """Its own, for all that it writes."""
    start_method: str
    until: float = math.inf
    """When, on the monotonic clock, the whole notebook has to be judged."""
    done: frozenset[str] = frozenset()
    """Exercises that have their verdicts."""
    left_out: frozenset[str] = frozenset()
    """Names of cells that are not to be run again."""
    first: bool = True
    """Whether this is the first round of its notebook: later ones begin in a new sandbox."""
    alone: str = ""
    """The only exercise whose cells are run, if there is one."""
    seed: int | None = None
    """What the questions are drawn from; None for other ones each time."""
    sandbox: Sandbox | None = None
    """Where the kernel runs; None for a process beside this one."""


def run(plan: Plan, events: Connection) -> None:
    """The process: judge what `plan` asks for, and tell `events` about it."""
    processes.end_with_parent()
    processes.keep_to_ourselves()
    processes.adopt_orphans()
    processes.default_signals()
    processes.limit_memory(MEMORY)
    _be_silent(plan.folder)
    if plan.sandbox:
        WatchedKernel.waiting, WatchedKernel.transport = plan.sandbox.kernel(), "ipc"
    else:
        WatchedKernel.waiting = WaitingKernel(processes.context(plan.start_method))
    WatchedKernel.folder = plan.folder
    try:
        judge = Judge(plan, events)
        if judge.cells:
            judge.run_notebook()
        judge.note("done")
    finally:
        processes.end_children()


def _be_silent(folder: Path) -> None:
    """What Python, pytest and others print goes to a file that `rounds` reads if all else fails."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    out = os.open(folder / "errors.txt", os.O_WRONLY | os.O_CREAT)
    for number in (1, 2):
        os.dup2(out, number)


class Judge:
    """The pytest plugin: knows what each cell is for, judges check cells, tells of the rest."""

    def __init__(self, plan: Plan, events: Connection):
        # not before a kernel was started, which must not have the specs in its memory
        from course_grading.judging.kinds import draw, kind_of
        from course_grading.sheets.assembling import assemble

        self.plan = plan
        self.events = events
        self.exercises = import_module(plan.specs).EXERCISES
        assembled = assemble(plan.released, plan.learner, self.exercises)
        for slug, verdict in assembled.decided.items():
            self._verdict(slug, verdict)
        self.cells = {
            cell.name: cell
            for cell in assembled.cells
            if cell.name not in plan.left_out
            and not (cell.role == "check" and cell.exercise in plan.done)
            and (not plan.alone or cell.exercise in (plan.alone, ""))
        }
        checks = [cell for cell in self.cells.values() if cell.role == "check"]
        if not checks:
            self.cells = {}
        self.kinds = {cell.exercise: kind_of(self.exercises[cell.exercise]) for cell in checks}
        self.questions = {
            slug: kind.questions_in_grading(draw(kind.exercise, self._chance(slug)))
            for slug, kind in self.kinds.items()
        }
        self.judge_sides = {
            slug: kind.judge_side(self.questions[slug]) for slug, kind in self.kinds.items()
        }
        self.trouble: dict[str, Verdict] = {}
        parts = ("name", "role", "exercise", "begins")
        cells = [
            {part: getattr(cell, part) for part in parts}
            | {"once": cell.role == "check" and self.judge_sides[cell.exercise] is not None}
            for cell in self.cells.values()
        ]
        self.note("cells", cells=cells)

    def note(self, event: str, **fields: Any) -> None:
        """Tell of an event. As JSON: what is read of it runs nothing."""
        self.events.send_bytes(json.dumps({"event": event, **fields}).encode())

    def _chance(self, slug: str) -> Random:
        """For each exercise its own, whatever else is asked in this round."""
        seed = secrets.randbits(64) if self.plan.seed is None else self.plan.seed
        return Random(f"{seed} {slug}")

    def run_notebook(self) -> None:
        """Let nbval run the cells; its exit status says nothing, the events say all."""
        folder = self.plan.folder
        notebook, settings = folder / "graded.ipynb", folder / "grading.ini"
        sources = [Cell(name, self._source(name)) for name in self.cells]
        write(notebook, as_notebook(sources))
        settings.write_text("[pytest]\n")
        WatchedKernel.max_output = self.plan.max_output
        nbval.plugin.RunningKernel = WatchedKernel
        options = ["--nbval-lax", "--nbval-current-env", "--noconftest", "-q", "-p", "nbval.plugin"]
        options += ["-c", str(settings), "--rootdir", str(folder), "-p", "no:cacheprovider"]
        pytest.main([*options, str(notebook)], plugins=[self])

    def _source(self, name: str) -> str:
        cell = self.cells[name]
        if cell.role != "check":
            return cell.source
        slug = cell.exercise
        return self.kinds[slug].cell_source(self.questions[slug], self.plan.specs)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: Any) -> None:
        cell = self.cells[item.cell["id"]]
        limit = max(self.plan.timeout, SETUP) if cell.role == "other" else self.plan.timeout
        item.config.option.nbval_cell_timeout = limit
        check = cell.role == "check"
        item.parent.kernel.judge_side = self.judge_sides[cell.exercise] if check else None
        self.note("start", cell=cell.name)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        if call.when == "setup" and call.excinfo:
            self.note("broken", why=f"no kernel could be started: {call.excinfo.value}")
        if call.when != "call":
            return
        cell, kernel = self.cells[item.cell["id"]], item.parent.kernel
        error = call.excinfo.value if call.excinfo else None
        ended = any(
            isinstance(one, dict) and one.get("source") == "ask_exit"
            for one in kernel.reply.get("payload", [])
        )
        problem = self._problem(kernel)
        if ended or isinstance(error, KernelDied) or not kernel.is_alive():
            why = str(error or "it ended the kernel")
            verdict = "timed out" if kernel.interrupted_at else "error"
            self.note("died", cell=cell.name, verdict=verdict, why=why)
            item.session.shouldstop = "the kernel is gone"
        elif cell.role == "other" and problem:
            self.note("died", cell=cell.name, verdict="error", why=problem.message)
            item.session.shouldstop = "nothing can be judged without the notebook's own cells"
        else:
            self._judge_cell(cell, problem, item.test_outputs or [])
            self.note("end", cell=cell.name, again=kernel.interrupted_at is None)

    def _problem(self, kernel: Any) -> Verdict | None:
        """From the execute reply, not nbval's view of it: an answer can replace the traceback."""
        if kernel.interrupted_at:
            limit = f"{self.plan.timeout:g} s"
            return Verdict("timed out", message=f"it ran longer than {limit} and was stopped.")
        if kernel.reply.get("status") == "error":
            return Verdict("error", message=_error_text(kernel.reply))
        return None

    def _judge_cell(self, cell: Any, problem: Verdict | None, outputs: list[Any]) -> None:
        if cell.role == "check":
            self._judge_check(cell.exercise, problem, outputs)
        elif problem and cell.exercise:
            what = "the answer cell" if cell.role == "answer" else "a cell beside the answer"
            trouble = Verdict(problem.verdict, message=f"{what}: {problem.message}")
            self.trouble.setdefault(cell.exercise, trouble)

    def _judge_check(self, slug: str, problem: Verdict | None, outputs: list[Any]) -> None:
        from course_grading.judging import judge
        from course_grading.judging.kernel_side import MIME

        exercise, kind, side = self.exercises[slug], self.kinds[slug], self.judge_sides[slug]
        sent = [data[MIME] for out in outputs if MIME in (data := out.get("data", {}))]
        heard = side is not None and len(side.outcomes) == len(self.questions[slug])
        if problem and not (heard and problem.verdict == "error"):
            if problem.verdict == "error":
                self._silent(slug, problem)
            else:
                self._verdict(slug, problem)
        elif not heard and (len(sent) != 1 or not isinstance(sent[0], dict)):
            self._silent(slug)
        elif not heard and sent[0] == {"undefined": True}:
            missing = Verdict("missing", message=UNDEFINED.format(name=exercise.name))
            self._verdict(slug, self.trouble.get(slug, missing))
        else:
            try:
                outcomes = side.outcomes if side else sent[0]["outcomes"]
                questions, outcomes, note = kind.settled(self.questions[slug], outcomes)
                verdict = judge(exercise, questions, outcomes)
                verdict = replace(verdict, message=f"{verdict.message}\n{note}".strip())
                if verdict.verdict == "failed" and self.plan.seed is not None:
                    verdict = replace(verdict, fingerprint=kind.fingerprint(questions, outcomes))
            except Exception as error:  # whatever a kernel sends, the other exercises are graded
                message = f"the answer could not be judged: {error!r:.300}"
                verdict = Verdict("error", message=message)
            self._verdict(slug, verdict)

    def _silent(self, slug: str, problem: Verdict = SILENT) -> None:
        """The check cell told nothing: another cell may have broken what it needs, so it is asked
        once more without the others. Not if the answer was shown something: it may remember."""
        side = self.judge_sides[slug]
        if side is not None and side.began:
            self._verdict(slug, problem)
        else:
            self.note("silent", exercise=slug, **problem.plain())

    def _verdict(self, slug: str, verdict: Verdict) -> None:
        self.note("verdict", exercise=slug, **verdict.plain())


def _error_text(reply: dict[str, Any]) -> str:
    text = f"{reply.get('ename')}: {reply.get('evalue')}"
    return re.sub(r"\(\S+\.py, line (\d+)\)", r"(line \1)", text)[:600]
