"""Grading a class: what was handed in, graded in sandboxes, and what a teacher reads of it."""
