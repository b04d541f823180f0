"""Exercises of lesson 10: what does a rotation cost, and which pairs matter?"""

EXERCISES = (
    "rotary-float32-spacing",
    "rotary-slowest-hand",
    "rotary-turn-part",
    "rotary-still-pairs",
)
"""Slugs, in the order of the sheet; each has a file of its name."""
