"""The laboratory: how the course trains, measures and draws."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from course_lab.instruments import (
        baselines,
        evaluation,
        interventions,
        looking,
        probes,
        reading,
        stretching,
        timing,
    )
    from course_lab.machine import describe, device
    from course_lab.studies import budgets, contenders, costs, questions, short
    from course_lab.training import corpus, recall, tasks, waveforms
    from course_lab.training.loop import train
    from course_lab.training.tasks import right_answers, steps_back

_ROOMS = {
    "training": ("corpus", "recall", "tasks", "waveforms"),
    "instruments": (
        "baselines", "evaluation", "interventions", "looking", "probes", "reading", "stretching",
        "timing",
    ),
    "studies": ("budgets", "contenders", "costs", "questions", "short"),
}  # fmt: skip
_HOMES = {
    "describe": "machine",
    "device": "machine",
    "right_answers": "training.tasks",
    "steps_back": "training.tasks",
    "train": "training.loop",
}
_MODULES = {name: f"{room}.{name}" for room, names in _ROOMS.items() for name in names}
__all__ = [
    "baselines", "budgets", "contenders", "corpus", "costs", "describe", "device", "evaluation",
    "interventions", "looking", "probes", "questions", "reading", "recall", "right_answers",
    "short", "steps_back", "stretching", "tasks", "timing", "train", "waveforms",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """What is offered is imported when it is wanted: not every command needs torch."""
    if name in _MODULES:
        return import_module(f"{__name__}.{_MODULES[name]}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
