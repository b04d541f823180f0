"""`course rope A B`: in what two configs differ, as far as positions go."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from course_lab.rope.config import Reading
from course_lab.rope.layer_groups import LayerGroup
from course_lab.rope.summary import said
from course_lab.rope.tables import Table
from course_lab.rope.words import numbers, pairs_by_pace, whole

HOW_READ = ("read as", "model_type", "without model_type")
SAID = 4
"""Notes or warnings of one config that are printed."""


def differences(one: Reading, other: Reading) -> Iterator[str]:
    """A line for each difference; if there is none, that."""
    lines = list(_differences(one, other))
    yield f"{one.name} and {other.name}: {_count(len(lines))}"
    yield from (f"  {line}" for line in lines)


def _count(lines: int) -> str:
    return f"{lines} difference{'s' if lines > 1 else ''}" if lines else "no difference"


def _differences(one: Reading, other: Reading) -> Iterator[str]:
    for what, first, second in (
        ("model type", one.source.name or "none", other.source.name or "none"),
        ("layers", one.groups[0].total or "not said", other.groups[0].total or "not said"),
        ("kinds of layers", len(one.groups), len(other.groups)),
    ):
        if first != second:
            yield f"{what}: {first} and {second}"
    pairs = _matched(one.groups, other.groups)
    for mine, theirs in pairs:
        where = "" if len(one.groups) == len(other.groups) == 1 else _called(mine, theirs)
        yield from (f"{where}{line}" for line in _of_groups(mine, theirs, one, other))
    for reading, rest in ((one, {id(a) for a, _ in pairs}), (other, {id(b) for _, b in pairs})):
        for group in reading.groups:
            if id(group) not in rest:
                where = numbers(group.layers, group.total)
                yield f"only {reading.name} has {where}: {group.words}"
    for what in ("notes", "warnings"):
        yield from _said(what, one, other)


def _matched(
    mine: list[LayerGroup], theirs: list[LayerGroup]
) -> list[tuple[LayerGroup, LayerGroup]]:
    """Groups that stand for each other: they do the same; of several, those of the same name, or
    else those that both have a window or have none."""
    left, found = list(theirs), {}
    for traits in (lambda g: (_role(g), g.name), lambda g: (_role(g), bool(g.window)), _role):
        for number, group in enumerate(mine):
            same = (one for one in left if traits(one) == traits(group))
            if number not in found and (match := next(same, None)):
                left = [one for one in left if one is not match]
                found[number] = group, match
    return [found[number] for number in sorted(found)]


def _role(group: LayerGroup) -> str:
    """What layers do for positions, in words."""
    if group.rotates:
        return "rotated layers"
    return {
        "none": "layers without positions", "no attention": "layers without attention",
    }.get(group.kind, "positions that are no rotation")  # fmt: skip


def _called(mine: LayerGroup, theirs: LayerGroup) -> str:
    """What both do, and what each config calls such layers."""
    names = " and ".join(dict.fromkeys(one.name or "all" for one in (mine, theirs)))
    return f"{_role(mine)}{'' if names == 'all' else f' ({names})'}, "


def _of_groups(mine: LayerGroup, theirs: LayerGroup, one: Reading, other: Reading) -> Iterator[str]:
    if mine.total == theirs.total and mine.layers != theirs.layers:
        yield (
            f"which layers: {numbers(mine.layers, mine.total)} and "
            f"{numbers(theirs.layers, theirs.total)}"
        )
    if mine.window != theirs.window:
        yield f"window: {_number(mine.window)} and {_number(theirs.window)}"
    if not (mine.table and theirs.table):
        if mine.words != theirs.words:
            yield f"positions: {mine.words} and {theirs.words}"
        return
    for what, first, second in zip(
        ("stretch", "base", "head", "pairs", "before the stretch", "made for", "attention factor",
         "pairs by axis", "temperature"),
        _values(mine.table), _values(theirs.table), strict=True,
    ):  # fmt: skip
        if first != second:
            yield f"{what}: {first} and {second}"
    yield from _of_pairs(mine.table, theirs.table, one, other)


def _values(table: Table) -> tuple[Any, ...]:
    factor = table.place.given.get("factor")
    by = f" by {factor:g}" if isinstance(factor, (int, float)) and table.kind != "default" else ""
    return (
        f"{table.kind}{by}", whole(table.base), table.head_dim, len(table.after),
        _number(table.original_length), _number(table.length), f"{table.attention_factor:.4g}",
        "one axis" if not table.sections else " + ".join(map(str, table.sections)),
        table.temperature or "none",
    )  # fmt: skip


def _number(value: int | None) -> str:
    return "none" if value is None else whole(value)


def _of_pairs(mine: Table, theirs: Table, one: Reading, other: Reading) -> Iterator[str]:
    """Which pairs turn at another pace, and which are kept and slowed."""
    if len(mine.after) != len(theirs.after):
        return
    paces = [pair for pair in zip(mine.after, theirs.after, strict=True)
             if not math.isclose(*pair, rel_tol=1e-6)]  # fmt: skip
    if not paces:
        return
    rates = [then / now for now, then in paces if now and then] or [0.0]
    yield (
        f"{len(paces)} of {len(mine.after)} pairs turn at another pace, in {other.name} "
        f"{min(rates):.3g} to {max(rates):.3g} times as fast as in {one.name}"
    )
    if not (mine.is_slowed or theirs.is_slowed):
        return
    for name, table in ((one.name, mine), (other.name, theirs)):
        yield f"pairs of {name}: {pairs_by_pace(table)}"


def _said(what: str, one: Reading, other: Reading) -> Iterator[str]:
    """Notes or warnings that one of the two has alone."""
    mine, theirs = said(one.groups, what), said(other.groups, what)
    for name, lines, beside in ((one.name, mine, theirs), (other.name, theirs, mine)):
        alone = [line for line in lines if line not in beside and not line.startswith(HOW_READ)]
        yield from (f"{what[:-1]} of {name} alone: {line}" for line in alone[:SAID])
        if len(alone) > SAID:
            yield f"and {len(alone) - SAID} more {what} of {name} alone"
