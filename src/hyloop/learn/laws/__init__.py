"""Device laws in JAX: the same function as in the loop, with derivatives."""
