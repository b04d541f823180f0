"""Exercises of lesson 00: does it all work here?"""

EXERCISES = ("start-count-places",)
"""Slugs, in the order of the sheet; each has a file of its name."""
