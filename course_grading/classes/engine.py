"""Grade a class with Dask: a worker for each core of this machine, or a cluster that exists."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from course_grading.classes.handed_in import Who
from course_grading.classes.sandbox import unusable
from course_grading.classes.store import Store, version
from course_grading.classes.work import Result, Sheet, dask_setup, grade_sheets
from course_grading.runner import Settings, exercises_of
from course_grading.verdicts import Graded, GradedNotebook, Verdict
from course_lab.errors import CourseError

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

TRIES = 3
"""How often a notebook may take its worker down before it gets a verdict."""
ENDED = Verdict("error", message=f"{TRIES} processes in which this notebook was graded have ended.")
TIMEOUT = 10
"""Seconds for a scheduler to answer."""
MOMENT = 0.2
"""Seconds for a worker to end when the command was stopped; it is killed then."""
MISSING = 'Dask is not installed: pip install -e ".[class]", or `make class`, brings it'


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
    preloaded = {"distributed.worker.preload": [dask_setup.__module__]}
    with (
        TemporaryDirectory(prefix="class-", ignore_cleanup_errors=True) as folder,
        dask.config.set({"temporary-directory": folder, **preloaded}),
        LocalCluster(n_workers=count, threads_per_worker=1, memory_limit=0,
                     # Without an address, Dask takes port 8787, and warns if somebody has it.
                     dashboard_address="127.0.0.1:0", scheduler_kwargs={"dashboard": False},
                     local_directory=folder, env={"TMPDIR": folder}) as local,
        Client(local) as client,
    ):  # fmt: skip
        try:
            yield client
        except BaseException:
            local.sync(_end_workers, local)
            raise


async def _end_workers(local: LocalCluster) -> None:
    """Let workers no more than begin to end: Dask would give them seconds for what they do."""
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
    client: Client, work: list[Work], settings: Settings, store: Store,
    progress: Callable[[], None],
) -> None:  # fmt: skip
    """Grade what is to be graded, and keep each result in `store` as it comes.

    A worker that dies has its work done again by another. Work that was there each time when
    workers died is graded at the end, notebook by notebook with nothing beside it, so that no
    notebook is blamed for another. The one that is to blame gets the verdict "error".
    """

    def keep(learner: Who, results: list[Result]) -> None:
        for result in results:
            store.add(learner, result)
            progress()

    suspects = []
    for one, results in _graded(client, work, settings, at_once=sum(client.ncores().values())):
        if results is None:
            suspects += [Work(one.learner, (sheet,)) for sheet in one.sheets]
        else:
            keep(one.learner, results)
    for one, results in _graded(client, suspects, settings, at_once=1):
        keep(one.learner, results or [_took_workers_down(one.sheets[0], settings)])


def _graded(
    client: Client, work: list[Work], settings: Settings, at_once: int
) -> Iterator[tuple[Work, list[Result] | None]]:
    """Each piece of work with its results, or None if worker after worker died with it."""
    from distributed import KilledWorker, as_completed

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
            yield one, future.result()
        except KilledWorker:
            yield one, None
        submit_next()


def _took_workers_down(sheet: Sheet, settings: Settings) -> Result:
    graded = tuple(Graded(one, ENDED) for one in exercises_of(settings.released / sheet.name))
    return GradedNotebook(sheet.name, "", graded).plain() | {"key": sheet.key, "seconds": 0.0}
