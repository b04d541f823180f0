"""How long works take and how much memory they need, side by side."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import NamedTuple

import torch
from torch.profiler import ProfilerActivity, profile

from course_lab.machine import device

Work = Callable[[], object]
Works = dict[str, Work]


class Cost(NamedTuple):
    """Of one call: median seconds, bytes that it held and gave back, bytes of its result."""

    seconds: float
    scratch: int
    result: int


def measure(works: Mapping[str, Work], seconds: float = 6.0, rounds: int = 9) -> dict[str, Cost]:
    """Median seconds and memory of each, by interleaved runs: `rounds` at least, and as many as
    fit in `seconds`.

    The run before the one that counts brings caches and allocator into the state that this work
    leaves, rather than another.
    """
    with torch.no_grad():
        for work in works.values():
            work()  # compiles, where there is something to compile
        memory = {name: _memory(work) for name, work in works.items()}
        times: dict[str, list[float]] = {name: [] for name in works}
        order, end, done = list(works), time.perf_counter() + seconds, 0
        while done < rounds or (works and time.perf_counter() < end):
            random.shuffle(order)
            done += 1
            for name in order:
                works[name]()
                times[name].append(seconds_of(works[name]))
    return {name: Cost(median(times[name]), *memory[name]) for name in works}


def seconds_of(work: Work) -> float:
    wait = torch.accelerator.synchronize if device().type != "cpu" else int
    wait()
    start = time.perf_counter()
    work()
    wait()
    return time.perf_counter() - start


def _memory(work: Work) -> tuple[int, int]:
    """Bytes of scratch and of the result."""
    if device().type == "cuda":
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        result = work()
        held, peak = torch.cuda.memory_allocated() - before, torch.cuda.max_memory_allocated()
        del result
        return peak - before - held, held
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # else the profiler prints that it starts
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        result = work()
    held = peak = 0
    for event in profiler.profiler.kineto_results.events():
        held += event.nbytes() if event.name() == "[memory]" else 0
        peak = max(peak, held)
    del result
    return peak - held, held
