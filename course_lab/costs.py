"""What each scheme costs in training, beside a model without positions: memory and time.

A cost that is paid once for a batch weighs less in a larger batch, so it is measured at several
batches and lengths. `course costs` measures all of it and writes `zoo/costs.json`.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor, nn
from torch.nn import functional

from course_lab import zoo
from course_lab.machine import describe
from course_lab.training import one_thread
from course_lab.units import Entry, Result, Store, do

RESULTS = Path(__file__).parent / "zoo" / "costs.json"
KINDS = ("memory", "time")
BATCHES = (1, 8, 32)
LENGTHS = (128, 512, 2048)
STEP = 16  # bytes: lengths STEP, 2 STEP and 3 STEP settle what any length keeps
ROOM = 8 * 2**30  # bytes: a step that keeps more is not timed
PATIENCE = 60.0  # seconds: nor is one that takes longer
ROUNDS = (5, 30)  # at least and at most, for each median


class Unit(NamedTuple):
    """What is measured at once, for all schemes: memory or time, at one batch and length."""

    kind: str
    batch: int
    length: int


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


def measure(kinds: Iterable[str] = KINDS, path: Path | None = None) -> None:
    """Measure memory (seconds), and what `path`, by default RESULTS, lacks of times (half an hour).

    Times mean something only if nothing else keeps the machine busy. Ctrl-C stops; another call
    continues. To measure times again, delete the file.
    """
    store = Store(path or RESULTS, unit_of, lambda entry: (*unit_of(entry), _place(entry)))
    settings = zoo.TIERS["small"].settings()
    known = {unit_of(run) for run in store.read()["runs"] if run["settings"] == settings}
    units = [Unit(kind, batch, length) for kind in kinds for length in LENGTHS for batch in BATCHES]
    todo = [unit for unit in units if unit.kind == "memory" or unit not in known]
    do(store, todo, measured, title="costs")


def measured(unit: Unit) -> Result:
    """Bytes or seconds of each scheme, and how many times those of no position they are."""
    tier = zoo.TIERS["small"]
    models = {name: zoo.build(name, tier) for name in zoo.RECIPES}
    values: dict[str, float | None]
    if unit.kind == "memory":
        values = {name: bytes_kept_at(m, unit.batch, unit.length) for name, m in models.items()}
    else:
        values = seconds_per_step(models, unit.batch, unit.length)
    plain = values["none"]
    records = [
        {
            **unit._asdict(), "scheme": name, "value": value if value is None else round(value, 5),
            "relative": None if value is None or plain is None else round(value / plain, 4),
        }
        for name, value in values.items()
    ]  # fmt: skip
    run = {**unit._asdict(), "settings": tier.settings(), "machine": describe()}
    return Result(run, records)


def results(path: Path = RESULTS) -> list[Entry]:
    """What `measure` stored: kind, batch, length, scheme, value (bytes or seconds), relative.

    Value and relative are None for times that were not measured: see `seconds_per_step`.
    """
    return Store(path, unit_of, unit_of).read()["records"]


def unit_of(entry: Entry) -> Unit:
    """The unit that a run or a record is of."""
    return Unit(entry["kind"], entry["batch"], entry["length"])


def _place(entry: Entry) -> int:
    return list(zoo.RECIPES).index(entry["scheme"]) if "scheme" in entry else -1
