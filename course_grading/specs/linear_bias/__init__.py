"""Exercises of lesson 06: what a distance does not tell, and whether a bias works in long texts."""

EXERCISES = (
    "alibi-far-key",
    "alibi-slopes",
    "alibi-half-precision",
    "alibi-test",
    "alibi-slopes-for-reaches",
)
"""Slugs, in the order of the sheet; each has a file of its name."""
