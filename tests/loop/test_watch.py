"""What is watched in a step: forces in equilibrium with the motion, the motion untouched, snapshots to the last bit."""

import numpy as np
import pytest

from hyloop.devices import bilinear, dashpot
from hyloop.errors import BadInput, BadShape, OutOfBounds, UnknownName
from hyloop.integrators import mkr_alpha, newmark, newmark_explicit
from hyloop.loop import Loop, Site
from hyloop.structure import Bilinear, ElasticSection, Model, Watched, plane_frame, rayleigh

BALANCE = 1e-9  # of the largest force: Newton's method ends with 1e-12 of it
ENERGY = (
    1e-9  # relative: with average acceleration trapezoidal sums over the equation of motion balance, whatever the step
)
E, DT = 200e9, 1 / 256
SETTINGS = {"method": mkr_alpha(0.75), "dt": DT}


def _model():
    """Two stories, yielding braces, P-Delta, a spring with a law, dead loads."""
    steel = ElasticSection(E, 1e-2, 1e-4)
    model = plane_frame(6.0, [3.5, 3.0], steel, steel, masses=2e4, gravity=2e5, leaning=1e6)
    for k, (i, j) in enumerate((("A0", "B1"), ("B1", "A2")), 1):
        model.brace(f"brace {k}", i, j, Bilinear(250e6, E, 0.02), 4e-4)
    model.spring("damper", "B0", "A1", dashpot(c=2e5))
    for node in ("A1", "B1", "A2", "B2"):
        model.mass(node, rz=2e3)  # implicit methods need it
    return model


def _ground(steps=513):
    t = np.arange(steps) * DT
    return 24.0 * np.minimum(t, 0.5) * np.sin(2 * np.pi * 1.7 * t)


@pytest.fixture(scope="module")
def model():
    return _model()


@pytest.fixture(scope="module")
def frame(model):
    return model.structure(lambda s: rayleigh(s, 0.02))


@pytest.fixture(scope="module")
def sites(model, frame):
    """A device on the ground along a line, two at once, and one that touches nothing but the structure."""
    return [
        Site("low", model.direction(frame, "A0", "B1"), bilinear(k=1e7, f_y=2e4, alpha=0.05), count=2),
        Site("high", model.direction(frame, "B1", "A2"), bilinear(k=1e7, f_y=2e4, alpha=0.05)),
    ]


@pytest.fixture(scope="module")
def everything(model, frame):
    return model.watch(frame, ["*"], True)


def _same_motion(structure, sites, watch, method, dt=DT):
    plain, watching = (Loop(structure, sites, method=method, dt=dt, watch=w) for w in ([], watch))
    bare, seen = plain.run(_ground(129)), watching.run(_ground(129))
    assert set(seen.names) - set(bare.names) == set(watching.watched) != set()
    for name in bare.names:
        np.testing.assert_array_equal(bare[name], seen[name])
    return plain


@pytest.mark.parametrize(
    ("method", "dt"),
    [(mkr_alpha(0.75), DT), (newmark(), DT), (newmark_explicit(), 1e-5)],
    ids=["mkr_alpha", "newmark", "newmark_explicit"],
)
def test_the_motion_is_the_same_to_the_last_bit(frame, sites, everything, method, dt):
    _same_motion(frame, sites, everything, method, dt)


def test_the_motion_of_a_sparse_run_is_the_same_too():
    steel = ElasticSection(E, 1e-2, 1e-4)
    model = plane_frame(6.0, [3.0] * 12, steel, steel, masses=2e4)
    frame = model.structure()
    plain = _same_motion(frame, [], model.watch(frame, ["column *"], True), mkr_alpha(0.75))
    assert plain._plan.sparse


def test_reactions_balance_inertia_damping_and_loads(frame, sites, everything):
    """M a + C v + R = F holds at the end of every step of Newmark's method; summed over x and y, R is the reactions."""
    result = Loop(frame, sites, method=newmark(), dt=DT, watch=everything).run(_ground(), derived=True)
    motion = {s: np.column_stack([result[f"{s}.{name}"] for name in frame.names]) for s in "uva"}
    absolute = motion["a"] + result["ground"][:, None] * frame.influence[:, 0]
    acting = frame.dead_load - absolute @ frame.M - motion["v"] @ frame.C
    assert np.abs(result["brace 1.ductility"]).max() > 2.0 and np.abs(result["low.f"]).max() > 2e4
    for dof in ("ux", "uy"):
        moves = np.array([name.endswith(dof) for name in frame.names], dtype=float)
        reactions = [result[n] for n in result.names if n.startswith("reaction.") and n.endswith(dof)]
        assert len(reactions) == 3  # two supports, and the foot of the device
        total = np.sum(reactions, axis=0)
        # the reported velocity and acceleration of the first row are those before anything moves
        assert np.abs(total + acting @ moves)[1:].max() < BALANCE * np.abs(reactions).max()
    damping = motion["v"] @ frame.C @ frame.influence[:, 0]
    assert np.abs(result["base_shear"] - result["support_shear.x"] - damping)[1:].max() < BALANCE * np.ptp(
        result["base_shear"]
    )
    assert np.abs(damping).max() > 1e-3 * np.ptp(result["base_shear"])


