"""Where the first edition kept what is now `course_grading`: nothing but directions is left."""

MOVED = ("CheckFailed", "check", "grade_button", "hint", "progress")


def __getattr__(name: str) -> object:
    if name in MOVED:
        raise ImportError(
            f"course_lib.grading is now course_grading: from course_grading import {name}"
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
