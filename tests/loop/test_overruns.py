"""What ticks that begin too late pass over: the same run without a clock, told which ticks were late, is the truth."""

import numpy as np
import pytest
from scipy.linalg import expm

from hyloop.core import Param, inplace_block
from hyloop.devices import bilinear, spring
from hyloop.errors import BadInput, OutOfBounds, UnknownName
from hyloop.integrators import mkr_alpha
from hyloop.loop import FreeBlock, Loop, PacedRun, Pacing, Site
from hyloop.structure import rayleigh, shear_frame
from hyloop.trust import Band, Watch, trusted

DT, SUBSTEPS = 1 / 256, 4
TICK, STEPS = DT / SUBSTEPS, 128
ALLOWED = 5.0  # ticks: a machine that does other things is that late by itself now and then, and the truth knows it
AT, BUSY = 100, 4e7  # the tick in which a block takes as long as some thirty ticks, by adding up so many numbers
FORCE = 2e5  # N: the modelled device yields there
HELD = ["hold", "extrapolate", "fall back"]
SHOWN = ["u.*", "rig.[df]", "brace.f", "brace.f_y"]


@inplace_block(
    inputs={"d": "m"},
    outputs={"f": "N"},
    state={"k": "-", "d": "m", "f": "N", "f_1": "N", "t": "-", "t_1": "-"},
    params={"f_y": Param("N", FORCE), "reach": Param("-", 0.0)},
    reference="-",
    memory=STEPS * SUBSTEPS,
)
def brace(x, u, dt, p, y):
    """Elastic-plastic; in the ticks that its memory marks as late it stays, or goes on along a line."""
    k, force = int(x[0]), 0.0
    if x[6 + k] == 0.0:
        force = min(max(x[2] + 4e7 * (u[0] - x[1]), -p[0]), p[0])
        x[3], x[5] = x[2], x[4]
        x[1], x[2], x[4] = u[0], force, k + 1.0
    else:
        force = x[2] + min(k + 1.0 - x[4], p[1]) / max(x[4] - x[5], 1.0) * (x[2] - x[3])
    x[0] += 1.0
    y[0] = force


@inplace_block(
    inputs={"d": "m"},
    outputs={"f_y": "N"},
    state={"k": "-", "drift": "m"},
    params={},
    reference="-",
    memory=STEPS * SUBSTEPS,
)
def updater(x, u, dt, p, y):
    """A parameter that follows what is measured; it stays in the ticks that are marked."""
    if x[2 + int(x[0])] == 0.0:
        x[1] = max(x[1], abs(u[0]))
    x[0] += 1.0
    y[0] = 2e5 / (1.0 + 50.0 * x[1])


@inplace_block(inputs={}, outputs={"late": "-"}, state={"k": "-"}, params={}, reference="-", memory=STEPS * SUBSTEPS)
def clock(x, u, dt, p, y):
    """Tells a guard which ticks were late."""
    y[0] = x[1 + int(x[0])]
    x[0] += 1.0


@inplace_block(
    inputs={"d": "m"},
    outputs={"sum": "-"},
    state={"k": "-"},
    params={"busy": Param("-", 0.0), "at": Param("-", -1.0)},
    reference="-",
)
def worker(x, u, dt, p, y):
    """Adds up so many numbers, in one tick or, with `at` < 0, in every one."""
    y[0] = 0.0
    if p[1] < 0.0 or x[0] == p[1]:
        for k in range(int(p[0])):
            y[0] += 1.0 / (k + 1.0)
    x[0] += 1.0


