"""Makes the sample lesson available to the tests in this folder."""

from samples import workshop

__all__ = ["workshop"]
