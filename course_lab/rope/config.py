"""Where a published model's positions come from: its config.json, as transformers reads it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from course_lab.rope.files import BESIDE
from course_lab.rope.layer_groups import LayerGroup, grouped
from course_lab.rope.source import Source, open_config

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
    return reading(path, original_length, part).groups


class Reading(NamedTuple):
    """A config and what it says."""

    groups: list[LayerGroup]
    source: Source

    @property
    def name(self) -> str:
        """What to call the model: its folder, or the file."""
        path = self.source.path.absolute()
        return path.parent.name if path.name in BESIDE else path.stem


def reading(path: Path, original_length: int | None = None, part: str | None = None) -> Reading:
    """As `read`, with the config itself."""
    source = open_config(path, part)
    return Reading(grouped(source, original_length), source)
