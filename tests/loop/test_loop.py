"""Wiring, ramps, recording, faults, ensembles."""

import numpy as np
import pytest

from hyloop.core import Param, block, inplace_block
from hyloop.devices.bilinear import bilinear
from hyloop.devices.linear import dashpot, spring
from hyloop.errors import RunFailed
from hyloop.integrators import central_difference, cr, mkr_alpha, newmark, newmark_explicit
from hyloop.loop import FreeBlock, Loop, Site, run_ensemble
from hyloop.structure import Structure, rayleigh, shear_frame, springs

ROUND_OFF = 1e-11  # relative, after some thousand steps


def _frame(n=3):
    frame = shear_frame([1e4] * n, [4e6] * n)
    return frame.with_damping(rayleigh(frame, 0.03))


def _relative(a, b):
    return np.abs(a - b).max() / np.abs(b).max()


def test_a_spring_at_a_site_is_a_spring_in_the_structure(rng):
    frame, ground = _frame(), rng.normal(size=2000)
    direction = frame.between(2, 0, factor=0.8)
    inside = Structure(frame.M, frame.K + 3 * 2e6 * np.outer(direction, direction), C=frame.C)
    site = Site("tie", direction, spring(k=2e6), count=3)
    for method in (newmark_explicit(), cr(), mkr_alpha(0.5)):
        a = Loop(frame, [site], method=method, dt=0.01).run(ground)
        b = Loop(inside, method=method, dt=0.01).run(ground)
        assert _relative(a["u.3"], b["u.3"]) < ROUND_OFF
    assert np.allclose(a["tie.f"], 2e6 * a["tie.d"])


def test_the_ramp_is_straight_and_ends_at_the_target(rng):
    loop = Loop(_frame(), [Site("s", [0, 1, 0], spring())], method=central_difference(), dt=0.01, substeps=5)
    result = loop.run(rng.normal(size=50), record=["s.d", "s.v", "u.2", "t"], every="tick")
    assert len(result) == 1 + 49 * 5
    assert np.allclose(result.time, np.arange(len(result)) * 0.002)
    d = result["s.d"]
    for i in range(49):
        ticks = d[1 + 5 * i : 6 + 5 * i]
        start = d[5 * i]
        assert np.allclose(ticks, start + (ticks[-1] - start) * np.arange(1, 6) / 5, rtol=1e-12, atol=1e-18)
        assert result["s.v"][1 + 5 * i] == pytest.approx((ticks[-1] - start) / 0.01, abs=1e-12)
        assert ticks[-1] == result["u.2"][5 + 5 * i]


def test_substeps_change_nothing_for_a_law_without_memory_of_the_path(rng):
    ground = rng.normal(size=1000)
    runs = [
        Loop(
            _frame(), [Site("s", [1, 0, 0], bilinear(k=4e6, f_y=1e4))], method=newmark_explicit(), dt=0.01, substeps=m
        ).run(ground)["u.3"]
        for m in (1, 10)
    ]
    assert _relative(runs[0], runs[1]) < 1e-9


def test_a_modelled_site_hears_the_physical_one_in_the_same_tick(rng):
    @block(inputs={"d": "m", "f1": "N"}, outputs={"f": "N"}, params={"ratio": Param("-", 0.5)}, reference="test")
    def echo(x, u, dt, p):
        """f = ratio f1."""
        return (p[0] * u[1],), ()

    frame = _frame()
    # listed first, but modelled: it must still run after the physical device
    model = Site("model", frame.story(2), echo(ratio=0.25), wiring={"f1": "specimen.f"})
    specimen = Site("specimen", frame.story(1), bilinear(k=4e6, f_y=1e4), physical=True)
    result = Loop(frame, [model, specimen], method=newmark_explicit(), dt=0.01).run(rng.normal(size=500))
    assert np.array_equal(result["model.f"], 0.25 * result["specimen.f"])
    assert np.abs(result["model.f"]).max() > 0


