"""Elastic members against closed forms of beam theory."""

import numpy as np
import pytest

from hyloop.errors import BadInput, OutOfBounds, UnknownName
from hyloop.structure import Model
from hyloop.structure.fibres.sections import ElasticSection
from hyloop.structure.frames.members import beam_rows, link_rows, local_axes

EXACT = 1e-10  # relative; round-off of a solution with a condition number of about 1e4
E, A, Iz, Iy, G, J = 2e11, 1.2e-2, 3e-4, 8e-5, 7.7e10, 5e-5
SECTION = ElasticSection(E, A, Iz, Iy, G, J)
L, P = 3.7, 1.1e4


def deflected(model, **loads):
    """Displacements by name under loads on the node "tip"."""
    model.load("tip", **loads)
    structure = model.structure()
    return dict(zip(structure.names, structure.at_rest, strict=True))


def cantilever(axis, **options):
    """A cantilever of length L along `axis`, fixed at "foot"."""
    axis = np.array(axis) / np.linalg.norm(axis)
    model = Model(len(axis))
    model.node("foot", *np.full(len(axis), 0.7))
    model.node("tip", *(0.7 + L * axis))
    model.support("foot", "fixed")
    model.elastic("beam", "foot", "tip", SECTION, **options)
    return model


@pytest.mark.parametrize("angle", [0.0, 35.0, 90.0, 200.0])
def test_plane_cantilever_has_the_deflection_of_the_book(angle):
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    H, Q = 2.3e4, -P
    u = deflected(cantilever((c, s)), ux=H * c - Q * s, uy=H * s + Q * c)
    along, across = u["tip.ux"] * c + u["tip.uy"] * s, -u["tip.ux"] * s + u["tip.uy"] * c
    assert along == pytest.approx(H * L / (E * A), rel=EXACT)
    assert across == pytest.approx(Q * L**3 / (3 * E * Iz), rel=EXACT)
    assert u["tip.rz"] == pytest.approx(Q * L**2 / (2 * E * Iz), rel=EXACT)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.3, -0.8, 0.5), (0, -1, 0)])
def test_space_cantilever_bends_about_both_axes_and_twists(axis):
    model = cantilever(axis)
    x, y, z = local_axes("beam", np.array(axis) / np.linalg.norm(axis), None)
    force, moment = 3e4 * x + P * y - 2 * P * z, 4e3 * x
    u = deflected(model, **dict(zip(("ux", "uy", "uz", "rx", "ry", "rz"), [*force, *moment], strict=True)))
    move = np.array([u["tip.ux"], u["tip.uy"], u["tip.uz"]])
    turn = np.array([u["tip.rx"], u["tip.ry"], u["tip.rz"]])
    scale = P * L**3 / (3 * E * Iz)
    expected = [3e4 * L / (E * A), scale, -2 * P * L**3 / (3 * E * Iy)]
    assert np.allclose([move @ x, move @ y, move @ z], expected, rtol=EXACT, atol=EXACT * scale)
    rotations = [4e3 * L / (G * J), 2 * P * L**2 / (2 * E * Iy), P * L**2 / (2 * E * Iz)]
    assert np.allclose([turn @ x, turn @ y, turn @ z], rotations, rtol=EXACT, atol=EXACT * rotations[2])


def test_local_axes_follow_up_and_the_vertical():
    x, y, z = local_axes("beam", np.array([0.0, 0.0, 1.0]), None)
    assert np.allclose(y, [0, 1, 0]) and np.allclose(z, np.cross(x, y))
    column = local_axes("column", np.array([0.0, 1.0, 0.0]), None)
    assert np.allclose(column[1], [1, 0, 0])
    turned = local_axes("column", np.array([0.0, 1.0, 0.0]), (1.0, 5.0, 1.0))
    assert np.allclose(turned[1], np.array([1, 0, 1]) / np.sqrt(2)) and np.allclose(turned @ turned.T, np.eye(3))


def test_a_space_bent_deflects_by_bending_of_both_legs_and_twist_of_the_first():
    a, b = 2.0, 1.5
    model = Model(3)
    for name, x in (("foot", (0, 0, 0)), ("knee", (a, 0, 0)), ("tip", (a, 0, b))):
        model.node(name, *x)
    model.support("foot", "fixed")
    model.elastic("first", "foot", "knee", SECTION)
    model.elastic("second", "knee", "tip", SECTION)
    u = deflected(model, uy=-P)
    expected = -P * (a**3 / (3 * E * Iz) + b**3 / (3 * E * Iz) + a * b**2 / (G * J))
    assert u["tip.uy"] == pytest.approx(expected, rel=EXACT)


