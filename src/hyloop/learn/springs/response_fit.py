"""Springs from the response of the structure: a start from the equation of motion, then least squares through time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from scipy.linalg import block_diag

from hyloop.errors import OutOfBounds
from hyloop.learn.springs.equation_error import pretrained
from hyloop.learn.springs.gauss_newton import levenberg_marquardt, normal_equations
from hyloop.learn.springs.learned import Learned, checked, covered, residuals, squares_of, variance_of
from hyloop.learn.springs.operators import UncertainPart
from hyloop.learn.springs.through_structure import UnknownSprings, begin, prepare, read, respond, with_structure
from hyloop.learn.springs.uncertainty import Uncertainty, gauss_newton_covariance
from hyloop.learn.springs.unknowns import parameters, prior_of, with_parameters

__all__ = ["choose", "fit_response", "through"]

HORIZONS = (1 / 8, 3 / 8, 1.0)  # of the histories
FOLLOWED = 0.5  # NMSE over whole histories below which a start needs no shorter ones
TRUSTED = 1e-3  # least residual of a sensor beside the largest one, when sensors are weighted by what they left

SETTLED = 1e-3  # squared deviations that a last step may still promise, where parts of the structure are uncertain


def fit_response(
    problem: UnknownSprings,
    laws: Sequence,
    loads: Any,
    measured: Any,
    *,
    uncertain: Sequence[UncertainPart] = (),
    held_out: int = 0,
    pretrain: bool = True,
    iterations: int = 30,
    progress: Callable[[str, float], None] = lambda what, part: None,
) -> Learned:
    """Learn the springs of a structure, and parts of it that are uncertain, from load histories and sensor readings.

    Parameters
    ----------
    problem : UnknownSprings
        Structure, places of the springs, sensors.
    laws : sequence
        A law with something to learn for every spring; learning starts there.
    loads : (samples, steps, patterns)
        Force histories in N from rest.
    measured : (samples, steps, sensors)
        Sensor readings, in the order of `problem.sensors`.
    uncertain : sequence of UncertainPart
        Parts of the structure that are known within a deviation only, and are learned with the springs. A linear spring
        in parallel with an unknown one cannot be told from it: only their sum is learned, and its deviation says so.
    held_out : int
        So many of the last samples are judged and not learned from.
    pretrain : bool
        Whether to look for a start by the equation of motion (`hyloop.learn.springs.equation_error`).
    iterations : int
        Largest number of evaluations for a horizon.
    progress : callable
        Hears what is being done and the part of it that is.
    """
    loads, measured = checked("fit_response", problem, laws, loads, measured, held_out)
    keep, steps, laws, parts = len(loads) - held_out, loads.shape[1], list(laws), list(uncertain)
    weight = 1.0 / np.std(measured[:keep], axis=(0, 1))
    assembly = problem.assembly(parts)
    force = prepare(loads[:keep], problem.substeps)
    target = jnp.asarray(np.moveaxis(measured[:keep], 1, 0))
    start, put = parameters(laws)
    prior, centre = prior_of(laws, start)
    prior, centre = np.asarray(block_diag(prior, np.eye(len(parts)))), np.append(centre, np.zeros(len(parts)))
    evaluations = 0

    def found(theta):
        """Structure and springs."""
        return with_structure(problem, parts, theta[start.size :]), put(theta[: start.size])

    def squares(theta):  # of all samples, so that what was compiled serves again at the end
        return squares_of(*found(theta), loads, measured, weight)[:keep]

    def evaluate(theta, n, weight):
        nonlocal evaluations
        evaluations += 1
        return through(jnp.asarray(theta), laws, assembly, force, target, jnp.asarray(weight), jnp.asarray(n))

    def descend(theta, n, weight, variance, tolerance=1e-6):
        # a prior of unit variance beside residuals of this one
        ridge = min(variance, 1.0) if np.isfinite(variance) else 1.0
        return levenberg_marquardt(
            lambda theta: evaluate(theta, n, weight),
            theta,
            prior,
            centre,
            ridge,
            iterations=iterations,
            tolerance=tolerance,
        ).theta

    theta = np.append(np.asarray(start), np.zeros(len(parts)))
    if pretrain:
        progress("equation of motion", 0.0)
        springs = pretrained(
            problem,
            laws,
            theta[: start.size],
            loads[:keep],
            measured[:keep],
            weight,
            lambda one: squares(_with(one, theta)),
        )
        theta = _with(springs, theta)
    # A short horizon visits small deformations only, and what it makes of the rest can be a valley that the whole never
    # leaves. So it is for a start that loses the sensors on the way.
    followed = np.mean(squares(theta)) < FOLLOWED
    for stage, part in enumerate(HORIZONS):
        if part == 1.0 or not followed:
            n = max(2, round(part * steps))
            progress(f"{n} steps", (1 + stage) / (2 + len(HORIZONS)))
            theta = descend(theta, n, weight, np.mean(squares(theta)[:, :n]))
    # Far from the springs a ridge is strong and holds the residuals up, which hold up the next: let go while they fall.
    # A structure that is off does the same to a start from its equation of motion.
    before = np.inf
    while (parts or not pretrain) and (variance := float(np.mean(squares(theta)))) < before / 2:
        theta, before = descend(theta, steps, weight, variance), variance
    # once more, with every sensor as good as the residuals it left: noise and the error of the step differ among them
    left = variance_of(residuals(*found(theta), loads, measured, weight)[:keep])
    if np.isfinite(left).all() and left.max() > 0.0:
        progress("sensors weighted by their residuals", (1 + len(HORIZONS)) / (2 + len(HORIZONS)))
        factor = np.sqrt(np.mean(left) / np.maximum(left, TRUSTED**2 * left.max()))
        weight = weight * factor
        # far closer than a deviation: what a step promises counts in the squares of one reading
        tolerance = min(1e-6, SETTLED / target.size) if parts else 1e-6
        theta = descend(theta, steps, weight, np.mean(left * factor**2), tolerance)
    progress("done", 1.0)
    learned = covered(*found(theta), loads, measured, held_out, 1.0 / np.std(measured[:keep], axis=(0, 1)), evaluations)
    variance = float(np.mean(variance_of(residuals(*found(theta), loads, measured, weight)[:keep])))
    covariance = gauss_newton_covariance(evaluate(theta, steps, weight)[2], prior, variance)
    return replace(learned, uncertainty=Uncertainty(learned.laws, parts, theta[start.size :], covariance))


def _with(springs, theta):
    """Parameters with those of the springs replaced."""
    return np.append(springs, theta[len(springs) :])


def choose(
    problem: UnknownSprings,
    candidates: Mapping[str, Sequence],
    loads: Any,
    measured: Any,
    *,
    held_out: int,
    **settings: Any,
) -> tuple[str, dict[str, Learned]]:
    """Learn with several kinds of laws; the one that errs least on the last `held_out` samples, and all of them."""
    if held_out < 1:
        raise OutOfBounds(f"choose: held_out = {held_out} must be 1 or more; the choice is made on those samples.")
    found = {
        name: fit_response(problem, laws, loads, measured, held_out=held_out, **settings)
        for name, laws in candidates.items()
    }
    # a model that diverges on the held-out samples has an NMSE that is not finite
    return min(found, key=lambda name: found[name].held_out if np.isfinite(found[name].held_out) else np.inf), found


@eqx.filter_jit
def through(theta, laws, assembly, force, target, weight, n):
    """Normal equations of the sensors over the parameters of the laws, then of the uncertain parts."""
    flat, put = parameters(laws)
    known = None if assembly.count else assembly.operators(jnp.zeros(0))  # constants need no derivatives in a step

    def build(theta):
        trees = [law.theta for law in put(theta[: flat.size])]
        return trees, None if known else assembly.operators(theta[flat.size :])

    def of(model):
        return with_parameters(laws, model[0]), known or model[1]

    def advance(model, carry, load):
        laws, ops = of(model)
        carry, (u, v, a, _, _) = respond(laws, ops, carry, load[0])
        carry, _ = jax.lax.scan(lambda c, p: (respond(laws, ops, c, p)[0], None), carry, load[1:])
        return carry, read(ops, u, v, a)

    def start(model):
        return jax.vmap(lambda first: begin(*of(model), first))(force[0, 0])

    return normal_equations(build, advance, start, theta, jnp.moveaxis(force, 2, 1), target, weight, n)
