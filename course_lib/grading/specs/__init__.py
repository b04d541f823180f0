"""All exercises: every `lesson_NN.py` in this folder offers its own as `EXERCISES`."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from course_lib.grading.exercise import Exercise

EXERCISES: dict[str, Exercise] = {
    exercise.id: exercise
    for module in sorted(iter_modules(__path__), key=lambda module: module.name)
    if module.name.startswith("lesson_")
    for exercise in import_module(f"{__name__}.{module.name}").EXERCISES
}


def lesson_of(id: str) -> int:
    """The lesson that an exercise belongs to: "2.1" stands in lesson 2."""
    return int(id.split(".")[0])


def find(id: str) -> Exercise:
    """The exercise called `id`."""
    if id in EXERCISES:
        return EXERCISES[id]
    raise ValueError(f"there is no exercise {id!r}; there are {', '.join(EXERCISES)}")
