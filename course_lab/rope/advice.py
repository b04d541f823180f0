"""`course rope --for N`: which stretch reaches N tokens, what to write for it, and its price."""

from __future__ import annotations

import json
import math
from collections.abc import Generator, Iterator, Sequence
from typing import Any

import torch

from course_lab import zoo
from course_lab.rope.layer_groups import LayerGroup
from course_lab.rope.report import numbers, whole
from course_lab.rope.tables import Table
from course_lib.encodings.rope_parameters import ROPE_TYPES

KEPT = ("partial_rotary_factor", "mrope_section", "mrope_interleaved", "llama_4_scaling_beta")
"""Parameters that are no matter of a stretch."""
MEASURED = (2, 4, 8, 16)
"""Factors at which the zoo's stretched models read short texts (lesson 15)."""


def advice(groups: Sequence[LayerGroup], length: int) -> Iterator[str]:
    """What reaches `length` tokens, line by line."""
    yield f"for {whole(length)} tokens:"
    tables = [group.table for group in groups if group.table]
    if not tables:
        yield from _without_rotation(groups, length)
        return
    factors: dict[str, float] = {}
    for group in groups:
        if group.table:
            factor = yield from _of_group(group, group.table, length)
            if factor:
                factors[group.table.place.layer_type] = factor
    if factors:
        yield from _to_write(tables, factors)
        if any(group.window and group.table and group.table.place.layer_type in factors
               for group in groups):  # fmt: skip
            yield (
                "  Layers with a window take these entries, too: the model has one set of "
                "parameters for both."
            )
        yield from (f"  {line}" for line in prices(max(factors.values())))


def _to_write(tables: Sequence[Table], factors: dict[str, float]) -> Iterator[str]:
    """The entries of config.json, at the level at which they are read."""
    levels, old = tables[0].place.levels, any(table.place.old for table in tables)
    yield "  In config.json, for transformers, set these entries and keep all others:"
    lines = json.dumps(entries(tables, factors), indent=2).splitlines()
    yield from (f"    {line}" for line in lines)
    where = f"from {', '.join(levels)}" if levels else "from the top of the file"
    if old:
        yield f"  Remove rope_scaling {where}: where both stand, transformers reads rope_scaling."
    if levels:
        yield f"  The level counts: outside of {', '.join(levels)} nobody reads rope_parameters."


def entries(tables: Sequence[Table], factors: dict[str, float]) -> dict[str, Any]:
    """What a config.json gets, nested as the file is; `factors` has the layer types to stretch."""
    by_type: dict[str, Any] = {}
    longest = 0
    for table in tables:
        name = table.place.layer_type
        by_type[name] = parameters(table, factors.get(name))
        if name in factors and table.original_length:
            longest = max(longest, int(factors[name] * table.original_length))
    found: dict[str, Any] = {
        "rope_parameters": by_type.get("", by_type), "max_position_embeddings": longest,
    }  # fmt: skip
    for level in reversed(tables[0].place.levels):
        found = {level: found}
    return found


def _without_rotation(groups: Sequence[LayerGroup], length: int) -> Iterator[str]:
    """Nothing rotates, so no rotation can be stretched: what bounds the length instead."""
    for group in groups:
        if group.kind == "learned table":
            yield f"  nothing to stretch: {group.words}; longer texts need a longer table, trained"
        elif group.kind not in ("none", "no attention"):
            yield f"  nothing to stretch: {group.words} (lesson {group.lesson})"
    if all(group.kind in ("none", "no attention") for group in groups):
        yield "  nothing to stretch: no layer has positions that could run out"


