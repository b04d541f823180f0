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
from typing import Any, NoReturn

from course_grading import processes

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
    processes.keep_to_ourselves()
    processes.adopt_orphans()
    signal.signal(signal.SIGTERM, _leave)
    try:
        for line in sys.stdin:
            _grade(json.loads(line), answers)
    finally:
        processes.end_children()
    return 0


def _leave(*_: object) -> NoReturn:
    processes.end_children()
    os._exit(143)


def _grade(request: dict[str, Any], answers: Any) -> None:
    if request["limits"]["start_method"] == "fork":
        preload()
    from course_grading.rounds import grade_notebook

    def tell(**fields: Any) -> None:
        print(json.dumps(fields), file=answers, flush=True)

    graded = grade_notebook(
        Path(request["path"]), Path(request["sheet"]), request["specs"], request["limits"],
        settled=lambda: tell(settled=1),
    )  # fmt: skip
    tell(graded=graded.plain())


if __name__ == "__main__":
    sys.exit(main())
