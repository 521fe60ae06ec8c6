"""Speed, measured side by side with other engines: ``make bench`` or ``python -m benchmarks [NAME ...] [--json]``."""
