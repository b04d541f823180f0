"""One notebook run by nbval inside a process of its own; the judging happens here.

Started by `runner` as `python -P -m course_grading.judge_process` with a plan on stdin. The
kernel asks (see `asking`); this process, which the kernel cannot reach, draws the questions and
judges the answers. What happens is written line by line to the pipe that was our stdout, so that
a process which ends at once leaves behind how far it came; the kernel has another stdout.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import secrets
import subprocess
import sys
import time
from collections import deque
from importlib import import_module
from pathlib import Path
from queue import Empty
from random import Random
from typing import Any, TextIO

import nbval.plugin
import pytest
from nbval.kernel import RunningKernel, start_new_kernel

from course_grading.asking import MIME, cell_source, draw
from course_grading.judging import judge
from course_grading.notebooks import as_notebook, write

PR_SET_DUMPABLE = 4
SETUP = 90.0
"""Seconds at least for a cell that came with the notebook: a slow machine is not the learner's."""
UNDEFINED = "no cell defines `{name}`: the answer must be called that."


class KernelDied(Exception):
    """The kernel is gone; the message says how."""


# nbval offers no way to watch its kernel, so what follows relies on inner parts of release 0.11:
# - the plugin makes its kernel as nbval.plugin.RunningKernel(name, cwd, startup_timeout), a name
#   that `main` below replaces, and keeps it as `item.parent.kernel`;
# - `km`, `kc`, `_ensure_iopub_up`, `is_alive`, `interrupt` and `get_message` of that class, and
#   that a cell is run by `execute_cell_input`, then `await_reply`, then `get_message("iopub")`;
# - `item.cell` and `item.test_outputs` of the items that it collects.
# pyproject.toml keeps nbval below 0.12; before that is raised, read those parts again.


