"""The virtual test: numerical part, compensator, rig and instruments in one loop."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from hyloop import Loop, Site
from hyloop.core import Instance, Param, block
from hyloop.integrators import newmark_explicit
from hyloop.transfer import handed_on, sensor, servo_hydraulic

from .benchmark import (
    LSB_D,
    LSB_F,
    MOST_FORCE,
    MOST_STROKE,
    MOST_VELOCITY,
    NOISE_D,
    NOISE_F,
    NOMINAL,
    RATE,
    Plant,
    ground,
    numerical,
    reference,
    without_specimen,
)
from .criteria import Criteria, criteria

CHANNELS = ("u.1", "u.2", "u.3", "rig.sensor.d", "rig.actuator.d", "rig.actuator.v", "rig.f")
PERFECT, NONE = "perfect", "none"  # in place of a compensator
UNSTABLE = 100.0  # % tracking error, in the mean or at its peak: the rig is then farther off than it was to move
FARTHEST = 2 * MOST_STROKE  # of the numerical part: a run that gets there has lost its rig


class Setting(NamedTuple):
    """What may differ from the benchmark."""

    case: int = 1
    record: str = "elcentro"
    rate: int = RATE
    noise: float = 1.0  # over the benchmark's
    seed: int = 0  # of the noise
    dropout: float = 0.0  # share of the samples that are lost


class Outcome(NamedTuple):
    """Criteria of a run, and whether a real rig could have made it."""

    criteria: Criteria
    stable: bool
    force: float  # largest, over what the rig can give
    stroke: float
    velocity: float


@block(
    inputs={"d": "m"},
    outputs={"d": "m", "v": "m/s", "f": "N"},
    state={"d_1": "m", "d_2": "m"},
    params={key: Param("-", getattr(NOMINAL, key)) for key in ("m", "c", "k")},
    reference="ours: what no rig can do",
)
def perfect(x, u, dt, p):
    """A rig that is where it should be at once; velocity and acceleration by backward differences."""
    a = (u[0] - 2.0 * x[0] + x[1]) / (dt * dt)
    v = (u[0] - x[0]) / dt + 0.5 * dt * a
    return (u[0], v, p[0] * a + p[1] * v + p[2] * u[0]), (u[0], x[0])


def instruments(setting: Setting) -> Instance:
    """Noise, the steps of the converter, lost samples, and the late force.

    The benchmark delays the force by a tick and holds it over the next, 1.5 ticks in the mean; a step of the structure
    takes the force at its own time. The converter's range is four times the benchmark's, which stops short of the
    forces of its own runs; its steps are the same.
    """
    bits = 20
    return sensor(
        noise_d=setting.noise * NOISE_D,
        noise_f=setting.noise * NOISE_F,
        seed=float(setting.seed),
        dropout=setting.dropout,
        delay_f=1.5,
        bits=bits,
        range_d=LSB_D * 2 ** (bits - 1),
        range_f=LSB_F * 2 ** (bits - 1),
    )


def loop(
    compensator: Instance | str, setting: Setting, plant: Plant = NOMINAL, specimen: Instance | None = None
) -> Loop:
    """A virtual test with a compensator and a plant, or with a `PERFECT` rig.

    A nonlinear `specimen` stands in place of the linear one. Its force alone is fed back; the mass that moves with the
    piston is part of the structure then, which does not feel it twice.
    """
    structure, device, rig = numerical(setting.case, plant), handed_on(), plant._asdict()
    if specimen is not None:
        structure, device = without_specimen(setting.case), specimen
        rig |= {"k": specimen.stiffness, "c": specimen.damping, "external": 1.0}
    transfer: dict[str, Any] = {
        "actuator": perfect(m=plant.m, c=plant.c, k=plant.k) if compensator == PERFECT else servo_hydraulic(**rig),
        "sensor": instruments(setting),
    }
    if isinstance(compensator, Instance):
        transfer["compensator"] = compensator
    site = Site("rig", [1.0, 0.0, 0.0], device, physical=True, transfer=transfer, max_d=FARTHEST)
    return Loop(structure, [site], method=newmark_explicit(), dt=1.0 / setting.rate)


@cache
def reference_motion(case: int, record: str, rate: int, specimen: Instance | None = None) -> np.ndarray:
    """Displacements (N, 3) of the reference structure; with a nonlinear specimen at floor 1, of that with it."""
    if specimen is None:
        whole = Loop(reference(case), method=newmark_explicit(), dt=1.0 / rate)
    else:
        site = Site("rig", [1.0, 0.0, 0.0], specimen)
        whole = Loop(without_specimen(case), [site], method=newmark_explicit(), dt=1.0 / rate)
    recording = whole.run(ground(record, rate), record=("u.1", "u.2", "u.3"))
    return np.column_stack([recording[f"u.{k}"] for k in (1, 2, 3)])


def test(
    compensator: Instance | str, setting: Setting, plant: Plant = NOMINAL, specimen: Instance | None = None
) -> tuple[Outcome, Any]:
    """Run one virtual test; what it is judged by, and the recording."""
    made = loop(compensator, setting, plant, specimen)
    motion = ground(setting.record, setting.rate)
    recording = made.run(motion, record=CHANNELS, on_fault="stop")
    return outcome(recording, setting, len(motion), specimen), recording


def outcome(recording: Any, setting: Setting, length: int, specimen: Instance | None) -> Outcome:
    """Judge a recording; one that broke off is unstable, and so is one whose rig is farther off than it was to move."""
    y = np.column_stack([recording[f"u.{k}"] for k in (1, 2, 3)])
    xr = reference_motion(setting.case, setting.record, setting.rate, specimen)
    found = criteria(y, recording["rig.sensor.d"], recording["rig.actuator.d"], xr, setting.rate)
    stable = len(y) == length and bool(np.isfinite(y).all()) and max(found.tracking, found.tracking_peak) < UNSTABLE
    most = [float(np.max(np.abs(recording[f"rig.{key}"]))) for key in ("f", "actuator.d", "actuator.v")]
    return Outcome(found, stable, most[0] / MOST_FORCE, most[1] / MOST_STROKE, most[2] / MOST_VELOCITY)
