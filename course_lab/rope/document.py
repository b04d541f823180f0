"""`course rope --json`: what was read, for programs; docs/course-rope.md says what means what."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from course_lab.rope.config import Reading
from course_lab.rope.layer_groups import LayerGroup
from course_lab.rope.remedies import remedy
from course_lab.rope.summary import said
from course_lab.rope.tables import Table

VERSION = 1
"""It grows when a key changes its meaning or goes; new keys may come without."""


def document(reading: Reading) -> dict[str, Any]:
    """What `course_lab.rope.read` gives, in lists, numbers and words."""
    source = reading.source
    return {
        "course_rope": VERSION,
        "name": reading.name,
        "model_type": source.name or None,
        "known": source.known is not None,
        "inside": list(source.levels),
        "other_parts": list(source.parts),
        "groups": [_group(group) for group in reading.groups],
        "warnings": [
            {"warning": one, "remedy": remedy(one)} for one in said(reading.groups, "warnings")
        ],
    }


def _group(group: LayerGroup) -> dict[str, Any]:
    return {
        "layers": list(group.layers), "total": group.total, "name": group.name,
        "kind": group.kind, "words": group.words, "lesson": group.lesson,
        "window": group.window, "table": group.table and _table(group.table),
        "notes": list(group.notes), "warnings": list(group.warnings),
    }  # fmt: skip


def _table(table: Table) -> dict[str, Any]:
    return {
        "kind": table.kind, "base": table.base, "head_dim": table.head_dim,
        "original_length": table.original_length, "length": table.length,
        "attention_factor": table.attention_factor, "temperature": table.temperature,
        "sections": list(table.sections), "axes": list(table.axes),
        "plain": list(table.before), "frequencies": list(table.after),
        "parameters": _plain(table.place.given),
    }  # fmt: skip


def _plain(value: Any) -> Any:
    """A value as JSON has it; what it does not have becomes words."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
