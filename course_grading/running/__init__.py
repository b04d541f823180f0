"""Processes: whoever asks, answers and judges runs in one of its own, or in a sandbox."""
