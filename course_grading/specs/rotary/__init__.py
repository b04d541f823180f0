"""Exercises of lesson 08: can a rotation do all of it at once?"""

EXERCISES = (
    "rotary-score-by-hand",
    "rotary-rotate",
    "rotary-complete-turns",
    "rotary-head-frequencies",
    "rotary-test",
    "rotary-fooled-head",
)
"""Slugs, in the order of the sheet; each has a file of its name."""