class WatchedKernel(RunningKernel):
    """nbval's kernel, but a dead one is noticed at once, and one that floods us is stopped."""

    folder = ""
    max_output = 4_000_000
    patience = 5.0
    """Seconds that a cell has to end after it was interrupted."""

    def __init__(self, kernel_name: str, cwd: str | None = None, startup_timeout: float = 60):
        self.reply: dict[str, Any] = {}
        self.interrupted_at: float | None = None
        self._forget()
        # not nbval's own start, which hands PYTEST_* and our stdout on to the kernel
        self.km, self.kc = start_new_kernel(
            startup_timeout=startup_timeout,
            kernel_name=kernel_name,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
            env={k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")},
        )
        self._ensure_iopub_up()

    def _forget(self) -> None:
        self.waiting: deque[dict[str, Any]] = deque()
        self.seen = 0

    def execute_cell_input(self, cell_input: str, allow_stdin: bool | None = None) -> str:
        self._forget()
        self.reply, self.interrupted_at = {}, None
        return str(super().execute_cell_input(cell_input, allow_stdin))

    def await_reply(self, msg_id: str, timeout: float | None = None) -> None:
        deadline = time.monotonic() + (timeout or 60)
        while time.monotonic() < deadline:
            self._drain()
            try:
                message = self.kc.get_shell_msg(timeout=0.1)
            except Empty:
                self._must_live()
                continue
            if message["parent_header"].get("msg_id") == msg_id:
                self.reply = message["content"]
                return
        raise Empty

    def get_message(self, stream: str, timeout: float | None = None) -> dict[str, Any]:
        if stream != "iopub":
            return dict(super().get_message(stream, timeout))
        deadline = time.monotonic() + (timeout or 60)
        while time.monotonic() < deadline:
            if self.interrupted_at and time.monotonic() > self.interrupted_at + self.patience:
                self.end("it did not stop when it was interrupted")
            if not self.waiting:
                self._drain(wait=0.1)
            if self.waiting:
                return self.waiting.popleft()
            self._must_live()
        raise Empty

    def interrupt(self) -> None:
        self.interrupted_at = time.monotonic()
        super().interrupt()

    def _drain(self, wait: float = 0.0) -> None:
        """Take what has been published; bytes are counted even where nobody reads them."""
        while True:
            try:
                message = self.kc.get_iopub_msg(timeout=wait)
            except Empty:
                return
            wait = 0.0
            self.seen += len(str(message["content"]))
            if self.seen > self.max_output:
                self.end(f"it printed more than {self.max_output / 1e6:g} MB")
            self.waiting.append(message)

    def _must_live(self) -> None:
        if not self.is_alive():
            raise KernelDied("it ended the kernel (out of memory, or an exit?)")

    def end(self, why: str) -> None:
        self.km.shutdown_kernel(now=True)
        raise KernelDied(why)


class Judge:
    """The pytest plugin: knows what each cell is for, judges check cells, writes down the rest."""

    def __init__(self, plan: dict[str, Any], events: TextIO):
        self.timeout: float = plan["timeout"]
        self.specs: str = plan["specs"]
        self.exercises = import_module(self.specs).EXERCISES
        self.cells = {cell["id"]: cell for cell in plan["cells"]}
        self.events = events
        self.trouble: dict[str, tuple[str, str]] = {}
        self.questions = {
            cell["exercise"]: draw(self.exercises[cell["exercise"]], Random(secrets.randbits(64)))
            for cell in plan["cells"]
            if cell["role"] == "check"
        }

    def notebook(self) -> dict[str, Any]:
        return as_notebook(
            [
                {"id": id, "cell_type": "code", "metadata": {}, "source": self._source(cell)}
                for id, cell in self.cells.items()
            ]
        )

    def _source(self, cell: dict[str, Any]) -> str:
        if cell["role"] != "check":
            return str(cell["source"])
        exercise = self.exercises[cell["exercise"]]
        return cell_source(exercise, self.questions[exercise.slug], self.specs)

    def note(self, event: str, **fields: Any) -> None:
        print(json.dumps({"event": event, **fields}), file=self.events, flush=True)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: Any) -> None:
        cell = self.cells[item.cell["id"]]
        ours = cell["role"] == "other"
        item.config.option.nbval_cell_timeout = max(self.timeout, SETUP) if ours else self.timeout
        self.note("start", cell=cell["id"])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        if call.when == "setup" and call.excinfo:
            self.note("broken", why=f"no kernel could be started: {call.excinfo.value}")
        if call.when != "call":
            return
        cell, kernel = self.cells[item.cell["id"]], item.parent.kernel
        error = call.excinfo.value if call.excinfo else None
        ended = any(p.get("source") == "ask_exit" for p in kernel.reply.get("payload", []))
        if ended or isinstance(error, KernelDied) or not kernel.is_alive():
            why = "it ended the kernel" if ended else str(error)
            verdict = "timed out" if kernel.interrupted_at else "error"
            self.note("died", cell=cell["id"], verdict=verdict, why=why)
            item.session.shouldstop = "the kernel is gone"
            return
        self._judge_cell(cell, kernel, item.test_outputs or [])
        self.note("end", cell=cell["id"], again=kernel.interrupted_at is None)

    def _judge_cell(self, cell: dict[str, Any], kernel: Any, outputs: list[Any]) -> None:
        # the execute reply, not nbval's view of it: an answer can replace IPython's traceback
        if kernel.interrupted_at:
            problem = ("timed out", f"it ran longer than {self.timeout:g} s and was stopped.")
        elif kernel.reply.get("status") == "error":
            problem = ("error", _error_text(kernel.reply))
        else:
            problem = None
        if cell["role"] == "check":
            self._judge_check(cell["exercise"], problem, outputs)
        elif problem and cell["exercise"]:
            what = "the answer cell" if cell["role"] == "answer" else "a cell beside the answer"
            self.trouble.setdefault(cell["exercise"], (problem[0], f"{what}: {problem[1]}"))

    def _judge_check(self, id: str, problem: tuple[str, str] | None, outputs: list[Any]) -> None:
        exercise = self.exercises[id]
        sent = [data[MIME] for out in outputs if MIME in (data := out.get("data", {}))]
        if problem and problem[0] == "timed out":
            self._verdict(id, *problem)
        elif len(sent) != 1:
            self._verdict(id, "error", problem[1] if problem else "the answer sent no values.")
        elif sent[0] == {"undefined": True}:
            missing = ("missing", UNDEFINED.format(name=exercise.name))
            self._verdict(id, *self.trouble.get(id, missing))
        else:
            try:
                verdict = judge(exercise, self.questions[id], sent[0]["outcomes"])
            except Exception as error:  # whatever a kernel sends, the other exercises are graded
                self._verdict(id, "error", f"the answer could not be judged: {error!r:.300}")
                return
            said = (verdict.verdict, verdict.message, verdict.points, verdict.mistake)
            self._verdict(id, *said)

    def _verdict(
        self, id: str, verdict: str, message: str, points: int = 0, mistake: str | None = None
    ) -> None:
        fields = {"verdict": verdict, "message": message, "points": points, "mistake": mistake}
        self.note("verdict", exercise=id, **fields)


def _error_text(reply: dict[str, Any]) -> str:
    text = f"{reply.get('ename')}: {reply.get('evalue')}"
    return re.sub(r"\(\S+\.py, line (\d+)\)", r"(line \1)", text)[:600]


def keep_to_ourselves() -> None:
    """On Linux, let no process of the same user look into this one, as into its pipes in /proc."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def main() -> int:
    """Run the plan on stdin; the exit status says nothing, the events say all."""
    keep_to_ourselves()
    plan = json.load(sys.stdin)
    folder = Path(plan["folder"])
    events = open(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # pytest's own words go nowhere
    plan_judge = Judge(plan, events)
    notebook, settings = folder / "graded.ipynb", folder / "grading.ini"
    write(notebook, plan_judge.notebook())
    settings.write_text("[pytest]\n")
    WatchedKernel.folder = str(folder / "empty")
    os.mkdir(WatchedKernel.folder)
    WatchedKernel.max_output = plan["max_output"]
    nbval.plugin.RunningKernel = WatchedKernel
    options = ["--nbval-lax", "--nbval-current-env", "--noconftest", "-q", "-p", "nbval.plugin"]
    options += ["-c", str(settings), "--rootdir", str(folder), "-p", "no:cacheprovider"]
    options += ["--nbval-cell-timeout", str(plan["timeout"])]
    status = pytest.main([*options, str(notebook)], plugins=[plan_judge])
    plan_judge.note("done")
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
