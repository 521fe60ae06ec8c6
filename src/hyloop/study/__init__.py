"""What runs: an experiment, a training, an identification, a whole study with its claims."""
