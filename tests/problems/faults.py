"""Faults of a rig, and what its interlock shall do about each: a table that tests walk through and a script prints.

PYTHONPATH=src:tests python -m problems.faults
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from hyloop.core import Param, inplace_block
from hyloop.devices import bouc_wen, spring
from hyloop.errors import RunFailed
from hyloop.integrators import mkr_alpha
from hyloop.loop import FreeBlock, Limits, Loop, PacedRun, Pacing, Site
from hyloop.record import Recording
from hyloop.structure import rayleigh, shear_frame
from hyloop.transfer import delay, first_order_lag, interlock, link, sensor, servo_hydraulic

DT, SUBSTEPS, STEPS = 1 / 256, 4, 512
TICK = DT / SUBSTEPS
AT = 600  # tick of what goes wrong at a time
LATE = 30.0  # ticks that a tick may begin late before it counts as an overrun, on a machine that does other things
BUSY = 4e7  # additions: some times as long

# wide enough that nothing of it trips in a sound test, and all of it watched
WIDE: dict[str, Any] = {
    "max_rate": 0.5,
    "safe_state": "zero displacement",
    "ramp": 0.05,
    "max_d": 0.03,
    "max_v": 0.4,
    "max_a": 20.0,
    "max_f": 9e3,
    "max_error": 3e-3,
    "error_for": 0.01,
    "jump_d": 5.0,
    "jump_f": 5e6,
    "frozen_d": 0.02,
    "frozen_f": 0.02,
    "frozen_path": 1e-3,
    "max_added": 0.5,
    "least_work": 1.0,
}


@inplace_block(
    inputs={"d": "m", "f": "N"},
    outputs={"d": "m", "f": "N"},
    state={"tick": "-"},
    params={
        "nan_d": Param("-", 0.0),
        "nan_f": Param("-", 0.0),
        "more_d": Param("m", 0.0),
        "more_f": Param("N", 0.0),
        "ticks": Param("-", 1e9),
    },
    reference="test",
)
def broken(x, u, dt, p, y):
    """A sensor that shows no numbers, or adds something, from one tick on and for so many."""
    x[0] += 1.0
    bad = AT <= x[0] < AT + p[4]
    y[0] = np.nan if bad and p[0] > 0.0 else u[0] + (p[2] if bad else 0.0)
    y[1] = np.nan if bad and p[1] > 0.0 else u[1] + (p[3] if bad else 0.0)


@inplace_block(
    inputs={"t": "s"},
    outputs={"value": "-"},
    state={"tick": "-"},
    params={"before": Param("-", 0.0), "after": Param("-", 0.0)},
    reference="test",
)
def switch(x, u, dt, p, y):
    """One value before the tick, another one from it on."""
    x[0] += 1.0
    y[0] = p[0] if x[0] < AT else p[1]


@inplace_block(
    inputs={"d": "m"}, outputs={"f": "N"}, state={"tick": "-"}, params={"k": Param("N/m", 1e5)}, reference="test"
)
def no_number(x, u, dt, p, y):
    """A model whose force is no number from the tick on."""
    x[0] += 1.0
    y[0] = p[0] * u[0] if x[0] < AT else np.nan


@inplace_block(
    inputs={"t": "s"}, outputs={"sum": "-"}, state={"tick": "-"}, params={"count": Param("-", 0.0)}, reference="test"
)
def busy(x, u, dt, p, y):
    """Adds up numbers for a long time in one tick."""
    x[0] += 1.0
    y[0] = 0.0
    if x[0] == AT:
        for k in range(int(p[0])):
            y[0] += 1.0 / (k + 1.0)


def changed(channel: str, before: float, after: float) -> FreeBlock:
    """A parameter that changes in the tick, from the next one on."""
    return FreeBlock("fault", switch(before=before, after=after), {"t": "t"}, {"value": channel})


def rig(
    settings: dict[str, Any] | None = None,
    transfer: dict[str, Any] | None = None,
    blocks: Sequence[FreeBlock] = (),
    models: Sequence[Any] = (),
    limits: Limits | None = None,
    device: Any = None,
) -> Loop:
    """A two-story frame with a friction damper behind a lagging actuator, noisy sensors and an interlock."""
    frame = shear_frame([4e4] * 2, [2e7] * 2)
    frame = frame.with_damping(rayleigh(frame, 0.03))
    chain = {
        "interlock": interlock(**(WIDE | (settings or {}))),
        "actuator": first_order_lag(tau=0.004),
        "sensor": sensor(noise_d=1e-6, noise_f=1.0),
        **(transfer or {}),
    }
    law = device or bouc_wen(k=1.2e6, alpha=0.02, d_y=3e-3)
    damper = Site("damper", frame.story(1), law, physical=True, transfer=chain)
    others = [Site(f"model{k}", frame.story(2), law) for k, law in enumerate(models)]
    sites, method = [damper, *others], mkr_alpha(0.75)
    return Loop(frame, sites, method=method, dt=DT, substeps=SUBSTEPS, blocks=blocks, limits=limits)


def motion(steps: int = STEPS) -> np.ndarray:
    """Ground acceleration that sets in smoothly."""
    t = DT * np.arange(steps + 1)
    return 1.2 * (1.0 - np.exp(-2.0 * t)) * np.sin(2 * np.pi * 1.5 * t)


def off_the_clock(loop: Loop) -> None:
    loop.run(motion(), every="tick")


def overrun(loop: Loop) -> None:
    """On the clock, which an overrun ends."""
    run = PacedRun(loop, motion(), every="tick", pacing=Pacing(overrun="stop", allowed=LATE))
    run.start()
    run.wait()


def stop_button(loop: Loop) -> None:
    """On the clock, and somebody ends it."""
    run = PacedRun(loop, motion(), every="tick")
    run.start()
    while run.done < AT:
        time.sleep(TICK)
    run.stop()
    run.wait()


def first(passed: np.ndarray) -> int:
    """The first tick in which something is so; row k of a recording is tick k."""
    return int(np.flatnonzero(passed)[0])


def speed(r: Recording) -> np.ndarray:
    """Velocity of what the structure wants, which is the command here."""
    return np.append(0.0, np.abs(np.diff(r["damper.d"]))) / TICK


def smoothed_acceleration(r: Recording) -> np.ndarray:
    """Its acceleration by a low-pass of first order over 10 ms."""
    slow, found = 0.0, [0.0]
    for v in np.diff(r["damper.d"]) / TICK:
        found.append(abs(v - slow) / (0.01 + TICK))
        slow += (v - slow) * TICK / (0.01 + TICK)
    return np.array(found)


@dataclass(frozen=True)
class Fault:
    """What is done to a rig, and what is expected.

    Attributes
    ----------
    name : str
    detected : str
        Reason that the interlock gives.
    state : str
        Where the rig ends.
    seen : int, or function of the recording, optional
        Tick in which it is to be detected.
    failure : str
        Reason of the run that failed.
    changes : dict
        Arguments of `rig`.
    run : callable
        Runs the loop.
    """

    name: str
    detected: str
    state: str = "zero displacement"
    seen: int | Callable[[Recording], int] | None = None
    failure: str = "interlock"
    changes: dict[str, Any] = field(default_factory=dict)
    run: Callable[[Loop], None] = off_the_clock


HOLD = {"safe_state": "hold"}
UNLOAD = {"safe_state": "zero force", "tolerance": 100.0}
LINK = link({"d": "m", "f": "N"})
HEARD = AT + 1  # what a sensor shows in a tick is heard in the next one
UNSTABLE = {
    "device": spring(k=1.5e7),
    "transfer": {"actuator": delay(tau=0.02), "sensor": sensor(noise_d=1e-6, noise_f=1.0)},
    "settings": {"max_added": 0.3, "max_f": 1e6, "max_error": 0.1, "jump_f": 1e8, "max_a": 100.0},
}

FAULTS = [
    Fault("no number from the force sensor", "force missing", "hold", HEARD, "non-finite",
          changes={"transfer": {"sensor": broken(nan_f=1.0)}, "settings": UNLOAD}),
    Fault("no number from the displacement sensor", "deformation missing", seen=HEARD,
          changes={"transfer": {"sensor": broken(nan_d=1.0)}}),
    Fault("spike of the displacement sensor", "deformation spike", seen=HEARD,
          changes={"transfer": {"sensor": broken(more_d=0.01, ticks=1.0)}}),
    Fault("spike of the force sensor", "force spike", "hold", HEARD,
          changes={"transfer": {"sensor": broken(more_f=6e3, ticks=1.0)}, "settings": UNLOAD}),
    Fault("frozen sensor", "deformation frozen",
          changes={"transfer": {"sensor": sensor(noise_d=1e-6, noise_f=1.0, freeze_at=AT * TICK)}}),
    Fault("frozen sensor, of force alone", "force frozen", "hold",
          changes={"transfer": {"sensor": sensor(noise_d=1e-6, freeze_at=AT * TICK)},
                   "settings": UNLOAD | {"frozen_d": 10.0}}),
    Fault("missing sensor: no sample arrives at all", "deformation frozen", "hold",
          changes={"transfer": {"sensor": sensor(dropout=1.0)}, "settings": HOLD}),
    Fault("link cut", "link lost", "hold",
          changes={"transfer": {"sensor": LINK(delay=2 * TICK)}, "settings": UNLOAD | {"max_age": 0.02},
                   "blocks": [changed("damper.sensor.delay", 2 * TICK, 1e9)]}),
    Fault("packets late", "link lost",
          changes={"transfer": {"sensor": LINK(delay=2 * TICK)}, "settings": {"max_age": 0.02},
                   "blocks": [changed("damper.sensor.delay", 2 * TICK, 0.05)]}),
    Fault("stuck valve", "tracking error", "hold",
          changes={"settings": HOLD, "blocks": [changed("damper.actuator.rate", 1e30, 1e-9)]}),
    Fault("saturated valve", "tracking error",
          changes={"transfer": {"actuator": servo_hydraulic(external=1.0, k=1.2e6, valve_velocity=0.02)}}),
    Fault("limit of displacement, command", "displacement", seen=lambda r: first(np.abs(r["damper.d"]) > 4e-3),
          changes={"settings": {"max_d": 4e-3}}),
    Fault("limit of displacement, measured", "displacement", seen=HEARD,
          changes={"transfer": {"sensor": broken(more_d=4e-3)}, "settings": {"max_d": 8e-3, "max_error": 1.0}}),
    Fault("limit of velocity", "velocity", seen=lambda r: first(speed(r) > 0.03),
          changes={"settings": {"max_v": 0.03}}),
    Fault("limit of acceleration", "acceleration", "hold", lambda r: first(smoothed_acceleration(r) > 0.5),
          changes={"settings": HOLD | {"max_a": 0.5}}),
    Fault("limit of force", "force", "zero force", lambda r: first(np.abs(r["damper.sensor.f"]) > 3e3) + 1,
          changes={"settings": UNLOAD | {"max_f": 3e3}}),
    Fault("limit of the tracking error", "tracking error",
          seen=lambda r: first(np.abs(r["damper.d"] - r["damper.sensor.d"]) > 1e-4) + 1,
          changes={"settings": {"max_error": 1e-4, "error_for": 0.0}}),
    Fault("command too fast for the rig", "rate", seen=lambda r: first(speed(r) > 0.03),
          changes={"settings": {"max_rate": 0.03, "ramp": 0.01, "max_v": 1e30}}),
    Fault("instability: delay", "unstable", changes=UNSTABLE),
    Fault("structure is no number", "called", "hold", AT + 1, failure="non-finite",
          changes={"models": [no_number()], "settings": HOLD}),
    Fault("structure has diverged", "called", failure="displacement",
          seen=lambda r: SUBSTEPS * (first(np.abs(r["u.2"]) > 4e-3) // SUBSTEPS) + 1,
          changes={"limits": Limits(max_u=4e-3)}),
    Fault("stop wish", "called", failure="called off", run=stop_button),
    Fault("overrun", "called", failure="overrun", seen=AT + 1, run=overrun,
          changes={"blocks": [FreeBlock("slow", busy(count=BUSY), {"t": "t"})]}),
]  # fmt: skip


class Outcome(NamedTuple):
    """What has happened."""

    failure: RunFailed
    first: dict[str, Any]  # what the log says of the interlock that tripped first
    recording: Recording  # as read from its file
    settings: dict[str, Any]
    waited: int  # ticks from detection to the first one in which the command goes to the safe state
    fastest: float  # largest change of the command in a tick over that allowed, in the whole run
    fastest_down: float  # likewise on the way to the safe state


def tried(fault: Fault) -> Outcome:
    """Make the fault happen, and look at the recording."""
    loop = rig(**fault.changes)
    try:
        fault.run(loop)
    except RunFailed as failed:
        failure = failed
    else:
        raise AssertionError(f"{fault.name}: nothing has happened")
    with TemporaryDirectory() as folder:
        failure.result.save(Path(folder) / "run.h5")
        recording = Recording.load(Path(folder) / "run.h5")
    settings = WIDE | fault.changes.get("settings", {})
    one = recording.attributes["interlocks"][0]
    command = recording["damper.interlock.d"]
    moved, down = np.diff(command), command[one["tick"] - 1 :]
    goes = [_goes(one["safe_state"], before, after, settings["ramp"] * TICK) for before, after in pairwise(down)]
    return Outcome(
        failure,
        one,
        recording,
        settings,
        goes.index(True) if True in goes else -1,
        float(np.abs(moved).max() / (settings["max_rate"] * TICK)),
        float(np.abs(np.diff(down)).max() / (settings["ramp"] * TICK)),
    )


def _goes(state: str, before: float, after: float, reach: float) -> bool:
    """Whether a command has gone to the safe state in a tick."""
    if state == "hold":
        return after == before
    if state == "zero displacement":
        return after == before - np.clip(before, -reach, reach)
    return before != after


COLUMNS = (
    "fault",
    "detected by",
    "state reached",
    "ticks from detection to the ramp",
    "largest rate over the limit",
    "recording readable",
)


def rows() -> list[tuple[str, ...]]:
    """The table, one row for each fault."""
    found = []
    for fault in FAULTS:
        got = tried(fault)
        state = got.first["safe_state"] if got.first["reached"] else "not reached"
        whole = "yes" if len(got.recording) and got.recording.fault else "no"
        found.append((fault.name, got.first["reason"], state, str(got.waited), f"{got.fastest:.3f}", whole))
    return found


if __name__ == "__main__":
    for row in (COLUMNS, ["---"] * len(COLUMNS), *rows()):
        print(f"| {' | '.join(row)} |")
