"""Tables for the pages in docs/."""

from __future__ import annotations

from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]], rule: str = "---") -> str:
    """A Markdown table; `rule` aligns every column but the first: "---:" to the right."""
    ruled = [head, ["---"] + [rule] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in ruled)
