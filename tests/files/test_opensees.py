"""Experiment files whose structure an OpenSeesPy script builds: the same histories as OpenSees, and the same model."""

import hashlib
import re
from importlib.util import find_spec
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest
from oracles.opensees import opensees
from problems.portal import ALPHA, EXPERIMENTS, F_Y, PORTAL, K, built, portal

from hyloop.errors import BadInput
from hyloop.files.opensees import OpenSeesScript, ScriptUnits
from hyloop.files.units import UNITS
from hyloop.record import Recording
from hyloop.study.run import run_file

ROOT = Path(__file__).parents[2]
SAME = 1e-9  # relative: Newmark with Newton's method in both, OpenSees to increments of 1e-14 m
SETTLED = 5e-4  # relative: OpenSees installs the damper in the settled frame, 0.34 mm lower and so at another angle
ALPHA_M, BETA_K = 0.4, 2e-4

pytestmark = pytest.mark.skipif(find_spec("openseespy") is None, reason="OpenSeesPy is not installed (extra: peers)")


def shaken(path, weight, ground, dt):
    """The portal and its damper in OpenSees: displacements of node 4, and the force of the damper."""
    ops = opensees()
    exec(compile(path.read_text("utf-8"), str(path), "exec"), names := {})
    names["build"](weight=weight)
    length = np.hypot(6.0, 4.0)
    ops.uniaxialMaterial("Steel01", 9, F_Y, K * length, ALPHA)
    ops.element("Truss", 9, 1, 4, 1.0, 9, "-doRayleigh", 0)
    ops.timeSeries("Path", 2, "-dt", dt, "-values", *ground.tolist(), 0.0)
    ops.pattern("UniformExcitation", 2, 1, "-accel", 2)
    ops.constraints("Plain")
    ops.numberer("RCM")
    ops.system("BandGeneral")
    ops.test("NormDispIncr", 1e-14, 50)
    ops.algorithm("Newton")
    ops.integrator("Newmark", 0.5, 0.25)
    ops.analysis("Transient")
    u, f = [ops.nodeDisp(4)], [0.0]
    for _ in ground[1:]:
        assert ops.analyze(1, dt) == 0
        u.append(ops.nodeDisp(4))
        f.append(ops.eleResponse(9, "axialForce")[0])
    ops.wipe()
    return np.array(u), np.array(f)


@pytest.mark.slow
@pytest.mark.parametrize(("weight", "tolerance"), [(0.0, SAME), (200e3, SETTLED)])
def test_the_portal_with_a_damper_moves_as_in_opensees(weight, tolerance, tmp_path):
    """Gravity, Rayleigh damping of the script and a yielding damper, in hyloop from the file and in OpenSees alone."""
    damped = f"    ops.rayleigh({ALPHA_M}, 0.0, {BETA_K}, 0.0)\n"
    experiment = built(portal(tmp_path, damped, rotary=200.0, arguments=f"{{ weight = {weight} }}"))
    ground = np.r_[0.0, experiment.excitation[1:, 0]]  # OpenSees starts with zero acceleration
    result = experiment.loop.run(ground)
    u, f = shaken(tmp_path / "portal.py", weight, ground, 0.005)
    ours = np.column_stack([result[f"u.4.{dof}"] for dof in ("ux", "uy", "rz")])
    # gravity acts, as statics says, and the damper yields
    assert ours[0, 1] == pytest.approx(-weight * 4.0 / (200e9 * 11.8e-3), rel=1e-9) and np.abs(f).max() > 1.2 * F_Y
    for ours_, theirs in (*zip(ours.T, u.T, strict=True), (result["damper1.f"], f)):
        assert np.abs(ours_ - theirs).max() < tolerance * np.abs(theirs).max()


@pytest.mark.slow
def test_the_experiment_to_copy_runs():
    result = built(EXPERIMENTS / "opensees_portal.toml").run(steps=2000)
    assert np.abs(result["damper1.f"]).max() > 1e3 and result["u.3.uy"][0] < -1e-4


def test_the_walk_through_runs_as_written(tmp_path):
    """docs/opensees.md: the experiment has the number of lines it says, and runs with the portal of the examples."""
    page = (ROOT / "docs" / "opensees.md").read_text("utf-8")
    text = dedent(re.search(r"   ```toml\n(.*?)   ```", page, re.DOTALL)[1])
    assert f"the experiment: {len(text.splitlines())} lines" in page
    (tmp_path / "portal.toml").write_text(text, "utf-8")
    (tmp_path / "portal.py").write_text(PORTAL.read_text("utf-8"), "utf-8")
    result = built(tmp_path / "portal.toml").run(steps=2000)
    assert np.abs(result["damper1.f"]).max() > 1e3
    assert f"in {len(PORTAL.read_text('utf-8').splitlines())} lines of OpenSeesPy" in page


