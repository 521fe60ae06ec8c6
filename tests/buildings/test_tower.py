"""Braced towers: the 40-story one against published frequencies and OpenSees, a small one shaken until it yields."""

import numpy as np
import pytest
from oracles.opensees_model import OpenSeesModel
from oracles.opensees_seismic import Shaken

from hyloop.buildings.tower import Tower, filled_box, tower
from hyloop.errors import BadInput, OutOfBounds
from hyloop.integrators import mkr_alpha
from hyloop.loop import Loop
from hyloop.metrics import nrmse
from hyloop.structure import Structure, modal_and_stiffness
from hyloop.structure.frames.members import Brace

PRINTED = 5e-4  # relative: frequencies of the parameter set have four digits, and there the floors guide the tips
SAME_MODES = 1e-9  # relative: both engines solve the same eigenvalue problem, Lanczos' method to machine precision
SAME_SHAPE = 1e-9  # 1 - MAC
CONDENSED = 1e-6  # relative, of frequencies: no mass and no nonlinear member is condensed
SAME_RESPONSE = 1e-8  # of the peak: round-off of two factorisations over the history
SEISMIC = 0.02  # of the range: two methods at different steps on yielding braces

# eight levels on two bays, weak enough to yield: the plan and the tables of the large tower, cut down
SMALL = Tower(
    heights=(3.5,) + (4.15,) * 7,
    basements=1,
    plan=(32.6, 20.68),
    bays=2,
    braced_bays=(1,),
    outriggers=(5, 8),
    mass=500e3,
    core_boxes=((4, 0.6, 0.038), (8, 0.5, 0.030)),
    corner_boxes=((8, 0.45, 0.038),),
    brace_strength=((4, 2045e3), (8, 1500e3)),
    outrigger_strength=3 * 2045e3,
)
RATIO, MODES, DT, SECONDS = 0.02, 12, 1 / 128, 2.0
STRONG, WEAK = 3.2, 0.3  # m/s2, amplitude of the ground motion that makes braces yield, and of one that does not

OPEN = {
    "wall": 0.0,
    "mass": 1051.5445e3,
    "brace_area": (0.999, 1.2222, 1.0899),
    "brace_taper": (0.7522, 0.6941),
    "core_area": (0.9643, 0.6485),
    "gyration": 1.0053,
    "core_width": 9.3117,
}
CENTRED = {"eccentricity": (0.0, 0.0)}
DAMPER = 321e3  # N/m, stiffness of one damper linearised at 25 mm and the first frequency


@pytest.fixture(scope="module")
def forty_stories():
    model = tower()
    return model, model.structure()


@pytest.fixture(scope="module")
def small():
    model = tower(SMALL)
    return model, model.structure(damping=_damping)


def _damping(structure):
    return modal_and_stiffness(structure, RATIO, MODES)


def _ground(amplitude, dt):
    """Two decaying sweeps through the first modes, at rest at t = 0."""
    t = np.arange(0.0, SECONDS + dt / 2, dt)
    sweep = [np.sin(2 * np.pi * (f * t + 0.4 * t**2)) for f in (0.8, 1.1)]
    return amplitude * (np.minimum(t / 0.5, 1.0) * np.exp(-0.2 * t) * np.array(sweep)).T


def test_the_forty_story_tower_has_the_counts_of_the_paper(forty_stories):
    model, structure = forty_stories
    names = list(model.members)
    assert sum(isinstance(member, Brace) for member in model.members.values()) == 1080
    assert sum(name.startswith("column") for name in names) == 16 * 44
    assert len(model.floors) == 44
    # 1317 nodes of the paper, less its fixed master at the base, plus two for the walls of each basement
    assert len(model.nodes) == 1317 - 1 + 2 * 4
    # 3972 with the 24 tips guided by the floors; here their sway and turn are degrees of freedom
    assert structure.n == 3972 + 2 * 24
    # one mass for every floor, in both directions, and none in the uprights
    moved = structure.influence.T @ structure.M @ structure.influence
    assert moved == pytest.approx(44 * 1209.9515e3 * np.eye(2))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "dampers", "printed"),
    [
        ({}, 5, (0.1489, 0.2128, 0.2459, 0.5700, 0.6888)),
        (CENTRED, 3, (0.1501, 0.2141, 0.2411, 0.5853, 0.6821)),
        (OPEN, 5, (0.1489, 0.2130, 0.2459, 0.5701, 0.6843)),
        (OPEN | CENTRED, 3, (0.1501, 0.2142, 0.2411, 0.5850, 0.6831)),
    ],
    ids=["walls-earthquake", "walls-wind", "open-earthquake", "open-wind"],
)
def test_frequencies_are_those_of_the_parameter_set(changes, dampers, printed):
    layout = Tower(**changes)
    model = tower(layout)
    for column, tip in layout.dampers:
        model.link(f"damper {column}", column, tip, {"uy": dampers * DAMPER})
    assert model.structure().modes(count=5).omega / (2 * np.pi) == pytest.approx(printed, rel=PRINTED)


