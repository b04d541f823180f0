"""One training loop for everything the course trains."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import torch
from torch import nn
from torch.nn import functional
from tqdm.auto import tqdm

from course_lib.lab.tasks import IGNORE, Task

SMALL = 300_000  # parameters


def train(
    model: nn.Module,
    task: Task,
    steps: int,
    learning_rate: float = 3e-3,
    seed: int = 0,
    progress: bool = True,
) -> list[float]:
    """Train `model` on batches of `task`, in place, and return the loss of every step.

    AdamW, linear warm-up over a tenth of the steps, cosine decay to zero, gradients clipped to
    length 1. Positions are 0, 1, 2, ... The batches follow from `seed`; the loss is in nats.

    A model under SMALL parameters trains on one CPU thread: a second one gains it little, and costs
    it much when other programs keep the cores busy.
    """
    parameters = sum(p.numel() for p in model.parameters())
    with one_thread() if parameters < SMALL else nullcontext():
        return _train(model, task, steps, learning_rate, seed, progress)


def _train(
    model: nn.Module, task: Task, steps: int, learning_rate: float, seed: int, progress: bool
) -> list[float]:
    place = next(model.parameters()).device
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: rate(step, steps))
    losses = []
    bar = tqdm(range(steps), disable=not progress, leave=False)
    for _ in bar:
        tokens, targets = (t.to(place) for t in task(generator))
        scores = model(tokens, torch.arange(tokens.shape[1], device=place))
        loss = functional.cross_entropy(
            scores.flatten(0, 1), targets.flatten(), ignore_index=IGNORE
        )
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        bar.set_postfix(loss=f"{losses[-1]:.3f}", refresh=False)
    return losses


def rate(step: int, steps: int) -> float:
    """The learning rate at `step`, as a fraction of the highest."""
    warm_up = max(1, steps // 10)
    if step < warm_up:
        return (step + 1) / warm_up
    return 0.5 * (1 + math.cos(math.pi * (step - warm_up) / (steps - warm_up)))


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one CPU thread inside, on as many as before afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
