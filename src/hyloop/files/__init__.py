"""What a person writes: experiment, training and model files, and files of measurements. Each is checked key by key."""
