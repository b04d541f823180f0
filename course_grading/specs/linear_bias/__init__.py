"""Exercises of lesson 06: what does a distance not tell, and does a bias still work in long texts?"""

EXERCISES = (
    "alibi-far-key",
    "alibi-slopes",
    "alibi-half-precision",
    "alibi-test",
    "alibi-slopes-for-reaches",
)
"""Slugs, in the order of the sheet; each has a file of its name."""
