"""Force-based beam-columns: exact elastic limits, OpenSees, equilibrium, energy, and bad input."""

from itertools import pairwise

import numpy as np
import pytest
from oracles.fibres import cycles, drive, opensees_cantilever

from hyloop.errors import BadInput, BadShape, OutOfBounds
from hyloop.structure.fibres.beams import BeamColumn, fibre_beams, hinged, section_response, tangent
from hyloop.structure.fibres.integration import Rule, gauss_lobatto, hinge_radau
from hyloop.structure.fibres.materials import Bilinear, Elastic, Steel, kent_park
from hyloop.structure.fibres.reinforced import rc_rectangle
from hyloop.structure.fibres.sections import ElasticSection, FibreSection

EXACT = 1e-10  # relative, of stiffness and forces
OPENSEES = 0.01  # NRMSE with a fixed number of section iterations
CONVERGED = 1e-6  # NRMSE against OpenSees once the section iterations are many: what its own tolerance leaves
L = 1.83
SHELL, CORE = kent_park(27.5e6, 0.012, 414e6, 0.34, 0.1)
STEEL = Steel(414e6, 200e9, 0.01)
BARS = [(y, z, 6.45e-4) for y in (-0.17, 0.0, 0.17) for z in (-0.15, 0.0, 0.15) if (y, z) != (0.0, 0.0)]
INNER = ElasticSection(25e9, 0.19, 1.2e-3, 1.0e-3, 10e9, 1.5e-3)


def column(**options):
    section = rc_rectangle(0.416, 0.457, 0.04, CORE, SHELL, BARS, STEEL, GJ=1.5e7, **options)
    return hinged(L, section, 0.2, 0.2, INNER, "column")


def cantilever_rows(dimensions=2, p_delta=False, length=L):
    """Rows for a member along x, fixed at i, with the displacements of j as degrees of freedom."""
    s = 1 / length
    psi = s if p_delta else 0.0
    if dimensions == 2:  # ux, uy, rz
        return np.array([[1, 0, 0], [0, -s, 0], [0, -s, 1], [0, psi, 0]])
    B = np.zeros((8, 6))  # ux, uy, uz, rx, ry, rz
    B[0, 0], B[1, 1], B[2, [1, 5]], B[3, 2], B[4, [2, 4]], B[5, 3] = 1, -s, (-s, 1), s, (s, 1), 1
    B[6, 1], B[7, 2] = psi, psi
    return B


def nrmse(mine, theirs, scale=None):
    return np.sqrt(np.mean((mine - theirs) ** 2)) / (np.ptp(theirs) if scale is None else scale)


def cantilever_stiffness(s, length, dimensions):
    """Textbook stiffness of the free end of a Bernoulli cantilever."""

    def bending(EI, sign):
        return EI * np.array([[12 / length**3, -sign * 6 / length**2], [-sign * 6 / length**2, 4 / length]])

    if dimensions == 2:
        K = np.zeros((3, 3))
        K[0, 0] = s.E * s.A / length
        K[1:, 1:] = bending(s.E * s.Iz, 1)
        return K
    K = np.zeros((6, 6))
    K[0, 0], K[3, 3] = s.E * s.A / length, s.GJ / length
    K[np.ix_([1, 5], [1, 5])] = bending(s.E * s.Iz, 1)
    K[np.ix_([2, 4], [2, 4])] = bending(s.E * s.Iy, -1)
    return K


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("rule", [hinge_radau(2.0, 0.1, 0.2), gauss_lobatto(2.0, 3), gauss_lobatto(2.0, 6)])
@pytest.mark.parametrize("fibres", [False, True])
def test_elastic_members_are_exact(dimensions, rule, fibres):
    y = np.array([-0.2, 0.2, 0.2, -0.2])
    z = np.array([-0.1, -0.1, 0.1, 0.1])
    elastic = ElasticSection(30e9, 0.08, 0.08 * 0.04, 0.08 * 0.01, 1.0, 2e7)
    section = FibreSection(y, np.full(4, 0.02), Elastic(30e9), z, GJ=2e7) if fibres else elastic
    group = fibre_beams(
        [BeamColumn(2.0, rule, section)], cantilever_rows(dimensions, length=2.0), dimensions=dimensions
    )
    expected = cantilever_stiffness(elastic, 2.0, dimensions)
    size = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert np.abs((group.stiffness.toarray() - expected) / size).max() < EXACT
    u = np.array([[1e-4, 3e-3, -2e-3, 1e-3, -5e-4, 2e-3][: len(expected)]])
    force, state = drive(group, u)
    assert np.abs(force[0] / (expected @ u[0]) - 1).max() < EXACT
    deformation, at_support = section_response(group, state[0], 0, 0)
    # moment of the tip's forces about the support: M(0) = M_j + V L
    assert at_support[1] == pytest.approx(force[0][-1] + 2.0 * force[0][1], rel=1e-9)
    assert np.allclose(section.stiffness(dimensions) @ deformation, at_support, rtol=1e-9)