def _loop(policy, late=None, reach=0, busy=0.0, at=AT, update=True):
    """Three stories, a device in the laboratory below, a model above; `late` ticks pass the model over."""
    marks = np.zeros(STEPS * SUBSTEPS) if late is None else np.asarray(late, float)
    frame = shear_frame([4e4] * 3, [4e7] * 3)
    frame = frame.with_damping(rayleigh(frame, 0.03))
    above = Site("brace", frame.story(3), brace(memory=marks, reach=float(reach)))
    rig = bilinear(k=2e7, f_y=1e5, alpha=0.1) if update else spring(k=2e7)
    blocks = [FreeBlock("busy", worker(busy=busy, at=float(at)), {"d": "rig.d"})]
    blocks += [FreeBlock("counter", worker(), {"d": "rig.d"}, role="ear")]
    if update:
        blocks += [FreeBlock("updater", updater(memory=marks), {"d": "rig.d"}, {"f_y": "brace.f_y"})]
    if policy == "fall back":
        watch = Watch(capacity=FORCE, calm=0.03, blend=0.02)
        made = trusted(above, Band(0.9, 1e3), watch, fallback=spring(k=1e7))
        above, blocks = made.site, [*blocks, *made.blocks]
        if late is not None:
            blocks += [FreeBlock("clock", clock(memory=marks), {}, {"late": "brace.guard.late"})]
    sites = [Site("rig", frame.story(1), rig, physical=True), above]
    return Loop(frame, sites, method=mkr_alpha(0.75), dt=DT, substeps=SUBSTEPS, blocks=blocks)


def _paced(policy, ground, **options):
    pacing = Pacing(overrun=policy, allowed=ALLOWED)
    run = PacedRun(_loop(policy, **options), ground, record=SHOWN, every="tick", pacing=pacing)
    run.start()
    return run, run.wait(), run.timing.lateness > ALLOWED * TICK


@pytest.fixture
def ground(rng):
    return 6.0 * rng.normal(size=STEPS + 1)


@pytest.mark.parametrize("policy", ["go on", *HELD])
def test_a_late_tick_passes_over_what_its_policy_says(policy, ground):
    run, found, late = _paced(policy, ground, busy=BUSY)
    timing = run.timing
    assert late[AT + 1] and not late[: AT + 1].all() and timing.overruns == np.count_nonzero(late) > 10
    reach = int(5e-3 / TICK) if policy == "extrapolate" else 0
    truth = _loop(policy, None if policy == "go on" else late, reach).run(ground, record=SHOWN, every="tick")
    assert np.array_equal(found.data, truth.data)
    if policy != "go on":
        assert not np.array_equal(found.data, _loop(policy).run(ground, record=SHOWN, every="tick").data)
    assert run.loop["counter.sum"] == 0.0 and _ticks(run.loop, "counter") == STEPS * SUBSTEPS
    assert _ticks(run.loop, "busy") == STEPS * SUBSTEPS - (0 if policy == "go on" else timing.overruns)
    if policy == "extrapolate":
        ends = np.flatnonzero(np.diff(np.r_[0, late, 0])).reshape(-1, 2)
        along = [min(end - begin, reach) for begin, end in ends if begin > 0]  # before the first tick is no line
        assert timing.extrapolated == sum(along) < timing.overruns
    else:
        assert timing.extrapolated == 0


def _ticks(loop, name):
    """How often a worker has been advanced."""
    b = loop._wiring.places.index(name)
    return loop._state.x[loop._plan.x_start[b]]


@pytest.mark.parametrize("policy", ["go on", *HELD, "stop"])
def test_without_overrun_every_policy_gives_the_numbers_of_a_run(policy, ground):
    run = PacedRun(_loop(policy), ground, every="tick", pacing=Pacing(overrun=policy, allowed=1e6))
    run.start()
    assert np.array_equal(run.wait().data, _loop(policy).run(ground, every="tick").data)
    assert run.timing.overruns == run.timing.extrapolated == 0


