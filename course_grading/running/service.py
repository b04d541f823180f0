"""The process that grades: it has everything imported, and forks judges and kernels.

Started by `runner`. Requests come as lines of JSON on stdin, what happens goes as lines of JSON to
what was stdout. It never loads the specs if kernels are forked from it. Those in a sandbox are not.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from course_grading.running import processes
from course_grading.running.graded import MachineFailed

if TYPE_CHECKING:
    from course_grading.running.sandbox import Sandbox

PARSES_ADDRESSES = "rfc3987_syntax"
"""Needs a second to be imported, by jsonschema, which asks for it and does without it as well."""


@cache
def preload_kernels() -> None:
    """Import what kernels need, once for all that are forked from here."""
    sys.modules[PARSES_ADDRESSES] = None  # type: ignore[assignment]
    with _kept_for_good():
        import ipykernel.kernelapp  # noqa: F401
        import torch  # noqa: F401

        from course_grading.judging import kernel_side  # noqa: F401
    del sys.modules[PARSES_ADDRESSES]


@cache
def preload_judges(specs: str = "") -> None:
    """Import what judges need as well; with the specs, if no kernel is forked from here.

    Specs compute while they are imported. torch must not start threads for it: a fork has none of
    them, and would wait for them forever.
    """
    with _kept_for_good():
        import torch

        from course_grading.running import rounds  # noqa: F401

        if specs:
            torch.set_num_threads(1)
            import_module(specs)


@contextmanager
def _kept_for_good() -> Iterator[None]:
    """Collect no garbage meanwhile, and never look again at what is there in the end.

    Modules are no garbage. To go through the objects of torch takes a tenth of a second each time,
    and pytest does it five times at its end.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def main() -> int:
    """Grade what is asked for, one notebook after the other, until stdin ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    processes.end_with_parent()
    processes.keep_to_ourselves()
    processes.adopt_orphans()
    signal.signal(signal.SIGTERM, _leave)
    sandboxes = Sandboxes()
    try:
        for line in sys.stdin:
            _grade(json.loads(line), answers, sandboxes)
    finally:
        sandboxes.end()
        processes.end_children()
    return 0


class Sandboxes:
    """The sandbox of the learner whose notebooks are being graded: one at a time."""

    def __init__(self) -> None:
        self.learner: str | None = None
        self.sandbox: Sandbox | None = None

    def of(self, learner: str, limits: dict[str, Any]) -> Sandbox:
        """This learner's, a new one if the last was another's or has ended."""
        from course_grading.running.sandbox import Limits, Sandbox

        if self.learner != learner or not (self.sandbox and self.sandbox.lives()):
            self.end()
            self.learner, self.sandbox = learner, Sandbox(Limits(**limits))
        return self.sandbox

    def end(self) -> None:
        """End it, if there is one."""
        if self.sandbox:
            self.sandbox.end()
        self.learner = self.sandbox = None


def _leave(*_: object) -> NoReturn:
    processes.end_children()
    os._exit(143)


def _grade(request: dict[str, Any], answers: Any, sandboxes: Sandboxes) -> None:
    if request["limits"]["start_method"] == "fork":
        preload_kernels()
        preload_judges(request["specs"] if "sandbox" in request else "")
    from course_grading.running.rounds import grade_notebook

    def tell(**fields: Any) -> None:
        print(json.dumps({"ticket": request["ticket"], **fields}), file=answers, flush=True)

    limits = request["limits"]
    try:
        if "sandbox" in request:
            limits["sandbox"] = sandboxes.of(**request["sandbox"])
        graded = grade_notebook(
            Path(request["path"]),
            Path(request["sheet"]),
            request["specs"],
            limits,
            settled=lambda: tell(settled=1),
        )
    except (MachineFailed, OSError) as error:
        sandboxes.end()  # a second try begins without what the first has left there
        tell(failed=str(error))
        return
    tell(graded=graded.plain())


if __name__ == "__main__":
    sys.exit(main())
