"""Notebooks: solutions, what is released of them, and what learners make of it."""
