"""What a worker does: grade the notebooks of one learner, in a sandbox of the learner's own.

It runs in processes that an engine starts, on this machine or another. What is graded comes with
the work, and what was found goes back as plain values.
"""

from __future__ import annotations

import atexit
import logging
import shutil
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from course_grading.classes.handed_in import Who
from course_grading.running.graded import MachineFailed
from course_grading.running.runner import Service, Settings
from course_grading.sheets.submissions import Submission

Result = dict[str, Any]


@dataclass(frozen=True)
class Sheet:
    """A notebook to be graded, as it was handed in."""

    key: str
    """Made of its content, the course's and the settings: alike keys have alike results."""
    name: str
    content: bytes
    released: bytes
    """The sheet as it was released, with its checks."""


def dask_setup(worker: Any) -> None:
    """Leave Ctrl-C, which comes to all processes of a terminal, to the one that started this.

    Dask calls this in each worker that it starts for us.
    """
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def grade_sheets(learner: Who, sheets: Sequence[Sheet], settings: Settings) -> list[Result]:
    """The result of each notebook, all of one learner: "failed" says why there is none."""
    results = []
    for sheet in sheets:
        try:
            results.append(_graded(learner, sheet, settings))
        except (MachineFailed, OSError) as error:
            results.append({"key": sheet.key, "failed": str(error)})
    return results


def _graded(learner: Who, sheet: Sheet, settings: Settings) -> Result:
    service = _service(settings)
    path, released = (service.folder / name / sheet.name for name in ("mine", "released"))
    for place, content in ((path, sheet.content), (released, sheet.released)):
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(content)
    began = time.monotonic()
    submission = Submission(path, released)
    graded = service.grade(submission, lambda: None, repr(learner))
    seconds = round(time.monotonic() - began, 1)
    path.unlink()
    return graded.plain() | {"key": sheet.key, "seconds": seconds, "path": ""}


@cache
def _service(settings: Settings) -> Service:
    """This process's own: it has loaded everything after the first notebook."""
    folder = Path(mkdtemp(prefix="course-"))
    service = Service(settings, folder)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(service.end)  # which comes before, as the last one registered
    return service