def test_the_work_of_braces_is_what_the_structure_takes(model, frame):
    """Columns and beams give back what they take, but for what is in them at the end: half of their forces times u."""
    watch = model.watch(frame, ["*"])
    result = Loop(frame, method=newmark(), dt=DT, watch=watch).run(_ground(), derived=True)
    pairs = [("brace 1.force", "brace 1.elongation"), ("brace 2.force", "brace 2.elongation")]
    pairs.append(("damper.force", "damper.deformation"))
    work = sum(np.trapezoid(result[f], result[d]) for f, d in pairs)
    u = np.column_stack([result[f"u.{name}"] for name in frame.names])
    elastic = 0.5 * np.sum(u @ frame.K * u, axis=1) - u @ frame.dead_load
    taken = result["energy.structure"][-1] - (elastic[-1] - elastic[0])
    assert work == pytest.approx(taken, rel=ENERGY)
    assert work > 0.3 * result["energy.input"][-1]


def test_live_steps_and_snapshots(frame, sites, everything):
    ground = _ground(65)
    loop = Loop(frame, sites, **SETTINGS, watch=everything)
    whole = loop.run(ground)
    loop.start(ground[0])
    read = loop.reader(["brace 1.force", "reaction.A0.ux"])
    for k in range(1, 33):
        loop.step(ground[k : k + 1])
        assert loop["brace 1.force"] == whole["brace 1.force"][k]
        assert read()[1] == whole["reaction.A0.ux"][k]
    kept = loop.snapshot()
    other = Loop(frame, sites, **SETTINGS, watch=everything)
    other.restore(kept)
    rest = other.advance(ground[33:])
    for name in loop.watched:
        np.testing.assert_array_equal(rest[name], whole[name][33:])
    with pytest.raises(BadInput, match="other channels"):
        Loop(frame, sites, **SETTINGS).restore(kept)


def test_between_steps_they_stay_as_displacements_do(frame, sites, everything):
    result = Loop(frame, sites, **SETTINGS, substeps=4, watch=everything).run(_ground(17), every="tick")
    for name in ("u.A1.ux", "brace 1.force", "reaction.A0.ux"):
        np.testing.assert_array_equal(result[name][4:8], result[name][4])


def test_what_is_replaced_goes_on_watching(frame, sites, everything):
    loop = Loop(frame, sites, **SETTINGS, watch=everything)
    assert loop.replace(dt=DT / 2).watched == loop.watched
    assert loop.replace(sites=[]).watched == tuple(n for n in loop.watched if not n.startswith("reaction.low"))


def test_one_of_your_own(frame):
    row = [frame.dof("A2.ux"), frame.dof("A1.ux")]
    loop = Loop(frame, **SETTINGS, watch=[Watched("sway", "m", dofs=row, factors=[1.0, -1.0], constant=0.5)])
    result = loop.run(_ground(33))
    np.testing.assert_allclose(result["sway"], 0.5 + result["u.A2.ux"] - result["u.A1.ux"], rtol=1e-15)


@pytest.mark.parametrize(
    ("made", "kind", "message"),
    [
        (lambda: ["brace 1"], BadInput, "watch must be a list of Watched"),
        (lambda: [Watched("u.A1.ux", "m")], BadInput, "'u.A1.ux' exists twice"),
        (lambda: [Watched("w", "m", dofs=[99], factors=[1.0])], OutOfBounds, "degree of freedom 99"),
        (lambda: [Watched("w", "m", places=[-1], weights=[1.0])], OutOfBounds, "place of a state -1"),
        (lambda: [Watched("w", "m", dofs=["A1.ux"], factors=[1.0])], BadInput, "whole numbers"),
        (lambda: [Watched("w", "m", dofs=[1], factors=[1.0, 2.0])], BadShape, "as many"),
        (lambda: [Watched("w", "m", constant=np.nan)], BadInput, "constant = nan"),
        (lambda: [Watched("w", "N", sites={"lwo": 1.0})], UnknownName, "Did you mean 'low'"),
    ],
)
def test_bad_input(frame, sites, made, kind, message):
    with pytest.raises(kind, match=message):
        Loop(frame, sites, **SETTINGS, watch=made())


def test_a_device_that_turns_a_node_against_the_ground():
    steel = ElasticSection(E, 1e-2, 1e-4)
    model = Model()
    model.node("foot", 0.0, 0.0)
    model.node("top", 0.0, 3.0)
    model.support("foot")
    model.elastic("column", "foot", "top", steel)
    model.mass("top", ux=1e3)
    frame = model.structure()
    turn = Site("turn", model.direction(frame, "foot", "top", "rz"), bilinear(k=1e6, f_y=1e3, alpha=0.05))
    loop = Loop(frame, [turn], **SETTINGS, watch=model.watch(frame, reactions=True))
    assert [name for name in loop.watched if "turn" in name] == ["reaction.turn.rz"]
