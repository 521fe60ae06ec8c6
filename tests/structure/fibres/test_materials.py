"""Uniaxial materials against OpenSees, plain Python and closed forms."""

import numpy as np
import pytest
from oracles.fibres import PlainConcrete, PlainSteel
from oracles.opensees import uniaxial

from hyloop.errors import BadShape, OutOfBounds
from hyloop.structure.fibres.materials import Bilinear, Concrete, Elastic, Steel, kent_park
from hyloop.structure.fibres.powers import power

SAME_RULES = 1e-10  # of the strength: two programs, one set of rules, thousands of steps of round-off
ISOTROPIC = {"R0": 18.0, "cR1": 0.9, "cR2": 0.12, "a1": 0.04, "a2": 1.0, "a3": 0.06, "a4": 2.0}
CONCRETES = [(30e6, 0.002, 6e6, 0.006), (30e6, 0.002, 0.0, 0.004), (40e6, 0.003, 40e6, 0.02)]


@pytest.fixture
def strains(rng):
    """Forty random turning points, joined in small steps."""
    points = np.concatenate([[0.0], np.cumsum(0.004 * rng.standard_normal(40))])
    return np.interp(np.linspace(0, 40, 4001), np.arange(41), points)


@pytest.mark.parametrize("numbers", CONCRETES)
def test_concrete_follows_opensees(strains, numbers):
    fc, ec, fcu, ecu = numbers
    for history in (strains, -np.abs(strains)):
        expected = uniaxial("Concrete01", (-fc, -ec, -fcu, -ecu), history)
        assert np.abs(Concrete(*numbers).stress(history) - expected).max() < SAME_RULES * fc


@pytest.mark.parametrize("options", [{}, ISOTROPIC])
def test_steel_follows_opensees(strains, options):
    steel = Steel(400e6, 200e9, 0.01, **options)
    expected = uniaxial("Steel02", steel.numbers() if options else steel.numbers()[:6], strains)
    assert np.abs(steel.stress(strains) - expected).max() < SAME_RULES * steel.fy


def test_bilinear_follows_opensees(strains):
    expected = uniaxial("Steel01", (400e6, 200e9, 0.02), strains)
    assert np.abs(Bilinear(400e6, 200e9, 0.02).stress(strains) - expected).max() < SAME_RULES * 400e6


@pytest.mark.parametrize(
    "material, plain",
    [
        (Concrete(*CONCRETES[0]), PlainConcrete(*CONCRETES[0])),
        (Steel(400e6, 200e9, 0.01), PlainSteel(400e6, 200e9, 0.01, 20.0, 0.925, 0.15)),
    ],
)
def test_materials_follow_plain_python(strains, material, plain):
    expected = []
    for strain in strains:
        expected.append(plain.stress(strain))
        plain.commit(strain)
    assert np.abs(material.stress(strains) - expected).max() < SAME_RULES * 400e6


def test_the_concrete_envelope_is_the_closed_form():
    concrete = Concrete(30e6, 0.002, 6e6, 0.006)
    stress = -concrete.stress([0.0, -0.001, -0.002, -0.004, -0.006, -0.01])
    assert np.allclose(stress, [0.0, 22.5e6, 30e6, 18e6, 6e6, 6e6], rtol=1e-14)
    assert np.all(concrete.stress(np.linspace(0.0, 0.01, 20)) == 0.0)


def test_bilinear_loop_has_the_area_of_the_book():
    """A full cycle between ±e dissipates 4 (1 - b) fy (e - ey): a parallelogram."""
    fy, E, e = 300e6, 200e9, 0.01
    for b in (0.0, 0.05):
        ends = np.array([0.0, e, -e, e])
        history = np.interp(np.linspace(1, 3, 20001), np.arange(4), ends)
        stress = Bilinear(fy, E, b).stress(np.concatenate([[e], history]))[1:]
        loop = np.sum((stress[1:] + stress[:-1]) / 2 * np.diff(history))
        # the knees fall inside a step of the history, at most two steps of a ten-thousandth each
        assert loop == pytest.approx(4 * (1 - b) * fy * (e - fy / E), rel=1e-4)


def test_kent_park_by_hand():
    """Scott, Park and Priestley (1982) with fc = 25 MPa, 1 % hoops of 300 MPa, h'' = 400, s = 100 mm."""
    cover, core = kent_park(25e6, 0.01, 300e6, 0.4, 0.1)
    K = 1 + 0.01 * 300 / 25
    Z = 0.5 / ((3 + 0.29 * 25) / (145 * 25 - 1000) + 0.75 * 0.01 * 2.0 - 0.002 * K)
    assert (core.fc, core.ec, core.fcu) == pytest.approx((25e6 * K, 0.002 * K, 5e6 * K))
    assert core.ecu == pytest.approx(0.002 * K + 0.8 / Z)
    assert (cover.fc, cover.ec) == (25e6, 0.002)
    assert cover.ecu == pytest.approx(0.002 + 0.8 * 2 * ((3 + 0.29 * 25) / (145 * 25 - 1000) - 0.002))


def test_powers_agree_with_the_library(rng):
    a, b = rng.random(2000), 0.2 + 20 * rng.random(2000)
    mine = np.array([power(x, y) for x, y in zip(a, b, strict=True)])
    # 20 log2 a carries a rounding of 1e-15 into the exponent
    assert np.allclose(mine, a**b, rtol=1e-13, atol=1e-300)
    assert 0.0 < power(0.0, 3.0) < 1e-300


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Concrete(-30e6, 0.002, 6e6, 0.006), "positive numbers"),
        (lambda: Concrete(30e6, 0.0, 6e6, 0.006), "ec"),
        (lambda: Concrete(30e6, 0.002, 40e6, 0.006), "exceeds the strength"),
        (lambda: Concrete(30e6, 0.002, 6e6, 0.002), "larger than ec"),
        (lambda: Steel(400e6, 0.0), "E = 0"),
        (lambda: Steel(400e6, 200e9, b=1.0), "b = 1"),
        (lambda: Steel(400e6, 200e9, cR1=1.0), "cR1"),
        (lambda: Bilinear(0.0, 200e9), "fy"),
        (lambda: Elastic(float("nan")), "E = nan"),
        (lambda: kent_park(27.5, 0.01, 414e6, 0.35, 0.1), "is it in Pa"),
        (lambda: kent_park(27.5e6, -0.01, 414e6, 0.35, 0.1), "hoop_ratio"),
        (lambda: kent_park(27.5e6, 0.01, 414e6, 0.35, 0.0), "spacing"),
        (lambda: kent_park(100e6, 0.05, 2000e6, 0.01, 10.0), "vertical descent"),
    ],
)
def test_bad_materials_are_refused(make, message):
    with pytest.raises(OutOfBounds, match=message):
        make()


def test_a_strain_history_must_be_finite():
    with pytest.raises(BadShape):
        Elastic(1.0).stress([0.0, np.nan])
