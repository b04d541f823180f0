"""Asking and judging: what an answer gives, what is right, and what is said about it.

What is offered is imported when it is wanted: a kernel that asks must not know what judges.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from course_grading.judging.asking import ask_all, draw
    from course_grading.judging.comparing import judge
    from course_grading.judging.forbidden import forbidden_in_object

__all__ = ["ask_all", "draw", "forbidden_in_object", "judge"]
_HOMES = {"judge": "comparing", "forbidden_in_object": "forbidden"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'asking')}"), name)
