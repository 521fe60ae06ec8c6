"""Groups of trusses against single materials, OpenSees and closed forms."""

import numpy as np
import pytest
from oracles.fibres import drive
from oracles.opensees import uniaxial

from hyloop.errors import BadInput, BadShape, OutOfBounds
from hyloop.structure.fibres.braces import axial_response, trusses
from hyloop.structure.fibres.materials import Bilinear, Elastic, Steel

SAME = 1e-12  # of the largest force: the same law, another order of sums


@pytest.fixture
def mixed(rng):
    """Seven members of four materials in a mixed order, on five degrees of freedom."""
    soft, hard = Steel(250e6, 200e9, 0.02), Steel(350e6, 200e9, 0.01, a1=0.02, a3=0.02)
    materials = [soft, Elastic(200e9), hard, Bilinear(250e6, 200e9, 0.02), soft, Elastic(200e9), hard]
    return materials, 1e-3 + 1e-3 * rng.random(7), 2.0 + rng.random(7), rng.standard_normal((7, 5))


def test_forces_are_those_of_single_materials(rng, mixed):
    materials, areas, lengths, B = mixed
    path = np.cumsum(2e-3 * rng.standard_normal((300, 5)), axis=0)
    group = trusses(*mixed)
    r, x = drive(group, path)
    strain = path @ B.T / lengths
    force = np.column_stack([m.stress(e) for m, e in zip(materials, strain.T, strict=True)]) * areas
    assert np.abs(r - force @ B).max() < SAME * np.abs(r).max()
    response = [axial_response(group, state) for state in x]
    assert np.abs([row.force for row in response] - force).max() < SAME * np.abs(force).max()
    assert np.allclose([row.strain for row in response], strain, rtol=1e-12, atol=1e-16)


def test_initial_stiffness(mixed):
    materials, areas, lengths, B = mixed
    K = trusses(*mixed).stiffness
    assert np.allclose(K.toarray(), B.T @ np.diag([m.stiffness for m in materials] * areas / lengths) @ B, rtol=1e-12)
    r, _ = drive(trusses(*mixed), [1e-9 * np.ones(5)])
    assert np.allclose(r[0], K @ (1e-9 * np.ones(5)), rtol=1e-6)


def test_a_brace_follows_opensees():
    """k = E A/(0.7 L) of a brace whose ends are rigid, from 290 MPa steel."""
    steel = Steel(290e6, 200e9, 0.02)
    d = 0.04 * np.sin(np.linspace(0, 30, 1500)) * np.linspace(0, 1, 1500)
    r, _ = drive(trusses(steel, 0.012, 0.7 * 6.0, [[0.8]]), d[:, None])
    stress = uniaxial("Steel02", steel.numbers()[:6], 0.8 * d / 4.2)
    assert np.abs(r[:, 0] - 0.8 * 0.012 * stress).max() < 1e-10 * np.abs(r).max()


@pytest.mark.parametrize(
    "change, error, message",
    [
        ({"areas": 0.0}, OutOfBounds, "areas of member 0"),
        ({"areas": [1.0, -1.0]}, OutOfBounds, "areas of member 1"),
        ({"lengths": [1.0, 0.0]}, OutOfBounds, "lengths of member 1"),
        ({"lengths": [1.0, 2.0, 3.0]}, BadShape, "for 2 members"),
        ({"materials": [Elastic(1.0)]}, BadShape, "1 materials for the 2 rows"),
        ({"materials": [Elastic(1.0), 7]}, BadInput, "must be Elastic"),
        ({"B": np.zeros((0, 3))}, BadShape, "0 rows"),
        ({"B": [[1.0, np.inf]] * 2}, BadShape, "finite"),
    ],
)
def test_bad_trusses_are_refused(change, error, message):
    given = {"materials": Elastic(1.0), "areas": 1.0, "lengths": 1.0, "B": np.eye(2)} | change
    with pytest.raises(error, match=message):
        trusses(**given)
