"""Exercises of lesson 12: why does RoPE fall, and is surviving the same as reading?"""

EXERCISES = (
    "long-looks-near",
    "long-alibi-reach",
    "long-stopped-pairs",
    "long-right-by-distance",
    "long-reads-test",
)
"""Slugs, in the order of the sheet; each has a file of its name."""
