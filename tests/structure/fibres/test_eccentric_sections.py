"""Sections whose centroid or principal axes are not those of the member: axial force and bending are coupled."""

import numpy as np
import pytest
from oracles.opensees_model import OpenSeesModel

from hyloop.errors import OutOfBounds
from hyloop.structure import Elastic, ElasticSection, FibreSection, Model

EXACT = 1e-10  # relative; round-off of a solution with a condition number of about 1e4
OPENSEES = 1e-8  # two elastic solutions; OpenSees' element stops iterating at 1e-14
E, L = 30e9, 6.0
LOADS = {"ux": 3e5, "uy": -2e4, "uz": 1e4, "rx": 5e3, "ry": -8e3, "rz": 1.5e4}


def t_beam():
    """Slab of 1.6 m x 0.12 m over a web of 0.3 m x 0.48 m, the member's axis at the middle of the slab."""
    slab, web = np.linspace(-0.05, 0.05, 6), -0.06 - (np.arange(24) + 0.5) * 0.02
    y = np.concatenate([np.tile(slab, 2), web])
    z = np.concatenate([np.full(6, -0.4), np.full(6, 0.4), np.full(24, 0.05)])  # the web a little out of the middle
    area = np.concatenate([np.full(12, 1.6 * 0.12 / 12), np.full(24, 0.3 * 0.02)])
    return FibreSection(y, area, Elastic(E), z, GJ=4e8)


def tip(dimensions, add):
    """All displacements of the end of a cantilever along x under LOADS; `add` makes its member from 'foot' to 'tip'."""
    model = Model(dimensions)
    model.node("foot", *[0.0] * dimensions)
    model.node("tip", L, *[0.0] * (dimensions - 1))
    model.support("foot", "fixed")
    add(model)
    model.load("tip", **{dof: LOADS[dof] for dof in model.dofs})
    return model.structure(iterations=20).at_rest, model


def closed_form(section, dimensions):
    """Integral of the section's deformations under the forces along the cantilever (three Gauss points: exact)."""
    F = LOADS
    k, u = section.stiffness(dimensions), np.zeros(3 * (dimensions - 1))
    for x, weight in zip(*np.polynomial.legendre.leggauss(3), strict=True):
        to_tip, weight = L - L * (1 + x) / 2, weight * L / 2
        forces = [F["ux"], F["rz"] + F["uy"] * to_tip, F["ry"] - F["uz"] * to_tip][:dimensions]
        strain, about_z, about_y = [*np.linalg.solve(k, forces), 0.0][:3]
        if dimensions == 2:
            u += weight * np.array([strain, about_z * to_tip, about_z])
        else:
            twist = F["rx"] / section.GJ
            u += weight * np.array([strain, about_z * to_tip, -about_y * to_tip, twist, about_y, about_z])
    return u


def assert_equal(u, expected, tolerance=EXACT):
    assert np.abs(u - expected).max() < tolerance * np.abs(expected).max()


@pytest.mark.parametrize("dimensions", [2, 3])
def test_the_elastic_section_of_a_t_beam_has_all_of_its_stiffness(dimensions):
    section = t_beam()
    k = section.stiffness(dimensions)
    assert np.allclose(section.elastic().stiffness(dimensions), k, rtol=EXACT, atol=EXACT * k.min())
    assert abs(k[0, 1]) > 0.5 * np.sqrt(k[0, 0] * k[1, 1])  # it is not a case without coupling


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("kind", ["hinged", "fibres all along", "elastic"])
def test_a_t_beam_deflects_as_the_integral_of_its_sections(dimensions, kind):
    section = t_beam()

    def add(model):
        if kind == "elastic":
            model.elastic("beam", "foot", "tip", section.elastic())
        else:
            hinges = (0.4, 0.5) if kind == "hinged" else None
            model.fibre("beam", "foot", "tip", section, hinges=hinges, pdelta=False)

    assert_equal(tip(dimensions, add)[0], closed_form(section, dimensions))


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("hinges", [None, (0.4, 0.5)])
def test_a_hinged_t_beam_is_that_of_opensees(dimensions, hinges):
    """In OpenSees with fibres all along, and with hinges."""
    section = t_beam()
    u, _ = tip(dimensions, lambda model: model.fibre("beam", "foot", "tip", section, hinges=(0.4, 0.5), pdelta=False))
    _, model = tip(dimensions, lambda model: model.fibre("beam", "foot", "tip", section, hinges=hinges, pdelta=False))
    peer = OpenSeesModel(model)
    peer.gravity()
    theirs = np.array([peer.displacement(f"tip.{dof}") for dof in model.dofs])
    assert_equal(u, theirs, OPENSEES)


def test_an_eccentric_section_is_a_centric_one_on_rigid_arms():
    A, Iz, e = 0.12, 2e-3, 0.23
    centric, eccentric = ElasticSection(E, A, Iz), ElasticSection(E, A, Iz + A * e**2, Sz=A * e)
    expected, _ = tip(2, lambda m: m.elastic("beam", "foot", "tip", centric, offsets=((0.0, e), (0.0, e))))
    assert_equal(tip(2, lambda m: m.elastic("beam", "foot", "tip", eccentric))[0], expected)


def test_a_section_off_its_principal_axes_is_one_turned_about_the_member():
    Iz, Iy, turn = 3e-3, 4e-4, 0.4
    c, s = np.cos(turn), np.sin(turn)
    principal = ElasticSection(E, 0.1, Iz, Iy, 12e9, 1e-3)
    # y = c y' - s z', z = s y' + c z' with y', z' along the principal axes
    given = ElasticSection(E, 0.1, c * c * Iz + s * s * Iy, s * s * Iz + c * c * Iy, 12e9, 1e-3, Iyz=c * s * (Iz - Iy))
    expected, _ = tip(3, lambda m: m.elastic("beam", "foot", "tip", principal, up=(0.0, c, s)))
    assert_equal(tip(3, lambda m: m.elastic("beam", "foot", "tip", given))[0], expected)


def test_a_release_frees_the_moment_about_the_axis_of_the_member():
    """Without moments at its ends a bar of eccentric section bows: EA/L (1 - Sz²/(A Iz))."""
    A, Iz, Sz = 0.12, 4e-3, 0.015
    section = ElasticSection(E, A, Iz, Sz=Sz)
    model = Model()
    model.node("a", 0.0, 0.0)
    model.node("b", L, 0.0)
    model.support("a", "fixed")
    model.support("b", ["uy", "rz"])
    model.elastic("bar", "a", "b", section, release=("i", "j"))
    K = model.structure().K
    assert K[0, 0] == pytest.approx(E * A / L * (1 - Sz**2 / (A * Iz)), rel=EXACT)


@pytest.mark.parametrize(
    "numbers, message",
    [
        ({"Sz": 0.1}, "Sz"),  # the second moment about the centroid would be negative
        ({"Sz": np.nan}, "Sz"),
        ({"Iy": 1e-3, "Sy": 0.1}, "Sy"),
        ({"Iy": 1e-3, "Iyz": 3e-3}, "Iyz"),
        ({"Sy": 0.01}, "Iy"),  # not for the plane, and without Iy not for space
    ],
)
def test_moments_of_area_that_no_section_has_are_refused(numbers, message):
    with pytest.raises(OutOfBounds, match=message):
        ElasticSection(E, 0.1, 4e-3, **numbers)
