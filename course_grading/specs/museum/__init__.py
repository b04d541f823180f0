"""The museum: right and wrong versions of eleven functions, and a test to write for each room.

A room's file begins with what hangs there. Some wrong versions are bugs of published code, made
again in a few lines, and the label or the lesson that teaches the idea names the code; the others
are close relatives of such bugs. Each is right on the inputs that its label names as harmless
(`tests/grading/labels_museum.py` runs them). What stands above it is its name, its lesson, and what
a learner reads whose test lets it pass. One point for each exhibit that a test catches.
"""

EXERCISES = (
    "museum-waves",
    "museum-turn",
    "museum-table",
    "museum-weights",
    "museum-slope",
    "museum-buckets",
    "museum-reach",
    "museum-scores",
    "museum-config",
    "museum-page",
    "museum-tests",
)
"""Slugs, in the order of the sheet; each has a file of its name."""
