"""`course rope --for N`: which stretch reaches N tokens, what to write for it, and its price."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

from course_lab import zoo
from course_lab.rope.layer_groups import LayerGroup
from course_lab.rope.report import numbers, whole
from course_lab.rope.tables import Table

MEASURED = (2, 4, 8, 16)
"""Factors at which the zoo's stretched models read short texts (lesson 15)."""


def advice(groups: Sequence[LayerGroup], length: int) -> Iterator[str]:
    """What reaches `length` tokens, line by line."""
    yield f"for {whole(length)} tokens:"
    turned = [group for group in groups if group.table]
    if not turned:
        yield from _without_rotation(groups, length)
        return
    for group in turned:
        if group.table:
            yield from _of_group(group, group.table, length)


def _without_rotation(groups: Sequence[LayerGroup], length: int) -> Iterator[str]:
    """Nothing rotates, so no rotation can be stretched: what bounds the length instead."""
    for group in groups:
        if group.kind == "learned table":
            yield f"  nothing to stretch: {group.words}; longer texts need a longer table, trained"
        elif group.kind not in ("none", "no attention"):
            yield f"  nothing to stretch: {group.words} (lesson {group.lesson})"
    if all(group.kind in ("none", "no attention") for group in groups):
        yield "  nothing to stretch: no layer has positions that could run out"


def _of_group(group: LayerGroup, table: Table, length: int) -> Iterator[str]:
    where = numbers(group.layers, group.total)
    if group.window and group.window <= (table.original_length or group.window):
        yield (
            f"  {where}: leave them as they are; a query sees no further than "
            f"{whole(group.window)} tokens, however long the text"
        )
        return
    if table.length is None or table.original_length is None:
        yield (
            f"  {where}: the trained length is not in the config; give it with --original-length"
        )
        return
    if length <= table.length:
        how = (
            "as its config stretches it" if table.length > table.original_length else "unstretched"
        )
        yield f"  {where}: no other stretch is needed; made for {whole(table.length)}, {how}"
        return
    if table.kind not in ("default", "linear", "dynamic", "yarn", "llama3"):
        yield f"  {where}: rope_type {table.kind!r} has frequencies that YaRN does not start from"
        return
    if table.length > table.original_length and table.kind != "default":
        yield (
            f"  {where}: the model is stretched already, from {whole(table.original_length)}; what "
            "follows replaces that stretch, and its makers trained with theirs"
        )
    factor = math.ceil(2 * length / table.original_length) / 2
    lines = json.dumps(parameters(table, factor), indent=2).splitlines()
    yield f"  {where}: YaRN by {factor:g}. In config.json, for transformers:"
    if table.name:
        yield f'  under rope_parameters, for "{table.name}":'
    yield from (f"    {line}" for line in lines)
    yield f'    and "max_position_embeddings": {int(factor * table.original_length)}'
    yield from (f"  {line}" for line in prices(factor))


def parameters(table: Table, factor: float) -> dict[str, Any]:
    """`rope_parameters` that stretch this table by YaRN."""
    found: dict[str, Any] = {
        "rope_type": "yarn", "rope_theta": table.base, "factor": factor,
        "original_max_position_embeddings": table.original_length,
    }  # fmt: skip
    turned = 2 * len(table.plain)
    if turned < table.head_dim:
        found["partial_rotary_factor"] = turned / table.head_dim
    if table.sections:
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
