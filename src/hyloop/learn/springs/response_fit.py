"""Springs from the response of the structure: a start from the equation of motion, then least squares through time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from hyloop.errors import BadInput, BadShape, OutOfBounds
from hyloop.learn.springs.equation_error import estimated_forces
from hyloop.learn.springs.gauss_newton import levenberg_marquardt, normal_equations
from hyloop.learn.springs.through_structure import UnknownSprings, begin, prepare, read, respond

__all__ = ["Learned", "checked", "choose", "covered", "fit_response", "nmse", "with_parameters"]

HORIZONS = (1 / 8, 3 / 8, 1.0)  # of the histories
FOLLOWED = 0.5  # NMSE over whole histories below which a start needs no shorter ones
TRUSTED = 1e-3  # least residual of a sensor beside the largest one, when sensors are weighted by what they left
PAIRS = 40  # most evaluations of a fit to pairs; laws that are linear in what is learned need two


@dataclass(frozen=True, eq=False)
class Learned:
    """Springs learned from a response.

    Attributes
    ----------
    laws : list
        The laws, trusted within `coverage` only: beyond it they go on along their end tangents.
    nmse : float
        Mean squared error over the variance of the sensors, on the samples learned from.
    coverage : ndarray, (springs, 2)
        Smallest and largest deformation of each spring in those samples.
    held_out : float
        NMSE of samples not learned from; nan where none were given.
    iterations : int
        Evaluations of the sensitivities.
    """

    laws: list
    nmse: float
    coverage: np.ndarray
    held_out: float
    iterations: int

    def outside(self, d: Any) -> np.ndarray:
        """Part of deformations (..., springs) outside the coverage, for each spring: there nothing was learned."""
        d = np.asarray(d, dtype=float).reshape(-1, len(self.coverage))
        return np.mean((d < self.coverage[:, 0]) | (d > self.coverage[:, 1]), axis=0)


def fit_response(
    problem: UnknownSprings,
    laws: Sequence,
    loads: Any,
    measured: Any,
    *,
    held_out: int = 0,
    pretrain: bool = True,
    iterations: int = 30,
    progress: Callable[[str, float], None] = lambda what, part: None,
) -> Learned:
    """Learn the springs of a structure from load histories and sensor readings.

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
    keep = len(loads) - held_out
    weight = 1.0 / np.std(measured[:keep], axis=(0, 1))
    ops, laws, steps = problem.operators(), list(laws), loads.shape[1]
    force = prepare(loads[:keep], problem.substeps)
    target = jnp.asarray(np.moveaxis(measured[:keep], 1, 0))
    start, put = _parameters(laws)
    prior, centre = _prior(laws, start)
    evaluations = 0

    def squares(theta):  # of all samples, so that what was compiled serves again at the end
        return _squares(problem, put(theta), loads, measured, weight)[:keep]

    def descend(theta, n, weight, variance):
        def evaluate(theta):
            nonlocal evaluations
            evaluations += 1
            return _through(jnp.asarray(theta), laws, ops, force, target, jnp.asarray(weight), jnp.asarray(n))

        # a prior of unit variance beside residuals of this one
        ridge = min(variance, 1.0) if np.isfinite(variance) else 1.0
        return levenberg_marquardt(evaluate, theta, prior, centre, ridge, iterations=iterations).theta

    theta = np.asarray(start)
    if pretrain:
        progress("equation of motion", 0.0)
        theta = _pretrained(problem, laws, theta, loads[:keep], measured[:keep], weight, squares)
    # A short horizon visits small deformations only, and what it makes of the rest can be a valley that the whole never
    # leaves. So it is for a start that loses the sensors on the way.
    followed = np.mean(squares(theta)) < FOLLOWED
    for stage, part in enumerate(HORIZONS):
        if part == 1.0 or not followed:
            n = max(2, round(part * steps))
            progress(f"{n} steps", (1 + stage) / (2 + len(HORIZONS)))
            theta = descend(theta, n, weight, np.mean(squares(theta)[:, :n]))
    # far from the springs a ridge is strong and holds the residuals up, which hold up the next: let go while they fall
    before = np.inf
    while not pretrain and (variance := float(np.mean(squares(theta)))) < before / 2:
        theta, before = descend(theta, steps, weight, variance), variance
    # once more, with every sensor as good as the residuals it left: noise and the error of the step differ among them
    left = _variance(_residuals(problem, put(theta), loads, measured, weight)[:keep])
    if np.isfinite(left).all() and left.max() > 0.0:
        progress("sensors weighted by their residuals", (1 + len(HORIZONS)) / (2 + len(HORIZONS)))
        factor = np.sqrt(np.mean(left) / np.maximum(left, TRUSTED**2 * left.max()))
        theta = descend(theta, steps, weight * factor, np.mean(left * factor**2))
    progress("done", 1.0)
    return covered(problem, put(theta), loads, measured, held_out, weight, evaluations)


