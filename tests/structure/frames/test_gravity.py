"""The gravity stage: equilibrium from closed forms, and a structure that stays where it is."""

import numpy as np
import pytest

from hyloop.devices import bilinear
from hyloop.errors import BadInput
from hyloop.integrators import mkr_alpha
from hyloop.loop import Loop
from hyloop.structure import Model, springs
from hyloop.structure.fibres.beams import section_response
from hyloop.structure.fibres.materials import Bilinear, Concrete, Steel
from hyloop.structure.fibres.sections import ElasticSection, FibreSection
from hyloop.structure.frames.gravity import resisting_force, rest, tangent
from hyloop.structure.structure import Structure

BALANCE = 1e-9  # of the load: ten times what the stage asks of itself
STILL = 1e-9  # of the displacement at rest, over a second without excitation
SECTION = ElasticSection(2e11, 1e-2, 2e-4)


def moved(structure):
    """The largest departure from rest in a second without excitation."""
    result = Loop(structure, method=mkr_alpha(0.9), dt=0.001).run(np.zeros((1000, 1)), record=["u.*"])
    return np.abs(result.data - structure.at_rest).max()


def test_an_elastic_frame_shortens_by_statics():
    model = Model()
    model.node("foot", 0, 0)
    model.node("top", 0, 4)
    model.support("foot")
    model.elastic("column", "foot", "top", SECTION)
    model.load("top", uy=-2e5)
    model.load("top", uy=-1e5)
    structure = model.structure()
    assert structure.at_rest[structure.dof("top.uy")] == pytest.approx(-3e5 * 4 / (2e11 * 1e-2), rel=1e-12)
    assert structure.dead_load[structure.dof("top.uy")] == -3e5
    assert not model.structure(gravity=False).at_rest.any()


def hanger(P, b, length=2.0):
    """A weight P on a bar of 0.1 cm² and 300 MPa, of which `length` deforms."""
    model = Model()
    model.node("ceiling", 0, 3)
    model.node("weight", 0, 0)
    model.support("ceiling", "pinned")
    model.support("weight", ["ux"])
    model.brace("hanger", "ceiling", "weight", Bilinear(3e8, 2e11, b), 1e-5, length=length)
    model.mass("weight", uy=100.0)
    model.load("weight", uy=-P)
    return model


def test_a_yielding_hanger_stretches_along_its_hardening_branch():
    fy, E, b, area, length = 3e8, 2e11, 0.05, 1e-5, 2.0
    P = 1.2 * fy * area
    structure = hanger(P, b, length).structure()
    expected = fy / E * length + (P - fy * area) * length / (b * E * area)
    assert structure.at_rest == pytest.approx([-expected], rel=1e-9)
    # and it stays there, with its memory of having yielded
    assert moved(structure) < STILL * expected


def column(P, H=0.0, height=3.0):
    """A reinforced-concrete cantilever under the load P, and H at its top."""
    depth, layers = 0.4, 16
    y = (np.arange(layers) + 0.5) / layers * depth - depth / 2
    area = np.full(layers, depth**2 / layers)
    section = FibreSection(
        np.append(y, [-0.15, 0.15]),
        np.append(area, [8e-4, 8e-4]),
        [Concrete(30e6, 0.002, 20e6, 0.012)] * layers + [Steel(420e6, 2e11, 0.01)] * 2,
    )
    model = Model()
    model.node("foot", 0, 0)
    model.node("top", 0, height)
    model.support("foot")
    model.fibre("column", "foot", "top", section, hinges=(0.2, 0.2))
    model.mass("top", ux=2e4, uy=2e4)
    model.load("top", uy=-P, ux=H)
    return model


def test_a_cracked_column_carries_the_moment_of_statics_with_p_delta():
    P, H, height = 8e5, 3e4, 3.0
    structure = column(P, H).structure()
    group = structure.elements[0]
    u = structure.at_rest
    residual = structure.dead_load - resisting_force(structure, u, [group.initial.copy()])
    assert np.abs(residual).max() < BALANCE * P
    axial, moment = section_response(group, group.initial, 0, 0).force
    assert axial == pytest.approx(-P, rel=1e-6)
    assert abs(moment) == pytest.approx(H * height + P * u[structure.dof("top.ux")], rel=1e-6)
    # cracked: more than twice the displacement of the uncracked section
    assert u[structure.dof("top.ux")] > 2 * H / structure.initial_stiffness[0, 0]
    assert moved(structure) < STILL * np.abs(u).max()


