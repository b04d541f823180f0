"""Exercises of lesson 11: who survives a longer text?"""

EXERCISES = (
    "long-new-distances",
    "long-windows",
    "long-corpus-bits",
    "long-window-test",
    "long-reach",
)
"""Slugs, in the order of the sheet; each has a file of its name."""