@pytest.mark.parametrize("n", [2, 3, 4, 7])
def test_lobatto_integrates_polynomials_exactly(n):
    x, w = gauss_lobatto(3.0, n)
    for degree in range(2 * n - 2):
        assert w @ x**degree == pytest.approx(3.0 ** (degree + 1) / (degree + 1), rel=1e-12)


def test_hinge_rule_is_that_of_scott_and_fenves():
    x, w = hinge_radau(3.0, 0.2, 0.3)
    assert np.allclose(x[[0, 1, 4, 5]], [0.0, 1.6 / 3, 3.0 - 0.8, 3.0]) and np.allclose(
        w[[0, 1, 4, 5]], [0.2, 0.6, 0.9, 0.3]
    )
    for degree in range(4):  # the Radau rules are exact to degree two over their four hinge lengths, and Gauss to three
        exact = 3.0 ** (degree + 1) / (degree + 1)
        assert (w @ x**degree == pytest.approx(exact, rel=1e-12)) == (degree < 3)


@pytest.mark.parametrize("axial_force, transformation", [(-600e3, "Linear"), (-600e3, "PDelta"), (0.0, "Linear")])
def test_cyclic_column_follows_opensees(axial_force, transformation):
    member = column()
    path = cycles([0.005, 0.01, 0.02, 0.03], 5e-4)
    u, force, deformation, moment = opensees_cantilever(
        member, (axial_force, 0.0, 0.0), path, transformation=transformation
    )
    B = cantilever_rows(p_delta=transformation == "PDelta")
    worst = {}
    for iterations in (1, 2, 20):
        group = fibre_beams([member], B, iterations=iterations)
        r, x = drive(group, u)
        section = [section_response(group, state, 0, 0) for state in x]
        worst[iterations] = max(
            nrmse(r[:, 1], force[:, 1]),
            nrmse(r[:, 2], force[:, 2], L * np.ptp(force[:, 1])),  # the tip's moment is next to nothing
            nrmse(np.array([s.deformation[1] for s in section]), deformation[:, 1]),
            nrmse(np.array([s.force[1] for s in section]), moment[:, 1]),
        )
    assert worst[1] < OPENSEES
    assert worst[2] < OPENSEES / 100  # the default
    assert worst[20] < CONVERGED


def test_biaxial_column_follows_opensees_in_space():
    member = column(columns=4)
    path = cycles([0.008, 0.02], 1e-3)
    loads, sideways = (-600e3, 0.0, 0.0, 2e4, 0.0, 0.0), (0.0, 1.0, 0.6, 0.0, 0.0, 0.0)
    u, force, deformation, _ = opensees_cantilever(member, loads, path, sideways, "PDelta")
    group = fibre_beams([member], cantilever_rows(3, p_delta=True), dimensions=3)
    r, x = drive(group, u)
    for dof in (1, 2):
        assert nrmse(r[:, dof], force[:, dof]) < OPENSEES / 10
    assert np.allclose(r[10:, 3], 2e4, rtol=1e-6)  # torsion
    curvatures = np.array([section_response(group, state, 0, 0).deformation for state in x])
    assert nrmse(curvatures[:, 1], deformation[:, 1]) < OPENSEES / 10
    assert nrmse(curvatures[:, 2], deformation[:, 2]) < OPENSEES / 10


