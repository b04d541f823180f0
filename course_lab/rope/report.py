"""`course rope --pairs`: all that is known of a group of layers, and a line for each pair."""

from __future__ import annotations

import math
from collections.abc import Iterator

from course_lab.rope.layer_groups import FURTHEST, LayerGroup, reach
from course_lab.rope.tables import Table
from course_lab.rope.words import axis_names, numbers, pairs_by_pace, seen, whole


def report(group: LayerGroup) -> Iterator[str]:
    """One group of layers, line by line."""
    where = f"{numbers(group.layers, group.total)}{f', {group.name}' if group.name else ''}"
    lesson = f" (lesson {group.lesson})" if group.lesson else ""
    yield f"{where}: {group.kind}"
    window = f"; a query sees {seen(group)} (lesson 11)" if group.window else ""
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
    yield "  pairs " + pairs_by_pace(table)
    factor = table.attention_factor
    yield f"  attention factor {factor:.4g}: scores are multiplied by {factor**2:.4g}"
    if len(table.sections) < 2:
        before, after = _at_least(reach(table.before)), ""
        if table.is_slowed:
            after = f", of the pairs as slowed {_at_least(reach(table.after))}"
        yield f"  reach of the base {before} tokens{after} (an estimate from the base, no limit)"


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


def _at_least(tokens: int) -> str:
    return whole(tokens) + (" or more" if tokens == FURTHEST else "")
