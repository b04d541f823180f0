"""What a published config says of its rotary frequencies: read it, report it, compare it."""

from course_lab.rope.config import Rope, reach, read

__all__ = ["Rope", "reach", "read"]
