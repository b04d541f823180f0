"""Exercises of lesson 09: why do implementations disagree?"""

EXERCISES = (
    "rotary-convert-weights",
    "rotary-decode",
    "rotary-stale-table",
    "rotary-halves-test",
    "rotary-which-layout",
    "packed-positions",
)
"""Slugs, in the order of the sheet; each has a file of its name."""
