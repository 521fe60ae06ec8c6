"""Speed, measured side by side with other engines: `make bench`, or `hyloop bench [NAME ...] [--json]`."""
