"""What an updater must survive: bounds hold, the covariance stays definite, and which rules fail."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems.adversary import LENGTH, SEGMENTS, adversary, watched
from problems.filters import ANY, DT, MAXWELL, kelvin

from hyloop.devices.bouc_wen import bouc_wen
from hyloop.devices.linear import spring
from hyloop.devices.viscous import nonlinear_maxwell
from hyloop.updating import ensemble, recursive_least_squares, unscented

EXAMPLES = 25  # of four segments, so that every rule sees a million ticks
BOUC_WEN = {"k": (2e6, 3e7), "d_y": (1e-3, 2e-2)}
RULES = [("clip", "square-root"), ("transform", "square-root"), ("clip", "nearest"), ("shrink", "nearest")]


def _survives(make, free, unknowns, examples, check=None):
    """Drive what ``make(noise, process)`` gives through hostile samples; returns the ticks survived in all."""
    ticks = 0

    @settings(max_examples=examples)
    @given(SEGMENTS, st.integers(0, 2**32 - 1), st.sampled_from([1e-3, 1.0, 1e3]), st.sampled_from([0.0, 1e-4, 1e-2]))
    def attack(segments, seed, noise, process):
        nonlocal ticks
        d, f = adversary(segments, seed)
        done, fault, spreads = watched(make(noise, process), free, d, f, unknowns=unknowns)
        assert fault == "fine", f"{fault} in tick {done} ({segments[done // LENGTH]})"
        if check:
            check(spreads)
        ticks += done

    attack()
    return ticks


@pytest.mark.slow
@pytest.mark.parametrize(("bounds", "repair"), RULES)
def test_bounds_hold_and_the_covariance_is_definite_in_every_one_of_a_million_ticks(bounds, repair):
    def definite(spreads):
        # the watch uses the factors of the package; here NumPy looks at some of the ticks
        if repair == "nearest":
            np.linalg.cholesky(spreads)
        else:
            # every unknown in units of its own spread: theirs differ by more than the digits of a singular value
            scaled = spreads / np.linalg.norm(spreads, axis=2, keepdims=True)
            assert (np.linalg.svd(scaled, compute_uv=False)[:, -1] > 0).all()

    ticks = _survives(
        lambda noise, process: unscented(
            nonlinear_maxwell(), MAXWELL, noise=noise, process=process, bounds=bounds, repair=repair
        ),
        MAXWELL,
        3,
        EXAMPLES,
        definite,
    )
    assert ticks >= 1_000_000


OTHERS = {
    "filtered states": (
        lambda noise, process: unscented(bouc_wen(), BOUC_WEN, noise=noise, process=process, states={"z": (0.0, 1e-4)}),
        BOUC_WEN,
        3,
    ),
    "least squares": (
        lambda noise, process: recursive_least_squares(
            nonlinear_maxwell(), MAXWELL, noise=noise, forgetting=1.0 - process
        ),
        MAXWELL,
        3,
    ),
    "ensemble": (
        lambda noise, process: ensemble(nonlinear_maxwell(), MAXWELL, noise=noise, process=process, members=8),
        MAXWELL,
        0,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", OTHERS)
def test_the_other_updaters_survive_as_well(kind):
    assert _survives(*OTHERS[kind], examples=5) >= 200_000


def test_a_missing_or_broken_sample_changes_no_parameter():
    d, f = adversary([("dropouts", 1e6), ("spikes", 1e6)], 1)
    history = unscented(nonlinear_maxwell(), MAXWELL, noise=1e3).drive(DT, d=d, f_m=f)
    broken = ~np.isfinite(f[1:]) | ~np.isfinite(d[1:])
    assert broken.sum() > 1000 and (np.diff(history["K"])[broken] == 0.0).all()
    assert np.isfinite(history["x_f_last"]).all() and np.isnan(history["innovation"][np.isnan(f)]).all()


def test_without_repair_the_covariance_fails_and_it_shows():
    """A rehearsal without noise at one frequency: stiffness and mass cannot be told apart, their sum is known exactly.

    The covariance is then the small difference of large numbers. With 1 mN of noise in 500 kN it is lost within
    a fifth of a second; with 10 mN it is not.
    """
    t, rate = np.arange(10 * 1024) * DT, 4 * np.pi
    moved = {"d": 0.05 * np.sin(rate * t), "v": 0.05 * rate * np.cos(rate * t), "a": -0.05 * rate**2 * np.sin(rate * t)}
    law = kelvin(k=1e7, c=1e5, m=2e3)
    f = kelvin(k=1.2e7, c=8e4, m=2.5e3).drive(DT, **moved)["f"]
    runs = {
        repair: unscented(
            law, dict.fromkeys("kcm", ANY), noise=1e-3, process=0.0, initial_std=0.3, repair=repair
        ).drive(DT, **moved, f_m=f)
        for repair in ("none", "nearest", "square-root")
    }
    assert np.isnan(runs["none"]["k"][1024:]).all()
    for repair in ("nearest", "square-root"):
        history = runs[repair]
        assert history["k"][-1] - rate**2 * history["m"][-1] == pytest.approx(1.2e7 - rate**2 * 2.5e3, rel=1e-8)


def test_shrinking_is_absorbing_and_the_others_are_not(rng):
    n = 8192
    d = 0.05 * np.sin(2 * np.pi * np.arange(n) * DT) + 0.02 * np.sin(5.1 * np.pi * np.arange(n) * DT)
    # for a while the damper is stronger than the bounds allow, then it is as before
    C = np.where((np.arange(n) > 1024) & (np.arange(n) < 3072), 4.0 * 708e3, 708e3)
    f, x = np.empty(n), np.zeros(2)
    for k in range(n):
        (f[k],), x = nonlinear_maxwell.function(x, d[k : k + 1], DT, (1.02e8, C[k], 0.457))
    f += rng.normal(0, 1e3, n)
    final, frozen = {}, {}
    for bounds, repair in (("shrink", "nearest"), ("clip", "square-root"), ("transform", "square-root")):
        ours = unscented(nonlinear_maxwell(), MAXWELL, noise=1e3, process=1e-3, bounds=bounds, repair=repair)
        history = ours.drive(DT, d=d, f_m=f)["C"]
        final[bounds], frozen[bounds] = history[-1], np.ptp(history[3072:]) == 0.0
    assert frozen["shrink"] and final["shrink"] > 1.3 * 708e3
    assert final["clip"] == pytest.approx(708e3, rel=0.05) and not frozen["clip"]
    assert final["transform"] == pytest.approx(708e3, rel=0.05) and not frozen["transform"]


def test_without_a_bound_rule_the_parameter_goes_where_the_data_lead(rng):
    d = 0.01 * rng.normal(size=500)
    ours = unscented(spring(k=1e6), {"k": (2e5, 2e6)}, noise=50.0, process=1e-2, bounds=None)
    assert ours.drive(DT, d=d, f_m=4e6 * d)["k"][-1] == pytest.approx(4e6, rel=1e-3)
