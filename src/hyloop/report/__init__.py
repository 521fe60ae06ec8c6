"""What a person reads: pages, figures and tables."""
