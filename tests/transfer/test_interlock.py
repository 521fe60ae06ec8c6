"""The interlock by itself: whatever arrives, its command is a number and no faster than it may; the added energy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyloop import Loop, Site, shear_frame
from hyloop.core import Instance
from hyloop.devices import spring
from hyloop.errors import BadInput, OutOfBounds, RunFailed, UnknownName
from hyloop.integrators import mkr_alpha
from hyloop.transfer import delay, interlock

DT = 1 / 1024
ROUND_OFF = 1e-12  # relative
STATES = ("hold", "zero displacement", "zero force")
ENOUGH = {"max_rate": 0.3, "safe_state": "hold"}
hostile = st.one_of(
    st.floats(-1e-2, 1e-2), st.floats(), st.sampled_from([np.nan, np.inf, -np.inf, 1.7e308, -1.7e308, 5e-324, 0.0])
)
columns = st.lists(st.tuples(*[hostile] * 4), min_size=2, max_size=60)


def _drive(block: Instance, **signals):
    n = len(next(iter(signals.values())))
    still = dict.fromkeys(("d", "wanted", "d_m", "f_m", "stop"), np.zeros(n))
    return block.drive(DT, **(still | signals))


@settings(max_examples=200)
@given(
    rows=columns,
    state=st.sampled_from(STATES),
    rate=st.floats(1e-3, 10.0),
    share=st.floats(1e-3, 1.0),
    watched=st.booleans(),
)
def test_whatever_arrives_the_command_is_a_number_and_no_faster_than_it_may(rows, state, rate, share, watched):
    limits = {"max_d": 5e-3, "max_f": 1e3, "max_error": 1e-2, "max_added": 0.5, "least_work": 1.0} if watched else {}
    block = interlock(max_rate=rate, safe_state=state, ramp=share * rate, tolerance=10.0, **limits)
    d, wanted, d_m, f_m = np.array(rows).T
    r = _drive(block, d=d, wanted=wanted, d_m=d_m, f_m=f_m)
    assert np.isfinite(r["d"]).all()
    moved = np.abs(np.diff(np.append(0.0, r["d"])))
    reach = np.where(r["trip"] > 0.0, share * rate, rate) * DT
    assert (moved <= reach * (1 + ROUND_OFF) + ROUND_OFF * np.abs(r["d"])).all()
    well = r["trip"] == 0.0
    assert np.array_equal(r["d"][well], d[well])
    assert (np.diff(r["trip"]) == 0.0)[~well[:-1]].all()  # it never goes back, and keeps its first reason


def _late(angle, law, cycles=40, frequency=2.0):
    """A steady sine that is late by an angle: what the interlock hears of it, a tick late, and its indicator."""
    per = round(1.0 / (frequency * DT))
    phase = 2 * np.pi * np.arange(cycles * per) / per
    wanted, achieved = (5e-3 * np.sin(phase - late) for late in (0.0, angle))
    rate = 5e-3 * 2 * np.pi * frequency * np.cos(phase - angle)
    f = {"spring": 1e6 * achieved, "dashpot": 1e5 * rate}[law]
    heard = {"d_m": np.append(0.0, achieved[:-1]), "f_m": np.append(0.0, f[:-1])}
    block = interlock(**ENOUGH, window=1e4)  # nothing is forgotten, so that whole cycles are compared
    r = _drive(block, d=wanted, wanted=wanted, **heard)
    assert not r["trip"].any()
    return r["indicator"][-1], r["added"][-1], r["turned"][-1], cycles


@pytest.mark.parametrize("angle", [0.05, 0.3, 0.8, -0.3])
def test_added_energy_of_a_late_spring_and_dashpot(angle):
    """Closed forms of a cycle: π k a² sin ε, π c ω a² (1 - cos ε), and all work that goes in and out."""
    k, c, a, omega = 1e6, 1e5, 5e-3, 4 * np.pi
    share, added, turned, cycles = _late(angle, "spring")
    near = {"rel": 2e-2, "abs": 2e-3 * cycles * k * a**2}  # the begin of the sine, of 40 cycles
    assert added == pytest.approx(cycles * np.pi * k * a**2 * np.sin(angle), **near)
    assert turned == pytest.approx(cycles * 2 * k * a**2 * (np.cos(angle) + angle * np.sin(angle)), **near)
    e = abs(angle)
    wanted = np.pi / 2 * np.sin(angle) / (np.cos(e) + e * np.sin(e))
    assert share == pytest.approx(wanted, rel=2e-2, abs=2e-3) and np.sign(share) == np.sign(angle)
    share, added, turned, cycles = _late(angle, "dashpot")
    near["abs"] = 2e-3 * cycles * c * omega * a**2
    assert added == pytest.approx(cycles * np.pi * c * omega * a**2 * (1 - np.cos(angle)), **near)
    wanted = np.pi / 2 * (1 - np.cos(e)) / (np.sin(e) + (np.pi / 2 - e) * np.cos(e))
    assert share == pytest.approx(wanted, rel=3e-2, abs=2e-3)


@pytest.mark.parametrize(("late", "grows"), [(0.6, False), (1.6, True)])
def test_the_indicator_tells_a_test_that_grows_before_it_has_grown(late, grows):
    """One mass on a spring of which the specimen is a part; it grows from κ sin ωτ = 2ζ on."""
    mass, stiffness, part, zeta = 1e4, 4e6, 0.4, 0.03
    omega = np.sqrt(stiffness / mass)
    frame = shear_frame([mass], [(1 - part) * stiffness])
    frame = frame.with_damping([[2 * zeta * omega * mass]])
    tau = late * np.arcsin(2 * zeta / part) / omega
    block = interlock(max_rate=10.0, safe_state="hold", max_added=np.pi * zeta / part, window=1.0, least_work=0.05)
    site = Site(
        "specimen",
        frame.story(1),
        spring(k=part * stiffness),
        physical=True,
        transfer={"interlock": block, "actuator": delay(tau=tau)},
    )
    loop = Loop(frame, [site], method=mkr_alpha(1.0), dt=DT)
    t = DT * np.arange(8192)
    ground = np.where(t < 0.3, 0.5 * np.sin(omega * t), 0.0)  # a short push, and then it is left alone
    if not grows:
        r = loop.run(ground)
        assert np.abs(r["specimen.d"][-1000:]).max() < 0.3 * np.abs(r["specimen.d"]).max()
        return
    with pytest.raises(RunFailed, match="of the work on the specimen"):
        loop.run(ground)
    bare = loop.replace(sites=[Site("specimen", site.along, site.device, transfer={"actuator": delay(tau=tau)})])
    free = bare.run(ground, on_fault="stop")["specimen.d"]
    assert np.abs(free).max() > 3.0 * np.abs(free[: round(0.5 / DT)]).max()  # it would have grown
    assert loop.interlocks[0]["time"] < 1.0  # of eight seconds


def test_a_measurement_may_stand_still_while_the_command_does():
    n = 2000
    block = interlock(**ENOUGH, frozen_d=0.05, frozen_f=0.05, frozen_path=1e-3)
    assert not _drive(block, d=np.zeros(n))["trip"].any()
    r = _drive(block, d=1e-5 * np.arange(n))  # 1 mm after 100 ticks
    assert np.flatnonzero(r["trip"])[0] == pytest.approx(101, abs=2)


def test_zero_force_stays_within_where_the_command_has_been():
    """A force that never goes away, as an offset would be, does not lead the rig on and on."""
    n = 4000
    d = np.minimum(1e-5 * np.arange(n), 2e-3)
    stop = np.where(np.arange(n) < 1000, 0.0, 1.0)
    block = interlock(max_rate=0.3, safe_state="zero force", ramp=0.01, tolerance=10.0)
    r = _drive(block, d=d, f_m=np.full(n, 500.0), stop=stop)
    assert r["d"].min() == -2e-3 and not r["settled"].any()


def test_refused():
    with pytest.raises(UnknownName, match="hold"):
        interlock(max_rate=0.3, safe_state="zero")
    with pytest.raises(OutOfBounds, match="max_rate"):
        interlock(max_rate=0.0, safe_state="hold")
    for wrong, said in (
        ({"ramp": 0.4}, "ramp = 0.4"),
        ({"max_v": 0.4}, "below max_v"),
        ({"safe_state": "zero force"}, "tolerance is missing"),
        ({"tolerance": 10.0, "max_f": 5.0}, "no less than max_f"),
        ({"jump_d": 0.1}, "sound measurement"),
        ({"frozen_f": 0.1}, "frozen_path is missing"),
        ({"max_added": 0.1}, "least_work is missing"),
    ):
        with pytest.raises(BadInput, match=said):
            interlock(**(ENOUGH | wrong))
    with pytest.raises(BadInput, match="ten ticks"):
        interlock(**ENOUGH, window=5 * DT).check_fit(DT)
