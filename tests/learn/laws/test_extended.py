"""The extended filter with exact gradients, beside the unscented one on a nonlinear law."""

import numpy as np
import pytest
from analytic import observed_orders
from problems.filters import DT, MAXWELL, sine

from hyloop.devices.brfd import brfd_gap_slip
from hyloop.devices.viscous import nonlinear_maxwell
from hyloop.errors import BadInput, OutOfBounds, UnknownName
from hyloop.learn.laws.extended import extended
from hyloop.updating import covariance, unscented

ORDER_TOLERANCE = 0.1
START = {"K": 1e8, "C": 7e5, "alpha": 0.45}


def test_extended_and_unscented_agree_to_second_order_of_the_spread():
    """All deviations shrink together, so that the gains stay; what remains is the curvature of the law."""
    n, scales, differences = 1500, [0.04, 0.02, 0.01, 0.005], []
    d, e = sine(n), np.random.default_rng(2).normal(size=n)
    for s in scales:
        truth = nonlinear_maxwell(**{key: value * (1 + s) for key, value in START.items()})
        signals = {"d": d, "f_m": truth.drive(DT, d=d)["f"] + 1e5 * s * e}
        settings = {"noise": 1e5 * s, "process": 1e-3 * s, "initial_std": s}
        theirs = extended(nonlinear_maxwell(**START), MAXWELL, **settings)(DT, **signals)
        filtered = unscented(nonlinear_maxwell(**START), MAXWELL, **settings)
        ours = filtered.drive(DT, **signals)
        apart = [np.abs(ours[key] - theirs[key]).max() / START[key] for key in MAXWELL]
        moved = [np.abs(theirs[key] / START[key] - 1).max() for key in MAXWELL]
        differences.append(max(apart))
        assert max(moved) > 0.5 * s
        relative = np.abs(covariance(filtered, ours) - theirs["P"]).max() / theirs["P"].max()
        assert relative < 10 * s
    orders = observed_orders(scales, differences)
    assert abs(orders[-1] - 2.0) < ORDER_TOLERANCE, (orders, differences)
    assert differences[-1] < 1e-4, differences


def test_a_missing_sample_teaches_nothing():
    d = sine(400)
    f = nonlinear_maxwell().drive(DT, d=d)["f"]
    f[200:300] = np.nan
    history = extended(nonlinear_maxwell(**START), MAXWELL, noise=1e3)(DT, d=d, f_m=f)
    assert all(np.ptp(history[key][200:300]) == 0.0 for key in MAXWELL)
    assert np.isnan(history["innovation"][200:300]).all() and np.isfinite(history["f"]).all()
    assert np.isfinite(history["P"]).all()


def test_bad_input_is_refused_with_advice():
    with pytest.raises(UnknownName, match="unknown parameter 'B'"):
        extended(nonlinear_maxwell(), {"B": (1.0, 2.0)}, noise=1.0)
    with pytest.raises(OutOfBounds, match="noise"):
        extended(nonlinear_maxwell(), MAXWELL, noise=0.0)
    with pytest.raises(BadInput, match="pure law"):
        extended(brfd_gap_slip(), {"c": (0.0, 1e5)}, noise=1.0)
