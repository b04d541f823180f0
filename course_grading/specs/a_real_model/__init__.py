"""Exercises of lesson 16: does it hold in a model that people use?"""

EXERCISES = (
    "real-file-order",
    "real-looks-back",
    "real-parameters",
    "real-first-new-angle",
    "real-reader-test",
)
"""Slugs, in the order of the sheet; each has a file of its name."""
