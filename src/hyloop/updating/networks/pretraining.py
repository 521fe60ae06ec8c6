"""Offline training of a hysteresis network on the record of one test, by Levenberg-Marquardt."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from hyloop.core.jit import jit
from hyloop.core.levenberg_marquardt import Factors, identity, minimise
from hyloop.errors import BadInput, BadShape, OutOfBounds, UnknownName
from hyloop.neural.hysteresis import ENERGIES, INPUTS, HysteresisNetwork
from hyloop.neural.perceptron import evaluate, gradients, random_weights, weight_count

__all__ = ["pretrain"]

_LEAST = 50  # samples
_MIRROR = np.array([-1.0, -1.0, -1.0, 1.0, 1.0, 1.0, -1.0])  # of the inputs and the force of a symmetric device


def pretrain(
    d: Any,
    f: Any,
    *,
    dt: float,
    seed: int = 0,
    iterations: int = 1000,
    width: int = 10,
    depth: int = 3,
    energy: str = "total",
    share: float = 0.75,
    stiffness: float = 0.0,
    rest: float = 0.0,
    symmetric: bool = False,
    progress: Callable[[float], None] = lambda part: None,
) -> HysteresisNetwork:
    """Train a network on the deformation and force of one recorded test.

    Parameters
    ----------
    d, f : array_like, (N,)
        Deformation in m and force in N, from a device at rest.
    dt : float
        Sampling interval in s, the only one at which the network will run.
    seed : int
        Of the starting weights and of the samples set aside.
    iterations : int
        Accepted steps at most; training ends earlier where no step lowers the error.
    share : float
        Part of the samples, drawn at random, that is trained on (the paper: 75 %). The error on the others is not used.
    stiffness : float
        Initial stiffness declared to integration methods.
    rest : float
        For every sample trained on, so many more of a device that does not move and keeps its force, at states drawn
        between rest and those of the record. Without them the force of a network that stands still creeps.
    symmetric : bool
        The device is the same both ways: every sample counts with the other sign as well.

    Notes
    -----
    Levenberg-Marquardt with damping 1e-3 at the start, divided by ten after a step that lowers the sum of squares and
    multiplied by ten after one that does not. The inputs hold the measured last force, so it is the one-step error that
    falls; ``HysteresisNetwork.error`` is that of the network running freely over the whole record.
    """
    d, f = np.asarray(d, dtype=float), np.asarray(f, dtype=float)
    if d.ndim != 1 or d.shape != f.shape or len(d) < _LEAST:
        raise BadShape(
            f"pretrain: d and f must be two histories of one length, at least {_LEAST} samples, got "
            f"{d.shape} and {f.shape}."
        )
    if not (np.isfinite(d).all() and np.isfinite(f).all()):
        raise BadInput("pretrain: the record holds values that are not finite. Cut or repair it.")
    if not (dt > 0.0 and np.isfinite(dt)):
        raise BadInput(f"pretrain: dt = {dt!r} s must be positive and finite.")
    if energy not in ENERGIES:
        raise UnknownName("energy", energy, ENERGIES, where="pretrain")
    if not (rest >= 0.0 and np.isfinite(rest)):
        raise OutOfBounds(f"pretrain: rest = {rest!r} must be finite and not negative.")
    samples = _samples(d, f, ENERGIES[energy])
    if symmetric:
        samples = np.concatenate([samples, samples * _MIRROR])
    low, high = samples.min(0), samples.max(0)
    if not (high > low).all():
        raise BadInput("pretrain: the record never changes (constant deformation or force), so nothing can be learned.")
    centre, factor = (low + high) / 2.0, 2.0 / (high - low)
    scaled = (samples - centre) * factor
    rng = np.random.default_rng(seed)
    w = random_weights(rng, INPUTS, width, depth)
    used = rng.permutation(len(samples))[: int(share * len(samples))]
    known = scaled[used]
    if rest > 0.0:
        known = np.concatenate([known, (_at_rest(rng, samples, int(rest * len(used))) - centre) * factor])
    # one thread: the same bytes on any number of cores, and matrices this small gain nothing from more
    with threadpool_limits(1):
        w, mse = _descend(w, np.ascontiguousarray(known), width, depth, iterations, progress)
    network = HysteresisNetwork(w, centre, factor, 0.0, dt, mse / 4.0, width, depth, energy, stiffness)
    return replace(network, error=float(np.sqrt(np.mean((network.drive(d) - f) ** 2))))


def _samples(d: np.ndarray, f: np.ndarray, rule: int) -> np.ndarray:
    """Inputs and force of every tick, (N, 7), of a device that begins at rest."""
    d_last, f_last = (np.concatenate([[0.0], history[:-1]]) for history in (d, f))
    path = np.diff(d_last, prepend=0.0) if rule == 1 else d_last
    return np.column_stack(
        [d, d_last, f_last, d_last * f_last, f_last * (d - d_last), np.cumsum(np.abs(f_last * path)), f]
    )


def _at_rest(rng: np.random.Generator, samples: np.ndarray, count: int) -> np.ndarray:
    """Inputs and force of a device that does not move, (count, 7), at states between rest and those of the record."""
    at = samples[rng.integers(len(samples), size=count)]
    part = rng.uniform(size=(3, count))
    sign = rng.choice([-1.0, 1.0], size=(2, count))
    d, f, energy = sign[0] * part[0] * at[:, 0], sign[1] * part[1] * at[:, 6], part[2] * at[:, 5]
    return np.column_stack([d, d, f, d * f, np.zeros(count), energy, f])


def _descend(
    w: np.ndarray, samples: np.ndarray, width: int, depth: int, iterations: int, progress: Callable[[float], None]
) -> tuple[np.ndarray, float]:
    """The weights after at most so many steps that helped, and their mean square error."""
    J, e = np.empty((len(samples), weight_count(INPUTS, width, depth))), np.empty(len(samples))

    def cost(w: np.ndarray) -> float:
        return _residuals(w, samples, J, e, width, depth, False) / 2

    def normal(w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        _residuals(w, samples, J, e, width, depth, True)
        return J.T @ e, J.T @ J

    progress(0.0)
    found = minimise(
        cost,
        normal,
        w,
        Factors(1e-3, least=1e-20),
        scaling=identity,
        steps=iterations,
        watch=lambda trials, steps, cost: progress(steps / iterations),
    )
    progress(1.0)
    return found.theta, 2 * found.cost / len(samples)


@jit
def _residuals(w, samples, J, e, width, depth, with_jacobian):
    """Sum of squares; residuals in `e` and, where asked for, their derivatives in `J`."""
    hidden, delta, gz = np.empty(width * depth), np.empty(width * depth), np.empty(INPUTS)
    total = 0.0
    for m in range(len(samples)):
        z = samples[m]
        residual = evaluate(w, z, hidden, INPUTS, width, depth) - z[INPUTS]
        total += residual * residual
        if with_jacobian:
            e[m] = residual
            gradients(w, z, hidden, J[m], gz, delta, INPUTS, width, depth)
    return total
