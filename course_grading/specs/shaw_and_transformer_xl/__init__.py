"""Exercises of lesson 07: what if distance should depend on content?"""

EXERCISES = (
    "shaw-memory",
    "shaw-scores",
    "transformer-xl-shift",
    "transformer-xl-strangers",
    "transformer-xl-both-sides",
    "transformer-xl-test",
)
"""Slugs, in the order of the sheet; each has a file of its name."""
