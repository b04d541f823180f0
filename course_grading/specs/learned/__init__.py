"""Exercises of lesson 04: why not learn a table?"""

EXERCISES = (
    "learned-parameters",
    "learned-stretch",
    "learned-alike-untrained",
    "learned-padded-batch",
    "learned-test",
    "learned-continue",
    "learned-fit-shift",
    "learned-text-lengths",
)
"""Slugs, in the order of the sheet; each has a file of its name."""
