"""Where a published model's positions come from: its config.json, as transformers reads it."""

from __future__ import annotations

from pathlib import Path

from course_lab.rope.layer_groups import LayerGroup, grouped
from course_lab.rope.source import open_config

CONFIGS = Path(__file__).parent / "configs"
"""Configs of published models, reduced to the keys that concern positions; `source` says whose."""


def read(
    path: Path, original_length: int | None = None, part: str | None = None
) -> list[LayerGroup]:
    """Where positions come from, layer by layer: a group for layers that are alike.

    `path` is a config.json or a folder with one. `original_length` takes the place of the length
    that the config names, or does not name. `part` names another network of the config than the
    one that writes text, by its key: "vision_config". Raises CourseError, with key, value and
    remedy, for a config that cannot be read.
    """
    return grouped(open_config(path, part), original_length)
