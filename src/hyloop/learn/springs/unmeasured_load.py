r"""Springs from readings alone: the load has a known place, and a history that was not measured, or not well.

The history is an unknown like the springs, :math:`P = P_0 + \sigma_P q`, with the prior that q is white and of unit
variance; P₀ is what was measured of it, zero where nothing was. For given springs and structure, q of a sample is found
by Gauss-Newton, and eliminated: with the sensitivities :math:`J_q` of the readings over their noise,

.. math:: \min_q |r|^2 + |q|^2, \qquad
    H = J_\theta^T J_\theta - J_\theta^T J_q (J_q^T J_q + I)^{-1} J_q^T J_\theta

so that Levenberg-Marquardt and the covariance see the springs and the structure alone, with all that the load leaves
open. Noise of the sensors and deviation of the load are stated by the user: no residual could tell one from the other.

What can be known: readings stay the same when load, masses, damping, stiffness and springs are all scaled alike, and a
mass under an unknown load can be anything. So without a measured load the structure must be given: among structures
that explain the readings alike, the most probable load is the smallest one, and would shrink them without limit. With
a load that was measured, though badly, uncertain parts are learned as well. There must be more sensors than patterns.

References
----------
Golub and Pereyra (1973), doi:10.1137/0710036 (elimination); Lourens et al. (2012), doi:10.1016/j.ymssp.2012.01.011
(unknown forces from accelerations, and their slow drift, which only a prior holds).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from scipy.linalg import block_diag

from hyloop.errors import BadInput, BadShape
from hyloop.learn.springs.equation_error import SMOOTHING, estimated_forces, fitted
from hyloop.learn.springs.gauss_newton import levenberg_marquardt
from hyloop.learn.springs.learned import Learned, checked, covered
from hyloop.learn.springs.operators import UncertainPart
from hyloop.learn.springs.through_structure import UnknownSprings, begin, read, respond, with_structure
from hyloop.learn.springs.uncertainty import Uncertainty, gauss_newton_covariance
from hyloop.learn.springs.unknowns import parameters, prior_of

__all__ = ["fit_unmeasured"]

SETTLING = 1  # Gauss-Newton steps of the load before each look at the springs: readings are nearly linear in it


class _Equations(NamedTuple):
    """Of one sample: cost, what is left of gradient and curvature, and a better load."""

    cost: jax.Array
    gradient: jax.Array
    curvature: jax.Array
    q: jax.Array


def fit_unmeasured(
    problem: UnknownSprings,
    laws: Sequence,
    measured: Any,
    *,
    noise: Any,
    load_deviation: Any,
    loads: Any = None,
    uncertain: Sequence[UncertainPart] = (),
    iterations: int = 30,
    progress: Callable[[str, float], None] = lambda what, part: None,
) -> tuple[Learned, np.ndarray]:
    """Learn springs, and uncertain parts, where load histories were not measured; also the loads as they were found.

    Parameters
    ----------
    problem, laws, uncertain, iterations, progress
        As for `hyloop.learn.springs.response_fit.fit_response`.
    measured : (samples, steps, sensors)
        Sensor readings from rest.
    noise : (sensors,)
        Standard deviation of the noise of each sensor.
    load_deviation : float or (patterns,)
        Standard deviation in N, at each instant, of the load from `loads`: its rms where nothing was measured.
    loads : (samples, steps, patterns), optional
        What was measured of the loads; zero by default.
    """
    measured = np.asarray(measured, dtype=float)
    measured = measured[None] if measured.ndim == 2 else measured
    patterns = problem.structure.loads.shape[1]
    believed = np.zeros((*measured.shape[:2], patterns)) if loads is None else loads
    believed, measured = checked("fit_unmeasured", problem, laws, believed, measured, 0)
    scale = _positive("noise", noise, len(problem.sensors)), _positive("load_deviation", load_deviation, patterns)
    if len(problem.sensors) <= patterns:
        raise BadInput(
            f"fit_unmeasured: {len(problem.sensors)} sensors for {patterns} load histories leave nothing to learn "
            "springs from. Give more sensors than load patterns, or measure the load."
        )
    if loads is None and uncertain:
        raise BadInput(
            "fit_unmeasured: with a load that was not measured, uncertain parts of the structure cannot be learned: a "
            "smaller load on a smaller structure gives the same readings. Give `loads`, or leave `uncertain` out."
        )
    weight, deviation = 1.0 / scale[0], scale[1]
    laws, parts = list(laws), list(uncertain)
    assembly = problem.assembly(parts)
    start, put = parameters(laws)
    prior, centre = prior_of(laws, start)
    prior = np.asarray(block_diag(prior, np.eye(len(parts))))
    centre = np.append(centre, np.zeros(len(parts)))
    data = (jnp.asarray(believed), jnp.asarray(measured), jnp.asarray(weight), jnp.asarray(deviation))
    evaluations = 0

    def linearised(theta, q):
        nonlocal evaluations
        evaluations += 1
        return _linearised(jnp.asarray(theta), laws, assembly, problem.substeps, *data, q)

    def settle(theta, q):
        for _ in range(SETTLING):
            q = linearised(theta, q).q
        return q

    progress("equation of motion", 0.0)
    begun = _starts(problem, laws, believed, measured, weight, deviation, len(parts))
    costs = [float(np.sum(linearised(*each).cost)) for each in begun]
    theta, q = begun[int(np.argmin(np.nan_to_num(costs, nan=np.inf)))]
    best = [np.inf, settle(theta, q)]

    def evaluate(theta):
        """From the best load so far; that of a refused step is forgotten."""
        q = settle(theta, best[1])
        found = linearised(theta, q)
        cost = float(np.sum(found.cost))
        if cost < best[0]:
            best[:] = cost, q
        return cost, np.sum(found.gradient, axis=0), np.sum(found.curvature, axis=0)

    progress("springs and loads", 0.1)
    theta = levenberg_marquardt(evaluate, theta, prior, centre, 1.0, iterations=iterations).theta
    found = believed + deviation * np.asarray(settle(theta, best[1]))
    covariance = gauss_newton_covariance(evaluate(theta)[2], prior, 1.0)
    changed = with_structure(problem, parts, theta[start.size :])
    weight = 1.0 / np.std(measured, axis=(0, 1))
    learned = covered(changed, put(theta[: start.size]), found, measured, 0, weight, evaluations)
    progress("done", 1.0)
    return replace(learned, uncertainty=Uncertainty(learned.laws, parts, theta[start.size :], covariance)), found


def _positive(name, given, count):
    given = np.asarray(given, dtype=float)
    if given.ndim > 1 or (given.ndim == 1 and len(given) != count):
        raise BadShape(f"fit_unmeasured: {name} must be one number, or {count}; got shape {given.shape}.")
    if not (np.isfinite(given).all() and (given > 0.0).all()):
        raise BadInput(f"fit_unmeasured: {name} = {given.tolist()} must be positive: it says how far to trust.")
    return np.broadcast_to(given, count)


def _starts(problem, laws, believed, measured, weight, deviation, parts):
    """Parameters and loads from the equation of motion, in which the load is one more force."""
    E = problem.structure.loads
    both = replace(problem, along=np.vstack([np.asarray(problem.along), E.T]), stiffness=0.0)
    springs, starts = len(laws), []
    for d, f in estimated_forces(both, believed, measured, weight, SMOOTHING):
        theta = np.append(fitted(laws, d[..., :springs], f[..., :springs]), np.zeros(parts))
        q = np.zeros(believed.shape)
        q[:, : f.shape[1]] = -f[..., springs:] / deviation
        starts.append((theta, jnp.asarray(q)))
    return starts


@eqx.filter_jit
def _linearised(theta, laws, assembly, substeps, believed, measured, weight, deviation, q):
    """Equations of all samples at the loads q, with q eliminated."""
    flat, put = parameters(laws)

    def residuals(theta, q, believed, measured):
        springs, ops = put(theta[: flat.size]), assembly.operators(theta[flat.size :])
        load = believed + deviation * q
        following = jnp.concatenate([load[1:], load[-1:]])
        part = jnp.arange(substeps)[:, None] / substeps

        def sample(carry, ends):
            inner = ends[0] * (1 - part) + ends[1] * part
            carry, (u, v, a, _, _) = respond(springs, ops, carry, inner[0])
            carry, _ = jax.lax.scan(lambda c, p: (respond(springs, ops, c, p)[0], None), carry, inner[1:])
            return carry, read(ops, u, v, a)

        _, y = jax.lax.scan(sample, begin(springs, ops, load[0]), (load, following))
        return (weight * (y - measured)).ravel()

    def one(entry):
        q, believed, measured = entry
        r = residuals(theta, q, believed, measured)
        J = jax.jacfwd(residuals)(theta, q, believed, measured)
        Jq = jax.jacfwd(residuals, argnums=1)(theta, q, believed, measured).reshape(r.size, q.size)
        A = jax.scipy.linalg.cho_factor(Jq.T @ Jq + jnp.eye(q.size))
        slope = Jq.T @ r + q.ravel()
        across = jax.scipy.linalg.cho_solve(A, jnp.column_stack([slope, Jq.T @ J]))
        coupled = J.T @ Jq
        return _Equations(
            r @ r + jnp.sum(q**2),
            J.T @ r - coupled @ across[:, 0],
            J.T @ J - coupled @ across[:, 1:],
            q - across[:, 0].reshape(q.shape),
        )

    return jax.lax.map(one, (q, believed, measured))