def test_an_updater_writes_the_parameter_of_a_model(rng):
    @block(inputs={"t": "s"}, outputs={"k": "N/m"}, params={"slope": Param("N/m/s", 1e5)}, reference="test")
    def stiffening(x, u, dt, p):
        """k = slope t."""
        return (p[0] * u[0],), ()

    frame = _frame()
    sites = [Site("s", frame.story(1), spring(k=1.0))]
    updater = FreeBlock("updater", stiffening(slope=2e5), inputs={"t": "t"}, outputs={"k": "s.k"})
    result = Loop(frame, sites, method=newmark_explicit(), dt=0.01, blocks=[updater]).run(rng.normal(size=300))
    # the clock on the bus is that of the last completed step
    assert np.allclose(result["s.k"][1:], 2e5 * result.time[:-1])
    assert np.allclose(result["s.f"][1:], result["s.k"][1:] * result["s.d"][1:])


def test_a_transfer_system_stands_between_command_and_device(rng):
    @block(
        inputs={"d": "m"},
        outputs={"d": "m"},
        state={"x": "m"},
        params={"tau": Param("s", 0.02, 1e-6)},
        reference="test",
    )
    def lag(x, u, dt, p):
        """First-order lag by backward Euler."""
        d = (x[0] + dt / p[0] * u[0]) / (1.0 + dt / p[0])
        return (d,), (d,)

    @block(inputs={"f": "N"}, outputs={"f": "N"}, params={"bias": Param("N", 0.0)}, reference="test")
    def load_cell(x, u, dt, p):
        """f = f + bias."""
        return (u[0] + p[0],), ()

    frame = _frame()
    site = Site(
        "lab", frame.story(1), spring(k=1e6), physical=True, transfer={"actuator": lag(), "sensor": load_cell(bias=5.0)}
    )
    result = Loop(frame, [site], method=newmark_explicit(), dt=0.01, substeps=4).run(rng.normal(size=400), every="tick")
    achieved, x = result["lab.actuator.d"], 0.0
    for i in range(1, len(result)):
        x = (x + 0.0025 / 0.02 * result["lab.d"][i]) / (1 + 0.0025 / 0.02)
        assert achieved[i] == pytest.approx(x, rel=1e-12, abs=1e-18)
    assert np.allclose(result["lab.f"][1:], 1e6 * achieved[1:])
    assert np.allclose(result["lab.sensor.f"][1:], result["lab.f"][1:] + 5.0)


def test_elements_and_sites_give_the_same_history(rng):
    frame, ground = _frame(), 4 * rng.normal(size=2000)
    laws = [bilinear(k=4e6, f_y=2e4), bilinear(k=3e6, f_y=1e4)]
    stories = [frame.story(1), frame.story(3)]
    sites = [Site(f"s{i}", v, law) for i, (v, law) in enumerate(zip(stories, laws, strict=True))]
    a = Loop(frame, sites, method=mkr_alpha(0.75), dt=0.01).run(ground)
    b = Loop(frame.with_elements(springs(laws, np.array(stories))), method=mkr_alpha(0.75), dt=0.01).run(ground)
    assert _relative(a["u.3"], b["u.3"]) < ROUND_OFF
    assert np.abs(a["s0.d"]).max() > 2 * 2e4 / 4e6


def test_a_limit_stops_the_run_and_keeps_what_was_recorded(rng):
    frame = _frame()
    loop = Loop(frame, [Site("s", frame.story(1), spring(k=1e6), max_d=2e-3)], method=newmark_explicit(), dt=0.01)
    ground = 5.0 * rng.normal(size=2000)
    with pytest.raises(RunFailed, match="site 's' passed its limit") as caught:
        loop.run(ground)
    assert caught.value.reason == "limit" and caught.value.where == "s"
    kept = caught.value.result
    assert len(kept) == caught.value.step + 1
    assert np.abs(kept["s.d"][:-1]).max() <= 2e-3 < abs(kept["s.d"][-1])
    stopped = loop.run(ground, on_fault="stop")
    assert np.array_equal(stopped.data, kept.data) and "limit" in stopped.fault


