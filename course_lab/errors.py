"""What a command can say in one line."""


class CourseError(Exception):
    """Something that cannot be done as asked; the message says what, and the remedy."""
