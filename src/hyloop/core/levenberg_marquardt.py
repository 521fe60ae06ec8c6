r"""Levenberg-Marquardt: least squares by damped Gauss-Newton steps, one loop for every fit of the package.

.. math:: \min_\theta \; \tfrac12 |r(\theta)|^2 + \pi(\theta), \qquad
    (J^T J + \nabla^2 \pi + \lambda D)\,\delta = -J^T r - \nabla \pi

What a fit brings is its cost, its normal equations and, where it has one, a prior π. What it chooses is the scaling D
(`identity`, or Marquardt's `diagonal`), the rule of the damping λ (`Factors`, or `Nielsen`'s by the gain ratio), the
solver, and when to stop. A step that does not lower the cost, be it that the cost is not a number there, is refused and
the damping raised.

The network that learns inside a tick (`hyloop.updating.networks.forgetting_step`) has another algorithm: it has many
more weights than samples, and a deadline, so it solves the dual equations, which are as many as its samples.

References
----------
Levenberg (1944), doi:10.1090/qam/10666; Marquardt (1963), doi:10.1137/0111030; Nielsen (1999), Damping parameter in
Marquardt's method, report IMM-REP-1999-05; Nocedal and Wright (2006), Numerical Optimization, section 10.3.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

__all__ = ["Damping", "Factors", "Minimum", "Nielsen", "cholesky", "diagonal", "identity", "minimise", "together"]

LARGEST = 1e10  # damping beyond which a step changes nothing
SMALLEST_SCALE = 1e-12  # of the largest entry of the diagonal: a parameter without any effect must not be divided by


class Damping(Protocol):
    """A rule for the damping: `value` is the present one."""

    value: float

    def accept(self, gained: float, promised: float) -> None:
        """A step has lowered the cost by `gained`, where the quadratic model promised `promised`."""
        ...

    def refuse(self) -> None:
        """A step did not lower the cost, or could not be computed."""
        ...


@dataclass
class Factors:
    """Raised by one factor, lowered by another.

    Parameters
    ----------
    value, raised, lowered : float
        Damping at the start, factor after a step that failed, and after one that did not.
    trust : float
        Part of the promised descent that must have come true for the damping to be lowered.
    least : float
        Lower bound of the damping.
    """

    value: float
    raised: float = 10.0
    lowered: float = 0.1
    trust: float = 0.0
    least: float = 0.0

    def accept(self, gained: float, promised: float) -> None:
        if self.trust == 0.0 or gained > self.trust * promised:
            self.value = max(self.lowered * self.value, self.least)

    def refuse(self) -> None:
        self.value *= self.raised


@dataclass
class Nielsen:
    """Lowered smoothly by the ratio of what was gained to what was promised; raised faster with every failure."""

    value: float = 1e-3
    growth: float = 2.0

    def accept(self, gained: float, promised: float) -> None:
        self.value *= max(1 / 3, 1 - (2 * (gained / promised) - 1) ** 3)
        self.growth = 2.0

    def refuse(self) -> None:
        self.value *= self.growth
        self.growth *= 2


def identity(curvature: np.ndarray) -> np.ndarray:
    """Levenberg's scaling: steps are held small in the parameters as they are."""
    return np.ones(len(curvature))


def diagonal(curvature: np.ndarray) -> np.ndarray:
    """Marquardt's scaling: the same steps whatever the units of the parameters."""
    d = np.diag(curvature)
    return np.maximum(d, SMALLEST_SCALE * d.max())


