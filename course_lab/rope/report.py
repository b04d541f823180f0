"""`course rope`: what a model's rotary parameters do, in words and in a table."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from course_lab.rope.config import FURTHEST, Rope, reach


def report(rope: Rope) -> Iterator[str]:
    """The rotary encoding of one type of layers, line by line."""
    yield f"{rope.layers or 'all layers'}: {rope.kind}"
    pairs, base = len(rope.scaled.frequencies), f"base {_whole(rope.base)}"
    yield f"  head of {rope.head_dim} numbers, {pairs} pairs, {base}"
    yield (
        f"  made for {_whole(rope.length)} tokens, {rope.length / rope.original_length:g} times "
        f"the {_whole(rope.original_length)} in which turns are counted"
    )
    yield "  pairs " + "; ".join(f"{what}: {where}" for what, where in groups(rope).items())
    attention = rope.scaled.attention_factor
    yield f"  attention factor {attention:.4g}: scores are multiplied by {attention**2:.4g}"
    before, after = (_at_least(reach(one)) for one in (rope.plain, rope.scaled.frequencies))
    yield f"  reach of the base {before} tokens, of the pairs as slowed {after}"
    yield from (f"  note: {note}" for note in rope.notes)
    yield from (f"  warning: {warning}" for warning in rope.warnings)


def table(rope: Rope) -> Iterator[str]:
    """A line for each pair."""
    yield f"  {'pair':>4} {'wavelength':>14} {'turns':>10} {'slowed by':>10} {'turns then':>11}"
    then = rope.length * rope.scaled.frequencies / (2 * math.pi)
    wavelengths = 2 * math.pi / rope.plain
    for pair, (wave, turns, slowed, longer) in enumerate(
        zip(wavelengths, rope.turns, rope.slowed, then, strict=True)
    ):
        by = f"{slowed:10.3f}" if slowed < math.inf else "    stands"
        line = f"  {pair:4} {wave:14,.1f} {turns:10,.2f} {by} {longer:11,.2f}"
        yield line.replace(",", " ")


def groups(rope: Rope) -> dict[str, str]:
    """Which pairs are kept, blended, slowed or stand still, as ranges: {"kept": "0 to 28"}."""
    slowed = rope.slowed
    most = slowed[slowed < math.inf].max()
    kept, full = slowed < 1 + 1e-9, torch.isclose(slowed, most) & (most > 1 + 1e-9)
    still = slowed == math.inf
    named = {
        "kept": kept, "slowed in between": ~kept & ~full & ~still,
        f"slowed by {most:g}": full, "standing still": still,
    }  # fmt: skip
    return {what: _ranges(which) for what, which in named.items() if which.any()}


def _ranges(which: Tensor) -> str:
    """The numbers at which `which` is true: "0 to 28, 31"."""
    numbers = which.nonzero().flatten().tolist()
    starts = [n for n in numbers if n - 1 not in numbers]
    ends = [n for n in numbers if n + 1 not in numbers]
    return ", ".join(
        f"{start} to {end}" if end > start else str(start)
        for start, end in zip(starts, ends, strict=True)
    )


def _whole(number: float) -> str:
    return f"{number:,.0f}".replace(",", " ")


def _at_least(tokens: int) -> str:
    return _whole(tokens) + (" or more" if tokens == FURTHEST else "")