@pytest.mark.slow
def test_the_recording_knows_the_script(tmp_path):
    path = portal(tmp_path, condense="[]")
    recording = run_file(path, ("excitation.duration=1 s",), tmp_path / "run.h5", allow_scripts=True)
    digest = hashlib.sha256((tmp_path / "portal.py").read_bytes()).hexdigest()
    assert recording.attributes["script"] == "portal.py" and recording.attributes["script_sha256"] == digest
    assert "portal.py" in recording.notes[0] and digest[:16] in recording.notes[0]
    assert Recording.load(tmp_path / "run.h5").attributes["script_sha256"] == digest


def test_stories_of_the_portal(tmp_path):
    path = portal(tmp_path, condense="[]")
    one = built(path, "sites.damper1={ story = 1, device = { law = 'spring' } }")
    names, along = one.loop.structure.names, one.loop.sites[0].along
    assert {name: value for name, value in zip(names, along, strict=True) if value} == {"3.ux": 1.0}
    assert one.building["heights"] == [4.0] and one.building["members"] == [["1", "3"], ["2", "4"], ["3", "4"]]
    assert built(path).building["sites"] == {"damper1": {"nodes": ["1", "4"]}}
    assert "drift.1" in one.run(steps=20).names
    with pytest.raises(BadInput, match="story 2 does not exist"):
        built(path, "sites.damper1={ story = 2, device = { law = 'spring' } }")


SPACE = """
import openseespy.opensees as ops

def build(length=1.0, force=1.0):
    "A room on four columns under a rigid floor, in any units; node 9 is its centre of mass, 10 a bracket."
    L, F = length, force
    ops.wipe()
    ops.model("basic", "-ndm", 3, "-ndf", 6)
    for k, (x, y) in enumerate([(0, 0), (6, 0), (6, 5), (0, 5)], 1):
        ops.node(k, x / L, y / L, 0.0)
        ops.node(k + 4, x / L, y / L, 3 / L)
        ops.fix(k, 1, 1, 1, 1, 1, 1)
    ops.node(9, 3.5 / L, 2.5 / L, 3 / L)
    ops.fix(9, 0, 0, 1, 1, 1, 0)
    ops.node(10, 6 / L, 5 / L, 2 / L)
    ops.node(11, 0 / L, 0 / L, 3 / L)
    ops.node(12, 6 / L, 5 / L, 1 / L)
    ops.geomTransf("Linear", 1, 0, 1, 0)
    section = 1e-2 / L**2, 2e11 * L**2 / F, 77e9 * L**2 / F, 4e-5 / L**4, 1e-4 / L**4, 6e-5 / L**4
    for k in range(1, 5):
        ops.element("elasticBeamColumn", k, k, k + 4, *section, 1)
    ops.element("elasticBeamColumn", 12, 3, 12, *section, 1)
    ops.mass(12, *[1e3 * L / F] * 3, *[1e2 / L / F] * 3)
    ops.rigidDiaphragm(3, 9, 5, 6, 7, 8)
    ops.rigidLink("beam", 12, 10)
    ops.equalDOF(12, 11, 3)
    ops.fix(11, 1, 1, 0, 1, 1, 1)
    for k in (5, 6, 7, 8):
        ops.mass(k, 0, 0, 1e3 * L / F, 0, 0, 0)
    ops.mass(9, 3e4 * L / F, 3e4 * L / F, 0, 0, 0, 2e5 / L / F)
"""


@pytest.fixture
def room(tmp_path):
    """A function that gives the room as read from its script, in some units."""
    (tmp_path / "room.py").write_text(SPACE, "utf-8")

    def read(length="m", force="N"):
        units = ScriptUnits(length=length, force=force)
        numbers = {key: UNITS[name].size for key, name in units.model_dump().items()}
        spec = OpenSeesScript(kind="opensees", script=str(tmp_path / "room.py"), arguments=numbers, units=units)
        return spec.model(allowed=True)

    return read


