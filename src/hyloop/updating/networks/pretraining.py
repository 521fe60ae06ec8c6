"""Offline training of a hysteresis network on the record of one test, by Levenberg-Marquardt."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from threadpoolctl import threadpool_limits

from hyloop.core.jit import jit
from hyloop.errors import BadInput, BadShape, UnknownName
from hyloop.neural.hysteresis import ENERGIES, INPUTS
from hyloop.neural.hysteresis import HysteresisNetwork as Network
from hyloop.neural.perceptron import evaluate, gradients, random_weights, weight_count

__all__ = ["pretrain"]

_DAMPING_MAX = 1e10
_LEAST = 50  # samples


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
    progress: Callable[[float], None] = lambda part: None,
) -> Network:
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

    Notes
    -----
    Levenberg-Marquardt with damping 1e-3 at the start, divided by ten after a step that lowers the sum of squares and
    multiplied by ten after one that does not. The inputs hold the measured last force, so it is the one-step error that
    falls; ``Network.error`` is that of the network running freely over the whole record.
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
    samples = _samples(d, f, ENERGIES[energy])
    low, high = samples.min(0), samples.max(0)
    if not (high > low).all():
        raise BadInput("pretrain: the record never changes (constant deformation or force), so nothing can be learned.")
    centre, factor = (low + high) / 2.0, 2.0 / (high - low)
    scaled = (samples - centre) * factor
    rng = np.random.default_rng(seed)
    w = random_weights(rng, INPUTS, width, depth)
    used = rng.permutation(len(d))[: int(share * len(d))]
    # one thread: the same bytes on any number of cores, and matrices this small gain nothing from more
    with threadpool_limits(1):
        w, mse = _levenberg_marquardt(w, np.ascontiguousarray(scaled[used]), width, depth, iterations, progress)
    network = Network(w, centre, factor, 0.0, dt, mse / 4.0, width, depth, energy, stiffness)
    return replace(network, error=float(np.sqrt(np.mean((network.drive(d) - f) ** 2))))


def _samples(d: np.ndarray, f: np.ndarray, rule: int) -> np.ndarray:
    """Inputs and force of every tick, (N, 7), of a device that begins at rest."""
    d_last, f_last = (np.concatenate([[0.0], history[:-1]]) for history in (d, f))
    path = np.diff(d_last, prepend=0.0) if rule == 1 else d_last
    return np.column_stack(
        [d, d_last, f_last, d_last * f_last, f_last * (d - d_last), np.cumsum(np.abs(f_last * path)), f]
    )


def _levenberg_marquardt(
    w: np.ndarray, samples: np.ndarray, width: int, depth: int, iterations: int, progress: Callable[[float], None]
) -> tuple[np.ndarray, float]:
    damping, n = 1e-3, weight_count(INPUTS, width, depth)
    J, e = np.empty((len(samples), n)), np.empty(len(samples))
    best = _residuals(w, samples, J, e, width, depth, True)
    for k in range(iterations):
        progress(k / iterations)
        H, b = J.T @ J, J.T @ e
        while damping < _DAMPING_MAX:
            try:
                step = cho_solve(cho_factor(H + damping * np.eye(n), check_finite=False), b, check_finite=False)
            except LinAlgError:
                damping *= 10.0
                continue
            error = _residuals(w - step, samples, J, e, width, depth, False)
            if error < best:
                break
            damping *= 10.0
        else:
            break  # no step helps any more
        w, damping = w - step, max(0.1 * damping, 1e-20)
        best = _residuals(w, samples, J, e, width, depth, True)
    progress(1.0)
    return w, best / len(samples)


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
