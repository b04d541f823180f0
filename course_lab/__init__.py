"""The laboratory: how the course trains, measures and draws."""

from course_lab.machine import describe, device
from course_lab.tasks import right_answers, steps_back
from course_lab.training import train

__all__ = ["describe", "device", "right_answers", "steps_back", "train"]
