"""The process inside a sandbox: it loads what kernels need once, and forks for each kernel.

Orders come as lines of JSON on stdin; each is answered by a line on stdout, with its ticket. A
learner's code runs beside this process and may end it; then the sandbox is over.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from course_grading import processes, service
from course_grading.kernels import become


def main() -> int:
    """Answer orders until stdin ends."""
    limits = json.loads(sys.argv[1])
    orders, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    silent = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(silent, number)
    service.preload_kernels()
    for what, name in (
        (resource.RLIMIT_AS, "memory"),
        (resource.RLIMIT_NPROC, "processes"),
        (resource.RLIMIT_FSIZE, "file_size"),
        (resource.RLIMIT_CPU, "cpu_seconds"),
    ):
        resource.setrlimit(what, (limits[name], limits[name]))
    processes.keep_to_ourselves()
    processes.adopt_orphans()
    for line in orders:
        order = json.loads(line)
        ticket = order.pop("ticket")
        print(json.dumps([ticket, _carry_out(**order)]), file=answers, flush=True)
    return 0


def _carry_out(order: str, pid: int = 0, number: int = 0, **kernel: Any) -> int | None:
    if order == "begin":
        return _begin(**kernel)
    if order == "poll":
        return _status(pid)
    if order == "signal":
        with suppress(ProcessLookupError):
            os.killpg(pid, number)
    if order == "end":
        _end_others()
    return None


def _end_others() -> None:
    """Kill whatever else runs in the sandbox, which has its own numbers, until nothing does."""
    while others := {int(path.name) for path in Path("/proc").glob("[0-9]*")} - _above():
        for pid in others:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        processes.end_children()


def _above() -> set[int]:
    """This process and those that it was started by."""
    pid, above = os.getpid(), {0}
    while pid:
        above.add(pid)
        status = Path(f"/proc/{pid}/status").read_text()
        pid = int(status.split("PPid:")[1].split()[0])
    return above


def _begin(connection_file: str, folder: str) -> int:
    pid = os.fork()
    if pid == 0:
        os.setsid()
        os.closerange(3, 65_536)
        processes.default_signals()
        become(connection_file, folder, dict(os.environ))
        os._exit(0)
    return pid


def _status(pid: int) -> int | None:
    try:
        ended, status = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return -9
    return os.waitstatus_to_exitcode(status) if ended else None


if __name__ == "__main__":
    sys.exit(main())
