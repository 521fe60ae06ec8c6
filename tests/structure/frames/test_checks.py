"""Models that cannot stand are refused, and the message names the place."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from hyloop.devices import dashpot, spring
from hyloop.errors import BadInput, BadShape, OutOfBounds, UnknownName
from hyloop.structure import Model
from hyloop.structure.fibres.materials import Bilinear
from hyloop.structure.fibres.sections import ElasticSection, FibreSection
from hyloop.structure.frames.checks import lowest

SECTION = ElasticSection(2e11, 1e-2, 2e-4, 2e-4, 8e10, 1e-5)
STEEL = Bilinear(3e8, 2e11, 0.02)


def frame(release=(), base="fixed", P=None):
    """A portal of two columns and a beam."""
    model = Model()
    for name, x, y in (("A0", 0, 0), ("B0", 5, 0), ("A1", 0, 3), ("B1", 5, 3)):
        model.node(name, x, y)
    for line in "AB":
        model.support(line + "0", base)
        model.elastic("column " + line, line + "0", line + "1", SECTION, axial_force=P)
    model.elastic("beam", "A1", "B1", SECTION, release=release)
    return model


def bar(model, i, j):
    """A member with hinges at both ends."""
    model.elastic(f"{i}-{j}", i, j, SECTION, release=("i", "j"))


def test_a_mechanism_is_named_by_what_moves():
    with pytest.raises(BadInput, match=r"mechanism: (A1\.ux, B1\.ux|B1\.ux, A1\.ux).* can move without resistance"):
        frame(release=("i", "j"), base="pinned").structure()
    model = frame()
    model.node("C1", 8, 3)
    model.elastic("arm", "B1", "C1", SECTION, release=("i",))
    with pytest.raises(BadInput, match=r"mechanism: .*C1\.uy"):
        model.structure()
    model = Model()
    for k in range(3):
        model.node(f"n{k}", float(k), 0.0)
    model.support("n0", "pinned")
    model.support("n2", "pinned")
    bar(model, "n0", "n1")
    bar(model, "n1", "n2")
    with pytest.raises(BadInput, match=r"mechanism: nothing resists n1\.uy"):
        model.structure()


def test_a_mechanism_is_found_in_a_large_model_too():
    """More unknowns than are looked at by all their eigenvalues; one panel of a truss without its diagonal."""
    model, panels = Model(), 150
    for k in range(panels + 1):
        model.node(f"b{k}", float(k), 0.0)
        model.node(f"t{k}", float(k), 1.0)
        bar(model, f"b{k}", f"t{k}")
    for k in range(panels):
        bar(model, f"b{k}", f"b{k + 1}")
        bar(model, f"t{k}", f"t{k + 1}")
        if k != 140:
            bar(model, f"b{k}", f"t{k + 1}")
    for node in ("b0", "t0"):
        model.support(node, "pinned")
    with pytest.raises(BadInput, match=r"mechanism: [bt]14\d\.uy"):
        model.structure()
    bar(model, "b140", "t141")
    assert model.structure().n == 4 * panels


def test_a_long_slender_model_is_not_taken_for_a_mechanism():
    model = Model()
    for k in range(101):
        model.node(f"n{k}", 0.0, 0.5 * k)
    model.support("n0")
    for k in range(100):
        model.elastic(f"e{k}", f"n{k}", f"n{k + 1}", SECTION)
    assert model.structure().n == 300


def test_lowest_eigenvalue_of_a_large_matrix_is_that_of_its_chain():
    """A chain of springs held at both ends, (2, -1) scaled by its diagonal 2; once shifted to be indefinite."""
    n = 400
    K = np.diag(np.full(n, 2.0)) - np.eye(n, k=1) - np.eye(n, k=-1)
    exact = 1 - np.cos(np.pi / (n + 1))
    assert lowest(csr_array(K))[0] == pytest.approx(exact, rel=1e-6)
    K_shifted = K - 0.01 * np.eye(n)
    expected = (2 * exact - 0.01) / 1.99
    assert lowest(csr_array(K_shifted))[0] == pytest.approx(expected, rel=1e-6)


def test_axial_forces_beyond_buckling_are_refused():
    # a sway frame with a beam: between one and four times the cantilever's load
    euler = np.pi**2 * 2e11 * 2e-4 / (4 * 3.0**2)
    frame(P=euler).structure()
    with pytest.raises(BadInput, match=r"buckling: the given axial forces exceed the critical load; [AB]1\.ux"):
        frame(P=4 * euler).structure()
    model = frame()
    model.lean_on("p", "A0", "B1", 1e9)
    with pytest.raises(BadInput, match=r"buckling: .*B1\.ux"):
        model.structure()


def test_nodes_and_floors_without_connection_are_named():
    model = frame()
    model.node("lost", 1.0, 1.0)
    with pytest.raises(BadInput, match="node 'lost' is not connected to any member"):
        model.structure()
    model = frame()
    for name, x in (("A2", 0), ("B2", 5)):
        model.node(name, x, 6)
    model.elastic("upper beam", "A2", "B2", SECTION)
    model.lean_on("p", "A1", "A2", 1e3)
    with pytest.raises(BadInput, match=r"node 'A2' and 1 other nodes \(A2, B2\) are not connected with any support"):
        model.structure()
    model.diaphragm("floor2", ["A2", "B2"])
    with pytest.raises(BadInput, match="floor 'floor2' and 2 other nodes"):
        model.structure()
    with pytest.raises(BadInput, match="no node is supported"):
        unsupported = Model()
        unsupported.node("a", 0, 0)
        unsupported.node("b", 1, 0)
        unsupported.elastic("beam", "a", "b", SECTION)
        unsupported.structure()
    with pytest.raises(BadInput, match="there are no nodes"):
        Model().structure()


def test_floors_must_be_level_and_own_their_nodes():
    model = frame()
    with pytest.raises(BadInput, match=r"diaphragm 'tilted': node 'A0' lies at the height 0 m.*level"):
        model.diaphragm("tilted", ["A0", "B1"])
    with pytest.raises(BadInput, match=r"diaphragm 'roof': node 'A1' lies at the height 3 m and its master at 2"):
        model.diaphragm("roof", ["A1", "B1"], master=(0.0, 2.0))
    model.diaphragm("roof", ["A1", "B1"])
    model.diaphragm("second", ["B1"])
    with pytest.raises(BadInput, match="'second': node 'B1' already belongs to 'roof'"):
        model.structure()
    model = frame()
    model.support("A1", ["ux"])
    model.diaphragm("roof", ["A1", "B1"])
    with pytest.raises(BadInput, match=r"A1\.ux is held by a support; support 'roof' instead"):
        model.structure()
    with pytest.raises(UnknownName, match="mass, floor 'roof'"):
        model.mass("roof", uy=1.0)


def test_names_are_checked_when_they_are_given():
    model = frame()
    with pytest.raises(UnknownName, match=r"member 'x': unknown node 'A2'. Did you mean 'A"):
        model.elastic("x", "A0", "A2", SECTION)
    with pytest.raises(BadInput, match="node 'A0' exists already"):
        model.node("A0", 1, 1)
    with pytest.raises(BadInput, match="member 'beam' exists already"):
        model.elastic("beam", "A0", "B1", SECTION)
    with pytest.raises(BadInput, match=r"'A\.ux'.*without a dot"):
        model.node("A.ux", 1, 1)
    with pytest.raises(BadShape, match=r"node 'C': 2 finite coordinates are needed, got \[1, 2, 3\]"):
        model.node("C", 1, 2, 3)
    with pytest.raises(UnknownName, match="support 'clamped'"):
        model.support("A0", "clamped")
    with pytest.raises(UnknownName, match="degree of freedom 'uz'"):
        model.mass("A1", uz=1.0)
    with pytest.raises(OutOfBounds, match=r"mass of node 'A1': ux = -1 must not be negative"):
        model.mass("A1", ux=-1.0)
    with pytest.raises(BadInput, match="member 'loop': both ends are node 'A0'"):
        model.brace("loop", "A0", "A0", STEEL, 1e-3)
    with pytest.raises(OutOfBounds, match="member 'b': area = 0"):
        model.brace("b", "A0", "B1", STEEL, 0)
    with pytest.raises(BadInput, match="member 'p': 'A0' must lie above 'A1'"):
        model.lean_on("p", "A1", "A0", 1.0)
    with pytest.raises(BadInput, match=r"member 'col': section .* not of fibres"):
        model.fibre("col", "A0", "B1", SECTION)
    with pytest.raises(OutOfBounds, match="link 'k': stiffnesses"):
        model.link("k", "A0", "B1", {})
    with pytest.raises(BadShape, match="super element: K must be finite"):
        model.super_element(["A1.ux", "B1.ux"], np.eye(3))
    with pytest.raises(BadShape, match="super element: K must be symmetric"):
        model.super_element(["A1.ux", "B1.ux"], [[1, 2], [0, 1]])
    with pytest.raises(UnknownName, match="unknown node 'C9'"):
        model.super_element(["C9.ux"], np.eye(1))
    with pytest.raises(OutOfBounds, match=r"plane \(2\) or in space \(3\)"):
        Model(4)
    with pytest.raises(UnknownName, match=r"condense: unknown degree of freedom 'A1\.uxx'"):
        model.structure(condense=["A1.uxx"])


RIGID_LINK = 2e-3  # of the period: a link is not quite rigid, and of one 1e9 times stiffer a part in 1e4 is round-off


def tall_frame(stories, link=None, release=()):
    """A frame whose beams hang on rigid ends of 0.3 m, or between stiff links of that length."""
    model = Model()
    for line, x in (("A", 0.0), ("B", 6.0)):
        model.node(f"{line}0", x, 0.0)
        model.support(f"{line}0", "fixed" if not release else "pinned")
        for s in range(1, stories + 1):
            model.node(f"{line}{s}", x, 3.5 * s)
            model.elastic(f"column {line}{s}", f"{line}{s - 1}", f"{line}{s}", SECTION)
            model.mass(f"{line}{s}", ux=2e4)
    for s in range(1, stories + 1):
        if link is None:
            model.elastic(f"beam {s}", f"A{s}", f"B{s}", SECTION, offsets=(0.3, 0.3))
            continue
        model.node(f"a{s}", 0.3, 3.5 * s)
        model.node(f"b{s}", 5.7, 3.5 * s)
        model.elastic(f"beam {s}", f"a{s}", f"b{s}", SECTION, release=release)
        for line in "ab":
            model.link(f"link {line}{s}", f"{line.upper()}{s}", f"{line}{s}", dict.fromkeys(("ux", "uy", "rz"), link))
    return model


@pytest.mark.parametrize("stories, link", [(5, 1e12), (5, 1e9 * 2e11 * 1e-2 / 3.5), (60, 1e15)])
def test_stiff_links_are_rigid_ends_and_no_mechanism(stories, link):
    """Also 1e9 times as stiff as the axial stiffness of the columns."""
    period = tall_frame(stories, link).structure().modes(count=1).periods[0]
    assert period == pytest.approx(tall_frame(stories).structure().modes(count=1).periods[0], rel=RIGID_LINK)


@pytest.mark.parametrize("link", [1e9, 1e15, 1e20])
@pytest.mark.parametrize("stories", [1, 60])
def test_a_mechanism_beside_stiff_links_is_still_named(stories, link):
    """Pinned feet and hinges on both sides of the beams: every story can lean."""
    with pytest.raises(BadInput, match=r"mechanism: .*\.ux.* can move without resistance"):
        tall_frame(stories, link, release=("i", "j")).structure()


@pytest.mark.parametrize("stories, link", [(1, 1e24), (20, 1e19)])
def test_a_link_beyond_double_precision_is_refused_with_advice(stories, link):
    with pytest.raises(BadInput, match=r"round-off: .*[ab]\d+\.r?[uz][xyz]?.*offsets.*diaphragm"):
        tall_frame(stories, link).structure()


@pytest.mark.parametrize("angle", [0.0, 30.0, 90.0])
@pytest.mark.parametrize("rise, stands", [(1e-5, True), (1e-9, False)])
def test_two_bars_nearly_in_line_are_judged_alike_in_every_direction(angle, rise, stands):
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    model = Model()
    for name, x, y in (("a", -1.0, 0.0), ("b", 1.0, 0.0), ("top", 0.0, rise)):
        model.node(name, c * x - s * y, s * x + c * y)
    for node in "ab":
        model.support(node, "pinned")
        bar(model, node, "top")
    if stands:
        assert model.structure().n == 2
    else:
        with pytest.raises(BadInput, match=r"mechanism: .*top"):
            model.structure()


def test_round_off_in_coordinates_does_not_hide_a_mechanism():
    """A stack of hinged bars whose nodes lie on one vertical but for the last digit."""
    model = Model()
    places = (0.3, 0.1 + 0.2, 0.3, 0.7 - 0.4)
    assert len(set(places)) > 1
    for k, x in enumerate(places):
        model.node(f"n{k}", x, float(k))
    for node in ("n0", "n3"):
        model.support(node, "pinned")
    for k in range(3):
        bar(model, f"n{k}", f"n{k + 1}")
    with pytest.raises(BadInput, match=r"mechanism: nothing resists n1\.ux, n2\.ux"):
        model.structure()


def test_dampers_resist_no_mechanism_and_springs_do():
    for law, stands in ((dashpot(c=1e6), False), (spring(k=0.5), True)):
        model = frame(release=("i", "j"), base="pinned")
        for line in "AB":
            model.spring(f"device {line}", line + "0", line + "1", law, "ux")
        if stands:
            assert model.structure().n == 8
        else:
            with pytest.raises(BadInput, match=r"mechanism: .*[AB]1\.ux"):
                model.structure()


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("hinges", [None, (0.2, 0.2)])
def test_the_chord_of_a_fibre_member_resists_nothing(dimensions, hinges):
    """A column on a pin falls over; its axial force alone could hold it, or not."""
    y, z = np.array([-0.2, 0.2, 0.2, -0.2]), np.array([-0.1, -0.1, 0.1, 0.1])
    section = FibreSection(y, np.full(4, 5e-3), STEEL, z, GJ=1e7)
    for base, stands in (("fixed", True), ("pinned", False)):
        model = Model(dimensions)
        model.node("foot", *np.zeros(dimensions))
        model.node("top", *np.eye(dimensions)[1] * 3.0)
        model.support("foot", base)
        if dimensions == 3:
            model.support("foot", ["ry"])  # it does not turn about itself
        model.fibre("column", "foot", "top", section, hinges=hinges)
        if stands:
            assert model.structure().n == 3 * (dimensions - 1)
        else:
            with pytest.raises(BadInput, match=r"mechanism: .*top\.u[xz].* can move"):
                model.structure()


def test_a_super_element_counts_by_what_it_resists():
    """A brace given as a matrix holds a leaning frame; the same matrix without a stiffness does not."""
    for stiffness, stands in ((1e6, True), (0.0, False)):
        model = frame(release=("i", "j"), base="pinned")
        model.super_element(["A1.ux"], [[stiffness]])
        if stands:
            assert model.structure().n == 8
        else:
            with pytest.raises(BadInput, match=r"mechanism: .*[AB]1\.ux"):
                model.structure()


@pytest.mark.parametrize("stories", [1, 80])
def test_a_super_element_of_negative_stiffness_is_named(stories):
    model = tall_frame(stories)
    model.super_element([f"A{stories}.ux"], [[-1e8]])
    with pytest.raises(BadInput, match=rf"instability: .*A{stories}\.ux"):
        model.structure()
