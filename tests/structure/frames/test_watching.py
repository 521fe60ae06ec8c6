"""Member, section and support forces in closed form, condensed and not, and what is refused."""

import numpy as np
import pytest

from hyloop.devices import bilinear
from hyloop.errors import BadInput, UnknownName
from hyloop.integrators import mkr_alpha
from hyloop.loop import Loop
from hyloop.structure import Elastic, ElasticSection, FibreSection, Model, Steel, rayleigh, springs

STATICS = 1e-8  # relative: the gravity stage ends with 1e-10 of the largest load unbalanced
CONDENSED = 1e-8  # of the largest of a unit: two factorisations over a history
LENGTH, E, A, I = 3.0, 200e9, 2e-3, 2e-3 * 0.1**2
H, P, TURN = 3e3, 4e4, 500.0


def _at_start(model, structure=None, **asked):
    frame = structure or model.structure()
    loop = Loop(frame, method=mkr_alpha(0.75), dt=1e-3, watch=model.watch(frame, **asked))
    loop.start(np.zeros(frame.influence.shape[1]))
    return {name: loop[name] for name in loop.watched}


def _cantilever(fibres, along=(0.0, 1.0), pdelta=None):
    """From the foot along a direction, with fibres or without."""
    model = Model()
    model.node("foot", 0.0, 0.0)
    model.node("top", *(LENGTH * np.array(along)))
    model.support("foot", "fixed")
    if fibres:
        section = FibreSection([-0.1, 0.1], [A / 2, A / 2], Elastic(E))
        model.fibre("beam", "foot", "top", section, hinges=(0.3, 0.3), pdelta=bool(pdelta))
    else:
        model.elastic("beam", "foot", "top", ElasticSection(E, A, I), axial_force=pdelta)
    model.mass("top", ux=1.0, uy=1.0)
    return model


@pytest.mark.parametrize("fibres", [True, False])
def test_a_beam_with_a_load_at_its_tip(fibres):
    model = _cantilever(fibres, along=(1.0, 0.0))
    model.load("top", ux=P, uy=H, rz=TURN)
    found = _at_start(model, members=["beam"], reactions=True)
    foot = H * LENGTH + TURN  # what turns the tip upwards, counter-clockwise
    tip = H * LENGTH**3 / (3 * E * I) + TURN * LENGTH**2 / (2 * E * I)
    slope = H * LENGTH**2 / (2 * E * I) + TURN * LENGTH / (E * I)
    wanted = {
        "beam.N": P,
        "beam.V": -H,
        "beam.M_i": -foot,
        "beam.M_j": TURN,
        "beam.elongation": P * LENGTH / (E * A),
        "beam.theta_i": -tip / LENGTH,
        "beam.theta_j": slope - tip / LENGTH,
        "reaction.foot.ux": -P,
        "reaction.foot.uy": -H,
        "reaction.foot.rz": -foot,
        "support_shear.x": P,
    }
    assert found == pytest.approx(wanted, rel=STATICS)


@pytest.mark.parametrize("fibres", [True, False])
def test_p_delta_is_in_shear_and_reactions(fibres):
    model = _cantilever(fibres, pdelta=P)
    model.load("top", ux=H, uy=-P)
    frame = model.structure()
    found = _at_start(model, frame, members=["beam"], reactions=True)
    sway = frame.at_rest[frame.dof("top.ux")]
    assert P * sway > 0.02 * H * LENGTH  # far above the tolerance
    # the local y axis of a column that goes up points to -x
    assert found["beam.V"] == pytest.approx(H, rel=STATICS)
    assert found["reaction.foot.ux"] == pytest.approx(-H, rel=STATICS)
    assert found["reaction.foot.uy"] == pytest.approx(P, rel=STATICS)
    assert found["reaction.foot.rz"] == pytest.approx(H * LENGTH + P * sway, rel=STATICS)
    assert found["beam.M_i"] == pytest.approx(H * LENGTH + P * sway, rel=STATICS)


@pytest.mark.parametrize(("end", "moment"), [("i", H * LENGTH), ("j", 0.0)])
def test_sections_of_a_cantilever(end, moment):
    model = _cantilever(True, along=(1.0, 0.0))
    model.load("top", ux=P, uy=H)
    found = _at_start(model, sections={"here": ("beam", end)})
    wanted = {
        "here.strain": P / (E * A),
        "here.curvature": moment / (E * I),
        "here.N": P,
        "here.moment": moment,  # tension below where it is bent up
    }
    scale = {"here.strain": P / (E * A), "here.curvature": H * LENGTH / (E * I), "here.N": P, "here.moment": H * LENGTH}
    assert {key: found[key] / scale[key] for key in found} == pytest.approx(
        {key: wanted[key] / scale[key] for key in wanted}, abs=STATICS
    )


