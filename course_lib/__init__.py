"""Where Am I? Positional encoding in transformers, from sines to long context."""
