"""What an unscented filter must survive: bounds hold, the covariance stays definite, and which rules fail."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyloop.devices.linear import spring
from hyloop.devices.viscous import nonlinear_maxwell
from hyloop.updating import unscented

DT = 1 / 1024
REPAIRS = ["square-root", "nearest", "none"]
MAXWELL = {"K": (2e7, 2e8), "C": (1.4e5, 1.4e6), "alpha": (0.09, 0.9)}  # 0.2 to 2 times the start, as in the paper


def adversary(segments, seed):
    """Deformation and force made of hostile pieces; nothing in it comes from a damper."""
    rng, d, f = np.random.default_rng(seed), [], []
    for kind, length, size in segments:
        motion, force = 0.05 * rng.normal(size=length).cumsum() * 0.1, size * rng.normal(size=length)
        if kind == "constant":
            motion[:], force[:] = 0.01, size
        elif kind == "spikes":
            force[rng.integers(0, length, 1 + length // 50)] = rng.choice([1e12, -1e12, 1e300, np.inf])
        elif kind == "dropouts":
            force[rng.random(length) < 0.5] = np.nan
            motion[rng.random(length) < 0.05] = np.nan
        elif kind == "square":
            motion = 0.1 * np.sign(np.sin(np.arange(length) * 0.7))
        d.append(motion)
        f.append(force)
    return np.concatenate(d), np.concatenate(f)


SEGMENT = st.tuples(st.sampled_from(["noise", "constant", "spikes", "dropouts", "square"]), st.integers(100, 8000),
                    st.sampled_from([0.0, 1.0, 1e3, 1e6, 1e9]))  # fmt: skip


@pytest.mark.parametrize("bounds", ["clip", "transform"])
@settings(max_examples=25)
@given(st.lists(SEGMENT, min_size=3, max_size=6), st.integers(0, 2**32 - 1), st.sampled_from([1e-3, 1e3]))
def test_bounds_hold_and_the_covariance_is_definite_whatever_comes(bounds, segments, seed, noise):
    d, f = adversary(segments, seed)
    ours = unscented(nonlinear_maxwell(), MAXWELL, noise=noise, bounds=bounds)
    history = ours.drive(DT, d=d, f_m=f)
    for key, (low, high) in MAXWELL.items():
        assert (history[key] >= low).all() and (history[key] <= high).all()
    # a factor without a zero singular value: the covariance is definite by construction, however badly conditioned
    S = np.stack([np.stack([history[f"S_{i}_{j}"][::20] for j in range(3)], -1) for i in range(3)], -2)
    assert np.isfinite(S).all() and (np.linalg.svd(S, compute_uv=False)[:, -1] > 0).all()
    assert np.isfinite(history["x_f_last"]).all()
    assert np.isnan(history["innovation"][np.isnan(f)]).all()


def test_without_repair_the_covariance_fails_and_it_shows():
    n = 4000
    d = 0.075 * np.sin(np.pi * np.arange(n) * DT)
    f = nonlinear_maxwell(K=1.2e8, C=6e5, alpha=0.4).drive(DT, d=d)["f"]
    # an exact load cell and no random walk: the covariance is the small difference of large numbers
    runs = {r: unscented(nonlinear_maxwell(), MAXWELL, noise=1e-7, process=0.0, initial_std=0.5, repair=r)
            .drive(DT, d=d, f_m=f) for r in REPAIRS}  # fmt: skip
    assert np.isnan(runs["none"]["K"][-1])
    assert np.isfinite(runs["nearest"]["K"]).all() and np.isfinite(runs["square-root"]["K"]).all()


def test_shrinking_is_absorbing_and_the_others_are_not(rng):
    n = 4000
    d = 0.01 * rng.normal(size=n)
    # for a while the device is stiffer than the bounds allow, then it is as before
    k = np.where((np.arange(n) > 500) & (np.arange(n) < 1500), 4e6, 1e6)
    f = k * d + rng.normal(0, 50.0, n)
    final, frozen = {}, {}
    for bounds in ("shrink", "clip", "transform"):
        ours = unscented(spring(k=1e6), {"k": (2e5, 2e6)}, noise=50.0, process=5e-3, bounds=bounds)
        history = ours.drive(DT, d=d, f_m=f)["k"]
        final[bounds], frozen[bounds] = history[-1], np.ptp(history[1500:]) == 0.0
    assert final["shrink"] == 2e6 and frozen["shrink"]
    assert final["clip"] == pytest.approx(1e6, rel=0.05) and not frozen["clip"]
    assert final["transform"] == pytest.approx(1e6, rel=0.05) and not frozen["transform"]
