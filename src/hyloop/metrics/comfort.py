"""Comfort of occupants: accelerations of rigid floors at their centre and corners, against named criteria."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.constants import g as G

from hyloop.errors import BadInput, OutOfBounds, UnknownName
from hyloop.metrics.check import history

__all__ = ["CRITERIA", "Comfort", "Criterion", "comfort", "corner_accelerations"]

CORNERS = {"NE": (1.0, 1.0), "SE": (-1.0, 1.0), "SW": (-1.0, -1.0), "NW": (1.0, -1.0)}
"""Signs of (x, z) at the corners of a plan, x to the north and z to the east."""


@dataclass(frozen=True)
class Criterion:
    """A limit on the acceleration of a floor.

    Parameters
    ----------
    name, use, reference : str
    measure : {"peak", "rms"}
        What is limited: the largest value, or the standard deviation.
    years : float
        Return period of the wind for which the limit holds.
    curve : callable
        Limit in m/s2 at a frequency in Hz.
    lowest, highest : float
        Frequencies for which it is defined, Hz.
    """

    name: str
    use: str
    measure: str
    years: float
    curve: Callable[[float], float]
    reference: str
    lowest: float = 0.0
    highest: float = np.inf

    def limit(self, frequency: float) -> float:
        """Limit in m/s2 at the natural frequency of the building, Hz."""
        if not self.lowest <= frequency <= self.highest or not 0.0 < frequency < np.inf:
            raise OutOfBounds(
                f"comfort: {self.name} is defined from {self.lowest:g} to {self.highest:g} Hz, not at {frequency!r} "
                "Hz. Give the natural frequency of the building in Hz, or take another criterion."
            )
        return self.curve(frequency)


def _iso10137(level: float) -> Callable[[float], float]:
    """Falling to 1 Hz, flat to 2 Hz, then rising in proportion to the frequency."""
    return lambda f: level * (f**-0.445 if f < 1.0 else max(1.0, 0.5 * f))


_ISO10137 = "ISO 10137:2007, annex D, figure D.1, in the formulas by which its two curves are commonly written"
_NBCC = "National Building Code of Canada, structural commentary I (2010): 1.5 % and 2.5 % of g once in ten years"

CRITERIA = {
    one.name: one
    for one in (
        Criterion("iso10137-office", "offices", "peak", 1.0, _iso10137(0.06), _ISO10137, 0.06, 5.0),
        Criterion("iso10137-residence", "residences", "peak", 1.0, _iso10137(0.04), _ISO10137, 0.06, 5.0),
        Criterion("nbcc-office", "offices", "peak", 10.0, lambda f: 0.025 * G, _NBCC),
        Criterion("nbcc-residence", "residences", "peak", 10.0, lambda f: 0.015 * G, _NBCC),
        Criterion(
            "iso6897",
            "general purpose",
            "rms",
            5.0,
            lambda f: float(np.exp(-3.65 - 0.41 * np.log(f))),
            "ISO 6897:1984, curve 1, as fitted by Melbourne and Palmer (1992), J. Wind Eng. Ind. Aerodyn. 41, 107-116; "
            "the worst ten minutes of a wind of five years",
            0.063,
            1.0,
        ),
    )
}
"""Criteria by name."""


def corner_accelerations(a_x: Any, a_z: Any, alpha: Any, places: Any) -> np.ndarray:
    r"""Accelerations of points of a rigid floor, (N, points, 2): along x and z, m/s2.

    On the axes x north, y up, z east with the rotation about y right-handed, a point at r from the master has

    .. math:: a = a_m + \alpha \times r, \qquad a_x = a_{m,x} + \alpha\, r_z, \qquad a_z = a_{m,z} - \alpha\, r_x

    The part :math:`\dot\theta^2 r` is left out: at the angular velocities of a building it is of second order.

    Parameters
    ----------
    a_x, a_z : array, (N,)
        Acceleration of the master, m/s2.
    alpha : array, (N,)
        Angular acceleration about y, rad/s2.
    places : array, (points, 2)
        (x, z) of the points from the master, m.
    """
    x, z, turn = history("a_x", a_x), history("a_z", a_z), history("alpha", alpha)
    if not len(x) == len(z) == len(turn):
        raise BadInput(f"corner_accelerations: {len(x)}, {len(z)} and {len(turn)} samples; give one length.")
    r = np.asarray(places, float)
    if r.ndim != 2 or r.shape[1] != 2 or not np.isfinite(r).all():
        raise BadInput(f"corner_accelerations: places have shape {r.shape}; give (x, z) in m for every point.")
    return np.stack([x[:, None] + turn[:, None] * r[:, 1], z[:, None] - turn[:, None] * r[:, 0]], axis=2)


@dataclass(frozen=True)
class Comfort:
    """Accelerations of a floor against a criterion; all in milli-g, of the resultant of both directions.

    Attributes
    ----------
    floor : str
    centre_peak, centre_rms : float
        In the middle of the plan.
    corner : str
        Corner with the largest peak: NE, SE, SW or NW.
    corner_peak, corner_rms : float
        The largest of the four corners; the two may be of different corners.
    limit : float
        Of the criterion.
    ratio : float
        Corner value of the measure that the criterion limits, over the limit.
    """

    floor: str
    centre_peak: float
    centre_rms: float
    corner: str
    corner_peak: float
    corner_rms: float
    limit: float
    ratio: float

    @property
    def holds(self) -> bool:
        """Whether the floor meets the criterion everywhere."""
        return self.ratio <= 1.0

    @property
    def increase(self) -> float:
        """By how much the peak at the corners exceeds that in the middle, as a fraction."""
        return self.corner_peak / self.centre_peak - 1.0 if self.centre_peak else np.inf

    def row(self) -> list[str | float]:
        """The floor as cells of a table."""
        peaks = [self.centre_peak, self.corner_peak, self.corner, 100.0 * self.increase]
        return [self.floor, *peaks, self.centre_rms, self.corner_rms, self.limit, "yes" if self.holds else "no"]


HEADINGS = [
    "floor",
    "centre, peak",
    "corner, peak",
    "corner",
    "more than in the centre [%]",
    "centre, rms",
    "corner, rms",
    "limit",
    "meets it",
]
"""Headings of `Comfort.row`."""


def comfort(
    channels: Mapping[str, Any] | Any,
    floors: Sequence[str],
    length_x: float,
    length_z: float,
    *,
    frequency: float,
    criterion: str = "iso10137-office",
    master: tuple[float, float] = (0.0, 0.0),
) -> list[Comfort]:
    """Peak and rms resultant accelerations of rigid floors in the middle and at the corners, against a criterion.

    The resultant is √(a_x² + a_z²) at every instant; its rms is about the mean of each component. Criteria are for
    wind of their own return period, and ISO 10137 and ISO 6897 are for one direction: the resultant is never less.

    Parameters
    ----------
    channels : Recording or mapping
        With ``a.FLOOR.ux``, ``a.FLOOR.uz`` (m/s2) and ``a.FLOOR.ry`` (rad/s2) of the masters. Without a moving ground
        these are absolute accelerations.
    floors : sequence of str
        Names of the masters.
    length_x, length_z : float
        Plan, north to south and east to west, m.
    frequency : float
        Natural frequency at which the building sways, Hz.
    criterion : str
        One of `CRITERIA`.
    master : tuple of float
        Where the masters stand, (x, z) from the middle of the plan, m.
    """
    if criterion not in CRITERIA:
        raise UnknownName("criterion", criterion, CRITERIA)
    if not (0.0 < length_x < np.inf and 0.0 < length_z < np.inf):
        raise OutOfBounds(f"comfort: a plan of {length_x!r} m x {length_z!r} m; both lengths must be positive.")
    rule = CRITERIA[criterion]
    limit = 1e3 * rule.limit(frequency) / G
    places = np.array([(0.0, 0.0), *((0.5 * length_x * i, 0.5 * length_z * j) for i, j in CORNERS.values())])
    rows = []
    for floor in floors:
        a_x, a_z, alpha = (channels[f"a.{floor}.{dof}"] for dof in ("ux", "uz", "ry"))
        a = corner_accelerations(a_x, a_z, alpha, places - master)
        peaks = 1e3 / G * np.sqrt((a**2).sum(axis=2)).max(axis=0)
        rms = 1e3 / G * np.sqrt(a.var(axis=0).sum(axis=1))
        worst = int(np.argmax(peaks[1:]))
        judged = float((peaks if rule.measure == "peak" else rms)[1:].max())
        found = (float(peaks[0]), float(rms[0]), list(CORNERS)[worst], float(peaks[1 + worst]), float(rms[1:].max()))
        rows.append(Comfort(floor, *found, limit, judged / limit))
    return rows
