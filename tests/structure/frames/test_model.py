"""Frames, floors, links and super elements against the book."""

import numpy as np
import pytest
from scipy.linalg import eigh

from hyloop.errors import UnknownName
from hyloop.structure import Model, condense, eliminate
from hyloop.structure.fibres.materials import Elastic
from hyloop.structure.fibres.sections import ElasticSection

EXACT = 1e-10  # relative; round-off of a solution with a condition number of about 1e4
E, A, Ic, Ib = 2e11, 1e-2, 2e-4, 5e-4
COLUMN, BEAM = ElasticSection(E, A, Ic, Ic, 8e10, 1e-5), ElasticSection(E, A, Ib, Ib, 8e10, 1e-5)


def portal(base="fixed", h=3.0, width=5.0):
    """One bay and one story, columns and beam of constant length."""
    model = Model()
    for name, x, y in (("A0", 0, 0), ("B0", width, 0), ("A1", 0, h), ("B1", width, h)):
        model.node(name, x, y)
    for foot, top in (("A0", "A1"), ("B0", "B1")):
        model.support(foot, base)
        model.support(top, ["uy"])
        model.elastic("column " + foot, foot, top, COLUMN)
    model.elastic("beam", "A1", "B1", BEAM)
    model.diaphragm("roof", ["A1", "B1"], mass=1e4)
    return model


def test_portal_frames_have_the_lateral_stiffness_of_the_book():
    """Chopra, Dynamics of Structures, section 1.3 in terms of the ratio of beam to column stiffness."""
    h, width = 3.0, 5.0
    ratio = (Ib / width) / (Ic / h)
    fixed = 24 * E * Ic / h**3 * (1 + 6 * ratio) / (4 + 6 * ratio)
    assert condense(portal().structure(), ["roof.ux"])[0].K[0, 0] == pytest.approx(fixed, rel=EXACT)
    pinned = 6 * E * Ic / h**3 * ratio / (0.5 + ratio)
    assert condense(portal("pinned").structure(), ["roof.ux"])[0].K[0, 0] == pytest.approx(pinned, rel=EXACT)
    omega = portal().structure().modes().omega
    assert omega == pytest.approx([np.sqrt(fixed / 1e4)], rel=EXACT)


def euler_column(P, parts=8, length=4.0):
    model = Model()
    for k in range(parts + 1):
        model.node(f"n{k}", 0.0, length * k / parts)
    model.support("n0", "fixed")
    for k in range(parts):
        model.elastic(f"e{k}", f"n{k}", f"n{k + 1}", COLUMN, axial_force=P)
    return model


def test_buckling_load_of_a_cantilever_column():
    length = 4.0
    euler = np.pi**2 * E * Ic / (4 * length**2)
    K, K_1 = (euler_column(P).structure().K for P in (None, 1.0))
    critical = 1.0 / eigh(K - K_1, K, eigvals_only=True)[-1]
    assert critical == pytest.approx(euler, rel=0.01)
    # compression P: the secant formula of the beam-column, u = H/(k P) (tan kL - kL), at 60 % of the critical load
    P, H = 0.6 * euler, 1e3
    model = euler_column(P, parts=40)
    model.load("n40", ux=H)
    k = np.sqrt(P / (E * Ic))
    structure = model.structure()
    tip = structure.at_rest[structure.dof("n40.ux")]
    assert tip == pytest.approx(H / (k * P) * (np.tan(k * length) - k * length), rel=2e-3)


def test_a_lean_on_column_takes_p_over_h():
    bare, leaning = portal(), portal()
    leaning.lean_on("p", "A0", "roof", 6e5)
    K, K_p = bare.structure(), leaning.structure()
    difference = K.K - K_p.K
    k = K.dof("roof.ux")
    assert difference[k, k] == pytest.approx(6e5 / 3.0, rel=1e-9)  # difference of numbers a hundred times larger
    difference[k, k] = 0.0
    assert not difference.any()


