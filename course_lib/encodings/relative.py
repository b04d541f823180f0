"""Encodings that live in the scores and know distances only."""

from __future__ import annotations

from course_lib.encodings.scheme import PositionScheme


class NoPosition(PositionScheme):
    """All doors shut: what attention sees by itself."""