def test_converged_sections_are_in_equilibrium_and_compatible(rng):
    member = column()
    group = fibre_beams([member], cantilever_rows(), iterations=30)
    path = 0.003 * np.cumsum(rng.standard_normal((40, 3)), axis=0) * [0.02, 1.0, 0.5]
    _, states = drive(group, path)
    for u, x in zip(path, states, strict=True):
        q = x[4:7]
        total = np.zeros(3)
        for k, (position, weight) in enumerate(zip(member.rule.x / L, member.rule.weight, strict=True)):
            d, D = section_response(group, x, 0, k)
            b = np.array([[1, 0, 0], [0, position - 1, position]])
            assert np.allclose(D, b @ q, rtol=1e-8, atol=1e-8 * np.abs(q).max())
            total += weight * b.T @ d
        assert np.allclose(total, cantilever_rows()[:3] @ u, rtol=1e-10, atol=1e-14)


def test_nothing_unbalanced_is_dropped():
    """One iteration a step lags behind; when the member is held still it catches up with the exact answer."""
    member = column()
    path = np.outer(cycles([0.01, 0.03], 1e-3), [0.0, 1.0, 0.4])[:45]
    lazy = fibre_beams([member], cantilever_rows(), iterations=1)
    r, x = drive(lazy, np.vstack([path, np.repeat(path[-1:], 30, axis=0)]))
    for point in (0, 5):
        D = section_response(lazy, x[-1], 0, point).force
        b = np.array([[1, 0, 0], [0, point / 5 - 1, point / 5]])
        assert np.allclose(D, b @ x[-1][4:7], rtol=1e-9)
    assert np.abs(r[-1] - r[-2]).max() < 1e-9 * np.abs(r[-1]).max()


def test_work_of_the_ends_is_the_work_of_the_sections_and_is_lost_in_cycles():
    member = column()
    group = fibre_beams([member], cantilever_rows(), iterations=30)
    path = np.outer(np.tile(cycles([0.02], 1e-3), 2), [0.0, 1.0, 0.3])
    r, x = drive(group, path)
    outside = sum((r[k] + r[k + 1]) / 2 @ (path[k + 1] - path[k]) for k in range(len(path) - 1))
    inside = 0.0
    for point, weight in enumerate(member.rule.weight):
        history = [section_response(group, state, 0, point) for state in x]
        inside += weight * sum((b.force + a.force) / 2 @ (b.deformation - a.deformation) for a, b in pairwise(history))
    assert outside == pytest.approx(inside, rel=1e-8) and outside > 0.0


def test_plastic_hinge_of_an_ideally_plastic_section():
    """Pushed far, a cantilever of ideally plastic fibres carries M_p/L, and the curvature is θ_p/l_p over the hinge."""
    fy, y, area = 300e6, np.array([-0.15, -0.05, 0.05, 0.15]), 0.005
    section = FibreSection(y, np.full(4, area), Bilinear(fy, 200e9))
    group = fibre_beams([hinged(2.0, section, 0.1, 0.1)], cantilever_rows(length=2.0))
    # the tip's rotation is free: chord and tip turn alike once all the rest is rigid in comparison
    push = np.linspace(0, 0.1, 200)
    path = np.outer(push, [0.0, 1.0, 0.5])
    _, x = drive(group, path)
    # N grows with the elongation of a bent member only through the hinge, whose fibres are symmetric: it stays zero
    q = x[-1][4:7]
    assert q[1] == pytest.approx(-fy * area * np.abs(y).sum(), rel=1e-6)
    assert abs(q[0]) < 1e-6 * fy * area