def shear_building(master, mass=3e4, rotary=4e5):
    """One story on four unequal columns whose tops do not turn, in space."""
    model, h = Model(3), 3.0
    corners = {"a": (0, 0), "b": (6, 0), "c": (6, 4), "d": (0, 4)}
    for k, (name, (x, z)) in enumerate(corners.items()):
        model.node(name + "0", x, 0, z)
        model.node(name + "1", x, h, z)
        model.support(name + "0", "fixed")
        model.support(name + "1", ["uy", "rx", "rz"])
        model.elastic(name, name + "0", name + "1", ElasticSection(E, A, Ic * (1 + k), 2 * Ic, 8e10, 1e-5))
    model.diaphragm(
        "floor", [name + "1" for name in corners], master=(*master[:1], h, *master[1:]), mass=mass, rotary=rotary
    )
    return model, corners, h


def test_a_rigid_floor_on_columns_is_the_three_by_three_problem_of_the_book():
    x0, z0 = 3.4, 1.8
    model, corners, h = shear_building((x0, z0))
    structure = model.structure()
    assert structure.names == ("floor.ux", "floor.uz", "floor.ry")
    K = np.zeros((3, 3))
    for k, (x, z) in enumerate(corners.values()):
        kx, kz = 12 * E * Ic * (1 + k) / h**3, 12 * E * 2 * Ic / h**3
        dx, dz = x - x0, z - z0
        K += kx * np.outer([1, 0, dz], [1, 0, dz]) + kz * np.outer([0, 1, -dx], [0, 1, -dx])
        K[2, 2] += 8e10 * 1e-5 / h
    assert np.allclose(structure.K, K, rtol=EXACT, atol=EXACT * np.abs(K).max())
    assert np.array_equal(structure.M, np.diag([3e4, 3e4, 4e5]))
    assert np.array_equal(structure.influence, [[1, 0], [0, 1], [0, 0]])


def test_frequencies_do_not_depend_on_where_the_master_stands():
    """The same masses on the nodes, carried to different masters."""
    omega = []
    for master in ((3.0, 2.0), (0.0, -7.0)):
        model, corners, _ = shear_building(master, mass=0.0, rotary=0.0)
        for k, name in enumerate(corners):
            model.mass(name + "1", ux=5e3 + 1e3 * k, uz=5e3 + 1e3 * k)
        structure = model.structure()
        omega.append(structure.modes().omega)
        assert structure.M[0, 0] == pytest.approx(26e3)
    assert np.allclose(omega[0], omega[1], rtol=1e-9)


def test_links_are_springs_with_rigid_arms():
    model, k = Model(), 3e6
    for name, x in (("a", 0.0), ("b", 0.0), ("c", 2.0)):
        model.node(name, x, 0.0)
    model.support("a")
    model.link("at a point", "a", "b", {"ux": k, "uy": 2 * k, "rz": 5 * k})
    model.link("apart", "b", "c", {"ux": k, "uy": k, "rz": k})
    model.load("c", uy=9.0)
    structure = model.structure()
    u = dict(zip(structure.names, structure.at_rest, strict=True))
    # the shear 9 turns the first link by 9·2/5k, and the spring halfway carries the moment 9·1
    assert u["b.uy"] == pytest.approx(9 / (2 * k)) and u["b.rz"] == pytest.approx(18 / (5 * k))
    assert u["c.rz"] - u["b.rz"] == pytest.approx(9 / k)
    assert u["c.uy"] == pytest.approx(u["b.uy"] + u["b.rz"] + 9 / k + u["c.rz"])


