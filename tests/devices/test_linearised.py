"""Equivalent stiffness and damping against closed forms, and what they are worth to a model-based method."""

from math import gamma, pi

import numpy as np
import pytest

from hyloop import Loop, Site, shear_frame
from hyloop.devices import bilinear, dashpot, linearised, mr_damper, nonlinear_maxwell, nonlinear_viscous, spring
from hyloop.errors import BadInput, BadShape, OutOfBounds
from hyloop.integrators import mkr_alpha
from hyloop.metrics import nrmse

EXACT = 1e-12  # relative: a whole number of samples in a cycle makes the sums orthogonal
SAMPLED = 1e-3  # relative: 4096 samples of a force with corners
FIRST_ORDER = 2e-3  # relative: the explicit law is of first order in its step, here 1/1024 s and less


def test_linear_devices_are_what_they_are():
    assert linearised(spring(k=5e6), 0.02, 1.3) == pytest.approx((5e6, 0.0), rel=EXACT, abs=1e-6)
    assert linearised(dashpot(c=3e5), 0.02, 1.3) == pytest.approx((0.0, 3e5), rel=EXACT, abs=1e-6)


def test_power_law_dashpot_by_its_closed_form():
    # Lin and Chopra (2002): c = C (A w)^(alpha - 1) 2^(2 + alpha) Gamma(1 + alpha/2)^2 / (pi Gamma(2 + alpha))
    C, alpha, A, w = 708e3, 0.457, 0.025, 2 * pi * 0.149
    c = C * (A * w) ** (alpha - 1) * 2 ** (2 + alpha) * gamma(1 + alpha / 2) ** 2 / (pi * gamma(2 + alpha))
    k, found = linearised(nonlinear_viscous(C=C, alpha=alpha), A, w / (2 * pi))
    assert found == pytest.approx(c, rel=SAMPLED)
    assert abs(k) < SAMPLED * c * w


def test_linear_maxwell_damper_by_its_closed_form():
    K, C, w = 2e7, 4e6, 2 * pi * 1.1
    k, c = linearised(nonlinear_maxwell(K=K, C=C, alpha=1.0), 0.01, w / (2 * pi))
    assert k == pytest.approx(K * (C * w) ** 2 / (K**2 + (C * w) ** 2), rel=FIRST_ORDER)
    assert c == pytest.approx(C * K**2 / (K**2 + (C * w) ** 2), rel=FIRST_ORDER)


def test_elastoplastic_loop_by_its_closed_form():
    # Caughey (1960): with cos t = 1 - 2/mu, k = k0 (t - sin 2t / 2)/pi, and 4 f_y d_y (mu - 1) are lost in a cycle
    k0, f_y, mu, frequency = 1e7, 2e4, 3.0, 0.7
    A, turned = mu * f_y / k0, np.arccos(1 - 2 / mu)
    k, c = linearised(bilinear(k=k0, alpha=0.0, f_y=f_y), A, frequency)
    assert k == pytest.approx(k0 / pi * (turned - np.sin(2 * turned) / 2), rel=SAMPLED)
    assert pi * c * 2 * pi * frequency * A**2 == pytest.approx(4 * f_y * (f_y / k0) * (mu - 1), rel=SAMPLED)


def test_a_method_that_knows_the_damper_converges_sooner():
    frame = shear_frame([2e5] * 3, [6e7] * 3)
    damper, dt = nonlinear_viscous(C=3e5, alpha=0.5), 1 / 64
    ground = 0.5 * np.sin(2 * pi * 1.2 * np.arange(0, 6, 1 / 1024))

    def force(step, linear):
        site = Site("damper", frame.story(1), damper, linear=linear)
        loop = Loop(frame, [site], method=mkr_alpha(0.75), dt=step, substeps=round(step * 1024))
        return loop.run(ground[:: round(step * 1024)], record=["damper.f"])["damper.f"]

    truth = force(1 / 1024, linearised(damper, 0.02, 1.2))[:: round(dt * 1024)]
    # the law declares its slope at rest, which is far steeper than at work
    errors = [nrmse(truth, force(dt, linear)) for linear in (linearised(damper, 0.02, 1.2), None)]
    assert errors[0] < 0.3 * errors[1]


def test_snapshots_do_not_go_into_a_loop_with_another_linearisation():
    frame = shear_frame([2e5], [6e7])
    loops = [
        Loop(frame, [Site("d", frame.story(1), spring(k=1e6), linear=(k, 0.0))], method=mkr_alpha(0.75), dt=0.01)
        for k in (1e6, 2e6)
    ]
    with pytest.raises(BadInput, match="linearised stiffness or damping"):
        loops[1].restore(loops[0].snapshot())


def test_bad_input():
    with pytest.raises(OutOfBounds, match="must be positive"):
        linearised(spring(k=1.0), 0.0, 1.0)
    command = next(iter(set(mr_damper.inputs) - {"d", "v", "a"}), None)
    if command is not None:
        with pytest.raises(BadInput, match=command):
            linearised(mr_damper(), 0.01, 1.0)
    with pytest.raises(BadShape, match="a stiffness and a damping"):
        Site("d", [1.0], spring(k=1.0), linear=(1.0, np.nan))
