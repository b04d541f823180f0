"""What each scheme costs in training, beside a model without positions: memory and time.

A cost that is paid once for a batch weighs less in a larger batch, so it is measured at several
batches and lengths. `course costs` measures all of it: memory takes seconds, times half an hour,
and they mean something only if nothing else keeps the machine busy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from course_lab import zoo
from course_lab.instruments import costs
from course_lab.instruments.costs import bytes_kept, bytes_kept_at, seconds_per_step
from course_lab.studies.study import Entry, Result, Study, classes_of
from course_lib.model.attention import attend

__all__ = ["bytes_kept", "bytes_kept_at", "seconds_per_step"]
KINDS = ("memory", "time")
BATCHES = (1, 8, 32)
LENGTHS = (128, 512, 2048)


class Unit(NamedTuple):
    """What is measured at once, for all schemes: memory or time, at one batch and length."""

    kind: str
    batch: int
    length: int


def units() -> list[Unit]:
    return [Unit(kind, batch, length) for kind in KINDS for batch in BATCHES for length in LENGTHS]


def measure(unit: Unit) -> Result:
    """Bytes or seconds of each scheme, and how many times those of no position they are."""
    tier = zoo.TIERS["small"]
    models = {name: zoo.build(name, tier) for name in zoo.RECIPES}
    values: dict[str, float | None]
    if unit.kind == "memory":
        values = {name: bytes_kept_at(m, unit.batch, unit.length) for name, m in models.items()}
    else:
        values = seconds_per_step(models, unit.batch, unit.length)
    plain = values["none"]
    return Result([
        {
            "scheme": name, "value": value if value is None else round(value, 5),
            "relative": None if value is None or plain is None else round(value / plain, 4),
        }
        for name, value in values.items()
    ])  # fmt: skip


def settings(unit: Unit) -> Entry:
    """The sizes of the models."""
    return zoo.TIERS["small"].settings()


def code(unit: Unit) -> list[Any]:
    """What is counted. Times belong to a day and a machine, not to each change of the code."""
    if unit.kind == "time":
        return [costs.step, seconds_per_step]
    models = (zoo.build(name, zoo.TIERS["small"]) for name in zoo.RECIPES)
    return [*{part: None for model in models for part in classes_of(model)}, attend, costs]


STUDY = Study("costs", Unit, units, settings, code, measure)


def results() -> list[Entry]:
    """What was measured: kind, batch, length, scheme, value (bytes or seconds), relative.

    Value and relative are None for times that were not measured: see `seconds_per_step`.
    """
    return STUDY.records()
