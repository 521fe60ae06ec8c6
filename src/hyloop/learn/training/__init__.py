"""Training: histories split by event, batches, schedules, checkpoints."""
