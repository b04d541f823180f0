"""One training loop for everything the course trains."""

from __future__ import annotations

import math
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from tqdm.auto import tqdm

from course_lab.training.checkpoints import Checkpoint
from course_lab.training.tasks import IGNORE, Batch, Task
from course_lib.encodings import consecutive_positions
from course_lib.model import Decoder

SMALL = 300_000  # parameters


def train(
    model: nn.Module,
    task: Task,
    steps: int,
    learning_rate: float = 3e-3,
    seed: int = 0,
    progress: bool = True,
    checkpoint: Checkpoint | None = None,
    dtype: torch.dtype | None = None,
) -> list[float]:
    """Train `model` on batches of `task`, in place, and return the loss of every step.

    AdamW, linear warm-up over a tenth of the steps, cosine decay to zero, gradients clipped to
    length 1. Positions are 0, 1, 2, ... `seed` decides the batches; the loss is in nats.
    `dtype` is that of matrix products: None is bfloat16 where that is faster, else float32.

    With a `checkpoint` the training is saved every few minutes and when Ctrl-C stops it, and
    continues from what was saved, in the dtype that it began with.

    A model with fewer than SMALL parameters trains on one CPU thread and in float32: a second
    thread helps it little, and slows it down when other programs keep the cores busy.
    """
    small = sum(p.numel() for p in model.parameters()) < SMALL
    if dtype is None:
        place = next(model.parameters()).device
        dtype = torch.float32 if small else fast_dtype(place)
    training = Training(model, task, steps, learning_rate, seed, dtype=dtype)
    with one_thread() if small else nullcontext(), checkpoint or nullcontext():
        if checkpoint:
            checkpoint.restore(training)
        for _ in _with_bar(training, progress):
            training.step()
            if checkpoint:
                checkpoint.after_step(training)
    return training.losses


class Training:
    """A model being trained: everything that its next step depends on.

    The arguments are those of `train`; `schedule(step, steps)` is the learning rate as a fraction
    of `learning_rate`.
    """

    def __init__(
        self,
        model: nn.Module,
        task: Task,
        steps: int,
        learning_rate: float,
        seed: int,
        schedule: Callable[[int, int], float] | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.model, self.task, self.steps, self.dtype = model, task, steps, dtype
        self.settings: dict[str, Any] = {
            "steps": steps, "learning_rate": learning_rate, "seed": seed,
            "dtype": str(dtype).removeprefix("torch."),
        }  # fmt: skip
        self.losses: list[float] = []
        self.tokens = 0  # of one batch
        self.device = next(model.parameters()).device
        self._generator = torch.Generator().manual_seed(seed)
        self._optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=0.01)
        curve = schedule or rate
        self._schedule = torch.optim.lr_scheduler.LambdaLR(
            self._optimizer, lambda step: curve(step, steps)
        )

    def step(self) -> float:
        """Draw a batch, take one step, and return the loss of the batch before it, in nats."""
        drawn = self.task(self._generator)
        self.tokens = drawn.tokens.numel()
        if not self.losses:
            self.settings["first batch"] = _fingerprint(drawn)
        tokens, targets = (t.to(self.device) for t in drawn)
        with torch.autocast(self.device.type, self.dtype, enabled=self.dtype != torch.float32):
            scores = self.model(tokens, self._positions(tokens.shape[1]))
        total = functional.cross_entropy(
            scores.float().flatten(0, 1), targets.flatten(), ignore_index=IGNORE, reduction="sum"
        )
        loss = total / int((drawn.targets != IGNORE).sum())
        self._optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self._optimizer.step()
        self._schedule.step()
        self.losses.append(loss.item())
        return self.losses[-1]

    def _positions(self, length: int) -> Tensor | range:
        """0, 1, 2, ...: as a range for a compiled decoder on a GPU, where flash attention wants it.

        On a CPU that kernel's backward pass takes about five times as long in bfloat16, over 128
        tokens, as the code that torch generates for a mask.
        """
        if isinstance(self.model, Decoder) and self.device.type != "cpu":
            return range(length)
        return consecutive_positions(length, device=self.device)

    def state_dict(self) -> dict[str, Any]:
        """Everything that a later run needs to continue as if there had been no interruption."""
        return {
            "settings": self.settings,
            "losses": self.losses,
            "model": self.model.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "schedule": self._schedule.state_dict(),
            "generator": self._generator.get_state(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from `state`. Raises ValueError if it is of a training with other settings."""
        for name in ("steps", "learning_rate", "seed"):
            here, there = self.settings[name], state["settings"][name]
            if there != here:
                raise ValueError(f"it was made with {name} = {there}, and this training has {here}")
        first = self.task(torch.Generator().manual_seed(self.settings["seed"]))
        if state["settings"]["first batch"] != _fingerprint(first):
            raise ValueError("it was made with another text or task")
        # the dtype is not compared: which one is faster is measured, and may differ today
        self.settings = state["settings"]
        self.dtype = getattr(torch, self.settings["dtype"])
        self.model.load_state_dict(state["model"])
        self._optimizer.load_state_dict(state["optimizer"])
        self._schedule.load_state_dict(state["schedule"])
        self._generator.set_state(state["generator"])
        self.losses = list(state["losses"])


def _fingerprint(batch: Batch) -> int:
    """A checksum: another text or task has another first batch."""
    return zlib.crc32(b"".join(t.contiguous().numpy().tobytes() for t in batch))


def rate(step: int, steps: int) -> float:
    """The learning rate at `step` as a fraction of the highest: it rises, then falls to zero."""
    warm_up = max(1, steps // 10)
    if step < warm_up:
        return (step + 1) / warm_up
    return 0.5 * (1 + math.cos(math.pi * (step - warm_up) / (steps - warm_up)))


@cache
def fast_dtype(device: torch.device) -> torch.dtype:
    """bfloat16 where a matrix product in it takes less time than in float32, else float32.

    Measured once, in milliseconds: some processors emulate bfloat16, ten times more slowly.
    """
    if device.type == "mps":
        return torch.float32

    def seconds(dtype: torch.dtype) -> float:
        a = torch.ones(512, 512, dtype=dtype, device=device)
        times = []
        for _ in range(5):
            start = time.perf_counter()
            (a @ a).sum().item()
            times.append(time.perf_counter() - start)
        return min(times)

    faster = seconds(torch.bfloat16) < 0.8 * seconds(torch.float32)
    return torch.bfloat16 if faster else torch.float32


@contextmanager
def one_thread() -> Iterator[None]:
    """One CPU thread inside the block, as many as before after it."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _with_bar(training: Training, progress: bool) -> Iterator[int]:
    """Count the steps that are left, with the loss and the speed beside a bar."""
    done, start = len(training.losses), time.perf_counter()
    with tqdm(total=training.steps, initial=done, disable=not progress, leave=False) as bar:
        for step in range(done, training.steps):
            yield step
            speed = (step + 1 - done) * training.tokens / (time.perf_counter() - start)
            shown = {"loss": f"{training.losses[-1]:.3f}", "tokens/s": f"{speed:,.0f}"}
            bar.set_postfix(shown, refresh=False)
            bar.update()