def test_tangent_is_the_derivative_of_the_forces():
    member = column()
    group = fibre_beams([member], cantilever_rows(), iterations=30)
    # fibres that unload have another tangent, so the derivative is taken along the path that led here
    direction, step = np.array([-0.02, 1.0, 0.3]), 1e-6
    path = np.outer([*np.linspace(0, 0.01, 30), 0.01 + step, 0.01 + 2 * step], direction)
    r, x = drive(group, path)
    slope = (r[-1] - r[-3]) / (2 * step)
    assert np.abs(tangent(group, x[-2]) @ direction - slope).max() < 1e-4 * np.abs(slope).max()
    # P-Delta adds N/L to the lateral stiffness
    leaning = fibre_beams([member], cantilever_rows(p_delta=True), iterations=30)
    geometric = (tangent(leaning, x[-2]) - tangent(group, x[-2])).toarray()
    assert geometric[1, 1] == pytest.approx(x[-2][4] / L, rel=1e-6) and np.count_nonzero(geometric) == 1


def test_a_group_is_the_sum_of_its_members(rng):
    first, second = column(), BeamColumn(3.0, gauss_lobatto(3.0, 4), column().sections[0], "beam")
    B = rng.standard_normal((8, 5)) * 1e-1
    B[[3, 7]] *= [[1.0], [0.0]]
    path = np.cumsum(2e-3 * rng.standard_normal((50, 5)), axis=0)
    both, _ = drive(fibre_beams([first, second], B), path)
    apart = drive(fibre_beams([first], B[:4]), path)[0] + drive(fibre_beams([second], B[4:]), path)[0]
    assert np.abs(both - apart).max() < 1e-12 * np.abs(both).max()


@pytest.mark.parametrize(
    "make, error, message",
    [
        (lambda: fibre_beams([], np.zeros((0, 3))), BadInput, "at least one"),
        (lambda: fibre_beams([column()], np.zeros((3, 3))), BadShape, "need 4"),
        (lambda: fibre_beams([column()], np.full((4, 3), np.nan)), BadShape, "finite"),
        (lambda: fibre_beams([column()], np.zeros((4, 3)), dimensions=4), OutOfBounds, "2 .plane. or 3"),
        (lambda: fibre_beams([column()], np.zeros((4, 3)), iterations=0), OutOfBounds, "iterations"),
        (lambda: BeamColumn(0.0, hinge_radau(1.0, 0.1, 0.1), INNER, "C1"), OutOfBounds, "'C1'.*length"),
        (lambda: BeamColumn(2.0, hinge_radau(1.0, 0.1, 0.1), INNER, "C1"), OutOfBounds, "'C1'.*another length"),
        (lambda: BeamColumn(1.0, hinge_radau(1.0, 0.1, 0.1), [INNER] * 5, "C1"), BadShape, "5 sections for 6"),
        (lambda: BeamColumn(1.0, Rule(np.zeros(2), np.zeros(1)), INNER, "C1"), BadShape, "'C1'"),
        (lambda: hinge_radau(1.0, 0.2, 0.1), OutOfBounds, "quarter"),
        (lambda: hinge_radau(1.0, 0.0, 0.1), OutOfBounds, "positive"),
        (lambda: gauss_lobatto(1.0, 1), OutOfBounds, "2 to 20"),
        (
            lambda: fibre_beams(
                [BeamColumn(1.0, gauss_lobatto(1.0, 3), FibreSection([0.1, 0.1], [1e-3, 1e-3], STEEL), "C1")],
                np.zeros((4, 3)),
            ),
            OutOfBounds,
            "'C1'.*one line",
        ),
        (
            lambda: fibre_beams(
                [BeamColumn(1.0, gauss_lobatto(1.0, 3), ElasticSection(1.0, 1.0, 1.0, 1.0), "C1")],
                np.zeros((8, 3)),
                dimensions=3,
            ),
            OutOfBounds,
            "'C1'.*torsional",
        ),
    ],
)
def test_bad_members_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()