@pytest.mark.parametrize("policy", HELD)
def test_the_response_stays_near_that_of_the_unhurried_run(policy, ground):
    """All is linear but the model, so the difference is that of its forces, behind the frame: no more than their
    largest difference times the integral of the impulse response."""
    run, found, _ = _paced(policy, ground, busy=BUSY, update=False)
    calm = _loop(policy, update=False).run(ground, record=SHOWN, every="tick")
    frame = run.loop.structure
    along, K = frame.story(3), frame.K + 2e7 * np.outer(frame.story(1), frame.story(1))
    A = np.block([[np.zeros((3, 3)), np.eye(3)], [-frame.K / 4e4, -frame.C / 4e4]])
    A[3:, :3] = -K / 4e4
    step, x, gain = expm(A * TICK), np.r_[np.zeros(3), along / 4e4], 0.0
    for _ in range(20_000):
        gain, x = gain + TICK * np.abs(x[:3]), step @ x
    forces = [np.abs(one["brace.f"]).max() for one in (found, calm)]
    assert forces[1] <= 1.05 * FORCE
    assert forces[0] <= {"extrapolate": 3.0}.get(policy, 1.05) * FORCE
    names = [f"u.{k}" for k in (1, 2, 3)]
    off = [np.abs(found[name] - calm[name]).max() for name in names]
    assert (off <= 1.01 * gain * sum(forces)).all()
    assert max(off) < 0.5 * max(np.abs(calm[name]).max() for name in names)


def test_a_fallback_takes_over_and_hands_back_without_a_jump(ground):
    loop = _loop("fall back", busy=BUSY)
    names = ["brace.f", "brace.f_model", "brace.backup.f", "brace.fallback", "brace.trust"]
    allowed = 3 * ALLOWED  # so that hardly any other tick is late
    run = PacedRun(loop, ground, record=names, every="tick", pacing=Pacing(overrun="fall back", allowed=allowed))
    run.start()
    found = run.wait()
    late = run.timing.lateness > allowed * TICK
    f, model, backup, share, trust = (found[name][1:] for name in names)
    assert (trust[late] == 0.0).all() and share.max() > 0.5
    assert (model[1:][late[1:]] == model[:-1][late[1:]]).all() and np.ptp(backup[late]) > 0.0
    moved = np.maximum(np.abs(np.diff(model)), np.abs(np.diff(backup)))
    slew = 2.0 * FORCE / 0.02
    assert (np.abs(np.diff(f)) <= moved + slew * TICK * (1.0 + 1e-9)).all()
    last = int(np.flatnonzero(late)[-1])
    quiet = last + 1 + int(np.ceil((0.03 + 0.02) / TICK)) + 2
    assert quiet < len(share) and (trust[last + 1 :] >= 0.5).all() and (share[quiet:] == 0.0).all()


@pytest.mark.parametrize("policy", HELD)
def test_a_block_that_is_always_too_slow_does_not_make_the_loop_later_and_later(policy, ground):
    run, found, late = _paced(policy, ground, busy=4e6, at=-1)
    timing = run.timing
    slow = timing.work[~late].mean()
    assert slow > 1.5 * TICK and found.complete
    going_on = len(late) * (slow - TICK)
    assert timing.lateness[-100:].min() < 0.2 * going_on
    assert np.isfinite(found.data).all()


def test_times_of_blocks_and_structure_add_up_to_the_tick(ground):
    run, _, _ = _paced("hold", ground)
    timing = run.timing
    parts = [*timing.blocks.values(), timing.structure]
    assert sum(mean for mean, _ in parts) == pytest.approx(timing.work.mean(), rel=1e-9)
    assert all(0.0 < mean <= worst <= timing.work.max() for mean, worst in parts)


def test_policies_that_could_do_nothing_are_refused(ground):
    with pytest.raises(BadInput, match="no site has a fallback"):
        PacedRun(_loop("hold"), ground, pacing=Pacing(overrun="fall back"))
    with pytest.raises(BadInput, match="less than a tick"):
        PacedRun(_loop("hold"), ground, pacing=Pacing(overrun="extrapolate", extrapolate_for=1e-4))
    with pytest.raises(UnknownName, match="extrapolate"):
        Pacing(overrun="extrapolated")
    with pytest.raises(OutOfBounds, match="extrapolate_for"):
        Pacing(extrapolate_for=0.0)
    with pytest.raises(UnknownName, match="role"):
        FreeBlock("busy", worker(), {"d": "rig.d"}, role="eye")
