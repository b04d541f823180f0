"""Exercises of lesson 15: which pairs should be stretched?"""

EXERCISES = (
    "yarn-by-parts",
    "yarn-score-growth",
    "yarn-read-config",
    "yarn-backwards",
    "yarn-least-base",
    "longrope-test",
)
"""Slugs, in the order of the sheet; each has a file of its name."""
