"""Metrics: how well a prediction agrees with a measurement, and what a history amounts to."""

from hyloop.metrics.agreement import mae, mre, nrmse, pearson_r, r2, rmse, rrse, running_rmsd, snr, trac
from hyloop.metrics.comfort import CRITERIA, Comfort, Criterion, comfort, corner_accelerations
from hyloop.metrics.conformal import BandResult, calibrate, compare_bands, constant_width, coverage_by_run, width_by_run
from hyloop.metrics.fragility import EXACT, FAILED, STANDS, Fragility, fit_fragility, resampled
from hyloop.metrics.history import Peak, delay, energy, peak
from hyloop.metrics.ida_curves import IdaCurve, given_intensity, given_response
from hyloop.metrics.resonance import HalfPower, ResonanceFit, fit_resonance, half_power, phase_damping, sine_amplitude
from hyloop.metrics.tracking import Tracking, tracking, tracking_indicator

__all__ = [
    "CRITERIA",
    "EXACT",
    "FAILED",
    "STANDS",
    "BandResult",
    "Comfort",
    "Criterion",
    "Fragility",
    "HalfPower",
    "IdaCurve",
    "Peak",
    "ResonanceFit",
    "Tracking",
    "calibrate",
    "comfort",
    "compare_bands",
    "constant_width",
    "corner_accelerations",
    "coverage_by_run",
    "delay",
    "energy",
    "fit_fragility",
    "fit_resonance",
    "given_intensity",
    "given_response",
    "half_power",
    "mae",
    "mre",
    "nrmse",
    "peak",
    "pearson_r",
    "phase_damping",
    "r2",
    "resampled",
    "rmse",
    "rrse",
    "running_rmsd",
    "sine_amplitude",
    "snr",
    "trac",
    "tracking",
    "tracking_indicator",
    "width_by_run",
]
