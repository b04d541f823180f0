"""The kernel in which a learner's cells run, and nbval's view of it.

A kernel is a process that waits until it is wanted. It is started before its judge loads the specs,
so that no reference, mistake or version lies in its memory.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from pathlib import Path
from queue import Empty
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import zmq
from jupyter_client.manager import KernelManager
from jupyter_client.provisioning import LocalProvisioner
from nbval.kernel import NbvalKernelspecManager, RunningKernel

from course_grading.judging.remote import Disconnected, Message, as_json
from course_grading.running import processes

if TYPE_CHECKING:
    from course_grading.judging.judge_side import JudgeSide

NO_INPUT = "\x04"
"""What Jupyter takes for the end of the input."""


class KernelDied(Exception):
    """The kernel is gone; the message says how."""


class Waiting(Protocol):
    """What becomes a kernel when it is told which. As subprocess.Popen, for Jupyter."""

    pid: int
    group: int | None
    """Of processes, which signals are sent to; None if only the kernel itself can send them."""

    def begin(self, connection_file: str, folder: str, environment: dict[str, str]) -> None: ...
    def poll(self) -> int | None: ...
    def end_all(self) -> None: ...


class WaitingKernel:
    """A process that becomes a kernel when it is told which. As subprocess.Popen, for Jupyter."""

    stdin = stdout = stderr = None

    def __init__(self, context: BaseContext):
        order, self.orders = context.Pipe(duplex=False)
        self.process = context.Process(target=_wait, args=(order, context.get_start_method()))  # type: ignore[attr-defined]
        self.process.start()
        order.close()
        self.pid: int = self.process.pid
        self.group: int | None = self.pid

    def begin(self, connection_file: str, folder: str, environment: dict[str, str]) -> None:
        """Become the kernel that this connection file describes."""
        self.orders.send((connection_file, folder, environment))

    def poll(self) -> int | None:
        """Its exit status; None as long as it lives."""
        status: int | None = self.process.exitcode
        return status

    def wait(self) -> int | None:
        while self.poll() is None:
            time.sleep(0.01)
        return self.poll()

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.process.kill()

    def terminate(self) -> None:
        self.process.terminate()

    def end_all(self) -> None:
        """End the kernel and what runs in its group."""
        if self.poll() is None:
            os.killpg(self.pid, signal.SIGKILL)


def _wait(orders: Connection, start_method: str) -> None:
    """In the new process: wait, and be a kernel, with no file open that was ours."""
    if os.name == "posix":
        os.setsid()
    silent = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(silent, number)
    if start_method == "fork":
        _close_all_but(orders.fileno())
    processes.end_with_parent()
    processes.default_signals()
    try:
        connection_file, folder, environment = orders.recv()
    except EOFError:
        return
    orders.close()
    become(connection_file, folder, environment)


def become(
    connection_file: str,
    folder: str,
    environment: dict[str, str],
    listening: Mapping[int, int] | None = None,
) -> None:
    """Be the kernel that this connection file describes, until it is ended.

    `listening` has, for each port, the open file of a socket that listens there already: then the
    kernel makes no socket of its own.
    """
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    processes.keep_to_ourselves(closed=False)
    from ipykernel.kernelapp import IPKernelApp

    kernel = (_listening(listening) if listening else IPKernelApp).instance()
    kernel.initialize(["-f", connection_file])
    kernel.start()


def _listening(files: Mapping[int, int]) -> Any:
    """The application of a kernel whose sockets are open. It relies on inner parts of ipykernel 7:
    `_try_bind_socket` of the application and of its heartbeat, the one place where each binds."""
    from ipykernel import heartbeat, kernelapp

    class Heartbeat(heartbeat.Heartbeat):
        def _try_bind_socket(self) -> Any:
            self.socket.use_fd = files[self.port]
            return super()._try_bind_socket()

    class Application(kernelapp.IPKernelApp):
        def _try_bind_socket(self, s: Any, port: int) -> Any:
            s.use_fd = files[port]
            return super()._try_bind_socket(s, port)

        def init_control(self, context: Any) -> None:
            super().init_control(context)  # connects the debugger to a place not to be seen here
            self.debug_shell_socket.disconnect(self.shell_socket.last_endpoint)

    kernelapp.Heartbeat = Heartbeat  # type: ignore[misc]
    return Application


def _close_all_but(kept: int) -> None:
    highest = os.sysconf("SC_OPEN_MAX")
    os.closerange(3, kept)
    os.closerange(kept + 1, min(highest, 65_536))


class WaitingProvisioner(LocalProvisioner):
    """Where Jupyter gets a kernel from that was there before it asked."""

    waiting: Waiting

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        self.process = self.waiting  # type: ignore[assignment]
        assert self.parent
        self.waiting.begin(self.parent.connection_file, kwargs["cwd"], kwargs["env"])
        self.pid, self.pgid = self.waiting.pid, self.waiting.group
        return self.connection_info


# nbval offers no way to watch its kernel, so what follows relies on inner parts of release 0.11:
# - the plugin makes its kernel as nbval.plugin.RunningKernel(name, cwd, startup_timeout), a name
#   that the judge replaces, and keeps it as `item.parent.kernel`;
# - `km`, `kc`, `_ensure_iopub_up`, `is_alive`, `interrupt` and `get_message` of that class, and
#   that a cell is run by `execute_cell_input`, then `await_reply`, then `get_message("iopub")`;
# - `item.cell` and `item.test_outputs` of the items that it collects.
# pyproject.toml keeps nbval below 0.12; before that is raised, read those parts again.


class WatchedKernel(RunningKernel):
    """nbval's kernel, but a dead one is noticed at once, and one that floods us is stopped."""

    waiting: Waiting
    folder: Path
    """Where its connection file is, and the empty folder that it runs in."""
    transport = "tcp"
    max_output: int
    judge_side: JudgeSide | None = None
    """What answers the cell that runs, if it asks something."""
    patience = 5.0
    """Seconds that a cell has to end after it was interrupted."""

    def __init__(self, kernel_name: str, cwd: str | None = None, startup_timeout: float = 60):
        self.reply: dict[str, Any] = {}
        self.cell, self.deadline = "", 0.0
        self.poller = zmq.Poller()
        self.interrupted_at: float | None = None
        self._forget()
        self.km = KernelManager(
            kernel_name=kernel_name,
            kernel_spec_manager=NbvalKernelspecManager(),
            connection_file=str(self.folder / "kernel.json"),
            transport=self.transport,
        )
        if self.transport == "ipc":  # a path that is short wherever the folder lies
            self.km.ip = f"/proc/self/fd/{os.open(self.folder, os.O_RDONLY)}/socket"
        provisioner = WaitingProvisioner(
            kernel_id="graded", kernel_spec=self.km.kernel_spec, parent=self.km
        )
        provisioner.waiting = self.waiting
        self.km.provisioner = provisioner
        empty = self.folder / "empty"
        empty.mkdir()
        self.km.start_kernel(
            cwd=str(empty),
            env={k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")},
        )
        self.kc = self.km.client()
        # What is published: at a longer message the connection ends. What an answer sends may be so
        # long, and the judge's limit of memory is its own.
        self.kc.context.maxmsgsize = 2 * self.max_output
        published = self.kc.iopub_channel.socket
        self.kc.context.maxmsgsize = -1
        self.ended = published.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        self.kc.start_channels()
        self.kc.wait_for_ready(timeout=startup_timeout)
        for channel in (self.kc.stdin_channel, self.kc.shell_channel, self.kc.iopub_channel):
            self.poller.register(channel.socket, zmq.POLLIN)
        self._ensure_iopub_up()

    def _forget(self) -> None:
        self.waiting_messages: deque[dict[str, Any]] = deque()
        self.seen = 0

    def execute_cell_input(self, cell_input: str, allow_stdin: bool | None = None) -> str:
        self._forget()
        self.reply, self.interrupted_at = {}, None
        return str(super().execute_cell_input(cell_input, allow_stdin=self.judge_side is not None))

    def await_reply(self, msg_id: str, timeout: float | None = None) -> None:
        """Until the cell has ended; meanwhile what it asks the judge is answered."""
        self.cell, self.deadline = msg_id, time.monotonic() + (timeout or 60)
        try:
            with _ended_after(self.deadline - time.monotonic()):
                message = self._next()
                while message is not None:
                    self._answer(self._answer_to(message))
                    message = self._next()
        except Disconnected as over:
            if not self.reply:
                raise (over.__cause__ or Empty()) from None

    def _answer_to(self, message: Message) -> Message:
        """The judge's answer; a learner's code may have sent anything."""
        try:
            return self.judge_side.answer(message, self._exchange) if self.judge_side else {}
        except Exception as error:
            return {"raised": "RuntimeError", "message": f"the judge cannot answer this: {error!r}"}

    def _exchange(self, message: Message) -> Message:
        self._answer(message)
        if (following := self._next()) is None:
            raise Disconnected
        return following

    def _answer(self, message: Message) -> None:
        self.kc.input(as_json(message))

    def _next(self) -> Message | None:
        """The next that the cell asks the judge; None if it has ended. Raises Disconnected."""
        try:
            while time.monotonic() < self.deadline:
                self._drain()
                for channel in (self.kc.stdin_channel, self.kc.shell_channel):
                    with suppress(Empty):
                        message = channel.get_msg(timeout=0)
                        if message["parent_header"].get("msg_id") != self.cell:
                            continue
                        if message["msg_type"] != "input_request":
                            self.reply = message["content"]
                            return None
                        if asked := _as_message(message["content"].get("prompt")):
                            return asked
                        self.kc.input(NO_INPUT)
                self._must_live()
                self.poller.poll(100)
        except Exception as error:
            raise Disconnected from error
        raise Disconnected

    def get_message(self, stream: str, timeout: float | None = None) -> dict[str, Any]:
        if stream != "iopub":
            return dict(super().get_message(stream, timeout))
        deadline = time.monotonic() + (timeout or 60)
        while time.monotonic() < deadline:
            if self.interrupted_at and time.monotonic() > self.interrupted_at + self.patience:
                self.end("it did not stop when it was interrupted")
            if not self.waiting_messages:
                self._drain(wait=0.1)
            if self.waiting_messages:
                return self.waiting_messages.popleft()
            self._must_live()
        raise Empty

    def interrupt(self) -> None:
        self.interrupted_at = time.monotonic()
        super().interrupt()

    def _drain(self, wait: float = 0.0) -> None:
        """Take what has been published; bytes are counted even where nobody reads them."""
        while True:
            try:
                message = self.kc.get_iopub_msg(timeout=wait)
            except Empty:
                return
            wait = 0.0
            self.seen += len(str(message)) + sum(len(part) for part in message["buffers"])
            if self.seen > self.max_output:
                self._end_flood()
            self.waiting_messages.append(message)

    def _must_live(self) -> None:
        refused = self.ended.poll(0)
        if refused:
            time.sleep(0.5)  # a kernel that ends leaves its connections first
        if not self.is_alive():
            raise KernelDied("it ended the kernel (out of memory, or an exit?)")
        if refused:
            self._end_flood()

    def _end_flood(self) -> None:
        self.end(f"it printed more than {self.max_output / 1e6:g} MB")

    def end(self, why: str) -> None:
        self.km.shutdown_kernel(now=True)
        raise KernelDied(why)

    def stop(self) -> None:
        """Without the second that Jupyter gives a kernel to leave by itself."""
        self.kc.iopub_channel.socket.disable_monitor()
        self.kc.stop_channels()
        self.waiting.end_all()
        self.km.cleanup_resources()
        del self.km


def _as_message(prompt: Any) -> Message | None:
    """What a cell asks the judge; None if its code asks a person for something."""
    with suppress(ValueError, TypeError, RecursionError):
        asked = json.loads(prompt)
        return asked if isinstance(asked, dict) else None
    return None


@contextmanager
def _ended_after(seconds: float) -> Iterator[None]:
    """Raise Disconnected then, whatever the judge computes for a learner's code."""

    def over(*_: object) -> NoReturn:
        raise Disconnected

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
