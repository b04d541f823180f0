"""`course rope` in a dozen lines: what rotates, how far, how it is stretched, and what is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from course_lab.rope.config import Reading
from course_lab.rope.known import release
from course_lab.rope.layer_groups import LayerGroup
from course_lab.rope.remedies import remedy
from course_lab.rope.tables import Table
from course_lab.rope.words import axis_names, numbers, pairs_by_pace, scored, seen, whole

MOST = 12
"""Lines, while there is only one kind of layer."""
LEAST_WARNINGS = 2
"""Warnings that are printed, however long the rest is."""
SAID_ELSEWHERE = ("read as transformers", "without model_type", "model_type ",
                  "other parts of this", "the axes take turns")  # fmt: skip
"""Beginnings of notes that stand in other lines, in other words."""
NAMES = {
    "linear": "interpolation (linear)", "dynamic": "dynamic NTK (dynamic)", "yarn": "YaRN (yarn)",
    "llama3": "Llama 3's rule (llama3)", "longrope": "LongRoPE (longrope)",
    "proportional": "the ladder of the whole head (proportional)",
}  # fmt: skip

LATER = ("dynamic", "longrope", "proportional")
"""Types that slow pairs in longer texts alone, or none."""

DEFAULT_BASE = re.compile(
    r"(?P<start>the base is not in the config: )(?P<base>\d+) is the default(?P<rest>.*)"
)
"""A note of one kind of layer; where kinds have several such bases, they stand in one line."""


class Line(NamedTuple):
    """A line, and what it is: "head", "text" or "warning"."""

    words: str
    kind: str = "text"


def summary(reading: Reading) -> list[Line]:
    """A model's positions in few lines; warnings come last, each with its remedy."""
    lines = [Line(_head(reading), "head")]
    tables: list[Table] = []
    for group in reading.groups:
        lines += map(Line, _group(group, tables))
        if group.table:
            tables.append(group.table)
    if not tables:
        lines.append(Line(_untabled(reading)))
    room = MOST - len(lines)
    warnings = said(reading.groups, "warnings")
    if not warnings:
        unusual = [*_unusual(reading, room - 1)]
        no_fault = "; what is unusual is no fault" if unusual else ""
        return [*lines, *unusual, Line(f"config: no warnings{no_fault}")]
    kept = warnings[: max(LEAST_WARNINGS, (room - 2) // 2)]
    lines += _unusual(reading, max(1, room - 2 * len(kept) - (len(kept) < len(warnings))))
    for warning in kept:
        lines.append(Line(f"warning: {warning}", "warning"))
        lines.append(Line(f"  remedy: {remedy(warning)}", "warning"))
    if more := len(warnings) - len(kept):
        lines.append(Line(f"and {more} more warnings: --pairs and --json have all", "warning"))
    return lines


def said(groups: Sequence[LayerGroup], what: str) -> list[str]:
    """The notes or warnings of all layers, each once."""
    found = [(one, group.name) for group in groups for one in getattr(group, what)]
    of_base: dict[str, list[str]] = {}
    for one, name in found:
        if match := DEFAULT_BASE.fullmatch(one):
            of_base.setdefault(match["base"], []).append(name)
    if len(of_base) > 1:
        each = " and ".join(f"{base} ({', '.join(names)})" for base, names in of_base.items())
        all_bases = f"\\g<start>{each} are the defaults\\g<rest>"
        found = [(DEFAULT_BASE.sub(all_bases, one), name) for one, name in found]
    return list(dict.fromkeys(one for one, _ in found))


def _head(reading: Reading) -> str:
    source, total = reading.source, reading.groups[0].total
    layers = f", {total} layers" if total else ""
    part = f" in {', '.join(source.levels)}" if source.levels else ""
    if len(source.loaded) > len(source.levels):
        part += f" at the top of the file (no {source.loaded[-1]} in it)"
    how = f"as transformers {release()} reads it"
    if not source.known:
        how = f"read by its keys alone (not a type of transformers {release()})"
    others = f"; --part {' or '.join(source.parts)} reads the rest" if source.parts else ""
    name = f"{source.name or 'without model_type'}{part}{layers}"
    return f"{reading.name}: {name}, {how}{others}"


def _group(group: LayerGroup, before: Sequence[Table]) -> Iterator[str]:
    where = numbers(group.layers, group.total)
    if group.name and len(group.layers) != group.total:
        where += f", {group.name}"
    window = f"; each query sees {seen(group)}" if group.window else ""
    if not group.table:
        yield f"{where}: {group.words}{window}"
        return
    table = group.table
    heads = f"heads of {table.head_dim}"
    if 2 * len(table.after) < table.head_dim:
        still = table.head_dim - 2 * len(table.after)
        heads += f", of which {2 * len(table.after)} columns turn and {still} have no position"
    yield f"{where}: rotated, base {whole(table.base)}, {len(table.after)} pairs ({heads})"
    if any(_alike(table, one) for one in before):
        yield f"  length, stretch and pairs as above{window}"
        return
    yield f"  {_length(table)}{window}"
    if table.is_slowed:
        yield f"  pairs {pairs_by_pace(table)}"
    if table.sections:
        names = axis_names(len(table.sections))
        of_axes = ", ".join(f"{n} {name}" for name, n in zip(names, table.sections, strict=True))
        turns = ", in turns" if list(table.axes) != sorted(table.axes) else ""
        yield f"  pairs by axis: {of_axes}{turns}"


def _untabled(reading: Reading) -> str:
    """The length of a model in which nothing turns."""
    most, is_default = reading.source.allowed
    key = reading.source.limit[0]
    whose = f"the default of {reading.source.name}'s class" if is_default else key
    made = f"made for {whole(most)} tokens ({whose})" if most else "the length is not in the config"
    return f"  {made}, not stretched: no pair turns"


def _alike(one: Table, other: Table) -> bool:
    lengths = [(table.length, table.original_length, table.kind) for table in (one, other)]
    return (lengths[0] == lengths[1] and one.attention_factor == other.attention_factor
            and one.before == other.before and one.after == other.after)  # fmt: skip


def _length(table: Table) -> str:
    """Trained length, stretched length, and how."""
    if table.length is None or table.original_length is None:
        made = "the trained length is not in the config (--original-length gives it)"
    else:
        made = f"made for {whole(table.length)} tokens"
    if table.kind in ("default", "axial"):
        if table.is_slowed:
            return f"{made}, stretched"
        other = " (no other length is named)" if table.length == table.original_length else ""
        return f"{made}{other if table.length else ''}, not stretched: no pair is slowed"
    factor = table.place.given.get("factor")
    by = f", factor {factor:g}" if isinstance(factor, (int, float)) else ""
    scores = (
        f"; attention factor {table.attention_factor:.4g}, {scored(table)}"
        if table.attention_factor != 1 else ""
    )  # fmt: skip
    if table.length and table.original_length and table.length > table.original_length:
        made += f" (before the stretch: {whole(table.original_length)})"
    if not table.is_slowed and table.kind not in LATER:
        return f"{made}, not stretched: rope_type {table.kind!r} slows no pair here"
    return f"{made}, stretched by {NAMES.get(table.kind, repr(table.kind))}{by}{scores}"


def _unusual(reading: Reading, room: int) -> Iterator[Line]:
    """What is unusual, a line each while there is room; then together in one."""
    notes = [one for one in said(reading.groups, "notes") if not one.startswith(SAID_ELSEWHERE)]
    if len(notes) <= room:
        yield from (Line(f"unusual: {note}") for note in notes)
    elif notes:
        yield Line(f"unusual: {'; '.join(notes)}")