def test_a_part_as_super_element_leaves_the_frame_as_it_is():
    whole = portal()
    structure = whole.structure()
    # the second column alone, as stiffness on what it shares with the rest
    part = Model()
    part.node("B0", 5.0, 0.0)
    part.node("B1", 5.0, 3.0)
    part.support("B0", "fixed")
    part.elastic("column", "B0", "B1", COLUMN)
    known = part.structure()
    model = Model()
    for name, x, y in (("A0", 0, 0), ("A1", 0, 3), ("B1", 5, 3)):
        model.node(name, x, y)
    model.support("A0", "fixed")
    model.support("A1", ["uy"])
    model.support("B1", ["uy"])
    model.elastic("column", "A0", "A1", COLUMN)
    model.elastic("beam", "A1", "B1", BEAM)
    model.diaphragm("roof", ["A1", "B1"])
    model.super_element(["B1.ux", "B1.uy", "B1.rz"], known.K, M=np.diag([1e4, 1e4, 0.0]))
    again = model.structure()
    order = [again.dof(name) for name in structure.names]
    assert np.allclose(again.K[np.ix_(order, order)], structure.K, rtol=1e-12)
    assert np.allclose(again.M[np.ix_(order, order)], structure.M)


def test_direction_of_a_device_is_the_cosine_of_its_line():
    model = portal()
    structure = model.structure()
    along = model.direction(structure, "A0", "B1")
    cosine = 5.0 / np.hypot(5.0, 3.0)
    assert np.array_equal(along, structure.between("roof.ux", factor=cosine))
    assert np.array_equal(model.direction(structure, "A0", "A1", "rz"), structure.between("A1.rz"))
    small = model.structure(condense=[])
    assert small.names == ("roof.ux",)
    assert np.allclose(model.direction(small, "A0", "B1"), [cosine])
    with pytest.raises(UnknownName, match=r"'A1\.rz'.*device between 'A0' and 'A1'|device.*'A1\.rz'"):
        model.direction(small, "A0", "A1", "rz")


def test_damping_and_ground_directions_are_options():
    model, _, _ = shear_building((3.0, 2.0))
    structure = model.structure(damping=lambda s: 0.01 * s.K, ground=("uz",))
    assert np.array_equal(structure.C, 0.01 * structure.K)
    assert np.array_equal(structure.influence[:, 0], [0, 1, 0])
    with pytest.raises(UnknownName, match="direction of ground motion 'rz'"):
        model.structure(ground=("rz",))


def test_elimination_inside_the_model_equals_elimination_afterwards():
    model = portal()
    full, small = model.structure(), model.structure(condense=["A1.rz"])
    assert small.names == ("A1.rz", "roof.ux")
    K, _ = eliminate(full.K, [full.dof(name) for name in small.names])
    assert np.allclose(small.K, K, rtol=1e-12)


def test_compression_softens_a_column_in_space_both_ways():
    """On the chord: 3 E I/L³ - P/L at the tip of a cantilever, about either axis."""
    length, P = 4.0, 2e5
    section = ElasticSection(E, A, Iz=2e-4, Iy=5e-4, G=8e10, J=1e-5)
    model = Model(dimensions=3)
    model.node("foot", 0.0, 0.0, 0.0)
    model.node("tip", 0.0, length, 0.0)
    model.support("foot", "fixed")
    model.elastic("column", "foot", "tip", section, axial_force=P)
    K = condense(model.structure(), ["tip.ux", "tip.uz"])[0].K
    stiffness = sorted(3 * E * I / length**3 - P / length for I in (2e-4, 5e-4))
    assert np.linalg.eigvalsh(K) == pytest.approx(stiffness, rel=EXACT)


def test_a_floor_that_nothing_turns_has_no_rotation():
    """Braces to one node of a floor, at its centre: they hold it in place and resist no rotation."""
    model = Model(dimensions=3)
    model.node("top", 0.0, 3.0, 0.0)
    for k, (x, z) in enumerate(((4.0, 0.0), (-2.0, 3.0), (-2.0, -3.0))):
        model.node(f"foot{k}", x, 0.0, z)
        model.support(f"foot{k}", "fixed")
        model.brace(f"brace{k}", f"foot{k}", "top", Elastic(E), A)
    model.mass("top", ux=1e3, uy=1e3, uz=1e3)
    model.diaphragm("floor", ["top"])
    assert sorted(model.structure().names) == ["floor.ux", "floor.uz", "top.uy"]
