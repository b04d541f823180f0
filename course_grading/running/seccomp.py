"""Calls of Linux that no learner's code needs, and that reach past a sandbox's walls and limits.

Keyrings are the user's and not the sandbox's, shared and anonymous files are memory that no limit
counts, and the rest has opened sandboxes before. As Flatpak does (`man 2 seccomp`, `man 7 bpf`).
A network namespace holds back IP, and not what reaches the host of a virtual machine: of sockets,
those of chosen families can be made.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 38, 22, 2
KEYCTL_JOIN_SESSION_KEYRING = 1
LOAD, EQUAL, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
"""Codes of the classic BPF: load a word, jump if it is equal, or as large, and return."""
ALLOW, FORBID = 0x7FFF_0000, 0x0005_0000 | errno.EPERM
NUMBER, MACHINE, FIRST_ARGUMENT = 0, 4, 16
"""Where a call's number, the machine and an argument's low half stand in what a filter sees."""
FOREIGN = 0x4000_0000
"""From here on, x86_64 takes numbers for calls of another kind."""
MACHINES = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
CALLS = {
    "x86_64": {
        "shmget": 29, "msgget": 68, "mq_open": 240, "add_key": 248, "request_key": 249,
        "keyctl": 250, "perf_event_open": 298, "memfd_create": 319, "bpf": 321,
        "userfaultfd": 323, "io_uring_setup": 425, "io_uring_enter": 426,
        "io_uring_register": 427, "memfd_secret": 447,
    },
    "aarch64": {
        "mq_open": 180, "msgget": 186, "shmget": 194, "add_key": 217, "request_key": 218,
        "keyctl": 219, "perf_event_open": 241, "memfd_create": 279, "bpf": 280,
        "userfaultfd": 282, "io_uring_setup": 425, "io_uring_enter": 426,
        "io_uring_register": 427, "memfd_secret": 447,
    },
}  # fmt: skip
SOCKETS = {"x86_64": (41, 53), "aarch64": (198, 199)}
"""The calls that make sockets, with a family as their first argument."""
FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16}
"""Families whose sockets stay in the sandbox. Netlink is what names and interfaces are asked for
with: without it, the kernel's own library ends its process."""


def leave_keyring() -> None:
    """Begin an empty keyring: the one of the session may hold what its user may open."""
    if calls := CALLS.get(platform.machine()):
        join = (calls["keyctl"], KEYCTL_JOIN_SESSION_KEYRING)
        ctypes.CDLL(None).syscall(*map(ctypes.c_long, join), None)


def forbid_calls() -> None:
    """Forbid CALLS to this process and all that it starts, for good.

    Raises OSError where Linux does not allow it. On other machines than those it does nothing.
    """
    machine = platform.machine()
    if machine not in CALLS:
        return
    program = _program(machine)
    buffer = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    none = [ctypes.c_ulong(0)] * 3
    if libc.prctl(PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), *none) or libc.prctl(
        PR_SET_SECCOMP, ctypes.c_ulong(FILTER), header, *none[:2]
    ):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _program(machine: str) -> bytes:
    """A filter: whatever is not forbidden is allowed, and nothing to another kind of machine.

    A jump counts the lines that it leaves out. Those here name lines, the ends "allow" and
    "forbid", or "sockets"; None goes on with the next line.
    """
    lines: list[tuple[int, str | None, str | None, int]] = [
        (LOAD, None, None, MACHINE),
        (EQUAL, None, "forbid", MACHINES[machine]),
        (LOAD, None, None, NUMBER),
        (AT_LEAST, "forbid", None, FOREIGN),
    ]
    lines += [(EQUAL, "forbid", None, number) for number in sorted(CALLS[machine].values())]
    lines += [(EQUAL, "sockets", None, number) for number in SOCKETS[machine]]
    lines += [(RETURN, None, None, ALLOW)]
    places = {"sockets": len(lines)}
    lines += [(LOAD, None, None, FIRST_ARGUMENT)]
    lines += [(EQUAL, "allow", None, family) for family in FAMILIES.values()]
    places |= {"forbid": len(lines), "allow": len(lines) + 1}
    lines += [(RETURN, None, None, FORBID), (RETURN, None, None, ALLOW)]

    def jump(place: int, to: str | None) -> int:
        return 0 if to is None else places[to] - place - 1

    return b"".join(
        struct.pack("HBBI", code, jump(place, yes), jump(place, no), value)
        for place, (code, yes, no, value) in enumerate(lines)
    )
