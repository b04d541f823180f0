"""What a training step costs: the bytes that it keeps, and its seconds."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping

import torch
from jaxtyping import Int
from torch import Tensor, nn
from torch.nn import functional

from course_lab.training.loop import one_thread

STEP = 16  # bytes: lengths STEP, 2 STEP and 3 STEP settle what any length keeps
ROOM = 8 * 2**30  # bytes: a step that keeps more is not timed
PATIENCE = 60.0  # seconds: nor is one that takes longer
ROUNDS = (5, 30)  # at least and at most, for each median


def bytes_kept(model: nn.Module, tokens: Int[Tensor, "batch length"]) -> int:
    """The size of all that a forward pass saves for the backward pass, parameters included."""
    sizes: dict[int, int] = {}

    def note(t: Tensor) -> Tensor:
        sizes[t.untyped_storage().data_ptr()] = t.untyped_storage().nbytes()
        return t

    with torch.autograd.graph.saved_tensors_hooks(note, lambda t: t):
        loss = model(tokens, torch.arange(tokens.shape[1])).square().mean()
    del loss  # kept until here, so that no storage is freed and counted under another's address
    return sum(sizes.values())


def bytes_kept_at(model: nn.Module, batch: int, length: int) -> int:
    """`bytes_kept` for texts of any size, computed from small ones, without running it.

    Exact for the zoo's models, since what they keep is whole tensors: each belongs to the batch or
    to every text of it, and its size is constant, linear or quadratic in the length. So three
    lengths settle a batch, and two batches all others; but for a batch of one torch takes other
    ways, so it is settled by itself. Sizes are those of torch's CPU kernels.
    """

    def at(rows: int) -> float:
        first, second, third = (
            bytes_kept(model, torch.zeros(rows, n * STEP, dtype=torch.long)) for n in (1, 2, 3)
        )
        n = length / STEP
        curved = third - 2 * second + first
        return first + (n - 1) * (second - first) + (n - 1) * (n - 2) / 2 * curved

    if batch == 1:
        return round(at(1))
    two, three = at(2), at(3)
    return round(two + (batch - 2) * (three - two))


def step(
    model: nn.Module, optimizer: torch.optim.Optimizer, tokens: Int[Tensor, "batch length"]
) -> None:
    """A training step to predict each token from itself, which costs what any target does."""
    scores = model(tokens, torch.arange(tokens.shape[1]))
    optimizer.zero_grad()
    functional.cross_entropy(scores.flatten(0, 1), tokens.flatten()).backward()
    optimizer.step()


def seconds_per_step(
    models: Mapping[str, nn.Module], batch: int, length: int
) -> dict[str, float | None]:
    """The median time of a training step of each model, in turn, on one thread of the CPU.

    None for a step that would keep more than ROOM, or took more than PATIENCE once. Rounds fill
    about PATIENCE, within ROUNDS.
    """
    tokens = torch.randint(256, (batch, length), generator=torch.Generator().manual_seed(0))
    times: dict[str, list[float]] = {name: [] for name in models}
    optimizers = {name: torch.optim.AdamW(model.parameters()) for name, model in models.items()}

    def run(name: str) -> float:
        start = time.perf_counter()
        step(models[name], optimizers[name], tokens)
        return time.perf_counter() - start

    with one_thread():
        fitting = [n for n, model in models.items() if bytes_kept_at(model, batch, length) <= ROOM]
        warm_up = {name: run(name) for name in fitting}
        timed = [name for name in fitting if warm_up[name] <= PATIENCE]
        total = sum(warm_up[name] for name in timed)
        least, most = ROUNDS
        for _ in range(max(least, min(most, int(PATIENCE / total))) if timed else 0):
            for name in timed:
                times[name].append(run(name))
    return {name: statistics.median(values) if values else None for name, values in times.items()}
