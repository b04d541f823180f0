"""Exercises of lesson 03: must it be sines?"""

EXERCISES = (
    "waves-equal-neighbours",
    "waves-triangle",
    "waves-best-share",
    "waves-phase",
    "waves-test",
    "waves-columns",
)
"""Slugs, in the order of the sheet; each has a file of its name."""
