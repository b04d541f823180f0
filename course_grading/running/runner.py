"""Grade notebooks: hand them to processes that grade, and collect what those say.

Nothing is imported here that takes long, and nothing of a learner's runs here: a process that
grades (see `service`) may be ended by what it runs, and costs one notebook then.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TextIO

from course_grading.running.graded import Graded, GradedNotebook, MachineFailed, Report
from course_grading.running.processes import START_METHOD, keep_to_ourselves
from course_grading.sheets import notebooks, submissions
from course_grading.sheets.notebooks import Listed
from course_grading.sheets.submissions import Submission
from course_grading.verdicts import Verdict

if TYPE_CHECKING:
    from course_grading.running.sandbox import Limits

SPECS = "course_grading.specs"
MAX_OUTPUT = 4_000_000
"""Bytes that one cell may publish."""
ENDED = Verdict("error", message="the process that graded this notebook was ended by it.")
Progress = Callable[[], None]


@dataclass(frozen=True)
class Settings:
    """How to grade; tests bring their own released notebooks and specs."""

    timeout: float = 60.0
    released: Path = notebooks.RELEASED
    specs: str = SPECS
    max_output: int = MAX_OUTPUT
    start_method: str = START_METHOD
    """How judges and kernels are started, see `processes`."""
    seed: int | None = None
    """What questions are drawn from; None for other ones each time."""
    sandbox: Limits | None = None
    """What a learner's code may use in its sandbox; None for kernels without one."""


def exercises_of(sheet: Path) -> list[Listed]:
    """The exercises of a released notebook: what a file is scored against."""
    return notebooks.listed(notebooks.read(sheet))


def grade(
    paths: Iterable[Path], settings: Settings | None = None, progress: Progress = lambda: None
) -> Report:
    """The report on notebooks, or on folders of them; `progress` is called for each exercise."""
    settings = settings or Settings()
    return grade_all(submissions.find(paths, settings.released), settings, progress)


def grade_all(found: list[Submission], settings: Settings, progress: Progress) -> Report:
    """The report on these submissions, of which some are graded at the same time."""
    waiting: SimpleQueue[int] = SimpleQueue()
    for number in range(len(found)):
        waiting.put(number)
    graded: dict[int, GradedNotebook] = {}
    workers = min(len(found), len(os.sched_getaffinity(0)) if LINUX else os.cpu_count() or 1)
    with _temporary_folder() as folder:
        services = [Service(settings, folder) for _ in range(workers)]

        def work(service: Service) -> None:
            with suppress(Empty):
                while True:
                    number = waiting.get_nowait()
                    graded[number] = service.grade(found[number], progress)

        pool = ThreadPoolExecutor(max_workers=max(workers, 1))
        try:
            list(pool.map(work, services))
        finally:
            for service in services:
                service.end()
            pool.shutdown(wait=False, cancel_futures=True)
    return Report([graded[number] for number in range(len(found))])


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    """A folder that goes, although a kernel ends a moment after what started it, and may write."""
    with TemporaryDirectory(prefix="course-", ignore_cleanup_errors=True) as name:
        try:
            yield Path(name)
        finally:
            for _ in range(50):
                shutil.rmtree(name, ignore_errors=True)
                if not Path(name).exists():
                    break
                time.sleep(0.1)


LINUX = sys.platform == "linux"


class Service:
    """A process that grades one notebook after the other; a new one when it was ended."""

    def __init__(self, settings: Settings, folder: Path):
        self.settings = settings
        self.folder = folder
        self.process: subprocess.Popen[bytes] | None = None
        self.socket: socket.socket | None = None
        self.lines: TextIO | None = None
        self.ended = False

    def grade(
        self, submission: Submission, progress: Progress, learner: str = ""
    ) -> GradedNotebook:
        """The verdicts on one notebook; a sandbox is kept while the learner is the same.

        Raises MachineFailed if there is a sandbox, and grading ended all the same: nothing in a
        sandbox can end it.
        """
        settings = self.settings
        ticket = secrets.token_hex(8)
        limits = {"timeout": settings.timeout, "max_output": settings.max_output,
                  "start_method": settings.start_method, "seed": settings.seed}  # fmt: skip
        files = {"path": str(submission.path.absolute()), "sheet": str(submission.sheet.absolute())}
        request = files | {"specs": settings.specs, "limits": limits, "ticket": ticket}
        if settings.sandbox:
            request["sandbox"] = {"learner": learner, "limits": asdict(settings.sandbox)}
        exercises = exercises_of(submission.sheet)
        settled, why = 0, "the process that grades has ended"
        try:
            for event in self._ask(request):
                if event.get("ticket") != ticket:  # somebody else's: this process is not alone
                    continue
                if "graded" in event:
                    return _read(event["graded"], submission, exercises)
                if "failed" in event:
                    why = str(event["failed"])
                    break
                settled += 1
                progress()
        except (OSError, ValueError, AttributeError):
            pass  # it was ended
        self._stop()
        if settings.sandbox:
            raise MachineFailed(why)
        for _ in exercises[settled:]:
            progress()
        return _graded(submission, {one.slug: ENDED for one in exercises}, exercises)

    def _ask(self, request: dict[str, Any]) -> Iterable[dict[str, Any]]:
        if self.process is None and not self.ended:
            keep_to_ourselves()
            ours, theirs = socket.socketpair()  # a pipe could be opened by others, in /proc
            with theirs:
                self.process = subprocess.Popen(
                    [sys.executable, "-P", "-m", "course_grading.running.service"],
                    stdin=theirs.fileno(),
                    stdout=theirs.fileno(),
                    stderr=subprocess.DEVNULL,
                    cwd=self.folder,
                    env=clean_environment(str(self.folder)),
                    start_new_session=True,
                )
            self.socket, self.lines = ours, ours.makefile("rw", encoding="utf-8")
        assert self.process and self.lines
        print(json.dumps(request), file=self.lines, flush=True)
        for line in self.lines:
            yield json.loads(line)

    def end(self) -> None:
        """Stop, now; what it started ends with it."""
        self.ended = True
        self._stop()

    def _stop(self) -> None:
        process, self.process = self.process, None
        if process is None:
            return
        if self.socket and self.lines:
            with suppress(OSError):  # first, since closing waits for whoever is reading
                self.socket.shutdown(socket.SHUT_RDWR)
            with suppress(OSError):
                self.lines.close()
            self.socket.close()
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(5)
        process.kill()
        process.wait()


def _read(plain: dict[str, Any], submission: Submission, exercises: list[Listed]) -> GradedNotebook:
    verdicts = {one["id"]: Verdict.of(one) for one in plain["exercises"]}
    return _graded(submission, verdicts, exercises)


def _graded(
    submission: Submission, verdicts: dict[str, Verdict], exercises: list[Listed]
) -> GradedNotebook:
    graded = tuple(Graded(one, verdicts[one.slug]) for one in exercises)
    return GradedNotebook(submission.sheet.name, str(submission.path), graded)


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
