"""A force that comes late: what it does to a filter, and the filter that knows."""

import numpy as np
import pytest
from problems.filters import DT, MAXWELL, sine

from hyloop.devices.viscous import nonlinear_maxwell
from hyloop.errors import OutOfBounds
from hyloop.updating import unscented

NOISE = 500.0
SETTINGS = {"noise": NOISE, "process": 1e-5, "initial_std": 0.2}
TRUTH = {"K": 1.2e8, "C": 6e5, "alpha": 0.4}


def _late(delay, n=8 * 1024):
    """Deformation now, deformation of then (on straight lines between samples), and the force of then."""
    d = sine(n, 0.05, 2 * np.pi) + 0.02
    then = np.interp(np.arange(n) - delay, np.arange(n), d)
    f = nonlinear_maxwell(**TRUTH).drive(DT, d=then - d[0])["f"]
    return d - d[0], then - d[0], f + np.random.default_rng(1).normal(0, NOISE, n)


@pytest.mark.parametrize("delay", [20, 19.25])
def test_it_is_the_filter_without_delay_on_shifted_data(delay):
    d, then, f = _late(delay)
    aware = unscented(nonlinear_maxwell(), MAXWELL, delay=delay, **SETTINGS).drive(DT, d=d, f_m=f)
    known = np.where(np.arange(len(f)) < delay, np.nan, f)  # nothing was measured of the time before the start
    plain = unscented(nonlinear_maxwell(), MAXWELL, **SETTINGS).drive(DT, d=then, f_m=known)
    # bit for bit where whole ticks are shifted; NumPy interpolates in another order
    tolerance = 0.0 if delay == int(delay) else 1e-9
    for key in (*MAXWELL, "f", "innovation"):
        np.testing.assert_allclose(aware[key], plain[key], rtol=tolerance, atol=1e-6 if tolerance else 0.0)


def test_a_filter_that_does_not_know_is_biased():
    d, _, f = _late(20)
    error = {}
    for delay in (0.0, 20.0):
        history = unscented(nonlinear_maxwell(), MAXWELL, delay=delay, **SETTINGS).drive(DT, d=d, f_m=f)
        error[delay] = max(abs(history[key][-1024:].mean() / true - 1) for key, true in TRUTH.items())
    assert error[20.0] < 0.01 < 0.1 < error[0.0], error


@pytest.mark.parametrize("delay", [-1.0, 1e6, np.nan])
def test_a_delay_that_cannot_be_is_refused(delay):
    with pytest.raises(OutOfBounds, match="delay"):
        unscented(nonlinear_maxwell(), MAXWELL, noise=NOISE, delay=delay)
