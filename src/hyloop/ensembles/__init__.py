"""Thousands of runs of one experiment file: what is run, where, and what is kept of it."""

from hyloop.ensembles.campaign import Campaign, Plan
from hyloop.ensembles.measures import MEASURES, Measure, default_measures, parse_measure
from hyloop.ensembles.outcome import Row

__all__ = ["MEASURES", "Campaign", "Measure", "Plan", "Row", "default_measures", "parse_measure"]
