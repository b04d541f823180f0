"""What all commands share: how they are added, run, and say that something cannot be done."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import TypeAlias

from course_lib.errors import CourseError

LEARNERS = ("cloudpickle", "IPython", "ipykernel", "jinja2", "jupyter_client", "nbclient",
            "nbformat", "nbval", "pytest", "rich", "zmq")  # fmt: skip
"""Modules of the extra "learn", without which the library and `course rope` work."""

Arguments = argparse.Namespace
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def home(name: str) -> Path:
    """`name` in the working directory, else in the checkout that the course was installed from.

    Inside of this checkout the nearest one counts: of an edition's folder, its own.
    """
    checkout = Path(__file__).parents[1]
    above = [folder for folder in Path.cwd().parents if folder.is_relative_to(checkout)]
    for here in (Path(), *above):
        if (here / name).is_dir():
            return here / name
    return checkout / name if (checkout / "Makefile").exists() else Path(name)


def count(text: str) -> int:
    """An argument that is a whole number from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 on, got {text}")
    return int(text)


def folder_for(name: str, folder: Path) -> Path:
    """The path of a file to be written. Raises CourseError if its folder does not exist."""
    if not folder.is_dir():
        raise CourseError(f"there is no folder {folder} to write {name} to")
    return folder / name


def write_bytes(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Write a file so that it is there whole or as it was before. An OSError names it."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(unfinished, "wb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            file.write(content)
        unfinished.replace(path)
    except BaseException as error:
        unfinished.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


def add_command(
    commands: Commands, name: str, run: Callable[[Arguments], int]
) -> argparse.ArgumentParser:
    """A command that calls `run`, whose docstring is its help."""
    command = commands.add_parser(name, help=run.__doc__, description=run.__doc__)
    command.set_defaults(run=run, parser=command)
    return command


def run(parser: argparse.ArgumentParser, argv: list[str] | None = None) -> int:
    """Run one command; if it cannot be carried out, say so in one line and return 2."""
    arguments, unknown = parser.parse_known_args(argv)
    if unknown:  # the command's own parser says it, with the options that there are
        arguments.parser.error(f"there is no {' '.join(unknown)} here")
    _end_as_ctrl_c_does()
    try:
        status = int(arguments.run(arguments))
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # who reads has read enough, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except KeyboardInterrupt:
        _complain("stopped")
        sys.stdout.flush()
        os._exit(130)  # at once: the processes that grade notebooks end when their parent is gone
    except CourseError as error:
        _complain(str(error))
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in LEARNERS:
            raise
        _complain(f"{missing} is not installed: pip install 'where-am-i[learn]' brings it")
    except OSError as error:
        _complain(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    return 2


def _end_as_ctrl_c_does() -> None:
    """A machine that shuts down and a window that is closed leave as little behind as Ctrl-C.

    Whoever handles Ctrl-C handles them. What `nohup` has begun outlives its window.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for ending in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(ending) is not signal.SIG_IGN:
            signal.signal(ending, _interrupt)


def _interrupt(ending: int, frame: FrameType | None) -> None:
    if _begins_a_process(frame):  # which nobody could end if it were interrupted here
        threading.Timer(0.01, os.kill, (os.getpid(), ending)).start()
        return
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler):  # a shell's background has Ctrl-C ignored
        raise KeyboardInterrupt
    handler(signal.SIGINT, frame)


def _begins_a_process(frame: FrameType | None) -> bool:
    while frame and frame.f_code is not subprocess.Popen.__init__.__code__:
        frame = frame.f_back
    return frame is not None


def _complain(problem: str) -> None:
    print(f"course: {problem}", file=sys.stderr)
