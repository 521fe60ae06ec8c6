"""The two-story RC frame: printed values, statics, similitude, and OpenSees for a pushover and an earthquake."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from oracles.data import data_path
from oracles.opensees_moment_frame import OpenSeesMomentFrame

from hyloop.buildings.moment_frame import BEAMS, COLUMN, damper, moment_frame
from hyloop.devices import bilinear
from hyloop.errors import OutOfBounds
from hyloop.files.frames.models import load_frame
from hyloop.hazards import read_record
from hyloop.integrators import mkr_alpha
from hyloop.loop import Loop, Site
from hyloop.metrics import nrmse
from hyloop.structure import Steel, rayleigh, section_response

PRINTED = 5e-4  # s: periods of the paper have two digits, ours are tuned to three
STATICS = 1e-9  # relative: the gravity stage ends with 1e-10 of the load unbalanced
ROUND_OFF = 1e-9  # relative: two eigenvalue problems that differ by scale factors
CYCLIC = 0.01  # NRMSE of the force: a slow motion against states of equilibrium
SEISMIC = 0.01  # NRMSE of each history: two methods with different steps
ENERGY = 0.02  # relative
SECOND_ORDER = 3.0  # errors fall at least by that when the step is halved (4 in the limit)

WRITTEN = 1e-6  # of the largest: loads in the file have six digits

RATIO, SECONDS, SKIP = 0.02, 3.0, 3.5
REFINED = 1 / 2048  # s: with half the step OpenSees changes by less than 0.05 %
STEPS = (1 / 256, 1 / 512, 1 / 1024)
COUNT = 4
ONE = bilinear(k=1e7, alpha=0.02, f_y=18e3)
ALL = bilinear(k=COUNT * 1e7, alpha=0.02, f_y=COUNT * 18e3)


@pytest.fixture(scope="module")
def frame():
    return moment_frame().structure(lambda s: rayleigh(s, RATIO))


def test_periods_are_the_printed_ones(frame):
    modes = frame.modes()
    assert modes.periods == pytest.approx([0.39, 0.12], abs=PRINTED)
    # massless rotations and joints: two masses, two modes that share all of them
    parts = (modes.shapes.T @ frame.M @ frame.influence[:, 0]) ** 2 / np.trace(frame.M)
    assert parts.sum() == pytest.approx(1.0, rel=ROUND_OFF)
    assert parts[0] == pytest.approx(0.92, abs=0.05)  # printed for the first mode; the bay and the stories are not


def test_sections_are_the_printed_ones():
    for section, width, depth, bars in (
        (COLUMN, 0.457, 0.416, 8 * 645e-6),
        (BEAMS[0], 0.305, 0.559, 4 * 510e-6),
        (BEAMS[1], 0.305, 0.457, 4 * 387e-6),
    ):
        fibres = section.fibres(scale=0.5)
        steel = np.array([isinstance(material, Steel) for material in fibres.materials])
        assert fibres.area[steel].sum() == pytest.approx(bars / 4)
        assert fibres.area[~steel].sum() == pytest.approx(width * depth / 4)
        heights = np.unique(fibres.y[~steel].round(9))
        assert len(heights) == 20
        assert np.ptp(fibres.y[~steel]) < 0.5 * depth


def test_half_the_weight_stands_on_the_columns(frame):
    beams = frame.elements[0]
    names = [member.name for member in beams.members]
    masses = np.diag(frame.M)[[frame.dof("M1.ux"), frame.dof("M2.ux")]]
    weight = 0.5 * 9.80665 * masses / 2  # carried times g times the masses before they were doubled
    for story in (1, 2):
        for line in "AB":
            force = section_response(beams, beams.initial, names.index(f"column {line}{story}"), 0).force[0]
            assert force == pytest.approx(-weight[story - 1 :].sum() / 2, rel=STATICS)
    # beams: half of P = weight/2 in the middle goes either way; moments change by P/2 times the clear half span
    for story in (1, 2):
        at_face, in_middle = (
            section_response(beams, beams.initial, names.index(f"beam A{story}-M{story}"), k).force[1] for k in (0, -1)
        )
        clear = beams.members[names.index(f"beam A{story}-M{story}")].length
        assert in_middle - at_face == pytest.approx(weight[story - 1] / 4 * clear, rel=1e-6)
    # nothing yields under gravity
    strain = [section_response(beams, beams.initial, k, p).deformation for k in range(len(names)) for p in (0, -1)]
    assert max(e + abs(c) * 0.5 * 0.559 / 2 for e, c in strain) < 414e6 / 200e9


def test_beams_that_yield_under_gravity_stand_as_in_opensees():
    model = moment_frame(carried=1.0)
    ours, theirs = model.structure(), OpenSeesMomentFrame(model)
    theirs.gravity()
    sag = ours.at_rest[ours.dof("M2.uy")]
    assert sag == pytest.approx(theirs.displacement("M2.uy"), rel=1e-6)
    assert sag < 2.5 * moment_frame().structure().at_rest[ours.dof("M2.uy")]  # twice the load, more sag


def test_scale_follows_the_similitude_of_stress_and_acceleration(frame):
    full = moment_frame(scale=1.0).structure()
    assert full.modes().periods == pytest.approx(np.sqrt(2.0) * frame.modes().periods, rel=ROUND_OFF)
    rotation = frame.dof("A1.rz")
    assert full.at_rest[rotation] == pytest.approx(frame.at_rest[rotation], rel=1e-6)
    assert full.at_rest[frame.dof("M1.uy")] == pytest.approx(2 * frame.at_rest[frame.dof("M1.uy")], rel=1e-6)


def test_dampers_feel_the_drift(frame):
    u = np.zeros(frame.n)
    u[[frame.dof("M1.ux"), frame.dof("M2.ux")]] = 0.01, 0.03
    assert damper(frame, 1) @ u == pytest.approx(0.01)
    assert damper(frame, 2) @ u == pytest.approx(0.02)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"scale": 0.0}, "scale"),
        ({"carried": 1.5}, "carried"),
        ({"masses": (1e4,)}, "masses"),
        ({"masses": (1e4, -1.0)}, "masses"),
    ],
)
def test_bad_input(frame, wrong, named):
    with pytest.raises(OutOfBounds, match=named):
        moment_frame(**wrong)
    with pytest.raises(OutOfBounds, match="stories 1 and 2"):
        damper(frame, 3)


def test_pushed_to_and_fro_as_in_opensees(frame):
    t = np.linspace(0.0, 1.0, 1201)
    path = 0.06 * t * np.sin(2 * np.pi * 3 * t)  # to a drift of 1.6 %
    model = OpenSeesMomentFrame(moment_frame())
    model.gravity()
    truth = model.push("M2", path)
    # ours by the engine as it runs in time: slow, nearly without mass, led by a stiff spring at the roof
    spring, fine = 1e9, np.interp(np.linspace(0.0, 1.0, 12001), t, path)
    roof, along, K = frame.dof("M2.ux"), np.zeros((frame.n, 1)), frame.K.copy()
    along[roof], K[roof, roof] = 1.0, K[roof, roof] + spring
    slow = replace(frame, M=1e-3 * frame.M, K=K, loads=along, C=None)
    loop = Loop(slow.with_damping(rayleigh(slow, RATIO)), method=mkr_alpha(0.5), dt=1e-3)
    result = loop.run(np.column_stack([np.zeros_like(fine), spring * fine]), record=["u.M2.ux"])
    force = spring * (fine - result["u.M2.ux"])
    assert nrmse(truth, force[::10]) < CYCLIC
    # and it is far from elastic: along the last way down it has less than a third of its first stiffness
    first = truth[20] / path[20]
    assert np.abs(truth).max() < first * np.abs(path).max() / 3


def _ground(dt):
    """The strong part of a record at half scale, faded in."""
    motion = read_record(data_path("ground_motions", "kobe-nishi-akashi_1.AT2"))
    t = np.arange(round(SECONDS / dt) + 1) * dt
    return 1.5 * np.interp(SKIP + t, motion.time * np.sqrt(0.5), motion.a) * np.minimum(t / 0.25, 1.0)


def _ours(frame, dt):
    sites = [Site(f"damper{s}", damper(frame, s), ONE, count=COUNT) for s in (1, 2)]
    asked = ["column A1.N", "column A1.V", "column A1.M_i", "column A1.M_j"]
    watch = moment_frame().watch(frame, [*asked, "beam A1-M1.M_i"], ["A0", "B0"], {"foot": ("column A1", "i")})
    result = Loop(frame, sites, method=mkr_alpha(0.75), dt=dt, watch=watch).run(_ground(dt))
    forces = [COUNT * result[f"damper{s}.f"] for s in (1, 2)]
    section = [result["foot.curvature"], result["foot.moment"]]
    members = [result[name] for name in (*asked, "beam A1-M1.M_i")]
    # their dampers are members that stand on A0, ours have a foot of their own
    supports = [result["reaction.A0.ux"] + result["reaction.damper1.ux"], result["reaction.B0.ux"]]
    supports += [result["reaction.A0.uy"], result["reaction.B0.rz"], -result["support_shear.x"]]
    return np.column_stack([result["u.M1.ux"], result["u.M2.ux"], *forces, *section, *members, *supports])


def _theirs(frame, dt):
    model = moment_frame()
    for story, below in ((1, "A0"), (2, "M1")):
        model.spring(f"damper{story}", below, f"M{story}", ALL, dof="ux")
    there = OpenSeesMomentFrame(model)
    there.gravity()
    first, second = frame.modes().omega
    there.shake(_ground(dt), dt, 2 * RATIO * first * second / (first + second), 2 * RATIO / (first + second))
    more = partial(there.forces, "column A1", "beam A1-M1", "A0", "B0")
    return there.run(round(SECONDS / dt), ("damper1", "damper2"), "column A1", more=more)


def _compared(history):
    """Roof, drifts, forces of the dampers, curvature and moment of a section, forces of members and supports."""
    return np.column_stack([history[:, 1], history[:, 0], history[:, 1] - history[:, 0], history[:, 2:]])


def _energy(history):
    h = _compared(history)
    return [np.sum((f[1:] + f[:-1]) / 2 * np.diff(d)) for d, f in ((h[:, 1], h[:, 3]), (h[:, 2], h[:, 4]))]


def test_shaken_as_in_opensees(frame):
    truth = _theirs(frame, REFINED)
    at_yield = 414e6 / 200e9 / 0.17  # 1/m, of a column
    assert np.abs(truth[:, 4]).max() > 5 * at_yield
    errors = []
    for dt in STEPS:
        ours = _ours(frame, dt)
        pairs = zip(
            _compared(truth)[:: round(STEPS[0] / REFINED)].T, _compared(ours)[:: round(STEPS[0] / dt)].T, strict=True
        )
        errors.append([nrmse(a, b) for a, b in pairs])
    assert max(errors[-1]) < SEISMIC
    assert _energy(ours) == pytest.approx(_energy(truth), rel=ENERGY)
    rms = np.sqrt(np.mean(np.square(errors), axis=1))
    assert (rms[:-1] / rms[1:]).min() > SECOND_ORDER


def test_the_file_to_copy_is_this_frame(frame):
    path = Path(__file__).parents[2] / "experiments" / "models" / "moment_frame.toml"
    written = load_frame(path).model().structure()
    assert written.names == frame.names
    for part in ("M", "initial_stiffness", "dead_load", "at_rest"):
        ours, theirs = getattr(frame, part), getattr(written, part)
        assert np.abs(ours - theirs).max() < WRITTEN * np.abs(ours).max()
