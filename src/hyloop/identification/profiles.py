"""Profile likelihood: how much worse the best fit becomes when one parameter is held elsewhere."""

from typing import NamedTuple

import numpy as np

from hyloop.errors import OutOfBounds, UnknownName
from hyloop.identification.fitting import Fit
from hyloop.identification.problem import Problem
from hyloop.identification.search import descend

__all__ = ["Profile", "profile"]

_BEYOND = 1.6  # a profile reaches this many half widths of the interval to either side
_TOLERANCE = 1e-7  # relative change of the sum of squares, where the profile itself changes by a good part of it


class Profile(NamedTuple):
    r"""Profile of one parameter.

    Attributes
    ----------
    name : str
    values : ndarray
        Where the parameter was held, the estimate among them.
    distance : ndarray
        :math:`\pm\sqrt{(S - S_{min})/\sigma^2}`, in standard deviations; a straight line for a linear law. It is
        scaled with the spread that `confidence` finds for coloured residuals.
    rmse : ndarray
        Root mean square of the weighted residuals.
    limit : float
        Distance at which the interval ends.
    low, high : float
        Interval: where the profile meets the limit; nan where it does not.
    """

    name: str
    values: np.ndarray
    distance: np.ndarray
    rmse: np.ndarray
    limit: float
    low: float
    high: float


def profile(fit: Fit, name: str, points: int = 9) -> Profile:
    """Hold one parameter at values about its estimate and fit all others again.

    Parameters
    ----------
    fit : Fit
        A finished fit.
    name : str
        One of its free parameters.
    points : int
        Values, the estimate included; an odd number of them, at least 3. They span somewhat more than the interval, or
        all of the bounds for a parameter that has none.
    """
    problem = fit.problem
    if name not in problem.names:
        raise UnknownName("free parameter", name, problem.names, where="profile")
    if points < 3:
        raise OutOfBounds(f"profile: points = {points} must be at least 3.")
    j = problem.names.index(name)
    at, half, span = fit.z[j], points // 2, problem.free[name]
    reach = _BEYOND * fit.confidence.quantile * fit.confidence.std[j]
    low, high = (0.0, 1.0) if np.isnan(reach) else (max(at - reach, 0.0), min(at + reach, 1.0))
    sides = [np.linspace(at, end, half + 1)[1:] for end in (low, high)]
    costs = [_walk(problem, fit.z, j, places) for places in sides]
    places = np.concatenate([sides[0][::-1], [at], sides[1]])
    cost = np.concatenate([costs[0][::-1], [fit.cost], costs[1]])
    n = float(np.sum(problem.weight > 0.0))
    inside = len(problem.names)
    variance = 2.0 * fit.cost / max(n - inside, 1.0)
    ratio = fit.confidence.white[j] / fit.confidence.std[j]
    scale = ratio if np.isfinite(ratio) else np.sqrt(fit.confidence.samples / n)
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.sign(places - at) * np.sqrt(np.maximum(2.0 * (cost - fit.cost), 0.0) / variance) * scale
    limit = fit.confidence.quantile
    ends = [_meets(places[half::-1], -distance[half::-1], limit), _meets(places[half:], distance[half:], limit)]
    ends = [span.value(end) if np.isfinite(end) else np.nan for end in ends]
    values = np.array([span.value(float(place)) for place in places])
    return Profile(name, values, distance, np.sqrt(2.0 * cost / n), limit, *ends)


def _walk(problem: Problem, z: np.ndarray, j: int, places: np.ndarray) -> np.ndarray:
    """Costs with parameter j held at places ever further from the minimum, each fit begun where the last ended."""
    others = [name for name in problem.names if name != problem.names[j]]
    costs, here = [], z.copy()
    for place in places:
        here[j] = place
        if others:
            law = problem.fitted(here)
            tied = {name: problem.tied[name] for name in others if name in problem.tied}
            held = Problem(law, problem.tests, {name: problem.free[name] for name in others}, tied=tied)
            found = descend(held, np.delete(here, j), _TOLERANCE)
            here = np.insert(found.z, j, place)
            costs.append(found.cost)
        else:
            costs.append(problem.cost(here))
    return np.array(costs)


def _meets(places: np.ndarray, distance: np.ndarray, limit: float) -> float:
    """First place at which the distance reaches the limit, by straight lines; nan if it does not."""
    beyond = np.flatnonzero(distance >= limit)
    if not beyond.size or beyond[0] == 0:
        return float("nan")
    k = beyond[0]
    part = (limit - distance[k - 1]) / (distance[k] - distance[k - 1])
    return float(places[k - 1] + part * (places[k] - places[k - 1]))
