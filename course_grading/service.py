"""The process that grades: it has everything imported, and forks judges and kernels.

Started by `runner`. Requests come as lines of JSON on stdin, what happens goes as lines of JSON to
what was stdout. It never loads the specs: the kernels are forked from it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from course_grading import processes

if TYPE_CHECKING:
    from course_grading.classes.sandbox import Sandbox

PARSES_ADDRESSES = "rfc3987_syntax"
"""Needs a second to be imported, by jsonschema, which asks for it and does without it as well."""


def preload() -> None:
    """Import what judges and kernels need, the specs apart."""
    sys.modules[PARSES_ADDRESSES] = None  # type: ignore[assignment]
    import ipykernel.kernelapp  # noqa: F401
    import torch  # noqa: F401

    from course_grading import asking, rounds  # noqa: F401

    del sys.modules[PARSES_ADDRESSES]


def main() -> int:
    """Grade what is asked for, one notebook after the other, until stdin ends."""
    answers = open(os.dup(1), "w", encoding="utf-8")
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
        from course_grading.classes.sandbox import Limits, Sandbox

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
        preload()
    from course_grading.rounds import grade_notebook

    def tell(**fields: Any) -> None:
        print(json.dumps(fields), file=answers, flush=True)

    limits = request["limits"]
    if "sandbox" in request:
        limits["sandbox"] = sandboxes.of(**request["sandbox"])
    graded = grade_notebook(
        Path(request["path"]), Path(request["sheet"]), request["specs"], limits,
        settled=lambda: tell(settled=1),
    )  # fmt: skip
    tell(graded=graded.plain())


if __name__ == "__main__":
    sys.exit(main())
