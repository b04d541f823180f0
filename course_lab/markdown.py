"""Tables for the pages in docs/, and numbers in them."""

from __future__ import annotations

import statistics
from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]], rule: str = "---") -> str:
    """A Markdown table; `rule` aligns every column but the first: "---:" to the right."""
    ruled = [head, ["---"] + [rule] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in ruled)


def spread(values: Sequence[float]) -> str:
    """The mean, and half of the distance between the farthest two: "1.73 ± 0.01"."""
    if not values:
        return "-"
    half = (max(values) - min(values)) / 2
    around = f" ± {half:.2f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.2f}{around}"
