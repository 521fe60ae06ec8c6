"""Fibre sections: geometry, moment-curvature against plain integration, OpenSees and closed forms; bad input."""

import numpy as np
import pytest
from oracles.fibres import cycles, opensees_moment_curvature, plain_moment_curvature

from hyloop.errors import BadInput, BadShape, OutOfBounds
from hyloop.structure.fibres.materials import Bilinear, Elastic, Steel, kent_park
from hyloop.structure.fibres.reinforced import rc_rectangle
from hyloop.structure.fibres.sections import ElasticSection, FibreSection, moment_curvature

PLAIN = 1e-8  # of the largest moment, against a root search of plain Python
OPENSEES = 1e-6  # both solve the axial balance to about 1e-12 in the strain
SHELL, CORE = kent_park(27.5e6, 0.012, 414e6, 0.34, 0.1)
STEEL = Steel(414e6, 200e9, 0.01)
BAR = 6.45e-4
BARS = [(y, z, BAR) for y in (-0.17, 0.0, 0.17) for z in (-0.15, 0.0, 0.15) if (y, z) != (0.0, 0.0)]


def column(**options):
    return rc_rectangle(0.416, 0.457, 0.04, CORE, SHELL, BARS, STEEL, **options)


@pytest.mark.parametrize("axial_force", [-600e3, 0.0, 100e3])
def test_moment_curvature_is_that_of_plain_integration(axial_force):
    history = cycles([0.01, 0.03, 0.06], 0.0025)
    section = column().in_plane()
    expected = plain_moment_curvature(section, axial_force, history)
    moment = moment_curvature(section, axial_force, history).moment
    assert np.abs(moment - expected).max() < PLAIN * np.abs(expected).max()


@pytest.mark.parametrize("axial_force", [-600e3, 0.0])
def test_moment_curvature_is_that_of_opensees(axial_force):
    history = cycles([0.01, 0.05, 0.1], 0.001)
    expected = opensees_moment_curvature(column(), axial_force, history)
    moment = moment_curvature(column(), axial_force, history).moment
    # OpenSees brings the axial force up in ten steps; all fibres are only loaded then, so nothing remembers it
    assert np.abs(moment - expected).max() < OPENSEES * np.abs(expected).max()


def test_plastic_moment_of_a_rectangle():
    """M = fy b h²/4 less the elastic core, fy b h²/4 (1 - (κy/κ)²/3), without hardening."""
    fy, E, b, h, layers = 300e6, 200e9, 0.1, 0.3, 2000
    y = (np.arange(layers) + 0.5) / layers * h - h / 2
    section = FibreSection(y, np.full(layers, b * h / layers), Bilinear(fy, E))
    yield_curvature = 2 * fy / (E * h)
    for ratio in (2.0, 10.0):
        moment = moment_curvature(section, 0.0, np.linspace(0, ratio, 11) * yield_curvature).moment[-1]
        # the midpoint rule over 2000 layers is good to (h/layers)²
        assert moment == pytest.approx(fy * b * h**2 / 4 * (1 - 1 / (3 * ratio**2)), rel=1e-6)


def test_the_generator_covers_the_drawing():
    for options in ({}, {"columns": 6}, {"layers": (2, 30, 3)}):
        section = column(**options)
        concrete = np.array([m is not STEEL for m in section.materials])
        assert section.area[concrete].sum() == pytest.approx(0.416 * 0.457, rel=1e-12)
        inside = np.array([m is CORE for m in section.materials])
        assert section.area[inside].sum() == pytest.approx(0.336 * 0.377, rel=1e-12)
        assert section.area[~concrete].sum() == pytest.approx(8 * BAR, rel=1e-12)
        assert abs(section.area @ section.y) < 1e-15
        assert abs(section.area @ section.z) < 1e-15
    assert sum(m is SHELL for m in column().in_plane().materials) == 20
    no_cover = rc_rectangle(0.4, 0.5, 0.0, CORE, SHELL, [(0.2, BAR), (-0.2, BAR)], STEEL)
    assert SHELL not in no_cover.materials and no_cover.area.sum() == pytest.approx(0.2 + 2 * BAR)


