"""Trainings that survive Ctrl-C, a full disk and a new day."""

from __future__ import annotations

import io
import os
import signal
import threading
import time
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor
from tqdm import tqdm

from course_lib.errors import CourseError


class CheckpointError(CourseError):
    """A checkpoint that cannot be used; the message is one line and names the remedy."""


class Resumable(Protocol):
    """What a checkpoint needs of a training."""

    steps: int
    losses: list[float]  # one for each step taken

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state: dict[str, Any]) -> None: ...


class Checkpoint:
    """A file that a training is saved to every `every` seconds and when it is interrupted.

    Inside `with`, the first Ctrl-C waits for the end of the step, saves, and then stops the program
    as usual; a second one stops it at once. If the file cannot be written, one line says so, the
    last good file stays, and the training goes on. `scheme` names what is trained: two schemes may
    have the same weights, and a file can be renamed.
    """

    def __init__(
        self, path: Path, resume: bool = False, every: float = 120.0, scheme: str = ""
    ) -> None:
        self.path, self.resume, self.every, self.scheme = path, resume, every, scheme
        self._interrupted = False
        self._handler: Any = None

    def __enter__(self) -> Checkpoint:
        self._last = time.monotonic()
        if threading.current_thread() is threading.main_thread():
            self._handler = signal.signal(signal.SIGINT, self._on_interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)

    def restore(self, training: Resumable) -> None:
        """Load the file into `training`, if there is one.

        Raises CheckpointError if the file is damaged or of another training, or if `resume` is
        False, since the training would overwrite it. The file itself does not change.
        """
        if not self.path.exists():
            return
        if not self.resume:
            raise CheckpointError(
                f"{self.path} holds an unfinished training: resume it, or delete the file"
            )
        state = _read(self.path)
        try:
            if state.get("scheme", "") != self.scheme:
                raise ValueError(
                    f"it was made with scheme = {state.get('scheme', '')}, and this training has "
                    f"{self.scheme}"
                )
            training.load_state_dict(state)
        except (ValueError, KeyError, TypeError, RuntimeError) as error:
            reason = str(error).splitlines()[0]
            raise CheckpointError(
                f"{self.path} is of another training ({reason}): use the same settings again, "
                "or delete the file"
            ) from None

    def after_step(self, training: Resumable) -> None:
        """Save if it is time to; if Ctrl-C was pressed, save and raise KeyboardInterrupt."""
        finished = len(training.losses) == training.steps
        if self._interrupted or finished or time.monotonic() - self._last > self.every:
            self.save(training)
            self._last = time.monotonic()
        if self._interrupted:
            raise KeyboardInterrupt

    def save(self, training: Resumable) -> None:
        """Write all of `training` to the file, or nothing."""
        state = io.BytesIO()  # torch itself, writing to a full disk, would not say that it is full
        torch.save({**training.state_dict(), "scheme": self.scheme}, state)
        # with its process in its name, since the zoo's jobs may train the same model at once
        unfinished = self.path.with_name(f"{self.path.name}.{os.getpid()}.new")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with unfinished.open("wb") as file:
                file.write(state.getbuffer())
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(self.path)
        except OSError as error:
            with suppress(OSError):
                unfinished.unlink()
            kept = "the one before is kept" if self.path.exists() else "there is none yet"
            step = len(training.losses)
            tqdm.write(f"no checkpoint at step {step}, {kept}: {self.path}: {error.strerror}")

    def _on_interrupt(self, *_: object) -> None:
        self._interrupted = True
        signal.signal(signal.SIGINT, self._handler)


def save_weights(weights: dict[str, Tensor], path: Path, metadata: dict[str, str]) -> None:
    """Write all of `weights` as safetensors, or nothing.

    Raises CheckpointError if that fails, as on a full disk.
    """
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        save_file(weights, unfinished, metadata=metadata)
        unfinished.replace(path)
    except BaseException as error:
        unfinished.unlink(missing_ok=True)
        if not isinstance(error, SafetensorError):
            raise
        raise CheckpointError(
            f"{path} could not be written ({error}): make room; with --resume the training goes on "
            "from its checkpoint, if there is one"
        ) from None


def checksum(path: Path) -> str:
    """Of the weights in a file, which says what a result was measured on.

    Of the weights alone: safetensors writes the metadata beside them in any order.
    """
    found = 0
    try:
        with safe_open(path, framework="pt") as file:
            for key in sorted(file.keys()):
                found = zlib.crc32(file.get_tensor(key).numpy().tobytes(), found)
    except SafetensorError:
        return f"{path.name} is damaged"
    return f"{found:08x}"


def _read(path: Path) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(path) as members:
            broken = members.testzip()  # torch itself does not check the checksums
        state = torch.load(path, map_location="cpu", weights_only=True)
        if broken is None and isinstance(state, dict):
            return state
    except PermissionError:
        raise
    except Exception:  # zipfile and torch raise many kinds of error for files that are not theirs
        pass
    raise CheckpointError(f"{path} is damaged: delete it to start anew") from None
