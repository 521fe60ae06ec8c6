"""What a rehearsal asks of each rig: stroke, velocity, force, valve, and how well it followed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hyloop.errors import BadInput
from hyloop.files.rehearsal import Rehearsal
from hyloop.loop import Loop, Site
from hyloop.metrics import tracking
from hyloop.record import Recording
from hyloop.report.rehearsal_result import Demand
from hyloop.transfer.saturation import UNLIMITED

__all__ = ["Measured", "Rig", "measure", "rigs"]

Limit = tuple[float | None, str]


class Measured(NamedTuple):
    """What one run asked of one rig, in SI units; nan where it cannot be told."""

    stroke: float
    velocity: float
    force: float
    valve: float
    tracking: float
    delay: float


@dataclass(frozen=True)
class Rig:
    """A physical site with an actuator: its channels, and its limits with where they stand."""

    site: str
    wanted: str
    command: str
    achieved: str
    velocity: str
    force: str
    opening: str
    rate: float | None
    limits: dict[str, Limit]

    @property
    def channels(self) -> list[str]:
        """Channels that are recorded; an empty name is one that there is not."""
        names = (self.wanted, self.command, self.achieved, self.velocity, self.force, self.opening)
        return [name for name in dict.fromkeys(names) if name]

    def demands(self, runs: Sequence[Measured | None]) -> list[Demand]:
        """Demands of all runs, with their limits."""
        nothing = Measured(*[np.nan] * len(Measured._fields))
        columns = np.array([nothing if run is None else run for run in runs], dtype=float).T
        values = dict(zip(Measured._fields, columns, strict=True))
        shown = {
            "stroke": ("stroke", "mm", 1e3),
            "velocity": ("velocity", "mm/s", 1e3),
            "force": ("force", "kN", 1e-3),
            "valve": ("use of the valve", "%", 100.0),
            "tracking": ("tracking error", "%", 100.0),
            "delay": ("delay left", "ms", 1e3),
        }
        found = []
        for key, (name, unit, factor) in shown.items():
            limit, source = self.limits.get(key, (None, ""))
            if key != "valve" or limit is not None:
                found.append(Demand(name, self.site, unit, factor, values[key], limit, source))
        return found


def rigs(loop: Loop, plan: Rehearsal) -> list[Rig]:
    """All physical sites with an actuator."""
    return [_rig(site, loop, plan) for site in loop.sites if site.physical and "d" in site.given.get("actuator", {})]


def _rig(site: Site, loop: Loop, plan: Rehearsal) -> Rig:
    given = site.given
    acts = given["actuator"]
    command = given.get("compensator", {}).get("d", f"{site.name}.d")
    axis = site.axes.get("actuator")
    params = (axis.coupled.block if axis is not None else site.chain["actuator"]).params
    sensor = site.chain["sensor"].params if "sensor" in site.chain else {}
    own = "the actuator"
    rate = _real(params.get("rate"))
    valve = _real(params.get("valve_velocity")) is not None
    return Rig(
        site.name,
        f"{site.name}.d",
        command,
        acts["d"],
        acts.get("v", ""),
        acts.get("f") or f"{site.name}.f",
        acts.get("opening", "") if valve else "",
        rate,
        {
            "stroke": _least(
                (plan.max_stroke, "rehearsal.max_stroke"),
                (params.get("stroke"), f"stroke of {own}"),
                (site.max_d, "max_d of the site"),
                (sensor.get("range_d"), "range of the sensor"),
            ),
            "velocity": _least(
                (plan.max_velocity, "rehearsal.max_velocity"), (params.get("velocity"), f"velocity of {own}")
            ),
            "force": _least(
                (plan.max_force, "rehearsal.max_force"),
                (params.get("force_limit"), f"force of {own}"),
                (site.max_f, "max_f of the site"),
                (sensor.get("range_f"), "range of the sensor"),
            ),
            "valve": (1.0, f"{'valve' if valve else 'command rate'} of {own}") if valve or rate else (None, ""),
            "tracking": (plan.max_tracking, "rehearsal.max_tracking"),
        },
    )


def _real(limit: float | None) -> float | None:
    """A limit, or None for one that is none."""
    return None if limit is None or not limit < UNLIMITED else limit


def _least(*limits: Limit) -> Limit:
    """The narrowest of several."""
    there = [(value, source) for limit, source in limits if (value := _real(limit)) is not None]
    return min(there, key=lambda one: one[0], default=(None, ""))


def measure(rig: Rig, result: Recording, loop: Loop) -> Measured:
    """What a run, recorded at every tick, asked of a rig."""
    tick = loop.dt / loop.substeps

    def peak(signal: np.ndarray) -> float:
        return float(np.abs(signal[np.isfinite(signal)]).max(initial=0.0))

    d = result[rig.achieved]
    v = result[rig.velocity] if rig.velocity else np.diff(d) / tick
    valve = np.nan
    if rig.opening:
        valve = peak(result[rig.opening])
    elif rig.rate:
        valve = min(peak(np.diff(result[rig.command])) / tick / rig.rate, 1.0)
    ends = slice(loop.substeps, None, loop.substeps)  # of steps, without the row before the first
    followed = _followed(result[rig.wanted][ends], d[ends], loop.dt)
    return Measured(peak(d), peak(v), peak(result[rig.force]), valve, *followed)


def _followed(wanted: np.ndarray, achieved: np.ndarray, dt: float) -> tuple[float, float]:
    """Tracking error and delay; of a run that grew, as far as it can be told."""
    there = np.isfinite(wanted) & np.isfinite(achieved)
    try:
        numbers = tracking(wanted[there], achieved[there], dt)
    except BadInput:  # nothing moved, or the run was over at once
        return np.nan, np.nan
    return numbers.nrmse, numbers.delay
