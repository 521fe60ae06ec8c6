"""How far a planned test is from growing by itself: critical delays, and what the delay of the rig leaves of them."""

from collections.abc import Mapping, Sequence

import numpy as np

from hyloop.errors import BadInput
from hyloop.loop import Loop
from hyloop.loop.critical_delay import critical_delay
from hyloop.report.rehearsal_result import Demand

__all__ = ["critical_delays", "margins"]

_NOTE = (
    "critical delays are predicted with the initial stiffness and damping of the devices, which is the worst case: a "
    "device that yields is softer"
)


def critical_delays(loop: Loop, sites: Sequence[str]) -> tuple[dict[str, tuple[float, float]], list[str]]:
    """Delay in s and frequency in Hz: of every site with the others ideal, and under "" of all late by the same."""
    found, remarks = {}, []
    for name in [*sites, *([""] if len(sites) > 1 else [])]:
        try:
            predicted = critical_delay(loop, name or sites)
        except BadInput as error:
            remarks.append(str(error))
            continue
        found[name] = predicted.delay, predicted.frequency
    return found, [_NOTE, *remarks] if found else remarks


def margins(demands: Sequence[Demand], critical: Mapping[str, tuple[float, float]], wanted: float) -> list[Demand]:
    """Critical delay over what remains of the delay of the rig, in every run; infinite where the rig is not late."""
    left = {one.site: one.values for one in demands if one.key == "delay left"}
    found = []
    for name, (delay, _) in critical.items():
        late = left[name] if name else np.max(list(left.values()), axis=0)
        with np.errstate(divide="ignore"):
            values = np.where(late > 0.0, delay / np.where(late > 0.0, late, 1.0), np.inf)
        values = np.where(np.isnan(late), np.nan, values)
        found.append(Demand("margin", name, "", 1.0, values, wanted, "rehearsal.margin", least=True))
    return found
