"""What every encoding costs, side by side with what a user would pick instead.

`run` measures and reports; `make bench` writes docs/benchmarks.md. Whether both sides compute the
same is checked by the tests, on the functions that are timed here.
"""

from __future__ import annotations

import ctypes
import math
import os
import platform
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import NamedTuple

import torch
from torch import nn

from course_lab.instruments import contenders
from course_lab.instruments.contenders import CLONE, HF, RET
from course_lab.instruments.timing import Cost, Work, Works, measure, seconds_of
from course_lab.machine import describe, device
from course_lab.markdown import table
from course_lab.zoo import RECIPES, TIERS
from course_lib import encodings as enc
from course_lib.model import Decoder
from course_lib.model.llama import LlamaConfig

INTRODUCTION = """# What it costs

Written by `make bench`. Times are medians over rounds in one process: in each round all that is
compared runs in random order, each twice, and the second run counts. "Result" is the memory that
a call returns and "scratch" the most that it held beside that, in MiB: on a GPU as torch's
allocator counts, on the CPU summed from every allocation that torch's profiler saw."""
NOTES = """Without gradients (but for the training steps), one sequence for the biases, in float32
where a title names no dtype.

- `torch.clone` copies two blocks, queries and keys, in a random order with the works beside it.
  The clone of 32 MiB above is one block, over and over: the two times are not comparable.
- Rotation: queries and keys of one layer. "Interleaved" and "half" are ours and compute in float32
  at least, transformers in the queries' dtype. Both get cosines and sines ready made;
  rotary-embedding-torch takes them in every call, of angles that it keeps.
- Rotation on three axes: queries and keys of one layer, 8 heads of 128, with Qwen2-VL's sections of
  16, 24 and 24 pairs; cosines and sines are computed in every call. "One axis" is plain RoPE.
- T5 bias and ALiBi: 8 heads and all n x n pairs. transformers' ALiBi (Bloom's) has one number for
  each head and key, equal to ours but for a constant in each row, which softmax ignores. Fair
  places to compare are one number for each head and distance ("before expansion"), and the scores
  with the bias added and later keys masked.
- Shaw keys: 8 heads of 64, distances clipped at 16. "Materialised" has a vector for each pair.
  Ours has an index for each pair, which all heads share: less than the scores, but not O(n d).
- Compiled causal pass: one layer of `Decoder` with RoPE and 8 heads of 64, compiled. Told positions
  as a tensor it needs a mask of all pairs; told a range, it is causal without one.
- Model of the sizes of SmolLM2-135M: ours is `Llama` with `Rotary` and keeps keys before their
  turn, transformers' keeps them turned. Both keep what they read for the tokens that follow.
- Training step: `Decoder` without options, forward, backward and AdamW. "Plain torch, learned" is
  a model of the same size, written in the manner of nanoGPT: compare it with "learned".
- Training loop: the same plain step beside `train` with learned positions, which also draws its
  batches and clips gradients. Aimed at: 1.2 times the plain one's tokens a second."""
GROWTH = """One head of 64, all pairs of n positions, tables included: ms, and in brackets MiB of
scratch and result.{dash}

![Cost as n grows, on logarithmic axes](benchmarks.png)"""


DASH = " A dash: it would take more memory than the benchmark allows itself."


class Sizes(NamedTuple):
    """What to measure: for each group at least `rounds`, and as many as fit in `seconds`."""

    rotate: tuple[tuple[int, ...], ...] = ((4, 8, 2048, 64), (1, 16, 4096, 128))
    picture: tuple[int, int] = (32, 64)
    bias: tuple[int, int] = (1024, 4096)
    shaw: tuple[int, int] = (512, 2048)
    passes: tuple[int, ...] = (512, 2048)
    growth: tuple[int, ...] = (256, 512, 1024, 2048, 4096, 8192, 16384)
    batch: tuple[int, int] = (32, 128)
    released: tuple[LlamaConfig, int, int] = (contenders.SMALL_RELEASED, 1024, 64)
    seconds: float = 6.0
    rounds: int = 9
    room: int = 6 * 2**30
    """Bytes that the largest measurement may take."""


FULL = Sizes()
TINY = Sizes(
    ((1, 2, 8, 8),),
    (2, 4),
    (8, 32),
    (8, 32),
    (8,),
    (8, 16, 32),
    (2, 32),
    (LlamaConfig(16, 8, 1, 2, 8), 8, 2),
    0.0,
    1,
)