def test_a_non_finite_force_is_reported_with_its_place():
    @block(inputs={"d": "m"}, outputs={"f": "N"}, params={"k": Param("N/m", 1e6)}, reference="test")
    def breaks(x, u, dt, p):
        """f = k d until 1 mm, then nan."""
        return (np.where(np.abs(u[0]) < 1e-3, p[0] * u[0], np.log(-1.0 - u[0] * u[0])),), ()

    frame = _frame()
    loop = Loop(frame, [Site("s", frame.story(1), breaks())], method=newmark_explicit(), dt=0.01)
    with pytest.raises(RunFailed, match="degree of freedom '1' is not finite") as caught:
        loop.run(np.full(200, 1.0))
    assert caught.value.reason == "non-finite"
    assert np.isfinite(caught.value.result["u.1"][:-1]).all()
    # a full matrix spreads it over the whole structure in the same step; the place is where the force acts
    apart = Structure(M=[1e4, 1e4, 1e4], K=np.diag([4e6, 4e6, 1e6]))
    loop = Loop(apart, [Site("s", [0.0, 0.0, 1.0], breaks())], method=newmark_explicit(), dt=0.01)
    with pytest.raises(RunFailed, match="degree of freedom '3' is not finite"):
        loop.run(np.full(200, 1.0))


def test_an_ensemble_equals_single_runs_and_leaves_the_original_alone(rng):
    frame = _frame()
    loop = Loop(frame, [Site("s", frame.story(1), bilinear(k=4e6, f_y=1e4))], method=cr(), dt=0.01)
    grounds = rng.normal(size=(8, 600))
    strengths = np.linspace(5e3, 2e4, 8)
    results = run_ensemble([(loop.copy({"s.f_y": f}), g) for f, g in zip(strengths, grounds, strict=True)], workers=4)
    for result, f, ground in zip(results, strengths, grounds, strict=True):
        single = Loop(frame, [Site("s", frame.story(1), bilinear(k=4e6, f_y=f))], method=cr(), dt=0.01).run(ground)
        assert np.array_equal(result.data, single.data)
    assert loop["s.f_y"] == 1e4


def test_ground_motion_in_two_directions_and_a_force(rng):
    """The response to several excitations is the sum of the responses to each."""
    base = _frame()
    frame = Structure(
        base.M,
        base.K,
        C=base.C,
        influence=np.array([[1.0, 0.2], [1.0, 0.5], [1.0, 0.9]]),
        loads=np.array([[0.0], [0.0], [1e3]]),
    )
    excitation = rng.normal(size=(400, 3))
    loop = Loop(frame, method=newmark_explicit(), dt=0.01)
    assert {"ground.1", "ground.2", "load.1"} <= set(loop.channels)
    together = loop.run(excitation)["u.3"]
    alone = sum(loop.run(excitation * mask)["u.3"] for mask in np.eye(3))
    assert _relative(alone, together) < ROUND_OFF


def _allocations(method, ground, device=None):
    """Allocations inside compiled code during one run, counted by Numba's runtime."""
    from numba.core.runtime import _nrt_python, rtsys

    frame = _frame()
    loop = Loop(
        frame.with_elements(springs(bilinear(), frame.story(2))),
        [Site("s", frame.story(1), bilinear(k=4e6, f_y=1e4)), Site("c", frame.story(3), device or dashpot(c=1e4))],
        method=method,
        dt=0.01,
        substeps=3,
    )
    loop.run(ground, every="tick")
    _nrt_python.memsys_enable_stats()
    before = rtsys.get_allocation_stats()
    loop.run(ground, every="tick")
    after = rtsys.get_allocation_stats()
    _nrt_python.memsys_disable_stats()
    return after.alloc - before.alloc


def test_nothing_is_allocated_in_a_step(rng):
    short, long = rng.normal(size=200), rng.normal(size=2000)
    # a call from Python wraps its arguments; ten times as many steps must not add to that
    assert _allocations(mkr_alpha(0.75), long) == _allocations(mkr_alpha(0.75), short)
    assert _allocations(newmark(), long) == _allocations(newmark(), short)


@inplace_block(inputs={"d": "m"}, outputs={"f": "N"}, params={"k": Param("N/m", 1e5)}, reference="none")
def wasteful(x, u, dt, p, y):
    """A spring that allocates in every tick."""
    scratch = np.empty(int(3.0 + abs(u[0])))
    scratch[0] = p[0] * u[0]
    y[0] = scratch[0]


def test_the_count_sees_allocations(rng):
    short, long = rng.normal(size=200), rng.normal(size=2000)
    counts = [_allocations(mkr_alpha(0.75), motion, wasteful()) for motion in (short, long)]
    assert counts[1] >= counts[0] + len(long) - len(short)