def cholesky(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Solve A x = b; raises `LinAlgError` where A is not positive definite."""
    return cho_solve(cho_factor(A, check_finite=False), b, check_finite=False)


class Minimum(NamedTuple):
    """Where a descent ended."""

    theta: np.ndarray
    cost: float  # ½ |r|² alone, without the prior
    costs: np.ndarray  # with the prior: at the start and after each trial
    steps: int  # trials that helped
    converged: bool  # no step promised more than the tolerance

    @property
    def trials(self) -> int:
        """Costs computed after the first."""
        return len(self.costs) - 1


def _no_prior(theta: np.ndarray) -> tuple[float, float, float]:
    return 0.0, 0.0, 0.0


def minimise(
    cost: Callable[[np.ndarray], Any],
    normal: Callable[[np.ndarray], tuple[Any, Any]],
    theta: np.ndarray,
    damping: Damping,
    *,
    prior: Callable[[np.ndarray], tuple[Any, Any, Any]] = _no_prior,
    scaling: Callable[[np.ndarray], np.ndarray] = diagonal,
    solve: Callable[[np.ndarray, np.ndarray], np.ndarray] = cholesky,
    trials: float = np.inf,
    steps: float = np.inf,
    largest: float = LARGEST,
    tolerance: float | None = None,
    watch: Callable[[int, int, float], None] = lambda trials, steps, cost: None,
) -> Minimum:
    """Descend from `theta` until nothing helps, or enough has been tried.

    Parameters
    ----------
    cost : callable
        ``cost(theta)``, half of the sum of squares; not finite where a step must not lead.
    normal : callable
        ``normal(theta) -> (J'r, J'J)``, asked for before a step, at the theta whose cost was computed last. A fit that
        gets all three at once uses `together`.
    damping : Damping
        `Factors` or `Nielsen`; it moves on with the descent.
    prior : callable
        ``prior(theta) -> (cost, gradient, curvature)``, added to those of the residuals.
    scaling : callable
        Diagonal of D from the curvature: `diagonal` or `identity`.
    solve : callable
        For the damped equations; a `LinAlgError` raises the damping.
    trials, steps : float
        Most steps to try, and most to take.
    largest : float
        Damping at which the descent ends: no step helps any more.
    tolerance : float, optional
        The descent has converged when a step promises less than this part of the cost.
    watch : callable
        Called after each trial with the numbers of trials and of steps so far, and the cost.
    """
    here, taken, converged, equations = _at(theta, cost, prior), 0, False, None
    costs = [here.total]
    while len(costs) <= trials and taken < steps and damping.value < largest and np.isfinite(here.total):
        equations = equations or _equations(theta, normal, prior)
        step = _step(*equations, damping.value, scaling, solve)
        if step is None:
            damping.refuse()
            continue
        promised = _promised(step, *equations)
        if tolerance is not None and promised <= tolerance * here.total:
            converged = True
            break
        there = _at(theta + step, cost, prior)
        if there.total < here.total:  # false where it is not a number
            damping.accept(here.total - there.total, promised)
            theta, here, taken, equations = theta + step, there, taken + 1, None
        else:
            damping.refuse()
        costs.append(here.total)
        watch(len(costs) - 1, taken, here.total)
    return Minimum(theta, here.residuals, np.array(costs), taken, converged)


class _Cost(NamedTuple):
    residuals: Any
    total: Any


def _at(theta: np.ndarray, cost: Callable, prior: Callable) -> _Cost:
    residuals = cost(theta)
    return _Cost(residuals, residuals + prior(theta)[0])


def _equations(theta: np.ndarray, normal: Callable, prior: Callable) -> tuple[np.ndarray, np.ndarray]:
    (gradient, curvature), (_, slope, stiffness) = normal(theta), prior(theta)
    return gradient + slope, curvature + stiffness


def _step(
    gradient: np.ndarray, curvature: np.ndarray, damping: float, scaling: Callable, solve: Callable
) -> np.ndarray | None:
    """The damped step; None where the equations have no solution."""
    try:
        step = -solve(curvature + np.diag(damping * scaling(curvature)), gradient)
    except LinAlgError:
        return None
    return step if np.isfinite(step).all() else None


def _promised(step: np.ndarray, gradient: np.ndarray, curvature: np.ndarray) -> Any:
    """What the quadratic model gains by a step."""
    return -(step @ gradient) - step @ curvature @ step / 2


def together(evaluate: Callable[[np.ndarray], tuple[Any, Any, Any]]) -> tuple[Callable, Callable]:
    """`cost` and `normal` of a fit that computes all at once: ``evaluate(theta) -> (cost, J'r, J'J)``."""
    last: list[Any] = []

    def cost(theta: np.ndarray) -> Any:
        last[:] = evaluate(theta)
        return last[0]

    def normal(theta: np.ndarray) -> tuple[Any, Any]:
        return last[1], last[2]

    return cost, normal
