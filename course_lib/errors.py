"""The error that a command reports in one line."""


class CourseError(Exception):
    """Something that cannot be done; the message says what, and what would help."""
