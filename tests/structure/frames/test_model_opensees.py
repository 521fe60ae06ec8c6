"""The same models in OpenSees, and OpenSees models read back."""

import numpy as np
import pytest
from oracles.opensees import opensees
from oracles.opensees_model import OpenSeesModel

from hyloop.devices import bilinear, spring
from hyloop.errors import BadInput, UnknownName
from hyloop.structure import Model
from hyloop.structure.fibres.materials import Bilinear, Concrete, Steel
from hyloop.structure.fibres.sections import ElasticSection, FibreSection
from hyloop.structure.frames import opensees_import

FREQUENCIES = 1e-8  # between two eigenvalue solvers; the matrices agree to round-off
ROUND_OFF = 1e-13  # of the largest entry
STATICS = 1e-7  # two Newton iterations, each balanced to about 1e-10 of the load


def space_frame():
    """Three stories on a turned pinned and three fixed feet: offsets, hinges, soil springs, P-Delta, eccentric mass."""
    model = Model(3)
    column = ElasticSection(2e11, 1e-2, 1e-4, 2e-4, 8e10, 1e-5)
    beam = ElasticSection(2e11, 8e-3, 3e-4, 2e-5, 8e10, 1e-6)
    plan = {"A": (0, 0), "B": (4, 0), "C": (4, 5), "D": (0, 5)}
    for line, (x, z) in plan.items():
        model.node(line + "0", x, 0, z)
        model.support(line + "0", "pinned" if line == "A" else "fixed")
    hinges = {"A": (), "B": ("i",), "C": ("iz", "jz"), "D": ("jy",)}
    for level in (1, 2, 3):
        for k, (line, (x, z)) in enumerate(plan.items()):
            model.node(f"{line}{level}", x, 3.2 * level, z)
            model.mass(f"{line}{level}", uy=500.0 + k)
        for i, j in zip("ABCD", "BCDA", strict=True):
            model.elastic(
                f"column {i}{level}", f"{i}{level - 1}", f"{i}{level}", column, offsets=(0.1, 0.2), up=(1, 0, 0.3)
            )
            model.elastic(
                f"beam {i}{level}", f"{i}{level}", f"{j}{level}", beam, release=hinges[i], offsets=(0.15, (0, -0.1, 0))
            )
        model.diaphragm(
            f"floor{level}", [f"{line}{level}" for line in plan], master=(2.3, 3.2 * level, 2.4), mass=2e4, rotary=9e4
        )
    model.node("soil", 0, 0, 0)
    model.support("soil")
    model.link("springs", "soil", "A0", {"rx": 1e6, "ry": 1e6, "rz": 2e6})
    model.node("wall", -2, 3.2, 0)
    model.support("wall")
    model.link("tie", "wall", "A1", {"ux": 3e6, "uy": 2e6, "rz": 1e6})
    model.lean_on("p1", "A0", "floor1", 1e5)
    model.lean_on("p2", "floor1", "floor2", 5e4)
    return model


def assert_same(structure, other):
    order = [other.dof(name) for name in structure.names]
    assert set(other.names) == set(structure.names)
    for ours, theirs in ((structure.K, other.K), (structure.M, other.M)):
        assert np.abs(theirs[np.ix_(order, order)] - ours).max() < ROUND_OFF * np.abs(ours).max()
    assert np.array_equal(other.influence[order], structure.influence)


def test_a_space_frame_with_floors_has_the_matrices_and_frequencies_of_opensees():
    model = space_frame()
    structure, peer = model.structure(), OpenSeesModel(model)
    assert np.allclose(structure.modes(count=8).omega, peer.omega(8), rtol=FREQUENCIES)
    names = {tag: name for name, tag in peer.tags.items()}
    assert_same(structure, opensees_import.structure(peer.ops, names, ground=("ux", "uz")))


def concrete_frame():
    """Two stories of reinforced concrete with a yielding brace, under loads that crack it."""
    y = (np.arange(16) + 0.5) / 40.0 - 0.2
    section = FibreSection(
        np.append(y, [-0.15, 0.15]),
        np.append(np.full(16, 0.01), [9e-4, 9e-4]),
        [Concrete(30e6, 0.003, 22e6, 0.02)] * 16 + [Steel(420e6, 2e11, 0.01)] * 2,
    )
    model = Model()
    for line, x in (("A", 0.0), ("B", 5.0)):
        model.node(line + "0", x, 0.0)
        model.support(line + "0", "fixed")
        for level in (1, 2):
            node = f"{line}{level}"
            model.node(node, x, 3.0 * level)
            model.fibre("column " + node, f"{line}{level - 1}", node, section, hinges=(0.2, 0.2), offsets=(0.0, 0.2))
            model.mass(node, ux=1e4, uy=1e4)
            model.load(node, ux=2e4, uy=-3e5, rz=-3e4 if line == "A" else 3e4)
    for level in (1, 2):
        model.fibre(
            f"beam {level}", f"A{level}", f"B{level}", section, hinges=(0.2, 0.25), offsets=(0.2, 0.2), pdelta=False
        )
    model.brace("brace", "A0", "B1", Bilinear(2e8, 2e11, 0.02), 1e-4, length=3.0)
    return model


