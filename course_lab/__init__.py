"""The laboratory: how the course trains, measures and draws."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from course_lab.machine import describe, device
    from course_lab.tasks import right_answers, steps_back
    from course_lab.training import train

__all__ = ["describe", "device", "right_answers", "steps_back", "train"]
_HOMES = {
    "describe": "machine",
    "device": "machine",
    "right_answers": "tasks",
    "steps_back": "tasks",
    "train": "training",
}


def __getattr__(name: str) -> Any:
    """What is offered is imported when it is wanted: not every command needs torch."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
