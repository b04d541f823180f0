"""`course rope`: where a model's positions come from, in words and in tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from course_lab.rope.layer_groups import FURTHEST, LayerGroup, reach
from course_lab.rope.tables import Table

MOST_RANGES = 40
"""Layers, or several in a row, that are written out where no pattern says which they are."""


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
    pairs = len(table.after)
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
    yield "  pairs " + "; ".join(f"{what}: {which}" for what, which in groups(table).items())
    factor = table.attention_factor
    yield f"  attention factor {factor:.4g}: scores are multiplied by {factor**2:.4g}"
    if len(table.sections) < 2:
        before, after = _at_least(reach(table.before)), ""
        if table.is_slowed:
            after = f", of the pairs as slowed {_at_least(reach(table.after))}"
        yield f"  reach of the base {before} tokens{after}"


def axis_names(count: int) -> tuple[str, ...]:
    """What axes are called in a table or picture: time comes first, where there is one."""
    if count in (2, 3):
        return ("time", "row", "column")[3 - count :]
    return tuple(f"axis {axis}" for axis in range(count))


def table_of_pairs(group: LayerGroup) -> Iterator[str]:
    """A line for each pair of a group that rotates."""
    table = group.table
    if table is None:
        return
    axes, names = table.axes, axis_names(len(table.sections))
    head = f"  {'pair':>4} {'wavelength':>14} {'turns':>10} {'slowed by':>10} {'turns then':>11}"
    yield f"{head}  axis" if axes else head
    of_pairs = zip(table.before, table.after, table.slowed, strict=True)
    for pair, (plain, pace, slowed) in enumerate(of_pairs):
        by = f"{slowed:10.3f}" if slowed < math.inf else "    stands"
        before, then = (
            "" if length is None else f"{length * one / (2 * math.pi):,.2f}"
            for length, one in ((table.original_length, plain), (table.length, pace))
        )
        wave = 2 * math.pi / plain
        line = f"  {pair:4} {wave:14,.1f} {before:>10} {by} {then:>11}".replace(",", " ")
        yield f"{line}  {names[axes[pair]]}" if axes else line.rstrip()


def groups(table: Table) -> dict[str, str]:
    """Which pairs are kept, blended, slowed or stand still, as ranges: {"kept": "0 to 28"}."""
    most = max((one for one in table.slowed if one < math.inf), default=1.0)
    found: dict[str, list[int]] = {
        "kept": [], "slowed in between": [], f"slowed by {most:g}": [], "standing still": [],
    }  # fmt: skip
    kept, between, full, still = found.values()
    for pair, slowed in enumerate(table.slowed):
        if slowed < 1 + 1e-9:
            kept.append(pair)
        elif slowed == math.inf:
            still.append(pair)
        elif math.isclose(slowed, most, rel_tol=1e-5):
            full.append(pair)
        else:
            between.append(pair)
    return {what: ", ".join(_ranges(pairs)) for what, pairs in found.items() if pairs}


def numbers(layers: Sequence[int], total: int) -> str:
    """Layers in words: "layers 3, 7, ... 47 (12 of 48)"."""
    if len(layers) == total:
        return f"all {total} layers" if total > 1 else "all layers"
    if len(layers) == 1:
        return f"layer {layers[0]} of {total}"
    step = layers[1] - layers[0]
    even = all(after - before == step for before, after in pairwise(layers))
    ranges = list(_ranges(layers))
    if len(layers) > 3 and step > 1 and even:
        ranges = [*ranges[:2], f"... {ranges[-1]}"]
    elif len(ranges) > 5 and _in_periods(layers, total):
        ranges = [*ranges[:3], f"... {ranges[-1]}"]
    elif len(ranges) > MOST_RANGES:
        left = len(ranges) - MOST_RANGES
        ranges = [*ranges[:MOST_RANGES], f"and {left} more places (--json has all)"]
    return f"layers {', '.join(ranges)} ({len(layers)} of {total})"


def _in_periods(layers: Sequence[int], total: int) -> bool:
    """Whether the first few layers say which of all the others there are: a pattern comes again."""
    there = set(layers)
    return any(
        all((n in there) == (n + period in there) for n in range(total - period))
        for period in range(1, total // 2 + 1)
    )


def _ranges(numbers: Sequence[int]) -> Iterator[str]:
    """Ascending numbers, those in a row together: "0 to 28", "31"."""
    start = 0
    for n, number in enumerate(numbers):
        if n + 1 == len(numbers) or numbers[n + 1] > number + 1:
            yield f"{numbers[start]} to {number}" if n > start else f"{number}"
            start = n + 1


def whole(number: float) -> str:
    """A whole number with spaces between thousands."""
    return f"{number:,.0f}".replace(",", " ")


def _at_least(tokens: int) -> str:
    return whole(tokens) + (" or more" if tokens == FURTHEST else "")