def test_section_stiffness_converges_to_the_integral():
    plain = rc_rectangle(
        0.4, 0.6, 0.05, Elastic(30e9), Elastic(30e9), [(0.0, 1e-9)], Elastic(30e9), layers=(10, 100, 10), columns=40
    )
    k = plain.stiffness(3)
    expected = 30e9 * np.diag([0.4 * 0.6, 0.4 * 0.6**3 / 12, 0.6 * 0.4**3 / 12])
    # error of the midpoint rule: at worst one over the number of fibres across, squared
    assert np.allclose(np.diag(k), np.diag(expected), rtol=1 / 40**2)
    assert np.abs(k - np.diag(np.diag(k))).max() < 1e-9 * k[1, 1]


def test_merging_fibres_changes_nothing():
    history = cycles([0.05], 0.005)
    section = column(columns=4)
    assert len(section.in_plane().y) < len(section.y)
    stiffness = section.stiffness(2)
    assert np.allclose(stiffness, section.in_plane().stiffness(2), rtol=1e-13, atol=1e-13 * stiffness.max())
    thick = FibreSection(section.y, section.area, section.materials)
    assert np.allclose(moment_curvature(thick, -3e5, history).moment, moment_curvature(section, -3e5, history).moment)


def test_elastic_section_of_the_fibres_has_their_stiffness():
    section = column(GJ=1e7)
    elastic = section.elastic()
    assert np.allclose(elastic.stiffness(3), np.diag(np.diag(section.stiffness(3))))
    assert elastic.Sz == elastic.Sy == elastic.Iyz == 0.0  # round-off of a symmetric section couples nothing
    assert np.isclose(elastic.GJ, 1e7)


@pytest.mark.parametrize(
    "make, error, message",
    [
        (lambda: rc_rectangle(0.4, 0.5, 0.04, CORE, SHELL, [], STEEL), BadInput, "no bars"),
        (lambda: rc_rectangle(0.4, 0.5, -0.04, CORE, SHELL, BARS, STEEL), OutOfBounds, "cover"),
        (lambda: rc_rectangle(0.4, 0.5, 0.2, CORE, SHELL, BARS, STEEL), OutOfBounds, "half the smaller side"),
        (lambda: rc_rectangle(0.0, 0.5, 0.04, CORE, SHELL, BARS, STEEL), OutOfBounds, "width"),
        (lambda: rc_rectangle(0.4, 0.5, 0.04, CORE, SHELL, [(0.3, BAR)], STEEL), OutOfBounds, "outside the section"),
        (
            lambda: rc_rectangle(0.4, 0.5, 0.04, CORE, SHELL, [(0.0, 0.2, BAR)], STEEL),
            OutOfBounds,
            "outside the section",
        ),
        (lambda: rc_rectangle(0.4, 0.5, 0.04, CORE, SHELL, [(0.2, 0.0)], STEEL), OutOfBounds, "area"),
        (lambda: rc_rectangle(0.4, 0.5, 0.04, CORE, SHELL, [(0.2,)], STEEL), BadShape, "bar 0"),
        (lambda: rc_rectangle(0.4, 0.5, 0.04, CORE, SHELL, BARS, STEEL, layers=(5, 0, 5)), OutOfBounds, "layers"),
        (lambda: FibreSection([-0.1, 0.1], [1e-3, 0.0], STEEL), OutOfBounds, "fibre 1 is 0"),
        (lambda: FibreSection([-0.1, 0.1], [1e-3], STEEL), BadShape, "one length"),
        (lambda: FibreSection([-0.1, np.nan], [1e-3, 1e-3], STEEL), BadShape, "fibre 1"),
        (lambda: FibreSection([-0.1, 0.1], [1e-3, 1e-3], [STEEL]), BadShape, "1 materials for 2"),
        (lambda: FibreSection([-0.1, 0.1], [1e-3, 1e-3], CORE), BadInput, "reinforcing bars"),
        (lambda: FibreSection([-0.1, 0.1], [1e-3, 1e-3], STEEL, GJ=-1.0), OutOfBounds, "GJ"),
        (lambda: ElasticSection(30e9, 0.0, 1e-3), OutOfBounds, "A = 0"),
        (lambda: ElasticSection(30e9, 0.1, 1e-3, Iy=-1.0), OutOfBounds, "Iy"),
        (lambda: moment_curvature(column(), -20e6, [0.0]), BadInput, "cannot carry"),
        (lambda: moment_curvature(column(), 0.0, [[0.0]]), BadShape, "vector"),
    ],
)
def test_bad_sections_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()
