"""Grade a class with Dask: a worker for each core of this machine, or a cluster that exists."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import TYPE_CHECKING, Any

from course_grading.classes.handed_in import Who
from course_grading.classes.store import Store, version
from course_grading.classes.work import Result, Sheet, dask_setup, grade_sheets
from course_grading.running.graded import Graded, GradedNotebook
from course_grading.running.runner import Settings, exercises_of
from course_grading.running.sandbox import unusable
from course_grading.verdicts import Verdict
from course_lib.errors import CourseError

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

TRIES = 3
"""How often a notebook is tried by itself, after all others, before anything is said of it."""
ENDED = Verdict(
    "error",
    message=f"{TRIES} processes in which this notebook was graded have ended, where others were "
    "graded.",
)
NOBODY: Who = ("nobody", "")
TIMEOUT = 10
"""Seconds for a scheduler to answer."""
MOMENT = 0.2
"""Seconds for a worker to end when the command was stopped; it is killed then."""
RUNNING = "running"
"""A file in a command's temporary folder, locked until the command has ended."""
GONE = (
    "the scheduler has gone. All results so far are kept; run the command again to go on, with a "
    "scheduler that is there or without one"
)
MISSING = 'Dask is not installed: pip install -e ".[learn,class]", or `make class`, brings it'


@dataclass(frozen=True)
class Work:
    """What is still to be graded of one learner."""

    learner: Who
    sheets: tuple[Sheet, ...]


@contextmanager
def cluster(workers: int | None = None, scheduler: str | None = None) -> Iterator[Client]:
    """A client of the scheduler at this address, or of one made for the occasion."""
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise CourseError(MISSING) from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    dask.config.set({"distributed.scheduler.allowed-failures": TRIES - 1})
    if scheduler:
        try:
            client = Client(scheduler, timeout=TIMEOUT)
        except (OSError, ValueError) as error:
            raise CourseError(f"there is no Dask scheduler at {scheduler}") from error
        with client:
            yield client
        return
    count = workers or len(os.sched_getaffinity(0))
    own = {
        "distributed.worker.preload": [dask_setup.__module__],
        # A worker that has ended is started again, which takes longer than Dask's 15 seconds where
        # a machine is busy; then Dask would give it up, and nobody would be left to grade.
        "distributed.deploy.lost-worker-timeout": "1 day",
        # What Dask says of itself over HTTP, anybody on this machine could read.
        "distributed.scheduler.http.routes": [],
        "distributed.worker.http.routes": [],
        "distributed.admin.large-graph-warning-threshold": "1GB",
    }
    with (
        _own_folder() as folder,
        dask.config.set({"temporary-directory": folder, **own}),
        # A scheduler runs whatever it is sent: nobody else on this machine may send it anything.
        LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            memory_limit=0,
            security=True,
            protocol="tls://",
            # Without an address, Dask takes port 8787, and warns if somebody has it.
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            local_directory=folder,
            env={"TMPDIR": folder},
        ) as local,
        Client(local) as client,
    ):
        try:
            yield client
        except BaseException:
            local.sync(_end_workers, local)
            raise


@contextmanager
def _own_folder() -> Iterator[str]:
    """A temporary folder for learners' notebooks; those of commands that were killed go."""
    for marked in Path(gettempdir()).glob(f"class-*/{RUNNING}"):
        with suppress(OSError), marked.open("r+b") as mark:
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)  # refused while its command runs
            shutil.rmtree(marked.parent, ignore_errors=True)
    with (
        TemporaryDirectory(prefix="class-", ignore_cleanup_errors=True) as folder,
        (Path(folder) / RUNNING).open("wb") as mark,
    ):
        fcntl.flock(mark, fcntl.LOCK_EX)
        yield folder


async def _end_workers(local: LocalCluster) -> None:
    """Give workers MOMENT to end; Dask would wait seconds for their current task."""
    closing = [nanny.close(timeout=MOMENT) for nanny in local.workers.values()]
    await asyncio.gather(*closing, return_exceptions=True)


