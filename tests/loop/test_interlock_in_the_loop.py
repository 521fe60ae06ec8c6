"""Interlocks in a loop: every fault ends in its stated state, the structure stands still, and the rest is recorded."""

import numpy as np
import pytest
from problems.faults import AT, DT, FAULTS, SUBSTEPS, TICK, WIDE, Outcome, motion, rig, tried

from hyloop import Loop, Site
from hyloop.core.plan import INTERLOCKED, OK
from hyloop.devices import bouc_wen
from hyloop.errors import BadInput, OutOfBounds, RunFailed
from hyloop.integrators import mkr_alpha, newmark
from hyloop.loop import FreeBlock, Limits, PacedRun
from hyloop.transfer import first_order_lag, interlock, sensor

ROUND_OFF = 1e-12  # relative: a difference of two positions over the one that is allowed
SMALL = {"max_d": 4e-3}  # trips in the middle of the motion


def _failure(loop, *args, **settings):
    with pytest.raises(RunFailed) as failed:
        loop.run(*args, **settings)
    return failed.value


def _without(loop):
    """The same loop without its interlock."""
    site = loop.sites[0]
    rest = {role: block for role, block in site.transfer.items() if role != "interlock"}
    bare = Site(site.name, site.along, site.device, physical=True, transfer=rest)
    return loop.replace(sites=[bare, *loop.sites[1:]])


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_every_fault_ends_in_its_stated_state(fault):
    got: Outcome = tried(fault)
    r, one = got.recording, got.first
    assert (one["reason"], one["safe_state"], one["reached"]) == (fault.detected, fault.state, True)
    assert got.failure.reason == fault.failure and not r.complete
    if fault.seen is not None:
        assert one["tick"] == (fault.seen(r) if callable(fault.seen) else fault.seen)
    assert got.waited == 0  # in the very tick
    assert got.fastest <= 1.0 + ROUND_OFF and got.fastest_down <= 1.0 + ROUND_OFF
    k, command = one["tick"], r["damper.interlock.d"]
    assert np.isfinite(command).all()
    assert np.array_equal(r["damper.interlock.trip"] > 0.0, np.arange(len(r)) >= k)
    still = -(-k // SUBSTEPS) * SUBSTEPS  # the step under way is made to its end
    if fault.failure != "non-finite":
        assert (r["u.2"][still:] == r["u.2"][still]).all() and (r["damper.d"][still:] == r["damper.d"][still]).all()
    np.testing.assert_allclose(r.time, TICK * np.arange(len(r)), rtol=ROUND_OFF)
    calm = round(0.1 / TICK)
    if fault.state == "zero displacement":
        assert (command[-calm:] == 0.0).all() and abs(command[k - 1]) > 1e-4
        assert one["seconds"] == pytest.approx(abs(command[k - 1]) / got.settings["ramp"], abs=2 * TICK)
    elif fault.state == "hold":
        assert (command[k:] == command[k - 1]).all() and len(command) - k >= calm
    else:
        assert np.abs(r["damper.f"][-calm:]).max() < 1.2 * got.settings["tolerance"] < 0.2 * np.abs(r["damper.f"][k])


@pytest.mark.parametrize("every", ["step", "tick"])
def test_on_the_clock_and_off_it_are_the_same_to_the_last_bit(every):
    plain = _failure(rig(SMALL), motion(), every=every)
    run = PacedRun(rig(SMALL), motion(), every=every)
    run.start()
    with pytest.raises(RunFailed) as failed:
        run.wait()
    found = failed.value
    assert np.array_equal(found.result.data, plain.result.data) and np.array_equal(found.result.time, plain.result.time)
    assert (str(found), found.step, found.where) == (str(plain), plain.step, plain.where)
    assert found.where == "damper" and "4 mm" in str(found) and "in a safe state" in str(found)
    assert found.result.attributes["interlocks"] == plain.result.attributes["interlocks"]


def test_an_interlock_that_does_not_trip_changes_nothing():
    guarded = rig().run(motion(), every="tick")
    plain = _without(rig()).run(motion(), every="tick")
    assert np.array_equal(guarded.select(*plain.names).data, plain.data)
    assert "stop" not in plain.names and np.abs(guarded["damper.interlock.d"]).max() > 5e-3


def test_a_live_loop_is_wound_down_step_by_step():
    whole = _failure(rig(SMALL), motion())
    loop, ground = rig(SMALL), motion()
    loop.start(ground[0])
    status, made = OK, 0
    while status == OK:
        made += 1
        status = loop.step(ground[made : made + 1])
    assert status == INTERLOCKED and made == whole.step
    while not loop.step_down():
        made += 1
    rows = whole.result
    assert made + 1 == len(rows) - 1 and loop["t"] == rows.time[-1]
    assert loop["damper.interlock.settled"] == 1.0 and loop.interlocks == rows.attributes["interlocks"]
    assert [loop[name] for name in rows.names] == rows.data[-1].tolist()


def test_pieces_have_the_wind_down_as_well():
    run, rows = PacedRun(rig(SMALL), motion()), []
    with pytest.raises(RunFailed) as failed:
        rows += run.pieces(0.02)
    whole = _failure(rig(SMALL), motion()).result
    got = np.vstack([*(piece.data for piece in rows), failed.value.result.data])
    assert np.array_equal(got, whole.data[1:])


def test_a_wish_to_stop_acts_in_the_next_tick():
    """Not with the end of the step: here it is there before the first tick."""
    run = PacedRun(rig(), motion(), every="tick")
    run.stop()
    run.start()
    with pytest.raises(RunFailed) as failed:
        run.wait()
    assert failed.value.reason == "called off"
    assert failed.value.result.attributes["interlocks"][0]["tick"] == 1


def _two(first, second):
    """Two guarded dampers."""
    frame = rig().structure
    chain = {"actuator": first_order_lag(tau=0.004), "sensor": sensor(noise_d=1e-6, noise_f=1.0)}
    sites = [
        Site(name, frame.story(story), bouc_wen(k=1.2e6, d_y=3e-3), physical=True, transfer=chain | {"interlock": lock})
        for name, story, lock in (("lower", 1, first), ("upper", 2, second))
    ]
    return Loop(frame, sites, method=mkr_alpha(0.75), dt=DT, substeps=SUBSTEPS)


@pytest.mark.parametrize(("trips", "later"), [("lower", 0), ("upper", 1)])
def test_one_that_trips_brings_all_down(trips, later):
    """Those that run behind it in the same tick, those before it in the next."""
    ways = {name: interlock(**WIDE | (SMALL if name == trips else {})) for name in ("lower", "upper")}
    failure = _failure(_two(ways["lower"], ways["upper"]), 2.0 * motion(), every="tick")
    first, other = failure.result.attributes["interlocks"]
    assert first["site"] == failure.where == trips and first["reason"] == "displacement"
    assert other["reason"] == "called" and other["tick"] == first["tick"] + later
    assert "another interlock" in other["text"] and first["reached"] and other["reached"]
    assert not failure.result["lower.interlock.d"][-1] and not failure.result["upper.interlock.d"][-1]


def test_any_block_may_call_for_a_stop():
    """A supervisor of one's own writes into the channel that all interlocks hear."""
    from problems.faults import switch

    blocks = [FreeBlock("mine", switch(after=1.0), {"t": "t"}, {"value": "stop"})]
    failure = _failure(rig(blocks=blocks), motion(), every="tick")
    assert failure.reason == "interlock" and failure.result.attributes["interlocks"][0]["tick"] == AT + 1


def test_a_rig_that_does_not_settle_in_time_is_named():
    loop = rig(SMALL | {"ramp": 1e-3}, limits=Limits(wind_down=0.25))
    failure = _failure(loop, motion())
    log = failure.result.attributes["interlocks"][0]
    assert not log["reached"] and "NOT in a safe state: damper has not settled at zero displacement" in str(failure)
    assert len(failure.result) == 1 + failure.step + 64


@pytest.mark.parametrize("method", [newmark(), mkr_alpha(0.75)], ids=["implicit", "explicit"])
def test_any_method(method):
    failure = _failure(rig(SMALL).replace(method=method), motion())
    assert failure.reason == "interlock" and failure.result["damper.interlock.d"][-1] == 0.0


def test_derived_channels_stand_still_with_the_structure():
    failure = _failure(rig(SMALL), motion(), derived=True)
    r = failure.result
    for name in ("drift.1", "energy.input", "energy.kinetic", "energy.devices", "energy.damping", "a_abs.1"):
        assert (r[name][failure.step :] == r[name][failure.step]).all(), name
    assert len(r) > failure.step + 10 and np.abs(r["damper.f"][-1] - r["damper.f"][failure.step]) > 1e3


def test_a_snapshot_in_the_middle_of_a_wind_down_goes_on():
    one, two = rig(SMALL), rig(SMALL)
    one.run(motion(), on_fault="stop")
    short = rig(SMALL, limits=Limits(wind_down=10 * DT))
    short.run(motion(), on_fault="stop")
    two.restore(short.snapshot())
    two.wind_down()
    assert np.array_equal(one.snapshot().memory, two.snapshot().memory)


def test_refused():
    frame, lock = rig().structure, interlock(**WIDE)
    law, act = bouc_wen(k=1e6), first_order_lag()
    with pytest.raises(BadInput, match="physical site with an actuator"):
        Site("a", frame.story(1), law, transfer={"interlock": lock, "actuator": act})
    with pytest.raises(BadInput, match="physical site with an actuator"):
        Site("a", frame.story(1), law, physical=True, transfer={"interlock": lock})
    with pytest.raises(BadInput, match=r"hyloop\.transfer\.interlock makes"):
        Site("a", frame.story(1), law, physical=True, transfer={"interlock": act, "actuator": act})
    with pytest.raises(BadInput, match="nothing at this site measures age"):
        rig({"max_age": 0.1})
    with pytest.raises(BadInput, match="less than two ticks"):
        rig({"frozen_d": 1e-3})
    with pytest.raises(OutOfBounds, match="wind_down"):
        Limits(wind_down=np.inf)
