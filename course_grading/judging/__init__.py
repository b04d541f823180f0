"""Asking and judging: what an answer gives, what is right, and what is said about it."""

from course_grading.judging.forbidden import forbidden_in_object
from course_grading.judging.kinds import ask_all, draw, judge

__all__ = ["ask_all", "draw", "forbidden_in_object", "judge"]
