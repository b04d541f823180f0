"""Exercises of lesson 18: what if a text is not a line?"""

EXERCISES = (
    "axes-page",
    "axes-rotate",
    "axes-sections",
    "axes-test",
    "axes-video",
)
"""Slugs, in the order of the sheet; each has a file of its name."""