def test_floors_links_and_equal_motions_are_carried_over(room):
    """A node of the floor, one that hangs from it and one that follows another move as geometry says."""
    model = room()
    u = dict(zip(model.equations, np.random.default_rng(0).normal(size=len(model.equations)), strict=True))
    moved = dict(zip(model.dofs, model.motions @ np.array(list(u.values())), strict=True))
    at_7 = np.array([u["9.ux"] - 2.5 * u["9.rz"], u["9.uy"] + 2.5 * u["9.rz"]])
    assert [moved["7.ux"], moved["7.uy"]] == pytest.approx(at_7)
    assert moved["11.uz"] == pytest.approx(u["12.uz"]) and moved["1.ux"] == moved["11.ux"] == 0.0
    assert moved["10.ux"] == pytest.approx(u["12.ux"] + 1.0 * u["12.ry"])
    # between the fixed foot 1 and the corner 7 of the floor
    line = np.array([6.0, 5.0, 3.0]) / np.sqrt(70.0)
    stretch = line @ [*at_7, u["7.uz"]]
    assert model.between(("1", "7")) @ list(u.values()) == pytest.approx(stretch)
    assert model.between(("7.ux", "1.ux")) @ list(u.values()) == pytest.approx(at_7[0])
    assert [model.structure.names[k] for k in model.structure.floors] == ["12.ux", "9.ux"]
    assert model.structure.heights == pytest.approx((1.0, 2.0))
    with pytest.raises(BadInput, match="move alike"):
        model.between(("1", "2"))
    with pytest.raises(BadInput, match="one place"):
        model.between(("5", "11"))
    with pytest.raises(BadInput, match="unknown node '77'"):
        model.between(("77", "1"))


@pytest.mark.slow
@pytest.mark.parametrize(("length", "force"), [("mm", "N"), ("mm", "kN"), ("in", "kip")])
def test_units_of_the_script_do_not_matter(length, force, room):
    one, other = room(), room(length, force)
    for key in "MK":
        ours, theirs = getattr(one.structure, key), getattr(other.structure, key)
        assert np.abs(ours - theirs).max() < 1e-12 * np.abs(ours).max()
    assert other.motions == pytest.approx(one.motions, abs=1e-9)
    assert np.array(list(other.nodes.values())) == pytest.approx(np.array(list(one.nodes.values())))


@pytest.mark.slow
def test_a_linearised_model_says_what_it_leaves_out(tmp_path):
    """P-Delta of the gravity load is in the tangent: columns lose N / L of their lateral stiffness, and 1/5 of that."""
    path = portal(tmp_path, condense="[]", linearise="true")
    script = tmp_path / "portal.py"
    plain = built(path)
    script.write_text(script.read_text("utf-8").replace('geomTransf("Linear"', 'geomTransf("PDelta"'), "utf-8")
    leaning = built(path)
    assert "nonlinearity of ElasticBeam2d (elements 1, 2, 3): PDeltaCrdTransf2d" in leaning.notes[1]
    less = [
        (p.loop.structure.influence[:, 0] @ p.loop.structure.K @ p.loop.structure.influence[:, 0])
        for p in (plain, leaning)
    ]
    assert less[0] - less[1] == pytest.approx(2 * 200e3 / 4.0, rel=1e-6)


@pytest.mark.slow
def test_a_script_is_shaken_along_its_own_axes(tmp_path):
    path = portal(tmp_path, condense="[]")
    built_along = built(path, "excitation.direction=[0.6, 0.8, 0]")
    structure = built_along.loop.structure
    assert structure.directions == ("x", "y")
    for k, dof in enumerate(("ux", "uy")):
        assert structure.influence[:, k].tolist() == [float(name.endswith(dof)) for name in structure.names]
    plain = built(path)
    np.testing.assert_allclose(built_along.excitation, plain.excitation * [0.6, 0.8], rtol=1e-12)
    assert plain.loop.structure.floors and plain.loop.structure.floors == structure.floors, "stories stay as they are"
    with pytest.raises(BadInput, match=r"excitation.direction: got '30 deg'; which way is up only the script knows"):
        built(path, "excitation.direction=30 deg")
    with pytest.raises(BadInput, match="unknown direction of ground motion 'uz'"):
        built(path, "excitation.direction=z")


@pytest.mark.slow
def test_a_load_acts_on_a_node_of_a_script(tmp_path):
    path = portal(tmp_path, condense="[]")
    shaker = '[loads.shaker]\nkind = "harmonic"\nat = { "4.ux" = "2 kN" }\nfrequency = 2\n'
    path.write_text(path.read_text("utf-8") + shaker, "utf-8")
    structure = built(path).loop.structure
    assert np.flatnonzero(structure.loads[:, 0]).tolist() == [structure.dof("4.ux")]
