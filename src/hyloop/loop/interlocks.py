"""What the interlocks of a loop have done: reason, tick and numbers, in words and for a recording."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hyloop.core.plan import ASKED, CALLED, FAULT, LOST, TOO_LATE
from hyloop.transfer import interlock_tick as told
from hyloop.transfer.interlock import SAFE_STATES
from hyloop.transfer.interlock_tick import Kept

if TYPE_CHECKING:
    from hyloop.loop.loop import Loop

__all__ = ["CALLED_TO", "REASONS", "interlock_log", "safe_text", "trip_text"]

CALLED_TO = "called"  # reason of an interlock that was told to


class Reason(NamedTuple):
    """A reason in a few words, the unit of its numbers, and a sentence with the value and the limit."""

    name: str
    unit: str
    text: str


REASONS = {
    CALLED: Reason(CALLED_TO, "", ""),
    told.NO_COMMAND: Reason("command not finite", "", "its command is no number"),
    told.NO_D: Reason("deformation missing", "", "the measured deformation is no number"),
    told.NO_F: Reason("force missing", "", "the measured force is no number"),
    told.LATE: Reason("link lost", "s", "what is measured is {value} old, more than {limit}"),
    told.JUMP_D: Reason("deformation spike", "m/s", "the measured deformation jumped at {value}, more than {limit}"),
    told.JUMP_F: Reason("force spike", "N/s", "the measured force jumped at {value}, more than {limit}"),
    told.FROZEN_D: Reason("deformation frozen", "s", "the measured deformation has stood still for more than {limit}"),
    told.FROZEN_F: Reason("force frozen", "s", "the measured force has stood still for more than {limit}"),
    told.COMMAND: Reason("displacement", "m", "its command of {value} is beyond {limit}"),
    told.VELOCITY: Reason("velocity", "m/s", "its command moved at {value}, faster than {limit}"),
    told.ACCELERATION: Reason("acceleration", "m/s2", "its command was accelerated by {value}, more than {limit}"),
    told.RATE: Reason("rate", "m/s", "its command moved at {value}, faster than the {limit} that it never may"),
    told.DISPLACEMENT: Reason("displacement", "m", "the measured deformation of {value} is beyond {limit}"),
    told.FORCE: Reason("force", "N", "the measured force of {value} is beyond {limit}"),
    told.ERROR: Reason("tracking error", "m", "deformation and command were {value} apart, more than {limit}"),
    told.ADDED: Reason("unstable", "", "the actuator added {value} of the work on the specimen, more than {limit}"),
}
_CALLERS = {
    ASKED: "somebody has ended the run",
    TOO_LATE: "a tick began too late",
    FAULT: "the structure had a fault",
    LOST: "the loop was lost",
}
_STATES = {code: name for name, code in SAFE_STATES.items()}
_DONE = {
    "hold": " holds its position",
    "zero displacement": " was back at rest after {} s",
    "zero force": " was without force after {} s",
}


def interlock_log(loop: "Loop") -> list[dict[str, Any]]:
    """Every interlock that has tripped, the first one first: what a recording says of it.

    Each has `site`, `reason`, `text`, `tick`, `time` in s, `value` and `limit` (with `unit`; None where a value is no
    number), `safe_state`, `reached` and the `seconds` it took.
    """
    found = []
    for name, kept in _kept(loop).items():
        if kept.trip == 0.0:
            continue
        tick, reason, state = loop.dt / loop.substeps, REASONS[int(kept.trip)], _STATES[kept.state]
        reached = kept.settled > 0.0
        end = kept.arrived if reached else kept.ticks
        found.append(
            {
                "site": name,
                "reason": reason.name,
                "text": _text(kept, reason),
                "tick": int(kept.tick),
                "time": round(kept.tick * tick, 9),
                "value": kept.value if reason.text.count("{") and np.isfinite(kept.value) else None,
                "limit": kept.limit if reason.text.count("{") else None,
                "unit": reason.unit,
                "safe_state": state,
                "reached": reached,
                "seconds": round((end - kept.tick) * tick, 9),
            }
        )
    return sorted(found, key=lambda one: (one["tick"], one["reason"] == CALLED_TO))


def trip_text(one: dict[str, Any]) -> str:
    """What has tripped, when, and why, in a sentence."""
    return f"the interlock of {one['site']} tripped at {one['time']:.4g} s (tick {one['tick']}): {one['text']}"


def safe_text(log: Sequence[dict[str, Any]]) -> str:
    """Where the rigs are now, in a sentence; empty if no interlock has tripped."""
    if not log:
        return ""
    where = [one["site"] + _DONE[one["safe_state"]].format(f"{one['seconds']:.3g}") for one in log if one["reached"]]
    open_ = [
        f"{one['site']} has not settled at {one['safe_state']} within {one['seconds']:.3g} s"
        for one in log
        if not one["reached"]
    ]
    what = "The rig is" if len(log) == 1 else "The rigs are"
    return f"{what} {'NOT in a safe state' if open_ else 'in a safe state'}: {', '.join([*open_, *where])}."


def _text(kept: Kept, reason: Reason) -> str:
    if kept.trip == CALLED:
        return _CALLERS.get(int(kept.value), "another interlock has tripped")
    value, limit = (_number(number, reason.unit) for number in (kept.value, kept.limit))
    return reason.text.format(value=value, limit=limit)


def _number(value: float, unit: str) -> str:
    if not unit:
        return f"{100.0 * value:.3g} %"
    scale, unit = {"m": (1e3, "mm"), "m/s": (1e3, "mm/s"), "N": (1e-3, "kN"), "N/s": (1e-3, "kN/s")}.get(
        unit, (1.0, unit)
    )
    return f"{scale * value:.5g} {unit}"


def _kept(loop: "Loop") -> dict[str, Kept]:
    """The state of every interlock, by the name of its site."""
    wiring, plan, x = loop._wiring, loop._plan, loop._state.x
    found = {}
    for site in loop.sites:
        if "interlock" in site.transfer:
            first = plan.x_start[wiring.places.index(site.prefix("interlock"))]
            found[site.name] = Kept(*map(float, x[first : first + len(Kept._fields)]))
    return found
