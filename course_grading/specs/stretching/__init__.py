"""Exercises of lesson 13: can a trained RoPE read further?"""

EXERCISES = (
    "stretch-interpolation",
    "stretch-ntk-base",
    "stretch-too-far",
    "stretch-best-pair",
    "stretch-covering-base",
)
"""Slugs, in the order of the sheet; each has a file of its name."""