def test_rigid_motion_strains_nothing(rng):
    """Also with rigid ends out of the axis, in any direction."""
    for dimensions in (2, 3):
        xi, xj, di, dj = rng.standard_normal((4, dimensions))
        axis = xj + dj - xi - di
        length = np.linalg.norm(axis)
        axes = local_axes("m", axis / length, None)
        rows = beam_rows(axes, length, di, dj)
        shift = rng.standard_normal(dimensions)
        theta = rng.standard_normal() if dimensions == 2 else rng.standard_normal(3)

        def displaced(x, theta=theta, shift=shift):
            turn = theta * np.array([-x[1], x[0]]) if len(x) == 2 else np.cross(theta, x)
            return [*(shift + turn), *np.atleast_1d(theta)]

        u = np.array(displaced(xi) + displaced(xj))
        chord = 1 if dimensions == 2 else 2
        assert np.allclose((rows @ u)[:-chord], 0.0, atol=1e-12)
        # the chord itself turns with the body
        expected = [theta] if dimensions == 2 else [axes[2] @ theta, -axes[1] @ theta]
        assert np.allclose((rows @ u)[-chord:], expected, atol=1e-12)
        assert np.allclose(link_rows(xi, xj) @ u, 0.0, atol=1e-12)


def test_rigid_ends_shorten_the_flexible_part():
    a, b = 0.4, 0.9
    flexible = L - a - b
    u = deflected(cantilever((1.0, 0.0), offsets=(a, b)), uy=P)
    # at the end of the flexible part: load P and moment P b; then the rigid end turns
    EI = E * Iz
    w = P * flexible**3 / (3 * EI) + P * b * flexible**2 / (2 * EI)
    theta = P * flexible**2 / (2 * EI) + P * b * flexible / EI
    assert u["tip.uy"] == pytest.approx(w + b * theta, rel=EXACT)
    assert u["tip.rz"] == pytest.approx(theta, rel=EXACT)


def test_an_eccentric_member_bends_under_axial_load():
    e = 0.25
    u = deflected(cantilever((1.0, 0.0), offsets=((0.0, e), (0.0, e))), ux=P)
    # the load passes below the axis of the member, with the moment P e; the node follows its rigid arm
    theta = P * e * L / (E * Iz)
    assert u["tip.rz"] == pytest.approx(theta, rel=EXACT)
    assert u["tip.ux"] == pytest.approx(P * L / (E * A) + e * theta, rel=EXACT)
    assert u["tip.uy"] == pytest.approx(theta * L / 2, rel=EXACT)


@pytest.mark.parametrize("release, factor", [((), 12), (("i",), 3), (("j",), 3)])
def test_sway_stiffness_with_a_hinge(release, factor):
    model = cantilever((0.0, 1.0), release=release)
    model.support("tip", ["rz", "uy"])
    u = deflected(model, ux=P)
    assert u["tip.ux"] == pytest.approx(P * L**3 / (factor * E * Iz), rel=EXACT)


@pytest.mark.parametrize(
    "release, factors", [(("iy",), (12, 3)), (("i", "jy"), (3, 3)), (("j", "iy", "twist"), (3, 3))]
)
def test_sway_stiffness_with_hinges_in_space(release, factors):
    model = cantilever((0.0, 1.0, 0.0), release=release)
    model.support("tip", ["rx", "ry", "rz", "uy"])
    u = deflected(model, ux=P, uz=P)
    assert u["tip.ux"] == pytest.approx(P * L**3 / (factors[0] * E * Iz), rel=EXACT)
    assert u["tip.uz"] == pytest.approx(P * L**3 / (factors[1] * E * Iy), rel=EXACT)


def test_a_rotation_that_nothing_resists_is_not_an_unknown():
    model = Model()
    for name, x in (("a", (0, 0)), ("b", (2, 0)), ("tip", (1, 1))):
        model.node(name, *x)
    for foot in "ab":
        model.support(foot, "pinned")
        model.elastic(f"bar {foot}", foot, "tip", SECTION, release=("i", "j"))
    u = deflected(model, uy=-P)
    assert set(u) == {"tip.ux", "tip.uy"}
    # two bars at 45 degrees: w = P l/(2 EA cos²)
    assert u["tip.uy"] == pytest.approx(-P * np.sqrt(2) / (E * A), rel=EXACT)


def test_bad_members_are_named():
    with pytest.raises(OutOfBounds, match=r"'beam'.*rigid ends of 3\.8 m leave nothing of its 3\.7 m"):
        cantilever((1.0, 0.0), offsets=(1.9, 1.9))
    with pytest.raises(BadInput, match="'beam': zero length"):
        cantilever((1.0, 0.0), offsets=((L, 0.0), (0.0, 0.0)))
    with pytest.raises(UnknownName, match="'beam': unknown release 'k'"):
        cantilever((1.0, 0.0), release=("k",))
    with pytest.raises(BadInput, match=r"up .* runs along the member"):
        cantilever((1.0, 0.0, 0.0), up=(2.0, 0.0, 0.0))
    model = Model(3)
    model.node("a", 0, 0, 0)
    model.node("b", 1, 0, 0)
    with pytest.raises(OutOfBounds, match="'beam': section has Iy = 0"):
        model.elastic("beam", "a", "b", ElasticSection(E, A, Iz))
    with pytest.raises(BadInput, match="'beam': section None is missing"):
        model.elastic("beam", "a", "b", None)
