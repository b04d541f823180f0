"""Positional encodings: what the course teaches, one file for each family."""

from course_lib.encodings.absolute import (
    LearnedAbsolute,
    Sinusoidal,
    shift_matrix,
    sinusoidal_encoding,
)
from course_lib.encodings.relative import NoPosition
from course_lib.encodings.scheme import PositionScheme

__all__ = [
    "LearnedAbsolute",
    "NoPosition",
    "PositionScheme",
    "Sinusoidal",
    "shift_matrix",
    "sinusoidal_encoding",
]
