"""The laboratory: how the course trains, measures and draws."""
