"""What is learned, and how: texts, tasks, the training loop, and checkpoints of it."""