def check_workers(client: Client, settings: Settings) -> None:
    """Raises CourseError for workers that would not grade as this machine does."""
    here = version()
    if not (versions := client.run(version)):
        raise CourseError("the scheduler has no workers: start one with `dask worker ADDRESS`")
    for worker, there in versions.items():
        if there != here:
            raise CourseError(f"the worker {worker} has another version of the course")
    for worker, why in client.run(unusable).items() if settings.sandbox else ():
        if why:
            raise CourseError(f"the worker {worker} has no sandbox: {why}")


def grade_class(
    client: Client,
    work: list[Work],
    settings: Settings,
    store: Store,
    progress: Callable[[], None],
) -> None:
    """Grade what is to be graded, and keep each result in `store` as it comes.

    Work that a worker did not live to end, or that failed for no learner's code, is tried again
    when all else is done, notebook by notebook with nothing beside it. If one fails TRIES times,
    the sheet as it was released is graded in the same way: where this can be done, the notebook is
    to blame, and gets the verdict "error". Where it cannot, the machine is: CourseError says why,
    and nothing is kept of it.
    """

    def keep(learner: Who, results: list[Result]) -> list[Result]:
        """Those that failed are given back."""
        for result in results:
            if "failed" not in result:
                store.add(learner, result)
                progress()
        return [result for result in results if "failed" in result]

    suspects = []
    for one, results in _graded(client, work, settings, at_once=sum(client.ncores().values())):
        failed = None if results is None else {one["key"] for one in keep(one.learner, results)}
        suspects += [
            Work(one.learner, (sheet,))
            for sheet in one.sheets
            if failed is None or sheet.key in failed
        ]
    for one in suspects:
        [sheet] = one.sheets
        why = ""
        for _ in range(TRIES):
            [(_, results)] = _graded(client, [one], settings, at_once=1)
            left = (
                [{"failed": "the worker ended"}] if results is None else keep(one.learner, results)
            )
            if not left:
                break
            why = left[0]["failed"]
        else:
            _must_grade(client, sheet, settings, why)
            keep(one.learner, [_took_all_down(sheet, settings)])


def _must_grade(client: Client, sheet: Sheet, settings: Settings, why: str) -> None:
    """Raises CourseError if not even the sheet as it was released can be graded."""
    released = Sheet("released", sheet.name, sheet.released, sheet.released)
    [(_, results)] = _graded(client, [Work(NOBODY, (released,))], settings, at_once=1)
    if results is None or "failed" in results[0]:
        why = results[0]["failed"] if results else why
        raise CourseError(
            f"nothing can be graded any more: {why}. All results so far are kept; when that is "
            "mended, run the command again to go on"
        )


def _graded(
    client: Client, work: list[Work], settings: Settings, at_once: int
) -> Iterator[tuple[Work, list[Result] | None]]:
    """Each piece of work with its results, or None if worker after worker died with it."""
    from distributed import CancelledError, KilledWorker, as_completed

    waiting = iter(work)

    asked: dict[Any, Work] = {}
    running = as_completed()

    def submit_next() -> None:
        if one := next(waiting, None):
            future = client.submit(grade_sheets, one.learner, one.sheets, settings, pure=False)
            asked[future.key] = one
            running.add(future)

    for _ in range(at_once):
        submit_next()
    for future in running:
        one = asked.pop(future.key)
        try:
            results = future.result()
        except KilledWorker:
            results = None
        except CancelledError as error:
            raise CourseError(GONE) from error
        yield one, results
        submit_next()


def _took_all_down(sheet: Sheet, settings: Settings) -> Result:
    graded = tuple(Graded(one, ENDED) for one in exercises_of(settings.released / sheet.name))
    return GradedNotebook(sheet.name, "", graded).plain() | {"key": sheet.key, "seconds": 0.0}
