"""Artificial motions: the target is the truth, judged with the spectrum that closed forms and eqsig vouch for."""

import numpy as np
import pytest

from hyloop.errors import BadInput, OutOfBounds
from hyloop.hazards import G, asce7_spectrum, default_motion, envelope, response_spectrum, synthetic_motion

ENSEMBLE = 0.10  # asked for: mean spectrum of the ensemble within 10 % of the target on average
ONE = 0.10  # the same for each motion of it
REST = 1e-9  # end velocity and displacement relative to their peaks: rounding
T = np.geomspace(0.05, 4.0, 60)
TARGET = asce7_spectrum(T, G, 0.6 * G)


@pytest.mark.parametrize("kind", ["saragoni-hart", "jennings"])
def test_ensemble_fits_the_target_and_ends_at_rest(kind):
    motions = [synthetic_motion(T, TARGET, 30.0, 0.01, seed, kind=kind) for seed in range(10)]
    ratios = np.array([response_spectrum(m.a, m.dt, T).psa / TARGET for m in motions])
    assert np.abs(ratios.mean(0) - 1.0).mean() < ENSEMBLE
    assert np.abs(ratios.mean(0) - 1.0).max() < 2 * ENSEMBLE
    assert np.abs(ratios - 1.0).mean(1).max() < ONE
    for motion in motions:
        baseline = motion.baseline()
        assert abs(baseline.end_velocity) < REST * baseline.peak_velocity
        assert abs(baseline.end_displacement) < REST * baseline.peak_displacement
        assert motion.duration == pytest.approx(30.0)


def test_another_damping_and_a_coarse_target():
    target = [5.0, 5.0, 1.0]
    motion = synthetic_motion([0.1, 0.5, 2.5], target, 20.0, 0.01, 4, damping=0.02)
    grid = np.geomspace(0.1, 2.5, 50)
    goal = np.exp(np.interp(np.log(grid), np.log([0.1, 0.5, 2.5]), np.log(target)))
    ratio = response_spectrum(motion.a, motion.dt, grid, 0.02).psa / goal
    assert np.abs(ratio - 1.0).mean() < ONE
    assert motion.meta["misfit"] == pytest.approx(np.sqrt(np.mean(np.log(ratio) ** 2)), rel=0.3)


def test_seeds_repeat_and_differ():
    first, again, other = default_motion(3), default_motion(3), default_motion(4)
    assert first.a.tobytes() == again.a.tobytes()
    assert abs(np.corrcoef(first.a, other.a)[0, 1]) < 0.3
    assert 0.3 * G < first.pga < 0.7 * G  # the shape says 0.4 g at T = 0, below the shortest period that is fitted


def test_the_motion_follows_its_envelope():
    """Between 5 % and 95 % of the energy, as for a record, and rest at the ends."""
    motion = default_motion(0)
    energy = np.cumsum(motion.a**2) / np.sum(motion.a**2)
    start, end = motion.time[np.searchsorted(energy, [0.05, 0.95])]
    assert 0.5 < start < 5.0 and 10.0 < end < 25.0
    for kind in ("saragoni-hart", "jennings"):
        shape = envelope(motion.time, motion.duration, kind)
        assert shape[0] == 0.0 and abs(shape[-1]) < 1e-15 and shape.max() == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"periods": T[::-1]}, BadInput, "must increase"),
        ({"periods": np.r_[0.0, T[1:]]}, OutOfBounds, "positive periods"),
        ({"dt": 0.05}, OutOfBounds, "needs a dt of 0.0125"),
        ({"duration": 6.0}, OutOfBounds, "twice the longest period"),
        ({"iterations": 0}, OutOfBounds, "iterations"),
        ({"kind": "boxcar"}, BadInput, "'jennings'"),
        ({"target": -TARGET}, OutOfBounds, "target"),
    ],
)
def test_bad_input_is_refused(change, error, words):
    given = {"periods": T, "target": TARGET, "duration": 30.0, "dt": 0.01, "seed": 0} | change
    with pytest.raises(error, match=words):
        synthetic_motion(**given)