def test_a_cantilever_in_space_bends_about_both_axes_and_twists():
    model = Model(3)
    model.node("foot", 0.0, 0.0, 0.0)
    model.node("top", LENGTH, 0.0, 0.0)
    model.support("foot")
    y, z = np.array([-0.1, 0.1, 0.0, 0.0]), np.array([0.0, 0.0, -0.2, 0.2])
    model.fibre("beam", "foot", "top", FibreSection(y, [1e-3] * 4, Elastic(E), z, GJ=1e6), pdelta=False)
    model.mass("top", ux=1.0, uy=1.0, uz=1.0, rx=1.0)
    model.load("top", uy=H, uz=2 * H, rx=TURN)
    frame = model.structure()
    found = _at_start(model, frame, members=["beam"], reactions=True, sections={"s": ("beam", "i")})
    wanted = {
        "beam.Vy": -H,
        "beam.Vz": -2 * H,
        "beam.T": TURN,
        "beam.Mz_i": -H * LENGTH,
        "beam.My_i": 2 * H * LENGTH,  # a force along z turns the tip about -y
        "beam.Mz_j": 0.0,
        "beam.My_j": 0.0,
        "reaction.foot.uz": -2 * H,
        "reaction.foot.rx": -TURN,
        "reaction.foot.ry": 2 * H * LENGTH,
        "s.moment_z": H * LENGTH,
        "s.moment_y": -2 * H * LENGTH,
        "support_shear.x": 0.0,
        "support_shear.z": 2 * H,
    }
    assert {key: found[key] for key in wanted} == pytest.approx(wanted, rel=STATICS, abs=STATICS * H)
    EIz, EIy = E * 1e-3 * 2 * 0.1**2, E * 1e-3 * 2 * 0.2**2
    assert found["s.curvature_z"] == pytest.approx(H * LENGTH / EIz, rel=STATICS)
    assert found["s.curvature_y"] == pytest.approx(-2 * H * LENGTH / EIy, rel=STATICS)
    assert found["beam.twist"] == pytest.approx(TURN * LENGTH / 1e6, rel=STATICS)


def _portal():
    """A yielding brace, a device, a leaning column, a link, and a loaded node without mass amid the beam."""
    model, steel = Model(), ElasticSection(E, 1e-2, 1e-4)
    for line, x in (("A", 0.0), ("B", 6.0)):
        model.node(f"{line}0", x, 0.0)
        model.node(f"{line}1", x, 3.5)
        model.support(f"{line}0", "fixed")
        model.elastic(f"column {line}", f"{line}0", f"{line}1", steel, axial_force=1e5)
        model.mass(f"{line}1", ux=2e4, uy=2e4)
        model.load(f"{line}1", uy=-1e5)
    model.node("mid", 3.0, 3.5)
    model.node("side", -3.0, 3.5)
    model.support("side", "fixed")
    model.elastic("left", "A1", "mid", steel, offsets=(0.2, 0.0))
    model.elastic("right", "mid", "B1", steel, release=("j",))
    model.load("mid", uy=-5e4)
    model.load("A0", uy=-1e4)  # on a support: nothing but a reaction
    model.brace("brace", "A0", "B1", Steel(250e6, E, 0.02), 5e-4)
    model.spring("device", "B0", "A1", bilinear(k=1e7, f_y=3e4, alpha=0.05))
    model.spring("hinge", "A0", "A1", bilinear(k=1e6, f_y=3e3, alpha=0.05), dof="rz")
    model.lean_on("leaning", "A0", "A1", 5e5)
    model.link("link", "side", "A1", {"ux": 1e6, "rz": 1e5})
    return model


def test_condensed_degrees_of_freedom_are_recovered():
    model, t = _portal(), np.arange(513) / 256
    ground = 6.0 * np.sin(2 * np.pi * 2.5 * t)
    runs = []
    for condense in (None, []):
        frame = model.structure(lambda s: rayleigh(s, 0.02), condense=condense)
        watch = model.watch(frame, ["*"], True)
        runs.append(Loop(frame, method=mkr_alpha(0.75), dt=1 / 256, watch=watch).run(ground))
    full, small = runs
    assert "u.mid.uy" in full.names and "u.mid.uy" not in small.names
    found = [name for name in full.names if name[:2] not in ("u.", "v.", "a.") and name not in ("t", "ground")]
    assert len(found) > 35
    units = dict(zip(full.names, full.units, strict=True))
    for unit in {units[name] for name in found}:
        same = [name for name in found if units[name] == unit]
        ours, theirs = (np.column_stack([run[name] for name in same]) for run in runs)
        assert np.abs(ours - theirs).max() <= CONDENSED * np.abs(ours).max(), unit
    assert np.abs(full["brace.ductility"]).max() > 2.0  # it yields
    # the load amid the beam is no displacement of a kept node, and still in its forces
    assert np.abs(small["left.V"][0] - small["right.V"][0]) == pytest.approx(5e4, rel=STATICS)
    assert small["reaction.A0.uy"][0] + small["reaction.B0.uy"][0] == pytest.approx(2.6e5, rel=STATICS)


