"""The process inside a sandbox: it loads what kernels need once, and forks for each kernel.

Orders come as lines of JSON on a socket, with what a kernel listens on; each is answered by a line
with its ticket. A learner's code runs beside this process and may end it; then the sandbox is over.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from course_grading.running import processes, seccomp, service
from course_grading.running.kernels import become

SOCKETS = 5
"""That a kernel listens on."""
NICE = 10
"""Below the judge, which runs beside it."""


def main() -> int:
    """Answer orders until nobody gives any."""
    limits = json.loads(sys.argv[1])
    above = socket.socket(fileno=os.dup(0))
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
    os.nice(NICE)
    seccomp.leave_keyring()
    seccomp.forbid_calls()
    processes.keep_to_ourselves()
    processes.adopt_orphans()
    for order, listening in _orders(above):
        ticket = order.pop("ticket")
        answer = _carry_out(**order, listening=listening)
        above.sendall(json.dumps([ticket, answer]).encode() + b"\n")
        for number in listening:
            os.close(number)
    return 0


def _orders(above: socket.socket) -> Iterator[tuple[dict[str, Any], list[int]]]:
    """Each with the open files that came with it."""
    unread = b""
    listening: list[int] = []
    while True:
        more, files, _, _ = socket.recv_fds(above, 65_536, SOCKETS)
        if not more:
            return
        unread, listening = unread + more, [*listening, *files]
        while b"\n" in unread:
            line, _, unread = unread.partition(b"\n")
            yield json.loads(line), listening
            listening = []


def _carry_out(
    order: str, listening: list[int], pid: int = 0, number: int = 0, **kernel: Any
) -> int | None:
    if order == "begin":
        return _begin(listening, **kernel)
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


def _begin(listening: list[int], connection: dict[str, Any]) -> int:
    pid = os.fork()
    if pid == 0:
        os.setsid()
        for low, high in zip([2, *sorted(listening)], [*sorted(listening), 65_536], strict=True):
            os.closerange(low + 1, high)
        processes.default_signals()
        folder = mkdtemp()
        described = Path(folder, "kernel.json")
        described.write_text(json.dumps(connection))
        ports = sorted(connection[name] for name in connection if name.endswith("_port"))
        open_at = dict(zip(ports, listening, strict=True))
        become(str(described), folder, dict(os.environ), open_at)
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
