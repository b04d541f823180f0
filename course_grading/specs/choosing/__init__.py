"""Exercises of lesson 19: choosing."""

EXERCISES = (
    "choose-bits-to-words",
    "choose-reach",
    "choose-scheme",
    "choose-distance-test",
    "choose-decoding-bias",
    "choose-own-scheme",
)
"""Slugs, in the order of the sheet; each has a file of its name."""
