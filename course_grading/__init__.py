"""How answers are asked for and judged: checks and hints in a notebook, `course` for grading."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from course_grading.button import grade_button
    from course_grading.checking import CheckFailed, check, hint, progress

__all__ = ["CheckFailed", "check", "grade_button", "hint", "progress"]


def __getattr__(name: str) -> Any:
    """What is offered is imported when it is wanted: `course grade` does without torch."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "button" if name == "grade_button" else "checking"
    return getattr(import_module(f"{__name__}.{home}"), name)
