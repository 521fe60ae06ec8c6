"""Laws whose parameters come from a network."""
