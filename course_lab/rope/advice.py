"""`course rope --for N`: what a model needs so that it reads N tokens.

A plan starts from the parameters as they are and changes what the stretch needs: YaRN where pairs
are not slowed yet, a larger factor where YaRN or Llama 3's rule stretches already. Where the
stretch would make pairs faster than the model knows them, it says so instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from course_lab.rope.engines import ENGINES, Recipe, commands
from course_lab.rope.layer_groups import LayerGroup
from course_lab.rope.prices import prices
from course_lab.rope.report import groups as pairs_of
from course_lab.rope.report import numbers, whole
from course_lab.rope.tables import ORIGINAL, Table
from course_lib.encodings import from_rope_parameters
from course_lib.encodings.rope_parameters import ROPE_TYPES

__all__ = ["ENGINES", "Plan", "advice", "plan"]

KEPT = ("partial_rotary_factor", "mrope_section", "mrope_interleaved", "llama_4_scaling_beta")
"""Parameters that are no matter of a stretch."""
ROUNDING = 1e-6


@dataclass
class Plan:
    """What reaches a length, and what follows from it."""

    length: int
    said: list[str] = field(default_factory=list)
    """What is done with each kind of layer, a line each."""
    stretched: dict[str, Table] = field(default_factory=dict)
    """The tables that are stretched, by layer type, as they are afterwards."""
    recipe: Recipe | None = None
    """What to write; None if there is nothing to write."""

    @property
    def factor(self) -> float | None:
        """The largest factor of a stretch by YaRN; None if nothing is stretched by it."""
        factors = [one.place.given["factor"] for one in self.stretched.values()
                   if one.kind == "yarn"]  # fmt: skip
        return max(factors, default=None)

    def document(self) -> dict[str, Any]:
        """As `--json` has it."""
        found: dict[str, Any] = {"length": self.length, "said": self.said, "entries": None}
        if self.recipe:
            found |= {
                "entries": self.recipe.entries, "remove": self.recipe.remove,
                "commands": commands(self.recipe),
                "frequencies": {name: table.frequencies.tolist()
                                for name, table in self.stretched.items()},
            }  # fmt: skip
        return found


def advice(groups: Sequence[LayerGroup], length: int, engine: str | None = None) -> Iterator[str]:
    """What reaches `length` tokens, line by line; of all engines, or of one in full."""
    found = plan(groups, length)
    yield f"for {whole(length)} tokens:"
    yield from (f"  {line}" for line in found.said)
    if found.recipe:
        yield from found.recipe.lines(engine)
    if found.stretched:
        yield from prices(found.factor)


def plan(groups: Sequence[LayerGroup], length: int) -> Plan:
    """What to do with each kind of layer, and what to write."""
    made = Plan(length)
    tables = [group.table for group in groups if group.table]
    if not tables:
        made.said += _without_rotation(groups, length)
        return made
    refused = False
    for group in groups:
        if group.table:
            words, after, impossible = _of_group(group, group.table, length)
            made.said.append(f"{numbers(group.layers, group.total)}: {words}")
            refused = refused or impossible
            if after:
                made.stretched[after.place.layer_type] = after
                made.said.append(f"  then pairs {_pairs(group, after)}")
    if refused:
        made.stretched.clear()
    if made.stretched and any(
        group.window and group.table and group.table.place.layer_type in made.stretched
        and group.window <= (group.table.original_length or 0) for group in groups
    ):  # fmt: skip
        made.said.append(
            "layers with a window take the same entries, too: the model has one set for all"
        )
    low = any(_limit_is_below(table, length) for table in tables)
    if not refused and (made.stretched or low):
        made.recipe = _recipe(groups, tables, made)
    return made


def _limit_is_below(table: Table, length: int) -> bool:
    """Whether a config states a smaller length, which engines take for the most that is allowed."""
    stated = table.place.limit[1]
    return isinstance(stated, int) and stated < length


def _pairs(group: LayerGroup, after: Table) -> str:
    said = "; ".join(
        f"{what}: {which}" for what, which in pairs_of(replace(group, table=after)).items()
    )
    factor = after.attention_factor
    return f"{said}; attention factor {factor:.4g}" if factor != 1 else said


def _without_rotation(groups: Sequence[LayerGroup], length: int) -> Iterator[str]:
    """Nothing rotates, so no rotation can be stretched: what bounds the length instead."""
    for group in groups:
        if group.kind == "learned table":
            yield f"nothing to stretch: {group.words}; longer texts need a longer table, trained"
        elif group.kind not in ("none", "no attention"):
            yield f"nothing to stretch: {group.words} (lesson {group.lesson})"
    if all(group.kind in ("none", "no attention") for group in groups):
        yield "nothing to stretch: no layer has positions that could run out"


def _of_group(group: LayerGroup, table: Table, length: int) -> tuple[str, Table | None, bool]:
    """What to do with these layers, their table afterwards, and whether it is impossible."""
    if group.window and group.window <= (table.original_length or group.window):
        seen = whole(group.window)
        return f"need none: a query sees {seen} tokens, however long the text", None, False
    if table.length is None or table.original_length is None:
        unknown = "the trained length is not in the config; give it with --original-length"
        return unknown, None, True
    if length <= table.length:
        stretched = table.length > table.original_length or not torch.equal(
            table.plain, table.frequencies
        )
        how = f"by its own {table.kind}" if stretched else "unstretched"
        return f"nothing to stretch: made for {whole(table.length)} tokens, {how}", None, False
    if refusal := _no_start(table):
        return refusal, None, True
    after = _stretched(table, length)
    if (after.frequencies > table.frequencies * (1 + ROUNDING)).any():
        faster = (
            "no stretch is known here that starts from these pairs: YaRN would make some of them "
            "faster than they were trained"
        )
        return faster, None, True
    factor, before = after.place.given["factor"], table.place.given.get("factor")
    name = "YaRN" if after.kind == "yarn" else "Llama 3's rule"
    if after.kind == table.kind:
        said = (
            f"{name} by {factor:g} in place of {before:g}, from {whole(table.original_length)}; "
            "its makers trained with theirs, and the new one was not measured here"
        )
    else:
        said = f"{name} by {factor:g}, from the {whole(table.original_length)} tokens of training"
    return said, after, False


def _no_start(table: Table) -> str:
    """Why no stretch starts from a table's frequencies; empty if one does."""
    if table.kind not in ("default", "linear", "dynamic", "yarn", "llama3"):
        return f"rope_type {table.kind!r} has frequencies that no stretch here starts from"
    if table.place.fixed:
        return f"no entry of this config stretches it: {table.place.fixed}"
    slowed = not torch.equal(table.plain, table.frequencies)
    if table.kind in ("yarn", "llama3") and not (slowed and table.place.given.get("factor")):
        return f"its own rope_type {table.kind!r} lacks a factor or slows nothing: mend that first"
    if table.kind in ("linear", "dynamic") and slowed:
        most = float((table.plain / table.frequencies).max())
        return (
            f"rope_type {table.kind!r} has slowed these pairs already, by up to {most:g}, and the "
            "model was trained so. YaRN starts from pairs that are not slowed; in its place, it "
            "would make most of them faster"
        )
    return ""


