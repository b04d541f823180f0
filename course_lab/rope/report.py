"""`course rope`: where a model's positions come from, in words and in tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import torch
from torch import Tensor

from course_lab.rope.layer_groups import FURTHEST, LayerGroup, reach
from course_lab.rope.tables import Table


def report(group: LayerGroup) -> Iterator[str]:
    """One group of layers, line by line."""
    where = f"{numbers(group.layers, group.total)}{f', {group.name}' if group.name else ''}"
    lesson = f" (lesson {group.lesson})" if group.lesson else ""
    yield f"{where}: {group.kind}"
    window = ""
    if group.window:
        seen = "its own chunk of" if group.name == "chunked_attention" else "the last"
        window = f"; a query sees {seen} {whole(group.window)} tokens (lesson 11)"
    yield f"  {group.words}{lesson}{window}"
    if group.table:
        yield from _rotation(group, group.table)
    yield from (f"  note: {note}" for note in group.notes)
    yield from (f"  warning: {warning}" for warning in group.warnings)


def _rotation(group: LayerGroup, table: Table) -> Iterator[str]:
    pairs = len(table.frequencies)
    turned = "" if 2 * pairs == table.head_dim else f", {2 * pairs} of them turned"
    yield f"  head of {table.head_dim} numbers{turned}, {pairs} pairs, base {whole(table.base)}"
    if table.sections:
        pairs_of = zip(axis_names(len(table.sections)), table.sections, strict=True)
        yield f"  pairs for each axis: {', '.join(f'{name} {n}' for name, n in pairs_of)}"
    if table.length and table.original_length:
        times = table.length / table.original_length
        yield f"  made for {whole(table.length)} tokens" + (
            "" if times == 1 else
            f", {times:g} times the {whole(table.original_length)} in which turns are counted"
        )  # fmt: skip
    yield "  pairs " + "; ".join(f"{what}: {which}" for what, which in groups(group).items())
    factor = table.attention_factor
    yield f"  attention factor {factor:.4g}: scores are multiplied by {factor**2:.4g}"
    if len(table.sections) < 2:
        before = _at_least(reach(table.plain))
        slowed = not torch.equal(table.plain, table.frequencies)
        after = f", of the pairs as slowed {_at_least(reach(table.frequencies))}" if slowed else ""
        yield f"  reach of the base {before} tokens{after}"


def axis_names(count: int) -> tuple[str, ...]:
    """What axes are called in a table or picture: time comes first, where there is one."""
    if count in (2, 3):
        return ("time", "row", "column")[3 - count :]
    return tuple(f"axis {axis}" for axis in range(count))


def table_of_pairs(group: LayerGroup) -> Iterator[str]:
    """A line for each pair of a group that rotates."""
    axes = group.table.axes if group.table else ()
    names = axis_names(len(group.table.sections)) if group.table else ()
    head = f"  {'pair':>4} {'wavelength':>14} {'turns':>10} {'slowed by':>10} {'turns then':>11}"
    yield f"{head}  axis" if axes else head
    frequencies, turned = group.frequencies, group.turns
    length = group.table.length if group.table else None
    plain = group.table.plain if group.table else frequencies
    for pair, wave in enumerate(2 * math.pi / plain):
        slowed = float(group.slowed[pair])
        by = f"{slowed:10.3f}" if slowed < math.inf else "    stands"
        before = "" if turned is None else f"{turned[pair]:10,.2f}"
        then = "" if length is None else f"{length * frequencies[pair] / (2 * math.pi):11,.2f}"
        line = f"  {pair:4} {wave:14,.1f} {before:>10} {by} {then:>11}".replace(",", " ")
        yield f"{line}  {names[axes[pair]]}" if axes else line.rstrip()


def groups(group: LayerGroup) -> dict[str, str]:
    """Which pairs are kept, blended, slowed or stand still, as ranges: {"kept": "0 to 28"}."""
    slowed = group.slowed
    most = slowed[slowed < math.inf].max()
    kept, full = slowed < 1 + 1e-9, torch.isclose(slowed, most) & (most > 1 + 1e-9)
    still = slowed == math.inf
    named = {
        "kept": kept, "slowed in between": ~kept & ~full & ~still,
        f"slowed by {most:g}": full, "standing still": still,
    }  # fmt: skip
    return {what: _ranges(which) for what, which in named.items() if which.any()}


def numbers(layers: Sequence[int], total: int) -> str:
    """Layers in words: "layers 3, 7, ... 47 (12 of 48)"."""
    if len(layers) == total:
        return f"all {total} layers" if total > 1 else "all layers"
    if len(layers) == 1:
        return f"layer {layers[0]} of {total}"
    step = layers[1] - layers[0]
    even = all(after - before == step for before, after in pairwise(layers))
    if len(layers) > 3 and step > 1 and even:
        said = f"{layers[0]}, {layers[1]}, ... {layers[-1]}"
    else:
        which = torch.zeros(total, dtype=torch.bool)
        which[list(layers)] = True
        ranges = _ranges(which).split(", ")
        said = ", ".join(ranges if len(ranges) < 6 else [*ranges[:3], f"... {ranges[-1]}"])
    return f"layers {said} ({len(layers)} of {total})"


def _ranges(which: Tensor) -> str:
    """The numbers at which `which` is true: "0 to 28, 31"."""
    true = which.nonzero().flatten().tolist()
    starts = [n for n in true if n - 1 not in true]
    ends = [n for n in true if n + 1 not in true]
    return ", ".join(
        f"{start} to {end}" if end > start else str(start)
        for start, end in zip(starts, ends, strict=True)
    )


def whole(number: float) -> str:
    """A whole number with spaces between thousands."""
    return f"{number:,.0f}".replace(",", " ")


def _at_least(tokens: int) -> str:
    return whole(tokens) + (" or more" if tokens == FURTHEST else "")
