"""What a tick that begins too late passes over in a loop: by the roles of its blocks, never by their times."""

from typing import TYPE_CHECKING

import numpy as np

from hyloop.core import Table
from hyloop.core.overrun import Overrun
from hyloop.errors import BadInput
from hyloop.loop.realtime import Pacing

if TYPE_CHECKING:
    from hyloop.loop.loop import Loop

__all__ = ["overrun_table"]

_ALL = ("go on", "stop")  # policies under which a late tick computes everything


def overrun_table(loop: "Loop", pacing: Pacing) -> Table:
    """The table for compiled code; refuses a policy that could do nothing in this loop.

    Blocks of physical sites and ears always keep up. Where forces fall back, so do guards that have a fallback, and the
    fallbacks.
    """
    policy, wiring, tick = pacing.overrun, loop._wiring, loop.dt / loop.substeps
    guards = [f"{site.name}.guard.late" for site in loop.sites]
    guards = [name for name in guards if name in wiring.layout.positions] if policy == "fall back" else []
    if policy == "fall back" and not guards:
        raise BadInput(
            'overrun = "fall back": no site has a fallback, so there is nothing to fall back to. Give a modelled site '
            'a trust table with a fallback, or choose "hold".'
        )
    reach = int(pacing.extrapolate_for / tick * (1.0 + 1e-9)) if policy == "extrapolate" else 0
    if policy == "extrapolate" and reach == 0:
        raise BadInput(
            f"extrapolate_for = {pacing.extrapolate_for:g} s is less than a tick of {tick:g} s, so no force would go "
            'on along its line. Give at least a tick, or choose overrun = "hold".'
        )
    keeping = {name.removesuffix(".late") for name in guards}
    roles = ("ear", "fallback") if policy == "fall back" else ("ear",)
    keeping |= {free.name for free in loop.blocks if free.role in roles}
    keeps = [policy in _ALL or b < wiring.physical or place in keeping for b, place in enumerate(wiring.places)]
    forces = [wiring.layout[site.feedback] for site in loop.sites if not site.physical] if reach else []
    return Table(
        Overrun(
            keeps=np.array(keeps, dtype=np.int64),
            guards=len(guards),
            guard=np.array([wiring.layout[name] for name in guards], dtype=np.int64),
            reach=reach,
            forces=len(forces),
            force=np.array(forces, dtype=np.int64),
            line=np.zeros(2 * len(forces)),
            known=np.zeros(3, np.int64),
        )
    )
