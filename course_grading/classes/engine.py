"""Grade a class with Dask: a worker for each core of this machine, or a cluster that exists."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from course_grading.classes.store import Store
from course_grading.classes.work import Result, Sheet, grade_sheets
from course_grading.runner import Settings, exercises_of
from course_grading.verdicts import Graded, GradedNotebook, Verdict
from course_lab.errors import CourseError

if TYPE_CHECKING:
    from distributed import Client

TRIES = 3
"""How often a notebook may take its worker down before it gets a verdict."""
ENDED = Verdict("error", message=f"{TRIES} processes in which this notebook was graded have ended.")
MISSING = 'Dask is not installed: pip install -e ".[class]", or `make class`, brings it'


@dataclass(frozen=True)
class Work:
    """What is still to be graded of one learner."""

    learner: str
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
            client = Client(scheduler, timeout=10)
        except (OSError, ValueError) as error:
            raise CourseError(f"there is no Dask scheduler at {scheduler}") from error
        with client:
            yield client
        return
    count = workers or len(os.sched_getaffinity(0))
    with (
        TemporaryDirectory(prefix="class-", ignore_cleanup_errors=True) as folder,
        LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None, memory_limit=0,
                     local_directory=folder, env={"TMPDIR": folder}) as local,
        Client(local) as client,
    ):  # fmt: skip
        yield client


def grade_class(
    client: Client, work: list[Work], settings: Settings, store: Store,
    progress: Callable[[], None],
) -> None:  # fmt: skip
    """Grade what is to be graded, and keep each result in `store` as it comes.

    A worker that dies has its work done again by another. A learner's notebooks with which workers
    died time and again are graded one by one, and the one that it was gets the verdict "error".
    """
    from distributed import KilledWorker, as_completed

    waiting = [(one.learner, one.sheets) for one in work]
    while waiting:
        futures = {
            client.submit(grade_sheets, learner, sheets, settings, pure=False): (learner, sheets)
            for learner, sheets in waiting
        }
        waiting = []
        for future in as_completed(futures):
            learner, sheets = futures[future]
            try:
                results: list[Result] = future.result()
            except KilledWorker:
                if len(sheets) > 1:
                    waiting += [(learner, (sheet,)) for sheet in sheets]
                    continue
                results = [_took_workers_down(sheets[0], settings)]
            for result in results:
                store.add(learner, result)
                progress()
            future.release()


def _took_workers_down(sheet: Sheet, settings: Settings) -> Result:
    released = settings.released / sheet.name
    graded = tuple(Graded(one, ENDED) for one in exercises_of(released))
    return GradedNotebook(sheet.name, "", graded).plain() | {"key": sheet.key, "seconds": 0.0}
