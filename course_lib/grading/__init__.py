"""How answers are judged: checks and hints in a notebook, grading on the command line."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from course_lib.grading.button import grade_button
    from course_lib.grading.checking import CheckFailed, check, hint, progress

__all__ = ["CheckFailed", "check", "grade_button", "hint", "progress"]


def __getattr__(name: str) -> Any:
    # on demand, so that `course --help` need not wait for torch
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "button" if name == "grade_button" else "checking"
    return getattr(import_module(f"{__name__}.{module}"), name)
