"""What looks into a model: each measures one thing, and keeps nothing."""
