"""Prandtl-Ishlinskii against closed forms, the rules of its memory, and OpenSees; and the spring with play."""

import numpy as np
import pytest
from oracles.opensees import opensees

from hyloop.devices.bilinear import bilinear
from hyloop.devices.prandtl_ishlinskii import play, prandtl_ishlinskii
from hyloop.errors import BadInput

ROUNDING = 1e-12  # of the peak: sums of many terms in different orders

N = 5
K_E = 3e5
W = np.array([4e6, 2e6, 1e6, 3e6, 5e5])
R = np.array([1e-3, 2.5e-3, 4e-3, 6e-3, 9e-3])
LAW = prandtl_ishlinskii(N)
DEVICE = LAW(k_e=K_E, **{f"w{j}": w for j, w in enumerate(W)}, **{f"r{j}": r for j, r in enumerate(R)})
SCALE = float(K_E * 0.02 + W @ R)


def virgin(d):
    d = np.asarray(d)
    return np.sign(d) * (K_E * np.abs(d) + np.minimum(np.abs(d)[..., None], R) @ W)


def assert_same(force, expected):
    np.testing.assert_allclose(force, expected, rtol=0, atol=ROUNDING * SCALE)


def to(*turns, count=50):
    """A path through the turns in equal steps."""
    stops = np.array([0.0, *turns])
    return np.interp(np.arange(1, count * len(turns) + 1) / count, np.arange(len(stops)), stops)


def test_first_loading_is_the_sum_of_corners():
    for top in (0.02, -0.02):
        d = to(top)
        assert_same(DEVICE.drive(1.0, d=d)["f"], virgin(d))


def test_every_branch_is_the_first_loading_doubled():
    top, bottom = 7.3e-3, -5.1e-3
    d = to(top, bottom, top)
    force = DEVICE.drive(1.0, d=d)["f"]
    down, up = slice(50, 100), slice(100, 150)
    assert_same(force[down], force[49] + 2.0 * virgin((d[down] - top) / 2.0))
    assert_same(force[up], force[99] + 2.0 * virgin((d[up] - bottom) / 2.0))


def test_an_inner_loop_closes():
    force = DEVICE.drive(1.0, d=to(8e-3, 2e-3, 6e-3, 2e-3))["f"]
    assert_same(force[199], force[99])


def test_a_larger_cycle_wipes_out_smaller_ones():
    busy = DEVICE.drive(1.0, d=to(8e-3, -1e-3, 5e-3, 0.0, 3e-3, -8.5e-3, 1.0e-2, -4e-3))
    plain = DEVICE.drive(1.0, d=to(1.0e-2, -4e-3))
    # nothing before the return to +10 mm, the largest deformation so far, is remembered
    assert_same(busy["f"][-50:], plain["f"][-50:])
    for j in range(N):
        np.testing.assert_allclose(busy[f"d{j}"][-1], plain[f"d{j}"][-1], rtol=0, atol=ROUNDING)


def test_memory_that_was_not_wiped_out_remains():
    with_memory = DEVICE.drive(1.0, d=to(1e-2, 2e-3))["f"][-1]
    without = DEVICE.drive(1.0, d=to(2e-3))["f"][-1]
    assert abs(with_memory - without) > 0.1 * SCALE


def test_one_stop_is_the_bilinear_law():
    k, alpha, f_y = 1e7, 0.1, 5e4
    d = np.cumsum(np.random.default_rng(0).normal(size=1000)) * 2e-3
    expected = bilinear(k=k, alpha=alpha, f_y=f_y).drive(1.0, d=d)["f"]
    got = prandtl_ishlinskii(1)(k_e=alpha * k, w0=(1 - alpha) * k, r0=f_y / k).drive(1.0, d=d)["f"]
    np.testing.assert_allclose(got, expected, rtol=0, atol=ROUNDING * np.abs(expected).max())


def test_equals_parallel_materials_of_opensees():
    ops = opensees()
    d = np.cumsum(np.random.default_rng(1).normal(size=2000)) * 1.5e-3
    ops.wipe()
    ops.uniaxialMaterial("Elastic", 1, K_E)
    for j in range(N):
        ops.uniaxialMaterial("Steel01", j + 2, W[j] * R[j], W[j], 0.0)
    ops.uniaxialMaterial("Parallel", 100, *range(1, N + 2))
    ops.testUniaxialMaterial(100)
    expected = []
    for value in d:
        ops.setStrain(float(value))
        expected.append(ops.getStress())
    ops.wipe()
    assert_same(DEVICE.drive(1.0, d=d)["f"], np.array(expected))


def test_declared_stiffness_is_that_of_first_loading():
    assert DEVICE.stiffness == pytest.approx(DEVICE.drive(1.0, d=np.array([1e-6]))["f"][0] / 1e-6, rel=ROUNDING)


@pytest.mark.parametrize("n", [0, -1, 2.0])
def test_a_law_without_stops_is_refused(n):
    with pytest.raises(BadInput, match="whole number"):
        prandtl_ishlinskii(n)


def test_play_is_silent_in_the_gap_and_elastic_beyond():
    k, r = 5e6, 2e-3
    d = np.array([1e-3, -2e-3, 2e-3, 3e-3, -1e-3, -5e-3, 0.0])
    expected = np.array([0.0, 0.0, 0.0, k * 1e-3, 0.0, -k * 3e-3, 0.0])
    np.testing.assert_allclose(play(k=k, r=r).drive(1.0, d=d)["f"], expected, rtol=ROUNDING, atol=0)


def test_play_without_gap_is_a_spring():
    d = np.array([1e-3, -2e-3, 0.0])
    np.testing.assert_array_equal(play(k=5e6, r=0.0).drive(1.0, d=d)["f"], 5e6 * d)