def keep_freed_memory() -> str:
    """Tell glibc's malloc to keep what is freed, and say what that changed."""
    if platform.libc_ver()[0] != "glibc":
        return "Memory is allocated as the system does by default, page faults included."
    clone = torch.zeros(2**23).clone
    before = _faults(clone)
    m_mmap_max, m_trim_threshold, libc = -4, -1, ctypes.CDLL(None)  # as in malloc.h
    libc.mallopt(m_mmap_max, 0)
    libc.mallopt(m_trim_threshold, -1)
    return (
        "By default glibc's malloc gives large blocks back to the system, which hands them out "
        "again page by page, with a fault and a wipe for each. `mallopt` makes it take none from "
        "mmap (`M_MMAP_MAX` 0, an infinite `M_MMAP_THRESHOLD`) and give none back "
        f"(`M_TRIM_THRESHOLD` -1). A clone of 32 MiB: {before} before, {_faults(clone)} after."
    )


def _faults(work: Work) -> str:
    from resource import RUSAGE_SELF, getrusage  # Unix only, as glibc is

    for _ in range(10):  # until malloc has settled
        work()
    start, times = getrusage(RUSAGE_SELF).ru_minflt, [seconds_of(work) for _ in range(11)]
    faults = (getrusage(RUSAGE_SELF).ru_minflt - start) / len(times)
    return f"{median(times) * 1e3:.3g} ms and {faults:.0f} page faults"


def compiler_problem() -> str | None:
    """Why torch.compile does not work here, None if it does."""
    try:
        torch.compile(lambda x: x + 1)(torch.zeros(2, device=device()))
    except Exception as error:  # each missing part of a compiler has its own error
        return f"left out, {str(error).strip().splitlines()[0]}"
    return None


def decoders(length: int) -> dict[str, nn.Module]:
    """The zoo's schemes, two variants, and a model in plain torch, for texts of `length` bytes."""
    tier = replace(TIERS["small"], length=length)
    config, width = tier.config, tier.config.head_dim
    schemes = {recipe.label: recipe.scheme(tier) for recipe in RECIPES.values()} | {
        "Shaw, keys only": lambda layer: enc.Shaw(width, contenders.CLIP, on_values=False),
        "RoPE, interleaved": enc.Rotary(width, layout="interleaved"),
    }
    models: dict[str, nn.Module] = {n: Decoder(config, scheme) for n, scheme in schemes.items()}
    return models | {contenders.PLAIN: contenders.PlainDecoder(config, length)}


def groups(
    sizes: Sizes, compiled: bool
) -> Iterator[tuple[str, Works, str, dict[tuple[str, str], float]]]:
    """Groups, each a title, works by name, the name of the reference, and limits.

    A limit on (a, b) is the largest ratio of a's time to b's that is aimed at. Groups come one at
    a time, so that the tensors of one are freed before the next.
    """
    float32 = {("interleaved", HF): 1 / 4, ("interleaved", RET): 1 / 4, ("interleaved", CLONE): 1.5}
    float32 |= {("half", HF): 1, ("half", CLONE): 3, ("half, compiled", CLONE): 1.3}
    aims = {torch.float32: float32, torch.bfloat16: {("interleaved", HF): 1.0}}
    for shape in sizes.rotate:
        for dtype, aim in aims.items():
            title = f"Rotation, {' x '.join(map(str, shape))}, {str(dtype).removeprefix('torch.')}"
            yield title, contenders.rotations(shape, dtype, compiled), CLONE, aim
    rows, columns = sizes.picture
    title = f"Rotation on three axes, a picture of {rows} x {columns}"
    yield title, contenders.several_axes(rows, columns), "ours", {("ours", HF): 1}
    for n in sizes.bias:
        yield f"T5 bias, n = {n}", contenders.t5_biases(n), "ours", {("ours", HF): 1 / 5}
    alibi = [("ours, before expansion", HF), ("ours, masked scores", f"{HF}, masked scores")]
    for n in sizes.bias:
        yield f"ALiBi, n = {n}", contenders.alibi_biases(n), "ours", dict.fromkeys(alibi, 1 / 5)
    shaw = {("ours", "materialised"): 1 / 5}
    for n in sizes.shaw:
        yield f"Shaw keys, n = {n}", contenders.shaw_keys(n), "ours", shaw
    for n in sizes.passes if compiled else ():
        title = f"Compiled causal pass, n = {n}"
        aim = {(contenders.AS_RANGE, contenders.AS_TENSOR): 1.0}
        yield title, contenders.compiled_passes(n), contenders.AS_TENSOR, aim
    config, length, new = sizes.released
    titles = {"reading": f"reading {length} tokens at once", "writing": f"writing {new} after them"}
    for what, works in contenders.released(config, length, new).items():
        yield (
            f"Model of the sizes of SmolLM2-135M, {titles[what]}",
            works,
            "ours",
            {("ours", HF): 1},
        )
    batch, length = sizes.batch
    steps = {
        name: contenders.training_step(m, batch, length) for name, m in decoders(length).items()
    }
    yield f"Training step of {batch} texts of {length} bytes", steps, "no position", {}
    loops = contenders.training_loops(batch, length, compiled)
    faster = {(name, contenders.PLAIN): 1 / 1.2 for name in loops if name != contenders.PLAIN}
    yield f"Training loop, {batch} texts of {length} bytes", loops, contenders.PLAIN, faster


