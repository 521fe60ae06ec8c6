"""Experiments and studies: files, runs, claims and reports."""
