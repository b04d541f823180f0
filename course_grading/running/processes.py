"""Processes of our own: how they are started, what they may see, and that none is left behind."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
from collections.abc import Collection
from contextlib import suppress
from multiprocessing.context import BaseContext
from pathlib import Path

LINUX = sys.platform == "linux"
START_METHOD = "fork" if LINUX else "spawn"
"""How judges and kernels are started. A forked one has everything imported already."""
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36


def context(start_method: str) -> BaseContext:
    """Where processes come from: "fork" or "spawn"."""
    return multiprocessing.get_context(start_method)


def _prctl(option: int, value: int) -> None:
    if LINUX:
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def keep_to_ourselves(closed: bool = True) -> None:
    """On Linux, let no process of the same user look into this one, as into its pipes in /proc."""
    _prctl(PR_SET_DUMPABLE, not closed)


def limit_memory(more: int) -> None:
    """On Linux, let this process have so many bytes of addresses more than it has now."""
    if LINUX:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + more
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def adopt_orphans() -> None:
    """On Linux, become the parent of every descendant whose own parent ends."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def end_with_parent() -> None:
    """On Linux, be killed when the parent ends, however that happens."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def end_children(spared: Collection[int] = ()) -> None:
    """Kill every child but those, and on Linux those that are adopted while this goes on."""
    while children := set(_children()).difference(spared):
        for pid in children:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _children() -> list[int]:
    try:
        listed = Path(f"/proc/self/task/{os.getpid()}/children").read_text()
    except OSError:
        return [child.pid for child in multiprocessing.active_children() if child.pid]
    return list(map(int, listed.split()))


def default_signals() -> None:
    """Ctrl-C and the end of a process as Python has them, whatever the parent made of them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.SIG_DFL)