def growth(sizes: Sizes) -> dict[str, list[Cost]]:
    """Costs of each scheme at each length, up to the length that needs more than `sizes.room`."""
    costs: dict[str, list[Cost]] = {name: [] for name in contenders.growing(1)}
    for n in sizes.growth:  # twice the length takes four times the memory
        allowed = {
            name: work
            for name, work in contenders.growing(n).items()
            if 4 * sum(costs[name][-1][1:] if costs[name] else ()) <= sizes.room
        }
        for name, cost in measure(allowed, sizes.seconds, sizes.rounds).items():
            costs[name].append(cost)
    return costs


def run(sizes: Sizes, say: Callable[[str], object] = print) -> tuple[str, dict[str, list[float]]]:
    """Measure everything; the report in Markdown, and the seconds as n grows for its figure."""
    torch.manual_seed(0)
    problem = compiler_problem()
    parts = [INTRODUCTION, keep_freed_memory(), machine(problem)]
    say("\n\n".join(parts))
    aims, tables = [], []
    scratch: dict[str, int] = {}
    for title, works, reference, limits in groups(sizes, compiled=not problem):
        costs = measure(works, sizes.seconds, sizes.rounds)
        scratch[title] = costs["ours"].scratch if "ours" in costs else 0
        tables.append(f"### {title}\n\n{_compared(costs, reference)}")
        say(tables[-1])
        aims += [
            _aim(f"{title}: {a} / {b}", limit, costs[a].seconds / costs[b].seconds)
            for (a, b), limit in limits.items()
            if a in costs and b in costs
        ]
    lengths = {"T5 bias": sizes.bias, "ALiBi": sizes.bias, "Shaw keys": sizes.shaw}
    for kind, (few, many) in lengths.items():
        ratio = scratch[f"{kind}, n = {many}"] / max(1, scratch[f"{kind}, n = {few}"])
        aims.append(_aim(f"{kind}: scratch at {many} / at {few}", 1.1 * many / few, ratio))
    grown = growth(sizes)
    ratios = "## Ratios aimed at\n\n" + table(["ratio", "at most", "reached", "met"], aims)
    grows = GROWTH.format(
        dash=DASH if any(len(c) < len(sizes.growth) for c in grown.values()) else ""
    )
    tables.append(f"## As n grows\n\n{grows}\n\n{_by_length(sizes, grown)}")
    say(f"{tables[-1]}\n{ratios}")
    return "\n\n".join([*parts, ratios, f"## Everything measured\n\n{NOTES}", *tables]), {
        name: [cost.seconds for cost in costs] + [math.nan] * (len(sizes.growth) - len(costs))
        for name, costs in grown.items()
    }


def machine(problem: str | None) -> str:
    """Where, when and with which libraries this is measured."""
    info = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    cpu = next((m[1] for m in re.finditer(r"model name\s*: (.*)", info)), platform.processor())
    rows = [
        ["date", date.today().isoformat()],
        ["CPU", f"{cpu}, {os.cpu_count()} cores"],
        ["threads", f"{torch.get_num_threads()} (one varies less beside other programs)"],
        ["place", describe()],
        ["torch.compile", problem or "works"],
        *([name, _installed(name)] for name in (HF, RET)),
    ]
    if hasattr(os, "getloadavg"):
        rows.append(["load before", f"{os.getloadavg()[0]:.1f} programs at work"])
    return table(["what", "here"], rows)


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "left out, not installed: `make test-environment` installs it"


def _aim(ratio: str, limit: float, reached: float) -> list[str]:
    return [ratio, f"{limit:.3g}", f"{reached:.3g}", "yes" if reached <= limit else "no"]


def _compared(costs: dict[str, Cost], reference: str) -> str:
    """A table with a row for each work, the fastest first."""
    rows = [
        [name, _ms(c), f"{c.seconds / costs[reference].seconds:.2f}", _mib(c[1]), _mib(c[2])]
        for name, c in sorted(costs.items(), key=lambda item: item[1].seconds)
    ]
    return table(["what", "ms", f"/ {reference}", "scratch", "result"], rows)


def _by_length(sizes: Sizes, grown: dict[str, list[Cost]]) -> str:
    cells = {name: [f"{_ms(c)} ({_mib(c[1] + c[2])})" for c in cs] for name, cs in grown.items()}
    rows = [
        [str(n), *(column[at] if at < len(column) else "-" for column in cells.values())]
        for at, n in enumerate(sizes.growth)
    ]
    return table(["n", *cells], rows)


def _ms(cost: Cost) -> str:
    return f"{cost.seconds * 1e3:.3g}"


def _mib(count: int) -> str:
    return f"{count / 2**20:.3g}"