def covered(
    problem: UnknownSprings,
    laws: Sequence,
    loads: np.ndarray,
    measured: np.ndarray,
    held_out: int,
    weight: np.ndarray,
    evaluations: int,
) -> Learned:
    """What was learned, with the range it was learned on and its errors."""
    keep = len(loads) - held_out
    d = problem.simulate(laws, loads).d[:keep]
    coverage = np.stack([d.min(axis=(0, 1)), d.max(axis=(0, 1))], axis=1)
    laws = [law.within(*ends) for law, ends in zip(laws, coverage, strict=True)]
    squares = _squares(problem, laws, loads, measured, weight)
    return Learned(
        laws,
        float(np.mean(squares[:keep])),
        coverage,
        float(np.mean(squares[keep:])) if held_out else np.nan,
        evaluations,
    )


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


def nmse(problem: UnknownSprings, laws: Sequence, loads: Any, measured: Any) -> float:
    """Mean over sensors of the squared error over the variance of the sensor, Eq. (2) of Luo et al. by its count."""
    measured = np.asarray(measured, dtype=float)
    return float(np.mean(_squares(problem, laws, loads, measured, 1.0 / np.std(measured, axis=(0, 1)))))


def _residuals(problem, laws, loads, measured, weight):
    return weight * (problem.simulate(laws, loads).sensors - measured)


def _squares(problem, laws, loads, measured, weight):
    with np.errstate(over="ignore", invalid="ignore"):  # a model that diverges gives an infinite error
        return _residuals(problem, laws, loads, measured, weight) ** 2


