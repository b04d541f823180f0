"""docs/serving.md: recipes of a stretch, run by the engines' own code."""
