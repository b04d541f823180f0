"""A place to run a learner's code in: bubblewrap, with the course in it and nothing else.

In a sandbox there is no network; its processes, users and IPC objects are its own; the system and
the course can be read, and the specs of the exercises, solutions and the history are not there. A
root that starts it is no root in it: limits of processes do not bind root.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import select
import shutil
import site
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import course_lab
import course_lib
from course_grading.running.graded import MachineFailed

NOBODY = 64_000
"""Who runs in the sandbox if root starts it: a number that belongs to nobody."""
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
SETTINGS = ("alternatives", "fonts", "group", "hosts", "ld.so.cache", "ld.so.conf",
            "ld.so.conf.d", "localtime", "mime.types", "nsswitch.conf", "passwd")  # fmt: skip
"""Of /etc: what Python and its libraries read. Others may hold passwords, as pip.conf does."""
LOADING = (60.0, 120.0, 240.0)
"""Seconds in which the process in a sandbox has to be ready, the first time and then: it loads
torch."""
HOME = "/home/learner"
GRADING = Path(__file__).parents[1]
PACKAGES = (*map(Path, course_lib.__path__), *map(Path, course_lab.__path__), GRADING)
HIDDEN = ("specs",)
"""Of `course_grading`: what knows the answers."""
USERS = ("--unshare-user", "--disable-userns", "--cap-drop", "ALL", "--")
OLDEST = (0, 8, 0)
"""The first bubblewrap that can forbid user namespaces in a sandbox."""
INSTALL = "on Debian and Ubuntu: sudo apt install bubblewrap"


@dataclass(frozen=True)
class Limits:
    """What one process of a learner's may use, and the sandbox as a whole."""

    memory: int = 6_000_000_000
    """Bytes of addresses of a process, of which torch alone takes more than one billion."""
    processes: int = 64
    """Of the sandbox, threads included."""
    file_size: int = 50_000_000
    cpu_seconds: int = 900
    files: int = 200_000_000
    """Bytes of all files in the sandbox's own /tmp and home, which lie in memory."""
    patience: float = 30.0
    """Seconds in which its first process has to answer, once it is ready."""


