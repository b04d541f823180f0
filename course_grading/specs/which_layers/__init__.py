"""Exercises of lesson 17: which layers need positions?"""

EXERCISES = (
    "layers-which-turn",
    "layers-reach",
    "layers-sink",
    "layers-temperature",
    "layers-windows-test",
)
"""Slugs, in the order of the sheet; each has a file of its name."""
