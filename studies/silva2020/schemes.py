"""The compensators that are compared, and what each knows of the plant before the test."""

from collections.abc import Callable
from functools import cache

from hyloop.core import Instance
from hyloop.transfer.compensators import (
    amb,
    ats,
    conditional_ats,
    extrapolation,
    inverse,
    phase_lead,
    pi_lead,
    unscented_inverse,
)

from .benchmark import NOMINAL, RATE

# Chosen on Kobe and Morgan Hill with other plants than those judged: limits that any rig of this size has, thresholds
# of some times the noise.
LIMITS = [(0.85, 1.15), (0.005, 0.05), (0.0, 1.25e-3), (0.0, 2.1e-5)]
THRESHOLD = 1e-4  # m, root mean square in a second
MOMENT = 2e-4  # m, at the moment
COLD = 0.02  # s: "some twenty milliseconds"
OURS = "bounded filter"


def cold_seeds(delay: float) -> list[float]:
    """Coefficients of a pure delay; nothing of the plant is known but about this number."""
    return [1.0, delay, delay**2 / 2, delay**3 / 6]


KNOWN = [float(value) for value in NOMINAL.denominator[:4]]

# what a scheme is made of: seeds (four coefficients) and the tick
SEEDED: dict[str, Callable[[list[float], float], Instance]] = {
    "ATS": lambda a, dt: ats(a[:3], dt=dt, limits=LIMITS[:3], threshold=THRESHOLD),
    "conditional ATS": lambda a, dt: conditional_ats(a[:3], dt=dt, limits=LIMITS[:3], threshold=MOMENT),
    "AMB": lambda a, dt: amb(a, dt=dt, limits=LIMITS),
    "inverse, 3rd order": lambda a, dt: inverse(a, dt=dt),
}
FIXED: dict[str, Callable[[float], Instance]] = {
    "PI + lead": lambda dt: pi_lead(2.0, 95.0, [50.8, 50.8 * 168.6], [1.0, 8570.0], dt=dt),
    "phase lead": lambda dt: phase_lead([KNOWN[1], KNOWN[0]], [KNOWN[1] / 20, 1.0], dt=dt),
    "extrapolation": lambda dt: extrapolation(KNOWN[1] / KNOWN[0], dt=dt, order=3),
}


@cache
def scheme(name: str, rate: int = RATE, delay: float | None = None) -> Instance:
    """A compensator by name; with a `delay` it begins cold, with seeds of that delay. Ours never begins otherwise."""
    if name in FIXED:
        return FIXED[name](1.0 / rate)
    if name == OURS:
        return unscented_inverse((0.005, COLD if delay is None else delay, 0.05), dt=1.0 / rate)
    return SEEDED[name](KNOWN if delay is None else cold_seeds(delay), 1.0 / rate)