def unusable() -> str:
    """Why sandboxes cannot be used here, and what would help; "" if they can."""
    if shutil.which("bwrap") is None:
        return f"bubblewrap is not installed ({INSTALL})"
    said = subprocess.run(["bwrap", "--version"], capture_output=True, text=True).stdout
    version = tuple(map(int, re.findall(r"\d+", said)[:3]))
    if version and version < OLDEST:
        needed, here = (".".join(map(str, one)) for one in (OLDEST, version))
        return f"bubblewrap {needed} or newer is needed, and this is {here}"
    if os.getuid() == 0 and shutil.which("setpriv") is None:
        return "setpriv, of util-linux, is not installed"
    tried = subprocess.run(
        [*command(Limits()), "true"], capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    if tried.returncode == 0:
        return ""
    why = tried.stderr.strip().splitlines() or [f"it ended with status {tried.returncode}"]
    return (
        f"bubblewrap does not work here: {why[-1]}. It needs user namespaces, which some systems "
        "allow to chosen programs only (on Ubuntu: a profile of AppArmor for bwrap), and "
        "containers to privileged ones only"
    )


def command(limits: Limits) -> list[str]:
    """The beginning of a command line: what follows runs in the sandbox."""
    command = ["bwrap", "--die-with-parent", "--new-session", "--unshare-net", "--unshare-pid"]
    command += ["--unshare-ipc", "--unshare-uts", "--hostname", "sandbox", "--clearenv"]
    for path in SYSTEM:
        if Path(path).is_symlink():
            command += ["--symlink", os.readlink(path), path]
        elif Path(path).exists():
            command += ["--ro-bind", path, path]
    command += ["--perms", "0755", "--dir", "/etc"]
    for name in SETTINGS:
        command += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    command += ["--proc", "/proc", "--dev", "/dev"]
    for place in ("/tmp", HOME):
        command += ["--perms", "1777", "--size", str(limits.files), "--tmpfs", place]
    course = list(_course())
    for above in _parents(course):
        command += ["--perms", "0755", "--dir", str(above)]
    for folder in course:
        command += ["--ro-bind", str(folder), str(folder)]
    for folder in _hidden(course):
        command += ["--tmpfs", str(folder)]
    # They lie in memory, without a limit, and belong to whoever has started bubblewrap.
    command += ["--remount-ro", "/dev", "--remount-ro", "/"]
    command += ["--setenv", "HOME", HOME, "--chdir", HOME]
    for name, value in _environment().items():
        command += ["--setenv", name, value]
    if os.getuid() != 0:
        return [*command, *USERS]
    drop = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    drop += ["--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"]
    inner = ["bwrap", "--dev-bind", "/", "/", "--proc", "/proc"]
    return [*command, "--", *drop, *inner, *USERS]


def _course() -> Iterator[Path]:
    """Python, its packages and ours, without what lies beside them.

    Python may name places for packages that nobody has made, as Debian's does in an environment.
    """
    named = [sys.prefix, sys.base_prefix, *site.getsitepackages()]
    found = {path for path in map(Path, named) if path.exists()} | {*PACKAGES}
    real = {path.resolve() for path in found}
    yield from sorted(path for path in found | real if not _within(path, SYSTEM))


def _hidden(course: list[Path]) -> Iterator[Path]:
    """What is hidden, under each name that it has in the sandbox: links may lead to the course."""
    real = GRADING.resolve()
    for folder in course:
        if real.is_relative_to(folder.resolve()):
            yield from (folder / real.relative_to(folder.resolve()) / name for name in HIDDEN)


def _parents(paths: list[Path]) -> list[Path]:
    """The folders above, from the top; bubblewrap would make them for root alone."""
    above = {parent for path in paths for parent in path.parents}
    return sorted(parent for parent in above if len(parent.parts) > 1 and parent != Path("/tmp"))


def _within(path: Path, folders: tuple[str, ...]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def _environment() -> dict[str, str]:
    kept = ("LANG", "LC_ALL", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "PYTHONHASHSEED", "TZ")
    chosen = {name: os.environ[name] for name in kept if name in os.environ}
    ours = {str(package.parent) for package in PACKAGES}
    return chosen | {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": os.pathsep.join(sorted(ours)),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": chosen.get("OMP_NUM_THREADS", "1"),
        "COURSE_GRADING": "1",
        "COURSE_DEVICE": "cpu",
        "TMPDIR": "/tmp",
    }


class SandboxEnded(Exception):
    """The sandbox is gone: a learner's code has ended it, or the machine has."""


class Sandbox:
    """One learner's sandbox, in which a process waits to become kernels (see `kernel_host`).

    Nothing is shared with it but a socket. Use it as a context manager; whatever runs in it ends
    with it. Raises MachineFailed if it cannot be started.
    """

    def __init__(self, limits: Limits | None = None):
        self.limits = limits or Limits()
        self._start()

    def _start(self) -> None:
        """Several times: what comes before a learner's code is the machine's fault."""
        for patience in LOADING:
            try:
                self._start_once(patience)
                return
            except SandboxEnded as error:
                self._stop()
                why = error
        raise MachineFailed(f"no sandbox could be started in {LOADING[-1]:g} s: {why}")

    def _start_once(self, patience: float) -> None:
        host = [sys.executable, "-P", "-m", "course_grading.running.kernel_host"]
        self._socket, inside = socket.socketpair()
        with inside:
            self._process = subprocess.Popen(
                [*command(self.limits), *host, json.dumps(asdict(self.limits))],
                stdin=inside.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={"PATH": os.environ.get("PATH", os.defpath)},  # bwrap's own can be read inside
            )
        self.pid = self._process.pid
        self._unread = b""
        self.ask(seconds=patience)  # it has loaded everything and waits

    def ask(
        self,
        order: str = "ready",
        seconds: float | None = None,
        files: Sequence[int] = (),
        **more: Any,
    ) -> Any:
        """What the process in the sandbox answers; `files` are open ones that go with the order.

        Raises SandboxEnded if it is gone, or stopped: a learner's code runs beside it. An answer
        that a judge asked for, and did not live to read, is passed over.
        """
        ticket = secrets.token_hex(4)
        plain = json.dumps({"ticket": ticket, "order": order, **more})
        try:
            socket.send_fds(self._socket, [plain.encode() + b"\n"], files)
            while True:
                answered, answer = json.loads(self._line(seconds or self.limits.patience))
                if answered == ticket:
                    return answer
        except (OSError, ValueError) as error:
            raise SandboxEnded("the sandbox has ended") from error

    def _line(self, seconds: float) -> bytes:
        """The next line from the sandbox. Several may come at once, so we keep them ourselves:
        `select` sees nothing of what a buffered pipe has read already."""
        while b"\n" not in self._unread:
            if not select.select([self._socket], [], [], seconds)[0]:
                self._process.kill()
                raise SandboxEnded(f"the sandbox did not answer for {seconds:g} s")
            self._unread += (more := self._socket.recv(65_536))
            if not more:
                raise SandboxEnded("the sandbox has ended")
        line, _, self._unread = self._unread.partition(b"\n")
        return line

    def lives(self) -> bool:
        """Whether it is still there."""
        try:
            return self.ask() is None
        except SandboxEnded:
            return False

    def be_empty(self) -> None:
        """End all that a learner's code has left in it; start anew if that has ended it."""
        try:
            self.ask("end")
        except SandboxEnded:
            self.renew()

    def renew(self) -> None:
        """End it, and begin another one in its place: no file of it is left."""
        self._stop()
        self._start()

    def kernel(self) -> SandboxedKernel:
        """A kernel that is still to begin."""
        return SandboxedKernel(self)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """End it, and all that runs in it."""
        self._stop()

    def _stop(self) -> None:
        self._process.kill()  # with bwrap, whose child is the first of its processes, all end
        self._process.wait()
        self._socket.close()


class SandboxedKernel:
    """A kernel that begins in a sandbox. As subprocess.Popen, for Jupyter."""

    stdin = stdout = stderr = None
    group: int | None = None  # its number means something in the sandbox alone

    def __init__(self, sandbox: Sandbox):
        self.sandbox = sandbox
        self.pid = 0
        self._status: int | None = None

    def begin(self, connection_file: str, folder: str, environment: dict[str, str]) -> None:
        """Become the kernel that this connection file describes, in a folder of its own.

        The sockets are made here: their files are where nobody in the sandbox can reach them.
        """
        connection = json.loads(Path(connection_file).read_text())
        ports = sorted(connection[name] for name in connection if name.endswith("_port"))
        with ExitStack() as kept:
            sockets = [kept.enter_context(socket.socket(socket.AF_UNIX)) for _ in ports]
            for one, port in zip(sockets, ports, strict=True):
                one.bind(f"{connection['ip']}-{port}")
                one.listen()
            files = [one.fileno() for one in sockets]
            self.pid = self.sandbox.ask("begin", files=files, connection=connection)

    def poll(self) -> int | None:
        """Its exit status; None as long as it lives."""
        if self._status is None:
            try:
                self._status = self.sandbox.ask("poll", pid=self.pid)
            except SandboxEnded:
                self._status = -9
        return self._status

    def wait(self) -> int | None:
        while self.poll() is None:
            time.sleep(0.01)
        return self.poll()

    def send_signal(self, number: int) -> None:
        with suppress(SandboxEnded):
            self.sandbox.ask("signal", pid=self.pid, number=int(number))

    def end_all(self) -> None:
        """End the kernel and whatever it has started."""
        with suppress(SandboxEnded):
            self.sandbox.ask("end")
        self._status = self._status or -9

    kill = terminate = end_all
