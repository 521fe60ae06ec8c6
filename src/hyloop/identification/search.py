"""Searching for the least sum of squares: from many starts, or with a swarm, then to the bottom by least squares."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from hyloop.identification.problem import Problem

__all__ = ["Found", "descend", "multi_start", "particle_swarm"]

Progress = Callable[[str, float], None]

_SCREENED = 16  # places looked at for each descent that is made
_ROUGH = 1e-6  # relative change of the sum of squares at which all but the last descent end
_INSIDE = 1e-6  # of the range: scipy's descent starts strictly inside the bounds

# Clerc and Kennedy (2002), doi:10.1109/4235.985692: constriction of a swarm with phi = 4.1
_INERTIA, _PULL = 0.7298, 1.49618
_FASTEST = 0.25  # of the range in one move


class Found(NamedTuple):
    """A minimum: places, half the sum of squares, and whether the descent ended by itself."""

    z: np.ndarray
    cost: float
    converged: bool


def descend(problem: Problem, z: np.ndarray, tolerance: float, most: int = 300) -> Found:
    """Bounded nonlinear least squares (trust region reflective) from one place."""
    from scipy.optimize import least_squares  # here, because it would slow down `import hyloop`

    begin = np.clip(z, _INSIDE, 1.0 - _INSIDE)
    done = least_squares(
        problem.residuals,
        begin,
        jac=problem.jacobian,  # pyright: ignore[reportArgumentType]
        bounds=(0.0, 1.0),
        ftol=tolerance,
        xtol=tolerance,
        gtol=tolerance,
        max_nfev=most,
    )
    return Found(np.asarray(done.x), float(done.cost), bool(done.status > 0))


def multi_start(
    problem: Problem, starts: int, seed: int, tolerance: float, progress: Progress, most: int = 300
) -> tuple[Found, list[float]]:
    """Descend from the law's own parameters and from the best places of a Sobol sequence; also every cost reached.

    With ``starts = 1`` only from the law's own parameters.
    """
    from scipy.stats import qmc

    begins = [problem.start()]
    if starts > 1:
        sobol = qmc.Sobol(len(problem.names), scramble=True, seed=seed)  # pyright: ignore[reportCallIssue]
        places = sobol.random_base2(int(np.ceil(np.log2(_SCREENED * (starts - 1)))))
        costs = np.array([problem.cost(z) for z in places])
        begins += [places[i] for i in np.argsort(costs, kind="stable")[: starts - 1]]
    found = []
    for k, z in enumerate(begins):
        found.append(descend(problem, z, max(_ROUGH, tolerance) if starts > 1 else tolerance, most))
        progress("fitting", (k + 1) / (len(begins) + 1))
    best = min(found, key=lambda one: one.cost)
    best = best if starts == 1 else descend(problem, best.z, tolerance, most)
    progress("fitting", 1.0)
    return best, [one.cost for one in found]


def particle_swarm(
    problem: Problem, seed: int, tolerance: float, progress: Progress, particles: int = 32, moves: int = 80
) -> tuple[Found, list[float]]:
    r"""A swarm in the box, then a descent from its best place; also the best cost after every move.

    .. math:: v \leftarrow \chi v + c\,\rho_1 (z_{own} - z) + c\,\rho_2 (z_{all} - z), \qquad z \leftarrow z + v

    with :math:`\rho` uniform in [0, 1]. A particle that meets a wall stays there and loses its speed across it.

    References
    ----------
    Kennedy, Eberhart (1995), doi:10.1109/ICNN.1995.488968; Clerc, Kennedy (2002), doi:10.1109/4235.985692.
    """
    rng = np.random.default_rng(seed)
    z = rng.random((particles, len(problem.names)))
    z[0] = problem.start()
    v = _FASTEST * (rng.random(z.shape) - 0.5)
    own, own_cost = z.copy(), np.array([problem.cost(one) for one in z])
    history = [float(own_cost.min())]
    for move in range(moves):
        best = own[np.argmin(own_cost)]
        v = _INERTIA * v + _PULL * (rng.random(z.shape) * (own - z) + rng.random(z.shape) * (best - z))
        v = np.clip(v, -_FASTEST, _FASTEST)
        moved = z + v
        z = np.clip(moved, 0.0, 1.0)
        v[moved != z] = 0.0
        cost = np.array([problem.cost(one) for one in z])
        better = cost < own_cost
        own[better], own_cost[better] = z[better], cost[better]
        history.append(float(own_cost.min()))
        progress("fitting", (move + 1) / (moves + 1))
    found = descend(problem, own[np.argmin(own_cost)], tolerance)
    progress("fitting", 1.0)
    return found, history
