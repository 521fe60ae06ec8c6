"""Fibre members at coarse steps: where cracks close, the sections must not jump to another equilibrium."""

import numpy as np
import pytest

from hyloop import Limits, Loop
from hyloop.errors import RunFailed
from hyloop.integrators import mkr_alpha, newmark
from hyloop.structure import Model, Steel, kent_park, rayleigh, rc_rectangle
from hyloop.structure.fibres.beam_forces import CLOSE

HEIGHT = 2.5
SHELL, CORE = kent_park(27.5e6, 0.012, 414e6, 0.34, 0.1)
SECTION = rc_rectangle(
    0.416, 0.457, 0.04, CORE, SHELL, [(y, 3 * 6.45e-4) for y in (-0.17, 0.0, 0.17)], Steel(414e6, 200e9, 0.01)
)
AXIAL = 0.15 * 27.5e6 * 0.416 * 0.457  # N
COARSE = 0.06  # NRMSE of 1/64 s against 1/1024 s: what the period error of the method leaves
# motions in which one Newton correction of the whole increment led to drifts of hundreds of heights at 1/64 s
ASTRAY = (4, 7, 12)


def column():
    model = Model()
    model.node("A0", 0.0, 0.0)
    model.node("A1", 0.0, HEIGHT)
    model.support("A0", "fixed")
    model.fibre("column", "A0", "A1", SECTION)  # five Lobatto points
    model.mass("A1", ux=AXIAL / 9.81, uy=AXIAL / 9.81, rz=100.0)
    model.load("A1", uy=-AXIAL)
    return model.structure(lambda s: rayleigh(s, 0.03))


def motion(seed, dt, seconds=8.0):
    """Twelve sines, strong enough to crack the column through and to yield its bars in every cycle."""
    rng = np.random.default_rng(seed)
    f, phase = rng.uniform(0.5, 6.0, 12), rng.uniform(0.0, 6.28, 12)
    t = np.arange(round(seconds / dt) + 1) * dt
    return 2.5 * np.sin(2 * np.pi * f * t[:, None] + phase).sum(axis=1) / np.sqrt(6.0) * np.minimum(t, 1.0)


def drift(seed, rate, method=None, **options):
    loop = Loop(column(), method=method or mkr_alpha(0.75), dt=1 / rate, **options)
    return loop.run(motion(seed, 1 / rate))


@pytest.mark.parametrize("seed", ASTRAY)
def test_sections_do_not_jump_to_another_equilibrium(seed):
    fine, coarse = drift(seed, 1024)["u.A1.ux"][::16], drift(seed, 64)["u.A1.ux"]
    assert np.abs(fine).max() > 0.02 * HEIGHT  # far beyond cracking
    assert np.sqrt(np.mean((coarse - fine) ** 2)) < COARSE * np.ptp(fine)


def test_the_implicit_reference_converges_at_coarse_steps_too():
    fine, coarse = drift(ASTRAY[0], 1024)["u.A1.ux"][::16], drift(ASTRAY[0], 64, newmark())["u.A1.ux"]
    assert np.sqrt(np.mean((coarse - fine) ** 2)) < COARSE * np.ptp(fine)


@pytest.mark.parametrize("rate", [64, 256])
def test_what_is_left_unbalanced_is_a_channel_and_small(rate):
    left = drift(1, rate)["imbalance"]
    assert 0.0 < left.max() < CLOSE


def test_too_much_of_it_is_a_fault():
    with pytest.raises(RunFailed, match=r"out of balance with its member by a strain of .*a smaller step") as caught:
        drift(1, 64, limits=Limits(max_imbalance=1e-7))
    assert caught.value.reason == "imbalance"
    assert caught.value.result["imbalance"][-1] > 1e-7
