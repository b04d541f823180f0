"""Changes to the solutions of lesson 03 that are right after all."""

EQUAL: dict[str, dict[str, str]] = {}