def test_without_gravity_there_is_no_dead_load_in_a_reaction():
    model = _portal()
    for condense in (None, []):
        found = _at_start(model, model.structure(gravity=False, condense=condense), members=["left"], reactions=True)
        assert set(found.values()) == {0.0}


def test_a_super_element_stands_on_the_ground_by_itself():
    model = _portal()
    model.super_element(["A1.ux"], [[2e6]])
    model.load("B1", ux=1e4)
    found = _at_start(model, reactions=True)
    forces = [value for name, value in found.items() if name.startswith("reaction.") and name.endswith(".ux")]
    assert "reaction.super element 1.ux" in found
    assert sum(forces) == pytest.approx(-1e4, rel=STATICS)
    assert found["support_shear.x"] == pytest.approx(1e4, rel=STATICS)


def test_a_floor_that_is_held_takes_what_its_nodes_bring():
    model = Model(3)
    section = ElasticSection(E, 1e-2, 1e-4, Iy=1e-4, G=80e9, J=1e-4)
    for k, (x, z) in enumerate(((0.0, 0.0), (5.0, 0.0), (0.0, 4.0))):
        model.node(f"foot{k}", x, 0.0, z)
        model.node(f"head{k}", x, 3.0, z)
        model.support(f"foot{k}")
        model.elastic(f"column{k}", f"foot{k}", f"head{k}", section)
    model.diaphragm("floor", [f"head{k}" for k in range(3)], mass=1e4, rotary=1e4)
    model.support("floor", ["uz", "ry"])
    model.load("head1", uz=3e4)
    model.load("floor", ux=2e4)
    found = _at_start(model, reactions=["floor", "foot?.u?"])
    # a held floor does not move in z: it takes the whole load, and its moment about the master
    assert found["reaction.floor.uz"] == pytest.approx(-3e4, rel=STATICS)
    assert found["reaction.floor.ry"] == pytest.approx(3e4 * (5.0 - 5.0 / 3), rel=STATICS)
    assert found["support_shear.z"] == pytest.approx(3e4, rel=STATICS)
    assert found["support_shear.x"] == pytest.approx(2e4, rel=STATICS)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"members": ["colum A"]}, r"members: unknown member 'colum A'\. Did you mean 'column A'"),
        ({"members": ["beam *"]}, r"members: unknown member 'beam \*'"),
        ({"members": ["column A.M_k"]}, r"unknown quantity 'column A\.M_k'\. Did you mean 'column A\.M_"),
        ({"members": "column A"}, "lists of names"),
        ({"reactions": ["A2"]}, r"reactions: unknown support 'A2'\. Did you mean 'A0'"),
        ({"reactions": ["A0.uz"]}, r"reactions: unknown support 'A0\.uz'"),
        ({"sections": {"s": ("column A", "i")}}, r"sections\.s: member 'column A' has no fibre sections"),
        ({"sections": {"s": ("colum", "i")}}, r"sections\.s: unknown member 'colum'"),
    ],
)
def test_refusals(asked, message):
    model = _portal()
    with pytest.raises(BadInput, match=message):
        model.watch(model.structure(), **asked)


def test_an_end_is_i_or_j():
    model = _cantilever(True)
    with pytest.raises(UnknownName, match="unknown end 'k'"):
        model.watch(model.structure(), sections={"s": ("beam", "k")})


def test_a_structure_of_another_model_is_refused():
    model, other = _portal(), _portal()
    other.link("more", "side", "A1", {"ux": 1e6})
    with pytest.raises(BadInput, match="none of this model"):
        model.watch(other.structure(), reactions=True)
    frame = model.structure()
    settings = {"method": mkr_alpha(0.75), "dt": 1e-3, "watch": model.watch(frame, ["brace"])}
    Loop(frame.with_damping(rayleigh(frame, 0.02)), **settings)
    along = np.zeros((1, frame.n))
    along[0, 0] = 1.0
    Loop(frame.with_elements(springs(bilinear(k=1e6, f_y=1e4), along)), **settings)
    stronger = _portal()
    stronger.members["brace"] = type(model.members["brace"])(
        **{**vars(model.members["brace"]), "material": Steel(400e6, E, 0.02)}
    )
    with pytest.raises(BadInput, match="made for another structure"):
        Loop(stronger.structure(), **settings)


def test_inertia_of_a_super_element_at_a_support_is_refused():
    model = _portal()
    model.super_element(["A0.ux", "A1.ux"], [[1e6, -1e6], [-1e6, 1e6]], [[10.0, 5.0], [5.0, 10.0]])
    frame = model.structure()
    with pytest.raises(BadInput, match=r"mass at A0\.ux"):
        model.watch(frame, reactions=True)
    model.watch(frame, reactions=["B0"])
