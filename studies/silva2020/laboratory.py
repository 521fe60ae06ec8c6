"""The virtual test: numerical part, compensator, rig and instruments in one loop."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from hyloop import Loop, Site
from hyloop.core import Instance
from hyloop.integrators import newmark_explicit

from .benchmark import MOST_FORCE, MOST_STROKE, MOST_VELOCITY, NOISE_D, NOISE_F, NOMINAL, RATE, Plant
from .benchmark import ground, numerical, reference
from .criteria import Criteria, criteria
from .rig import instruments, load_cell, perfect, servo

CHANNELS = ("u.1", "u.2", "u.3", "rig.sensor.d", "rig.actuator.d", "rig.actuator.v", "rig.actuator.f")
PERFECT, NONE = "perfect", "none"  # in place of a compensator
FARTHEST = 0.05  # m: a numerical part that moves farther than seven times the stroke has lost its rig


class Setting(NamedTuple):
    """What may differ from the benchmark."""

    case: int = 1
    record: str = "elcentro"
    rate: int = RATE
    noise: float = 1.0  # over the benchmark's
    seed: int = 0  # of the noise
    losses: float = 0.0  # lost samples in a second
    loss: int = 1  # ticks long
    ahead: int = 0  # 1: the controller reads the sensors in the tick of its command, as the benchmark's does


class Outcome(NamedTuple):
    """Criteria of a run, and whether a real rig could have made it."""

    criteria: Criteria
    stable: bool
    force: float  # largest, over what the rig can give
    stroke: float
    velocity: float


@cache
def loop(compensator: Instance | str, setting: Setting, specimen: Instance | None = None) -> Loop:
    """A virtual test with the nominal plant, to which `Loop.copy` gives another one, or with a `PERFECT` rig."""
    ideal = compensator == PERFECT
    transfer: dict[str, Any] = {
        "actuator": perfect() if ideal else servo(NOMINAL, setting.rate, specimen, setting.ahead),
        "sensor": instruments(
            noise_d=setting.noise * NOISE_D,
            noise_f=setting.noise * NOISE_F,
            seed=float(setting.seed),
            losses=setting.losses,
            loss=float(setting.loss),
            ahead=float(setting.ahead),
        ),
    }
    if isinstance(compensator, Instance):
        transfer["compensator"] = compensator
    site = Site("rig", [1.0, 0.0, 0.0], load_cell(), physical=True, transfer=transfer, max_d=FARTHEST)
    return Loop(numerical(setting.case), [site], method=newmark_explicit(), dt=1.0 / setting.rate)


@cache
def reference_motion(case: int, record: str, rate: int) -> np.ndarray:
    """Displacements (N, 3) of the reference structure."""
    whole = Loop(reference(case), method=newmark_explicit(), dt=1.0 / rate)
    recording = whole.run(ground(record, rate), record=("u.1", "u.2", "u.3"))
    return np.column_stack([recording[f"u.{k}"] for k in (1, 2, 3)])


def test(
    compensator: Instance | str, setting: Setting, plant: Plant = NOMINAL, specimen: Instance | None = None
) -> tuple[Outcome, Any]:
    """Run one virtual test; what it is judged by, and the recording."""
    made = loop(compensator, setting, specimen)
    changes = {f"rig.actuator.{key}": value for key, value in plant._asdict().items() if value != getattr(NOMINAL, key)}
    motion = ground(setting.record, setting.rate)
    recording = made.copy(changes).run(motion, record=CHANNELS, on_fault="stop")
    return outcome(recording, setting, len(motion)), recording


def outcome(recording: Any, setting: Setting, length: int) -> Outcome:
    """Judge a recording; one that broke off is unstable, and so is one whose rig is farther off than it moved."""
    ahead, last = setting.ahead, len(recording.time) - setting.ahead
    y = np.column_stack([recording[f"u.{k}"][ahead:] for k in (1, 2, 3)])
    xr = reference_motion(setting.case, setting.record, setting.rate)[ahead:]
    found = criteria(y, recording["rig.sensor.d"][:last], recording["rig.actuator.d"][:last], xr, setting.rate)
    stable = len(y) == length - ahead and bool(np.isfinite(y).all()) and found.tracking < 100.0
    most = [float(np.max(np.abs(recording[f"rig.actuator.{key}"]))) for key in ("f", "d", "v")]
    return Outcome(found, stable, most[0] / MOST_FORCE, most[1] / MOST_STROKE, most[2] / MOST_VELOCITY)
