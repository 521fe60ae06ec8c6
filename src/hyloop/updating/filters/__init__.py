"""Filters that keep the parameters of a law true to a measured device."""
