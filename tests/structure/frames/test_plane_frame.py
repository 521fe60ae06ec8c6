"""Frames from bays and stories: what is left to the defaults, and how a floor is spread over its columns."""

import numpy as np
import pytest

from hyloop.structure import condense
from hyloop.structure.fibres.sections import ElasticSection
from hyloop.structure.frames.plane_frame import plane_frame

E = 2e11
EXACT = 1e-9  # relative; round-off of a solution with a condition number of about 1e5
STIFF = ElasticSection(E, A=10.0, Iz=10.0)  # against the columns: 1e-5 of their flexibility
RIGID = 1e-4  # relative, what is left of that
COLUMN = ElasticSection(E, A=10.0, Iz=2e-4)


def pushed(model, **forces):
    """Displacement by name under static forces."""
    structure = model.structure()
    load = np.array([forces.get(name.replace(".", "_"), 0.0) for name in structure.names])
    return dict(zip(structure.names, np.linalg.solve(structure.K, load), strict=True))


def test_beams_stretch_unless_floors_are_rigid():
    """Two joints pressed together: the beam alone resists, as thin columns do not."""
    thin, beam = ElasticSection(E, A=1e-2, Iz=1e-12), ElasticSection(E, A=1e-3, Iz=1e-5)
    moved = pushed(plane_frame(6.0, 3.0, thin, beam, masses=1e4), A1_ux=1e4, B1_ux=-1e4)
    assert moved["A1.ux"] - moved["B1.ux"] == pytest.approx(1e4 * 6.0 / (E * 1e-3), rel=RIGID)
    tied = plane_frame(6.0, 3.0, thin, beam, masses=1e4, rigid_floors=True).structure()
    assert "floor1.ux" in tied.names and "A1.ux" not in tied.names


def test_a_floor_is_spread_by_the_width_each_column_line_carries():
    model = plane_frame([4.0, 8.0], 3.0, COLUMN, STIFF, masses=12e3, gravity=12e4)
    structure = model.structure()
    for k, line in enumerate("ABC"):
        for direction in ("ux", "uy"):
            i = structure.names.index(f"{line}1.{direction}")
            assert structure.M[i, i] == pytest.approx([2e3, 6e3, 4e3][k], rel=EXACT)
        i = structure.names.index(f"{line}1.uy")
        assert structure.dead_load[i] == pytest.approx(-[2e4, 6e4, 4e4][k], rel=EXACT)
    i = structure.names.index("A1.ux")
    assert structure.dead_load[i] == 0.0


def test_columns_are_clear_between_stiff_beams():
    """Lateral stiffness 12 E I/l³ of each column, with l from the foundation, or a beam, to the beam above it."""
    model = plane_frame(6.0, [3.0, 3.0], COLUMN, STIFF, masses=1e4, joints=(0.0, 0.4), rigid_floors=True)
    K = condense(model.structure(), ["floor1.ux", "floor2.ux"])[0].K
    lower, upper = (2 * 12 * E * 2e-4 / length**3 for length in (2.8, 2.6))
    assert np.allclose(K, [[lower + upper, -upper], [-upper, upper]], rtol=10 * RIGID, atol=0.0)


def test_dead_load_softens_the_columns_by_p_over_h():
    """P-Delta of the chord of each column, on by default; columns that lean take the same."""
    weight, h = 2e6, 3.0

    def stiffness(**options):
        model = plane_frame(6.0, h, COLUMN, STIFF, masses=1e4, rigid_floors=True, **options)
        return condense(model.structure(), ["floor1.ux"])[0].K[0, 0]

    plain = stiffness()
    assert stiffness(gravity=weight, pdelta=False) == pytest.approx(plain, rel=EXACT)
    assert plain - stiffness(gravity=weight) == pytest.approx(weight / h, rel=1e3 * EXACT)  # a difference
    assert plain - stiffness(leaning=weight) == pytest.approx(weight / h, rel=1e3 * EXACT)
