"""What each scheme costs in training, beside a model without positions: memory and time.

A cost that is paid once for a batch weighs less in a larger batch, so it is measured at several
batches and lengths. `course measure costs` measures all of it: memory takes seconds, times half an
hour, and they mean something only if nothing else keeps the machine busy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from course_lab import zoo
from course_lab.instruments import costs
from course_lab.instruments.costs import bytes_kept, bytes_kept_at, seconds_per_step
from course_lab.studies.study import Entry, Kind, Result, Study, classes_of
from course_lib.model import Decoder
from course_lib.model.attention import attend

__all__ = ["bytes_kept", "bytes_kept_at", "seconds_per_step"]
BATCHES = (1, 8, 32)
LENGTHS = (128, 512, 2048)


class Unit(NamedTuple):
    """What is measured at once, for all schemes: memory or time, at one batch and length."""

    kind: str
    batch: int
    length: int


def memory(unit: Unit) -> Result:
    """Bytes that each scheme keeps."""
    sizes = unit.batch, unit.length
    return _beside_none({name: bytes_kept_at(model, *sizes) for name, model in _models().items()})


def time(unit: Unit) -> Result:
    """Seconds that a step of each scheme takes."""
    return _beside_none(seconds_per_step(_models(), unit.batch, unit.length))


def _models() -> dict[str, Decoder]:
    return {name: zoo.build(name, zoo.TIERS["small"]) for name in zoo.RECIPES}


def _beside_none(values: Mapping[str, float | None]) -> Result:
    """What each scheme costs, and how many times what no position does."""
    plain = values["none"]
    return Result(
        [
            {
                "scheme": name,
                "value": value if value is None else round(value, 5),
                "relative": None if value is None or plain is None else round(value / plain, 4),
            }
            for name, value in values.items()
        ]
    )


def units_of(kind: str) -> list[Unit]:
    return [Unit(kind, batch, length) for batch in BATCHES for length in LENGTHS]


def _sizes(unit: Unit) -> Entry:
    return zoo.TIERS["small"].settings()


def _counted(unit: Unit) -> list[Any]:
    classes = {part: None for model in _models().values() for part in classes_of(model)}
    return [*classes, attend, costs]


STUDY = Study(
    "costs",
    "Memory and time of a training step, by batch and length (half an hour).",
    Unit,
    kinds=(
        Kind("memory", units_of, memory, _sizes, _counted),
        Kind("time", units_of, time, _sizes, lambda unit: [costs.step, seconds_per_step]),
    ),
)
"""Times belong to a day and a machine, not to each change of the code."""
KINDS = tuple(kind.name for kind in STUDY.kinds)


def results() -> list[Entry]:
    """What was measured: kind, batch, length, scheme, value (bytes or seconds), relative.

    Value and relative are None for times that were not measured: see `seconds_per_step`.
    """
    return STUDY.records()
