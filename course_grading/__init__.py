"""How answers are asked for and judged: checks and hints in a notebook, `course` for grading."""

from course_grading.button import grade_button
from course_grading.checking import CheckFailed, check, hint, progress

__all__ = ["CheckFailed", "check", "grade_button", "hint", "progress"]
