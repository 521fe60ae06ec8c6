"""Steel and bilinear exist as devices (force of one bar) and as materials of fibres (rows of stresses): the same laws.

They are two pieces of code because a device is one bar with branches or a pure law for JAX, and a row of fibres is made
for the vector unit. Whatever is done to them, both must answer alike.
"""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hyloop.core.jit import jit, pointer
from hyloop.core.memory import columns, tail
from hyloop.devices import bilinear, giuffre_menegotto_pinto
from hyloop.devices.steel import menegotto_pinto_step
from hyloop.structure.fibres import stress
from hyloop.structure.fibres.materials import Bilinear, Steel

SAME = 1e-12  # of the largest force, and of the elastic stiffness: other orders of operations and another power
E, FY = 200e9, 400e6
EY = FY / E

# a history is made of moves: jump to a strain, stay, go back to an earlier point, or by less than anything matters
MOVES = st.one_of(
    st.tuples(st.just("to"), st.floats(-12.0, 12.0)),
    st.tuples(st.just("by"), st.sampled_from([1e-3, -1e-3, 1e-9, -1e-9, 1e-17, -1e-17, 0.3, -0.3])),
    st.tuples(st.just("back"), st.integers(1, 6)),
    st.tuples(st.just("stay"), st.just(0)),
    st.tuples(st.just("to"), st.sampled_from([0.0, -0.0, 1.0, -1.0, 50.0, -50.0])),
)
HISTORIES = st.lists(MOVES, min_size=1, max_size=40)
# to the asymptote, a step so small that the stress stays, and back: the curve starts on the asymptote it aims at
NO_REACH = [("to", -50.0), ("by", 1e-17), ("to", -51.0), ("stay", 0), ("by", -1e-9), ("to", 3.0), ("stay", 0)]


def strains(moves):
    points = [0.0]
    for kind, value in moves:
        if kind == "to":
            points.append(value * EY)
        elif kind == "back":
            points.append(points[max(len(points) - 1 - value, 0)])
        else:
            points.append(points[-1] + value * EY)
    return np.array(points)


@jit
def _drive(kind, n, strains, x, p, stresses, tangents):
    work, history = columns(stress.Work, x, n), tail(x, stress.WORK * n)
    for k in range(strains.shape[0]):
        work.strain[0] = strains[k]
        stress.advance(kind, n, work, history, pointer(p), n > 0)
        stresses[k], tangents[k] = work.stress[0], work.tangent[0]


def fibre(material, strain):
    """Stress and tangent of one fibre."""
    out, slopes = np.empty_like(strain), np.empty_like(strain)
    x = np.zeros(stress.WORK + stress.HISTORY[material.kind])
    _drive(material.kind, 1, strain, x, np.array(material.numbers()), out, slopes)
    return out, slopes


def steel_bar(material, strain):
    """Force and tangent of a device of unit area and length."""
    m = material
    device = giuffre_menegotto_pinto(
        k=m.E, f_y=m.fy, b=m.b, R0=m.R0, cR1=m.cR1, cR2=m.cR2, a1=m.a1, a2=m.a2, a3=m.a3, a4=m.a4
    )
    x, p = np.array(list(device.initial.values())), np.array(list(device.params.values()))
    found = np.array([menegotto_pinto_step(x, value, p) for value in strain])
    assert np.array_equal(found[:, 0], device.drive(1.0, d=strain)["f"])
    return found.T


def assert_same(ours, theirs, scale):
    assert np.isfinite(ours).all() and np.isfinite(theirs).all()
    assert np.abs(ours - theirs).max() <= SAME * scale


STEELS = [
    Steel(FY, E, 0.01),
    Steel(FY, E, 0.0),
    Steel(FY, E, 0.1, R0=5.0, cR1=0.9, cR2=0.3),
    Steel(FY, E, 0.02, 18.0, 0.9, 0.12, a1=0.04, a2=1.0, a3=0.06, a4=2.0),
]


@pytest.mark.parametrize("material", STEELS, ids=["usual", "no hardening", "soft knee", "isotropic"])
@given(moves=HISTORIES)
@example(moves=[("stay", 0)])
@example(moves=NO_REACH)
@example(moves=[("to", 1.0), ("to", 0.0), ("stay", 0), ("to", 0.0), ("by", 1e-17), ("by", -1e-17)])
def test_a_steel_fibre_is_a_steel_bar(material, moves):
    strain = strains(moves)
    (bar, bar_tangent), (row, row_tangent) = steel_bar(material, strain), fibre(material, strain)
    assert_same(row, bar, max(np.abs(bar).max(), FY))
    assert_same(row_tangent, bar_tangent, E)


def test_a_curve_without_reach_is_the_asymptote():
    """Where the reversal lies on the asymptote, nothing of the elastic line is left, even at the reversal."""
    material = Steel(FY, E, 0.01)
    on = -FY * 0.99 + 0.01 * E * (-3 * EY)
    # strain, stress, direction, strain and stress of the reversal, reach, R, largest and smallest strain
    history = [-3 * EY, on, -1.0, -3 * EY, on, 0.0, 20.0, EY, -3 * EY]
    p = np.array(material.numbers())
    for strain in (-3 * EY, -4 * EY):
        x = np.concatenate([np.zeros(stress.WORK), history])
        out, slope = np.empty(1), np.empty(1)
        _drive(material.kind, 1, np.array([strain]), x, p, out, slope)
        bar = np.array(history)
        f, k = menegotto_pinto_step(bar, strain, np.array([E, FY, *p[2:]]))
        expected = on + 0.01 * E * (strain + 3 * EY)
        assert (out[0], f) == pytest.approx((expected, expected), rel=1e-14)
        assert (slope[0], k) == pytest.approx((0.01 * E, 0.01 * E), rel=1e-12)


@given(moves=HISTORIES, b=st.sampled_from([0.0, 0.02, 0.5, 0.9]))
@example(moves=[("stay", 0), ("to", 1.0), ("to", 1.0), ("to", -1.0), ("to", 1.0)], b=0.0)
def test_a_bilinear_fibre_is_a_bilinear_bar(moves, b):
    strain = strains(moves)
    bar = bilinear(k=E, alpha=b, f_y=FY).drive(1.0, d=strain)["f"]
    row, tangent = fibre(Bilinear(FY, E, b), strain)
    assert_same(row, bar, max(np.abs(bar).max(), FY))
    assert set(tangent) <= {E, b * E}
