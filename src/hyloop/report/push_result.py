"""What a pushover says in a few numbers: stiffness, strength, yield, and what is left behind the peak."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hyloop.structure import Pushover

__all__ = ["Capacity", "capacity", "envelope"]

SECANT = 0.75  # of the strength: through this point goes the line whose end at the strength is the yield displacement
LOST = 0.8  # of the strength: from there on a structure counts as failed


@dataclass(frozen=True)
class Capacity:
    """Numbers of a capacity curve in SI units; nan where there are none.

    A curve of cycles is judged by its envelope: the rows beyond all displacements before, to the side that was pushed
    first. Forces are base shears, or load factors where the load has no base shear.

    Attributes
    ----------
    strength, at_strength : float
        Largest force on the envelope, and the displacement there.
    stiffness : float
        Of the first step.
    yield_displacement : float
        Where the line through 75 % of the strength, on the way up, reaches the strength (Park 1989).
    first_yield, first_force : float
        Displacement and force when the first member, section or device yields.
    overstrength : float
        Strength over `first_force`.
    ultimate : float
        Displacement behind the peak where 80 % of the strength is left.
    ductility : float
        `ultimate`, or the largest displacement where that is not reached, over `yield_displacement`.
    left : float
        Force at the largest displacement over the strength.
    largest : float
        Displacement to which it was pushed.
    peak_is_inside : bool
        Whether the force has fallen behind its largest; otherwise the strength may be larger than what was found.

    References
    ----------
    Park (1989), Evaluation of ductility of structures and structural assemblages from laboratory testing, Bulletin of
    the New Zealand National Society for Earthquake Engineering 22(3), 155-166.
    """

    strength: float
    at_strength: float
    stiffness: float
    yield_displacement: float
    first_yield: float
    first_force: float
    overstrength: float
    ultimate: float
    ductility: float
    left: float
    largest: float
    peak_is_inside: bool

    def as_dict(self) -> dict[str, Any]:
        """For a machine; None where there is no number."""
        values = {key: getattr(self, key) for key in self.__dataclass_fields__}
        return {key: None if isinstance(v, float) and np.isnan(v) else v for key, v in values.items()}


def capacity(curve: Pushover) -> Capacity:
    """The numbers of a curve."""
    d, force = envelope(curve)
    peak = int(np.argmax(force))
    strength, at_strength = float(force[peak]), float(d[peak])
    first = min((hinge.row for hinge in curve.hinges), default=-1)
    if first >= 0:
        first_yield, first_force = abs(float(curve.displacement[first])), abs(float(_force(curve)[first]))
    else:
        first_yield = first_force = np.nan
    rising = d[: peak + 1], force[: peak + 1]
    up = int(np.argmax(rising[1] >= SECANT * strength))
    at = _between(rising, up, SECANT * strength)
    beyond = np.flatnonzero(force[peak:] <= LOST * strength) + peak
    ultimate = _between((d, force), int(beyond[0]), LOST * strength) if len(beyond) and strength > 0.0 else np.nan
    yield_displacement = at / SECANT if strength > 0.0 else np.nan
    last = d[-1] if np.isnan(ultimate) else ultimate
    return Capacity(
        strength=strength,
        at_strength=at_strength,
        stiffness=float(force[1] / d[1]) if len(d) > 1 else np.nan,
        yield_displacement=yield_displacement,
        first_yield=first_yield,
        first_force=first_force,
        overstrength=strength / first_force if first_force > 0.0 else np.nan,
        ultimate=ultimate,
        ductility=float(last / yield_displacement) if yield_displacement > 0.0 else np.nan,
        left=float(force[-1] / strength) if strength > 0.0 else np.nan,
        largest=float(d[-1]),
        peak_is_inside=peak < len(d) - 1,
    )


def envelope(curve: Pushover) -> tuple[np.ndarray, np.ndarray]:
    """Displacement and force, both counted towards the side pushed first, where it goes beyond all before."""
    d, force = curve.displacement, _force(curve)
    moved = np.flatnonzero(d)
    sign = float(np.sign(d[moved[0]])) if len(moved) else 1.0
    d, force = sign * d, sign * force
    new = np.append(True, d[1:] > np.maximum.accumulate(d)[:-1].clip(min=0.0))
    return d[new], force[new]


def _force(curve: Pushover) -> np.ndarray:
    return curve.base_shear if curve.base_shear.any() else curve.load_factor


def _between(line: tuple[np.ndarray, np.ndarray], k: int, force: float) -> float:
    """Displacement where a curve passes a force on its way to row k."""
    d, f = line
    if k == 0 or f[k] == f[k - 1]:
        return float(d[k])
    return float(d[k - 1] + (force - f[k - 1]) / (f[k] - f[k - 1]) * (d[k] - d[k - 1]))
