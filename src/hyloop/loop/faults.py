"""Why a run stopped: status codes in words, with the likely cause and what to do about it."""

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hyloop.core.plan import (
    CALLED_OFF,
    DISPLACEMENT,
    DRIFT,
    ENERGY,
    IMBALANCE,
    INTERLOCKED,
    LIMIT,
    NON_FINITE,
    NOT_CONVERGED,
    TAKEN_OVER,
    TOO_LATE,
)
from hyloop.errors import RunFailed
from hyloop.loop.interlocks import CALLED_TO, interlock_log, safe_text, trip_text
from hyloop.record import Recording

if TYPE_CHECKING:
    from hyloop.loop.loop import Loop

__all__ = ["Fault", "failed", "fault"]

STIFFER = 1.5  # times the stiffness the method counts with: more than hardening of a few per cent, less than a contact
PROBE = 1e-4  # of a deformation: the change that a law is tried with
SMALLEST = 1e-6  # m or m/s, tried where there is no deformation


class Fault(NamedTuple):
    """A reason in one word, the place by name, a sentence, and advice."""

    reason: str
    where: str
    text: str
    advice: str


def fault(loop: "Loop", status: int, place: int) -> Fault:
    """What a status code of the kernel means for this loop, in the state in which it stopped."""
    dofs, limits = loop.structure.names, loop.limits
    if status == NON_FINITE:
        return Fault(
            "non-finite",
            dofs[place],
            f"the response of degree of freedom '{dofs[place]}' is not finite",
            "Check the device parameters and take a smaller step." + _cause(loop),
        )
    if status == LIMIT:
        site = loop.sites[place].name
        return Fault(
            "limit",
            site,
            f"site '{site}' passed its limit",
            "Lower the excitation or raise max_d or max_f of the site.",
        )
    if status == DISPLACEMENT:
        return Fault(
            "displacement",
            dofs[place],
            f"degree of freedom '{dofs[place]}' moved by more than "
            f"{limits.max_u:g} (m or rad), so the run has diverged or the structure has collapsed",
            "If it is meant to move that far, raise max_u of the limits." + _cause(loop),
        )
    if status == ENERGY:
        return Fault(
            "energy",
            "",
            f"the structure moves with more than {limits.max_energy:g} times the energy that "
            "the excitation can have given it, so the run has diverged or the structure collapses",
            "Take a smaller step; if a device drives the structure, raise max_energy of the limits." + _cause(loop),
        )
    if status == DRIFT:
        name = list(limits.drifts)[place]
        return Fault(
            "drift",
            name,
            f"the drift of {name} passed its limit of {limits.drifts[name].limit:g} m",
            "Lower the excitation or raise max_drift of the limits.",
        )
    if status == IMBALANCE:
        return Fault(
            "imbalance",
            "",
            "a fibre section is out of balance with its member by a strain of "
            f"{loop['imbalance']:.2g}, more than {limits.max_imbalance:g}, so its forces cannot be trusted",
            "Take a smaller step or more section iterations.",
        )
    if status == CALLED_OFF:
        if place == TOO_LATE:
            return Fault(
                "overrun",
                "",
                "a tick began later than pace.allowed",
                "`hyloop doctor` says what keeps this machine from being in time; or take a longer tick, or a model "
                "that is faster.",
            )
        if place == TAKEN_OVER:
            return Fault("taken over", "", "no tick came for too long, and the watchdog has taken the rigs over", "")
        return Fault("called off", "", "somebody has ended the run", "")
    if status == INTERLOCKED:
        first = interlock_log(loop)[0]
        return Fault("interlock", first["site"], trip_text(first), "")
    assert status == NOT_CONVERGED
    return Fault("not converged", "", "Newton's method did not converge", "Take a smaller step.")


def failed(loop: "Loop", found: Fault, step: int, result: Recording) -> RunFailed:
    """The error of a run that stopped in a step, with what was recorded; all interlocks have done what they could."""
    log, text = interlock_log(loop), found.text
    more = {"fault": text} | ({"interlocks": log} if log else {})
    if found.reason != "interlock":
        own = f"; {trip_text(log[0])}" if log and log[0]["reason"] != CALLED_TO else ""
        text = f"step {step} (t = {step * loop.dt:g} s): {text}{own}"
    return RunFailed(
        " ".join(part for part in (f"{text}.", safe_text(log), found.advice) if part),
        step=step,
        reason=found.reason,
        where=found.where,
        result=replace(result, attributes={**result.attributes, **more}, complete=False),
    )


def _cause(loop: "Loop") -> str:
    """The device or group of members that is stiffer than the method takes it for, if there is one."""
    with np.errstate(all="ignore"):
        found = [*_sites(loop), *_groups(loop)]
    found = [item for item in found if np.isfinite(item[1]) and item[1] > STIFFER * item[2]]
    if not found:
        return ""
    name, stiffness, known, unit = max(found, key=lambda item: item[1] / max(item[2], 1e-9 * item[1]))
    return (
        f" Likely cause: {name} now resists with {stiffness:.3g} {unit}, while {loop.method.name} counts with "
        f"{known:.3g} {unit}. A tangent stiffer than the method's model makes the step unstable: let the law "
        "declare its largest stiffness and damping (linear=), or take a step small enough for it."
    )


def _sites(loop: "Loop") -> list[tuple[str, float, float, str]]:
    """Tangent stiffness and damping of every device, beside what it declares."""
    found = []
    for site in loop.sites:
        for key, known, unit in (("d", site.stiffness, "N/m"), ("v", site.damping, "N s/m")):
            if key in site.device.block.inputs:
                found.append((f"site '{site.name}'", _tangent(loop, site.name, key), known, unit))
    return found


def _tangent(loop: "Loop", site: str, key: str) -> float:
    """Largest change of a device's force for a change of one input, where it is and on the other side."""
    wiring, plan, state = loop._wiring, loop._plan, loop._state
    force_at = wiring.layout[f"{site}.f"]
    b = next(k for k, outputs in enumerate(wiring.outputs) if force_at in outputs)
    law, output = wiring.instances[b].block, wiring.outputs[b].index(force_at)
    p = state.bus[plan.p_start[b] :][: len(law.params)].copy()

    def force(u: np.ndarray) -> float:
        x = state.x[plan.x_start[b] : plan.x_start[b + 1]].copy()
        return law.advance(x, u, plan.tick_dt, p)[output]

    at, largest = list(law.inputs).index(key), 0.0
    for side in (1.0, -1.0):
        u = state.bus[wiring.inputs[b]]
        u[at] *= side
        h, before = PROBE * max(abs(u[at]), SMALLEST), force(u)
        u[at] += h
        largest = max(largest, abs(force(u) - before) / h)
    return largest


def _groups(loop: "Loop") -> list[tuple[str, float, float, str]]:
    """Stiffness of every group of members along the last motion, beside its initial one."""
    state, found = loop._state, []
    along = state.v / max(float(np.linalg.norm(state.v)), SMALLEST)
    h = PROBE * max(float(np.abs(state.u).max()), SMALLEST)
    for group, first in zip(loop.structure.elements, loop._plan.group_x[:-1], strict=True):
        x, tangents = state.elements[first : first + len(group.initial)], []
        for side in (1.0, -1.0):
            near, far = (group.forces(side * state.u + step * along, state.v, loop.dt, x.copy()) for step in (0.0, h))
            tangents.append(float(along @ (far - near)) / h)
        found.append((f"group '{group.name}'", max(tangents), float(along @ (group.stiffness @ along)), "N/m"))
    return found
