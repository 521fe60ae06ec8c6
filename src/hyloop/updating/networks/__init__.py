"""Networks that stand for a hysteretic device and go on learning while a test runs."""
