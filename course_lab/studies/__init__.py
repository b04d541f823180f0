"""What is measured again by a command, and kept: see `study`."""
