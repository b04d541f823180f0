"""Exercises of lesson 05: can attention know only distances?"""

EXERCISES = (
    "clipped-bias",
    "t5-bucket",
    "t5-decoder-bucket",
    "distances-test",
    "far-tables",
)
"""Slugs, in the order of the sheet; each has a file of its name."""