def test_dead_loads_beyond_what_the_members_can_carry_are_refused():
    # beyond the strength, without hardening
    with pytest.raises(BadInput, match=r"gravity: no equilibrium at \d+% of the dead load; .* at weight\.uy"):
        hanger(4500.0, b=0.0).structure()
    # beyond the strength of the concrete: what the hardening of the bars still carries is not stable
    with pytest.raises(BadInput, match=r"buckling: the dead loads exceed the critical load; top\.ux"):
        column(2e7).structure()
    # below the strength but above Euler's load
    with pytest.raises(BadInput, match=r"buckling: the dead loads exceed the critical load; top\.ux"):
        column(2e6, height=40.0).structure()


def test_tangent_of_springs_is_their_stiffness_before_and_after_yield(rng):
    n = 7
    M, K = np.eye(n), np.diag(rng.uniform(1.0, 2.0, n)) * 1e3
    rows = np.eye(n) - np.eye(n, k=-1)
    group = springs(bilinear(k=1e4, f_y=50.0, alpha=0.1), rows)
    structure = Structure(M, K, elements=[group])
    assert np.allclose(
        tangent(structure, np.zeros(n), [group.initial]).toarray(), structure.initial_stiffness, rtol=1e-6, atol=1e-2
    )
    u = np.arange(1.0, n + 1)  # every spring drawn by 1 m, far beyond its yield displacement
    expected = K + 0.1 * 1e4 * rows.T @ rows
    assert np.allclose(tangent(structure, u, [group.initial]).toarray(), expected, rtol=1e-6, atol=1e-2)
    loaded = rest(structure, np.full(n, 40.0))
    balance = resisting_force(loaded, loaded.at_rest, [loaded.elements[0].initial.copy()])
    assert np.allclose(balance, 40.0, rtol=1e-8)


STIFF_LINK = 1e-4  # of the displacement: links of 1e12 N/m yield by 1e-5 of what members of 1e8 N/m do


def linked_frame(stories, link):
    """A frame with a yielding brace under dead load whose beams have rigid ends, or stiff links in their place."""
    model = Model()
    for line, x in (("A", 0.0), ("B", 6.0)):
        model.node(f"{line}0", x, 0.0)
        model.support(f"{line}0")
        for s in range(1, stories + 1):
            model.node(f"{line}{s}", x, 3.5 * s)
            model.elastic(f"column {line}{s}", f"{line}{s - 1}", f"{line}{s}", SECTION)
            model.load(f"{line}{s}", uy=-2e5)
    for s in range(1, stories + 1):
        if link is None:
            model.elastic(f"beam {s}", f"A{s}", f"B{s}", SECTION, offsets=(0.3, 0.3))
            continue
        for line, x in (("a", 0.3), ("b", 5.7)):
            model.node(f"{line}{s}", x, 3.5 * s)
            model.link(f"link {line}{s}", f"{line.upper()}{s}", f"{line}{s}", dict.fromkeys(("ux", "uy", "rz"), link))
        model.elastic(f"beam {s}", f"a{s}", f"b{s}", SECTION)
    model.node("C0", 3.0, 0.0)
    model.support("C0", "pinned")
    model.brace("brace", "C0", "A1", Bilinear(3e8, 2e11, 0.02), 1e-3)
    model.load("A1", ux=5e5)
    return model


@pytest.mark.parametrize("link", [1e12, 1e15])
def test_stiff_links_do_not_keep_a_structure_from_rest(link):
    """The forces of such links balance to their own round-off, not to 1e-10 of the load."""
    expected, structure = (linked_frame(5, k).structure() for k in (None, link))
    ours = structure.at_rest[[structure.dof(name) for name in expected.names]]
    assert np.abs(ours - expected.at_rest).max() < STIFF_LINK * np.abs(expected.at_rest).max()