def test_modes_agree_with_opensees(forty_stories):
    model, structure = forty_stories
    modes = structure.modes(count=10)
    there = OpenSeesModel(model)
    omega = np.sqrt(there.ops.eigen(10))
    assert omega == pytest.approx(modes.omega, rel=SAME_MODES)
    places = [(there.tags[node], model.dofs.index(dof) + 1) for node, dof in (n.split(".") for n in structure.names)]
    for k in range(10):
        shape = np.array([there.ops.nodeEigenvector(tag, k + 1, dof) for tag, dof in places])
        mac = (shape @ modes.shapes[:, k]) ** 2 / (shape @ shape) / (modes.shapes[:, k] @ modes.shapes[:, k])
        assert mac == pytest.approx(1.0, abs=SAME_SHAPE)


def test_condensed_tower_has_the_same_frequencies(forty_stories):
    model, structure = forty_stories
    condensed = model.structure(condense=Tower().retained)
    assert condensed.n == 1436
    assert condensed.modes(count=40).omega == pytest.approx(structure.modes(count=40).omega, rel=CONDENSED)


@pytest.mark.parametrize("amplitude", [WEAK, STRONG])
def test_condensed_tower_moves_as_the_full_one(small, amplitude):
    model, full = small
    condensed = model.structure(damping=_damping, condense=SMALL.retained)
    assert condensed.n < 0.6 * full.n
    histories = [_run(structure, amplitude) for structure in (full, condensed)]
    assert np.abs(histories[0] - histories[1]).max() < SAME_RESPONSE * np.abs(histories[0]).max()


@pytest.mark.slow
def test_yielding_tower_moves_as_in_opensees(small):
    model, structure = small
    ours = _run(structure, STRONG)
    refined = DT / 2
    ground = _ground(STRONG, refined)
    truth = Shaken(model, RATIO, MODES, ground, refined).run(_floors(), len(ground) - 1, every=2)
    assert 3.0 < _ductility(model, structure) < 6.0
    assert _largest_nrmse(truth, ours) < SEISMIC
    # and yielding matters: elastic braces are far off
    elastic = Structure(
        M=structure.M,
        K=structure.initial_stiffness,
        C=structure.C,
        influence=structure.influence,
        names=structure.names,
    )
    assert _largest_nrmse(truth, _run(elastic, STRONG)) > 5 * SEISMIC


def _floors():
    return [f"floor{level}.{dof}" for level in range(1, SMALL.levels + 1) for dof in ("ux", "uz")]


def _run(structure, amplitude):
    result = Loop(structure, method=mkr_alpha(0.75), dt=DT).run(_ground(amplitude, DT), record=["u.floor*"])
    return np.column_stack([result[f"u.{name}"] for name in _floors()])


def _largest_nrmse(truth, ours):
    """Over the displacement of the roof and the drift of every story, in both directions."""
    drift = [np.diff(h.reshape(len(h), -1, 2), axis=1, prepend=0.0).reshape(len(h), -1) for h in (truth, ours)]
    return max(
        max(nrmse(a, b) for a, b in zip(x.T, y.T, strict=True)) for x, y in ((truth[:, -2:], ours[:, -2:]), drift)
    )


def _ductility(model, structure):
    """Largest elongation of a brace over that at yield, from displacements and geometry."""
    result = Loop(structure, method=mkr_alpha(0.75), dt=DT).run(_ground(STRONG, DT), record=["u.*"])

    def moved(node):
        level = int(node.split("-")[1])
        if level == 0:
            return np.zeros((3, len(result)))
        if "tip" in node:
            return np.array([result[f"u.{node}.{dof}"] for dof in ("ux", "uy", "uz")])
        x, z, turn = (result[f"u.floor{level}.{dof}"] for dof in ("ux", "uz", "ry"))
        dx, _, dz = model.nodes[node] - model.nodes[f"floor{level}"]
        return np.array([x + turn * dz, result[f"u.{node}.uy"], z - turn * dx])

    largest = 0.0
    for brace in (member for member in model.members.values() if isinstance(member, Brace)):
        along = (model.nodes[brace.j] - model.nodes[brace.i]) / brace.distance
        elongation = along @ (moved(brace.j) - moved(brace.i))
        largest = max(largest, np.abs(elongation).max() / (brace.material.fy / brace.material.E * brace.length))
    return largest


def test_filled_box_by_parts():
    """EA and EI of plates and filling, each by its own integral."""
    box = filled_box(1.0, 0.05, axial=2.0)
    plates, filling = 4 * 0.05 * 0.95, 0.9**2
    sides, flanges = 2 * 0.05 * 1.0**3 / 12, 2 * (0.9 * 0.05**3 / 12 + 0.9 * 0.05 * 0.475**2)
    axial = 2.0 * (200e9 * plates + 40e9 * filling)
    bending = 200e9 * (sides + flanges) + 0.5 * 40e9 * 0.9**4 / 12
    assert [box.E * box.A, box.E * box.Iz, box.E * box.Iy] == pytest.approx([axial, bending, bending])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"heights": ()}, "one for each story"),
        ({"heights": (4.0,) * 45}, "must reach up to level 45"),
        ({"braced_bays": (6,)}, "1 to 5"),
        ({"outriggers": (1,)}, "2 to 44"),
        ({"outriggers": (10, 11)}, "touch"),
        ({"core_width": 40.0}, "does not fit"),
        ({"basements": 44}, "above ground"),
        ({"core_boxes": ((44, 0.5, 0.3),)}, "plate of 0.3 m does not fit"),
    ],
)
def test_impossible_towers_are_refused(changes, message):
    with pytest.raises((BadInput, OutOfBounds), match=message):
        tower(**changes)
