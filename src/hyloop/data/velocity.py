"""Velocities from a recorded deformation: one that a running test could have, and one that looks ahead."""

from typing import Any

import numpy as np

from hyloop.errors import BadInput, BadShape, OutOfBounds

__all__ = ["CUT_OFF", "causal_velocity", "zero_phase_velocity"]

CUT_OFF = 50.0  # Hz, of the velocity supplied with the tests of the banded damper


def causal_velocity(d: Any, dt: float, cut_off: float = CUT_OFF) -> np.ndarray:
    """Velocity from past samples alone: backward difference, then a second-order Butterworth low-pass at `cut_off` Hz.

    It lags by about 0.23 / cut_off below the cut-off (4.5 ms at 50 Hz), plus half a sample.
    """
    from scipy.signal import butter, sosfilt  # here: half a second that a recording does not need

    d = _checked(d, dt, cut_off)
    low_pass = butter(2, cut_off, fs=1.0 / dt, output="sos")
    return np.asarray(sosfilt(low_pass, np.diff(d, prepend=d[0]) / dt))


def zero_phase_velocity(d: Any, dt: float, cut_off: float = CUT_OFF) -> np.ndarray:
    """Velocity without lag, and NOT causal: central difference, low-passed forwards and backwards at `cut_off` Hz."""
    from scipy.signal import butter, sosfiltfilt

    d = _checked(d, dt, cut_off)
    low_pass = butter(2, cut_off, fs=1.0 / dt, output="sos")
    return np.asarray(sosfiltfilt(low_pass, np.gradient(d, dt)))


def _checked(d: Any, dt: float, cut_off: float) -> np.ndarray:
    d = np.asarray(d, dtype=float)
    if d.ndim != 1 or len(d) < 16:
        raise BadShape(f"a velocity needs one deformation history of at least 16 samples, got shape {d.shape}.")
    if not np.isfinite(d).all():
        raise BadInput(f"the deformation is not a number at sample {int(np.argmin(np.isfinite(d)))}.")
    if not 0.0 < cut_off < 0.5 / dt:
        raise OutOfBounds(f"cut_off = {cut_off:g} Hz must lie between 0 and half the sampling rate, {0.5 / dt:g} Hz.")
    return d