def _of_group(group: LayerGroup, table: Table, length: int) -> Generator[str, None, float | None]:
    """What to do with these layers, and the factor of a stretch, if they need one."""
    where = numbers(group.layers, group.total)
    if group.window and group.window <= (table.original_length or group.window):
        yield (
            f"  {where}: leave them as they are; a query sees no further than "
            f"{whole(group.window)} tokens, however long the text"
        )
        return None
    if table.length is None or table.original_length is None:
        yield (
            f"  {where}: the trained length is not in the config; give it with --original-length"
        )
        return None
    if length <= table.length:
        how = (
            "as its config stretches it" if table.length > table.original_length else "unstretched"
        )
        yield f"  {where}: no other stretch is needed; made for {whole(table.length)}, {how}"
        return None
    if refusal := _no_start(table):
        yield f"  {where}: {refusal}"
        return None
    if table.length > table.original_length and table.kind != "default":
        yield (
            f"  {where}: the model is stretched already, from {whole(table.original_length)}; what "
            "follows replaces that stretch, and its makers trained with theirs"
        )
    factor = math.ceil(2 * length / table.original_length) / 2
    yield f"  {where}: YaRN by {factor:g}"
    return factor


def _no_start(table: Table) -> str:
    """Why YaRN cannot start from a table's frequencies; empty if it can."""
    if not table.place.read:
        return (
            "transformers' code of this model reads no rope_parameters; its frequencies stand in "
            "the code, and a stretch would have to be written there"
        )
    if table.kind not in ("default", "linear", "dynamic", "yarn", "llama3"):
        return f"rope_type {table.kind!r} has frequencies that YaRN does not start from"
    if table.kind in ("linear", "dynamic") and not torch.equal(table.plain, table.frequencies):
        slowed = float((table.plain / table.frequencies).max())
        return (
            f"rope_type {table.kind!r} has slowed these pairs already, by up to {slowed:g}, and "
            "the model was trained so. YaRN starts from pairs that are not slowed; in its place, "
            "it would make most of them faster"
        )
    return ""


def parameters(table: Table, factor: float | None) -> dict[str, Any]:
    """A table's own `rope_parameters`, stretched by YaRN, or as they are where there is no factor.

    What YaRN or the model reads besides (`truncate`, `mscale`, `mrope_interleaved`) stays.
    """
    kind = "yarn" if factor else table.kind
    taken = {*ROPE_TYPES[kind][1], *KEPT} if kind in ROPE_TYPES else {*table.place.given}
    found = {
        "rope_type": kind, "rope_theta": table.base,
        **{key: value for key, value in table.place.given.items()
           if key in taken and value is not None},
    }  # fmt: skip
    if factor:
        found |= {"factor": factor, "original_max_position_embeddings": table.original_length}
    turned = 2 * len(table.plain)
    if turned < table.head_dim:
        found["partial_rotary_factor"] = turned / table.head_dim
    if table.sections and table.kind != "axial":
        found["mrope_section"] = list(table.sections)
        if list(table.axes) != sorted(table.axes):  # vLLM takes sections unless this says otherwise
            found["mrope_interleaved"] = True
    return found


def prices(factor: float) -> Iterator[str]:
    """What texts of the trained length pay for a stretch, as far as this course has measured it."""
    at = next((one for one in MEASURED if one >= factor), MEASURED[-1])
    paid = {"YaRN as released": "yarn_released", "NTK-aware": "ntk_aware",
            "interpolation": "interpolation"}  # fmt: skip
    yield (
        "what short texts pay: a stretch in a config holds for every text. Stretched by "
        f"{at}, texts of the trained"
    )
    yield "  length paid, in bits per byte more than unstretched (lesson 15):"
    for name, method in paid.items():
        least, most = (100 * bits for bits in price(method, at))
        yield f"    {name}: {math.floor(least) / 100:.2f} to {math.ceil(most) / 100:.2f}"
    yield "  That was in this course's models: 857 000 parameters, trained at 128 bytes, not tuned,"
    yield "  three seeds. It says that there is a price; how high yours is, only your texts say."


def price(method: str, factor: int) -> tuple[float, float]:
    """Bits per byte more at 128 bytes than unstretched: least and most of three seeds."""
    records = [one for one in zoo.study() if one.scheme == "rope" and one.length == 128
               and one.tuned_steps == 0]  # fmt: skip
    plain = {one.seed: one for one in records if one.method is None}
    more = [
        zoo.difference(one, plain[one.seed]).mean for one in records
        if one.method == method and one.factor == factor
    ]  # fmt: skip
    return min(more), max(more)
