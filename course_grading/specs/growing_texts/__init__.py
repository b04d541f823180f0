"""Exercises of lesson 14: what if the text keeps growing?"""

EXERCISES = (
    "grow-seems",
    "stretch-server",
    "grow-which-f",
    "stretch-cache-test",
    "grow-turn-on",
    "left-padding",
)
"""Slugs, in the order of the sheet; each has a file of its name."""
