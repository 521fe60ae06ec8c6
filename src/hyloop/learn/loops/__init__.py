"""Whole loops under JAX: the recurrence of the compiled run once more, with derivatives."""