def _stretched(table: Table, length: int) -> Table:
    """The table with a stretch that reaches the length."""
    original, reached = table.original_length or 1, table.length or 1
    if table.kind == "llama3":
        before = table.place.given["factor"]
        factor = math.ceil(2 * before * length / reached) / 2
        made_for = int(reached * factor / before)
        kind = "llama3"
    else:
        before = table.place.given.get("factor") if table.kind == "yarn" else None
        factor = max(math.ceil(2 * length / original) / 2, before or 1)
        made_for, kind = int(factor * original), "yarn"
    given = parameters(table, kind, factor)
    asked = {key: value for key, value in given.items() if key not in KEPT}
    scaled = from_rope_parameters(asked, 2 * len(table.plain), made_for, made_for)
    place = table.place._replace(given=given)
    return replace(
        table, kind=kind, frequencies=scaled.frequencies, length=made_for, place=place,
        attention_factor=scaled.attention_factor,
    )  # fmt: skip


def parameters(table: Table, kind: str, factor: float | None) -> dict[str, Any]:
    """A table's own `rope_parameters`, with another factor, or as they are where there is none.

    What the kind or the model reads besides (`truncate`, `mscale`, `mrope_interleaved`) stays.
    """
    taken = {*ROPE_TYPES[kind][1], *KEPT} if kind in ROPE_TYPES else {*table.place.given}
    found = {
        "rope_type": kind, "rope_theta": table.base,
        **{key: value for key, value in table.place.given.items()
           if key in taken and value is not None},
    }  # fmt: skip
    if factor:
        found |= {"factor": factor, ORIGINAL: table.original_length}
    turned = 2 * len(table.plain)
    if turned < table.head_dim:
        found["partial_rotary_factor"] = turned / table.head_dim
    if table.sections and table.kind != "axial":
        found["mrope_section"] = list(table.sections)
        if list(table.axes) != sorted(table.axes):  # vLLM takes sections unless this says otherwise
            found["mrope_interleaved"] = True
    return found


def _recipe(groups: Sequence[LayerGroup], tables: Sequence[Table], made: Plan) -> Recipe:
    """The entries of config.json, nested as the file is, and what else a recipe needs."""
    place = tables[0].place
    key, longest = place.limit[0], max(made.length, *(table.length or 0 for table in tables))
    entries: dict[str, Any] = {}
    if made.stretched:
        longest = max(table.length or 0 for table in made.stretched.values())
        by_type: dict[str, Any] = {}
        for table in (*tables, *place.others):
            name = table.place.layer_type
            after = made.stretched.get(name)
            by_type[name] = after.place.given if after else parameters(table, table.kind, None)
        entries["rope_parameters"] = by_type.get("", by_type)
        if place.needs_head_dim:
            entries["head_dim"] = tables[0].head_dim
    entries[key] = longest
    for level in reversed(place.levels):
        entries = {level: entries}
    old = any(table.place.old for table in tables) and bool(made.stretched)
    return Recipe(
        made.length, entries, place.levels, key, ("rope_scaling",) if old else (),
        list(made.stretched.values()), place.loaded,
        several_types=len({table.place.layer_type for table in tables}) > 1,
    )  # fmt: skip