def test_gravity_on_a_cracked_concrete_frame_is_that_of_opensees():
    model = concrete_frame()
    structure, peer = model.structure(), OpenSeesModel(model)
    peer.gravity()
    theirs = np.array([peer.displacement(name) for name in structure.names])
    assert np.abs(structure.at_rest - theirs).max() < STATICS * np.abs(theirs).max()
    # it is far from its elastic solution, by a quarter
    elastic = np.linalg.solve(structure.initial_stiffness, structure.dead_load)
    assert np.abs(structure.at_rest - elastic).max() > 0.2 * np.abs(theirs).max()


def bent_column():
    """A leaning column with an arm, in space: biaxial bending beyond yield, and every other nonlinear member."""
    centre = (np.arange(8) + 0.5) / 20.0 - 0.2
    y, z = (grid.ravel() for grid in np.meshgrid(centre, centre))
    y, z = np.append(y, [-0.15, 0.15, 0.15, -0.15]), np.append(z, [-0.15, -0.15, 0.15, 0.15])
    materials = [Concrete(30e6, 0.003, 22e6, 0.02)] * 64 + [Steel(420e6, 2e11, 0.01)] * 4
    section = FibreSection(y=y, z=z, area=np.append(np.full(64, 0.0025), [5e-4] * 4), GJ=1e7, materials=materials)
    model = Model(3)
    for name, x in (("foot", (0, 0, 0)), ("wall", (0, 0, 3)), ("knee", (0.2, 3, 0.1)), ("end", (3, 3.1, 1.0))):
        model.node(name, *x)
    for name in ("foot", "wall"):
        model.support(name, "fixed")
    model.fibre("column", "foot", "knee", section, hinges=(0.2, 0.25), offsets=(0, 0.1), up=(1, 0, 0.2))
    model.fibre("arm", "knee", "end", section, points=4)
    model.brace("tie", "wall", "end", Bilinear(2e8, 2e11, 0.05), 2e-4, length=2.0)
    model.spring("spring", "foot", "end", spring(k=1e6))
    model.spring("slider", "wall", "knee", bilinear(k=2e6, f_y=300.0, alpha=0.1), "ux")
    model.load("end", ux=1e4, uy=-3e4, uz=1.5e4)
    model.load("knee", uy=-4e5, rx=1e4, ry=5e3)
    return model


def test_gravity_in_space_is_that_of_opensees():
    model = bent_column()
    structure, peer = model.structure(), OpenSeesModel(model)
    peer.gravity()
    theirs = np.array([peer.displacement(name) for name in structure.names])
    assert np.abs(structure.at_rest - theirs).max() < STATICS * np.abs(theirs).max()


def test_p_delta_of_given_axial_forces_is_what_opensees_finds_itself():
    """A cantilever in parts: OpenSees' P-Delta transformation with the axial force of its own gravity analysis."""
    P, H, parts = 4e5, 1e3, 6
    model = Model()
    for k in range(parts + 1):
        model.node(f"n{k}", 0.0, 0.6 * k)
    model.support("n0")
    for k in range(parts):
        model.elastic(f"e{k}", f"n{k}", f"n{k + 1}", ElasticSection(2e11, 1e-2, 2e-5), axial_force=P)
    model.load(f"n{parts}", uy=-P, ux=H)
    structure, peer = model.structure(), OpenSeesModel(model)
    peer.gravity()
    theirs = np.array([peer.displacement(name) for name in structure.names])
    # OpenSees' axial force is P to within the shortening of the column; no equality to round-off can be had
    assert np.abs(structure.at_rest - theirs).max() < 1e-6 * np.abs(theirs).max()


def test_a_live_opensees_model_becomes_a_structure():
    """Two springs in series with masses, made in OpenSees by hand; its state is left alone."""
    ops = opensees()
    ops.wipe()
    ops.model("basic", "-ndm", 1, "-ndf", 1)
    for k in range(3):
        ops.node(k + 1, float(k))
    ops.fix(1, 1)
    ops.mass(2, 3.0)
    ops.mass(3, 4.0)
    ops.uniaxialMaterial("Elastic", 1, 50.0)
    for k in (1, 2):
        ops.element("Truss", k, k, k + 1, 2.0, 1)
    ops.timeSeries("Constant", 1)
    ops.pattern("Plain", 1, 1)
    ops.load(3, 7.0)
    structure = opensees_import.structure(ops, names={3: "roof"}, linearise=True)  # without its load
    order = [structure.dof("2.ux"), structure.dof("roof.ux")]
    assert np.allclose(structure.K[np.ix_(order, order)], [[200.0, -100.0], [-100.0, 100.0]])
    assert np.array_equal(structure.M[np.ix_(order, order)], np.diag([3.0, 4.0]))
    assert ops.nodeDisp(3, 1) == 0.0
    with pytest.raises(UnknownName, match="direction of ground motion 'uz'"):
        opensees_import.structure(ops, ground=("uz",), linearise=True)
    ops.wipe()
    with pytest.raises(BadInput, match="has no nodes"):
        opensees_import.structure(ops)
