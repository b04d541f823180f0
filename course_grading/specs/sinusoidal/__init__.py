"""Exercises of lesson 02: how can a vector say "position 7"?"""

EXERCISES = (
    "sinusoidal-encoding",
    "sinusoidal-slowest-wave",
    "sinusoidal-half-precision",
    "sinusoidal-shift-matrix",
    "sinusoidal-test",
    "sinusoidal-half-similarity",
)
"""Slugs, in the order of the sheet; each has a file of its name."""
