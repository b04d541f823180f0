"""Exercises of lesson 01: what does attention see without positions?"""

EXERCISES = (
    "blind-causal-mask",
    "blind-tenth-token",
    "blind-position-from-mask",
    "blind-wrong-axis",
    "blind-test",
)
"""Slugs, in the order of the sheet; each has a file of its name."""
