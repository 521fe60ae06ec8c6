"""Metrics: how well a prediction agrees with a measurement, and what a history amounts to."""

from hyloop.metrics.agreement import mae, mre, nrmse, pearson_r, r2, rmse, rrse, running_rmsd, snr, trac
from hyloop.metrics.history import Peak, delay, energy, peak

__all__ = [
    "Peak",
    "delay",
    "energy",
    "mae",
    "mre",
    "nrmse",
    "peak",
    "pearson_r",
    "r2",
    "rmse",
    "rrse",
    "running_rmsd",
    "snr",
    "trac",
]
