"""Layers, pairs and numbers in words, for all that `course rope` prints."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from course_lab.rope.layer_groups import LayerGroup
from course_lab.rope.tables import Table

MOST_RANGES = 40
"""Layers, or several in a row, that are written out where no pattern says which they are."""


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


def pairs_by_pace(table: Table) -> str:
    """`groups` in a line: "kept: 0 to 28; slowed in between: 29 to 34; slowed by 8: 35 to 63"."""
    return "; ".join(f"{what}: {which}" for what, which in groups(table).items())


def scored(table: Table) -> str:
    """What an attention factor does to scores: it multiplies the columns that turn."""
    which = "the turned columns' part of " if 2 * len(table.after) < table.head_dim else ""
    return f"{which}scores times {table.attention_factor**2:.4g}"


def seen(group: LayerGroup) -> str:
    """What a query of layers with a window sees."""
    which = "its own chunk of" if group.name == "chunked_attention" else "the last"
    return f"{which} {whole(group.window or 0)} tokens"


def axis_names(count: int) -> tuple[str, ...]:
    """What axes are called in a table or picture: time comes first, where there is one."""
    if count in (2, 3):
        return ("time", "row", "column")[3 - count :]
    return tuple(f"axis {axis}" for axis in range(count))


def whole(number: float) -> str:
    """A whole number with spaces between thousands."""
    return f"{number:,.0f}".replace(",", " ")


def _ranges(numbers: Sequence[int]) -> Iterator[str]:
    """Ascending numbers, those in a row together: "0 to 28", "31"."""
    start = 0
    for n, number in enumerate(numbers):
        if n + 1 == len(numbers) or numbers[n + 1] > number + 1:
            yield f"{numbers[start]} to {number}" if n > start else f"{number}"
            start = n + 1