def _variance(r):
    """Variance of the residuals (samples, steps, sensors) of every sensor, for as many readings without memory.

    Times (1 + ρ)/(1 - ρ), with the correlation ρ of neighbours: so many readings tell as much as one without memory.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        squares = np.mean(r**2, axis=(0, 1))
        memory = np.clip(np.mean(r[:, 1:] * r[:, :-1], axis=(0, 1)) / squares, 0.0, 0.999)
        return squares * (1 + memory) / (1 - memory)


@eqx.filter_jit
def _through(theta, laws, ops, force, target, weight, n):
    """Normal equations of the sensors over the parameters, through the structure."""
    _, put = _parameters(laws)

    def advance(theta, carry, load):
        laws = put(theta)
        carry, (u, v, a, _, _) = respond(laws, ops, carry, load[0])
        carry, _ = jax.lax.scan(lambda c, p: (respond(laws, ops, c, p)[0], None), carry, load[1:])
        return carry, read(ops, u, v, a)

    def start(theta):
        return jax.vmap(lambda first: begin(put(theta), ops, first))(force[0, 0])

    return normal_equations(advance, start, theta, jnp.moveaxis(force, 2, 1), target, weight, n)


@eqx.filter_jit
def _open(theta, law, d, f, weight):
    """Normal equations of the force of one law over its parameters, for given deformations (steps, samples)."""
    _, put = _parameters([law])

    def advance(theta, state, d):
        force, state = put(theta)[0](state, d)
        return state, force[None]

    def start(theta):
        rest = law.rest()
        return jnp.broadcast_to(rest, (d.shape[1], *rest.shape))

    return normal_equations(advance, start, theta, d, f[..., None], weight, d.shape[0])


def _pretrained(problem, laws, theta, loads, measured, weight, squares):
    """The start that explains the sensors best: the one given, or one from the equation of motion."""
    starts = [theta]
    for d, f in estimated_forces(problem, loads, measured, weight):
        parts = []
        for j, law in enumerate(laws):
            own, _ = _parameters([law])
            prior, centre = _prior([law], own)
            d_j, f_j, size = jnp.asarray(d[..., j].T), jnp.asarray(f[..., j].T), 1.0 / max(np.std(f[..., j]), 1e-300)
            # an estimate is as good as one in a hundred of the force
            found = levenberg_marquardt(
                lambda theta, law=law, d=d_j, f=f_j, size=size: _open(jnp.asarray(theta), law, d, f, jnp.array([size])),
                np.asarray(own),
                prior,
                centre,
                1e-4,
                iterations=PAIRS,
            )
            parts.append(found.theta)
        starts.append(np.concatenate(parts))
    return starts[int(np.argmin([np.nan_to_num(np.mean(squares(start)), nan=np.inf) for start in starts]))]


def _parameters(laws):
    """What is learned, flat, and how to put it back."""
    flat, unravel = ravel_pytree([law.theta for law in laws])

    def put(theta):
        return with_parameters(laws, unravel(jnp.asarray(theta)))

    return flat, put


def with_parameters(laws: Sequence, trees: Sequence) -> list:
    """The same laws with other parameters, a tree for each."""
    return [eqx.tree_at(lambda law: law.theta, law, tree) for law, tree in zip(laws, trees, strict=True)]


def _prior(laws, theta):
    """R and c of the deviations from the prior, which are linear in the parameters."""
    R, value = (np.asarray(part) for part in _deviations(theta, laws))
    return R, R @ np.asarray(theta) - value


@eqx.filter_jit
def _deviations(theta, laws):
    _, put = _parameters(laws)

    def deviations(theta):
        return jnp.concatenate([law.prior() for law in put(theta)])

    return jax.jacfwd(deviations)(theta), deviations(theta)


def checked(where: str, problem: UnknownSprings, laws: Sequence, loads: Any, measured: Any, held_out: int):
    """Loads and readings as arrays, after everything that could be wrong with them was looked at."""
    if len(laws) != len(np.asarray(problem.along)):
        raise BadShape(f"{where}: {len(laws)} laws for {len(np.asarray(problem.along))} springs.")
    count = sum(leaf.size for law in laws for leaf in jax.tree.leaves(law.theta))
    if any(not jax.tree.leaves(law.theta) for law in laws):
        raise BadInput(f"{where}: one of the laws has nothing to learn. Give a spline, a network or an operator.")
    loads, measured = problem.checked_loads(loads), np.asarray(measured, dtype=float)
    measured = measured[None] if measured.ndim == 2 else measured
    if measured.shape != (*loads.shape[:2], len(problem.sensors)):
        raise BadShape(
            f"{where}: readings must be (samples, steps, sensors) = {(*loads.shape[:2], len(problem.sensors))}, "
            f"one column for each of {', '.join(problem.sensors)}; got {measured.shape}."
        )
    bad = ~np.isfinite(measured).all(axis=1)
    if bad.any():
        sample, sensor = np.argwhere(bad)[0]
        raise BadShape(
            f"{where}: sensor {list(problem.sensors)[sensor]} of sample {sample} has readings that are not finite. "
            "Leave the sample out, or the sensor."
        )
    if not 0 <= held_out < len(loads):
        raise OutOfBounds(f"{where}: held_out = {held_out} of {len(loads)} samples leaves none to learn from.")
    readings = (len(loads) - held_out) * measured.shape[1] * measured.shape[2]
    if measured.shape[1] < 8 or readings < 2 * count:
        raise BadInput(
            f"{where}: {measured.shape[1]} steps give {readings} readings for {count} unknowns; too short to learn "
            f"from. Give at least 8 steps and {2 * count} readings, or a law with fewer unknowns."
        )
    if np.min(np.std(measured[: len(loads) - held_out], axis=(0, 1))) == 0.0:
        raise BadInput(f"{where}: a sensor never changes. Leave it out.")
    return loads, measured
