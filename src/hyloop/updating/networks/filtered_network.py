r"""A hysteresis network followed by an extended Kalman filter: what it should be scaled by, and how its weights change.

The measured device is taken for one *similar* to that of the training: with a force scale *a* and a length scale *b*

.. math:: f_i = a\,\varphi\!\left(\tfrac{d_i}{b}, \tfrac{d_{i-1}}{b}, \tfrac{f_{i-1}}{a}, \dots,
          \tfrac{E_{i-1}}{ab};\ w\right) + e_i,

with :math:`\theta = (\ln a, \ln b, w)` unknown around :math:`(0, 0, w_0)`, much in the scales and little in the
weights. The filter remembers the whole test, unlike a window, and its prior is the anchor: what the measured device has
not shown stays as it was trained. That is what a model at another place needs, where deformation and energy are others.

A guard decides whether the models get the updated network. Two networks run freely under the measured deformation, the
frozen one and the updated one, as a model at that place would. The update is used where (1) the frozen network is
contradicted, its mean square error more than `evidence` times what its training error and the sensor noise explain, and
(2) the updated one has less than `gain` times that error. So noise alone never changes a model.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from hyloop.core.block import Block, Instance, Param, inplace_block
from hyloop.core.jit import verb
from hyloop.errors import BadInput, OutOfBounds, UnknownName
from hyloop.neural.hysteresis import ENERGIES, INPUTS, absorbed, features, limited
from hyloop.neural.hysteresis import HysteresisNetwork as Network
from hyloop.neural.perceptron import evaluate, gradients, weight_count

__all__ = ["filtered_network"]

_CALM = 50.0  # ticks the guard counts in advance as explained, so that it does not jump at the first sample


def filtered_network(
    network: Network,
    *,
    noise: float = 0.0,
    noise_d: float = 0.0,
    model_error: float = 0.01,
    scale_std: float = 0.2,
    weight_std: float = 3e-3,
    process: float = 0.0,
    adapt: str = "all",
    evidence: float = 9.0,
    gain: float = 0.8,
    fading: float = 0.999,
) -> Instance:
    """An updater that follows a measured device with two scales and the weights of a network.

    Inputs are the measured deformation ``d`` and force ``f_m``. Outputs are ``force_scale``, ``length_scale`` and the
    weights ``w_0, w_1, ...`` for the models that follow, ``f`` (prediction of the measured force, made before learning
    from it), ``innovation`` and ``updated`` (1 where the guard lets the update out, else 0).

    Parameters
    ----------
    network : Network
        The pre-trained network; see `pretrain`.
    noise, noise_d : float
        Standard deviation of the measured force in N and of the measured deformation in m.
    model_error : float
        Standard deviation of what the network cannot represent, as a fraction of half the force range of its training.
    scale_std, weight_std : float
        Standard deviation of the logarithms of the two scales, and of the weights, before the test.
    process : float
        Random walk of both in a tick, as a fraction of these. 0 takes the device for constant.
    adapt : {"all", "output", "scales"}
        Weights that may change: all, those of the output layer, or none beside the two scales.
    evidence, gain, fading : float
        The guard: see the module. `fading` is the weight of a tick over that of the next one; ``evidence=0`` with
        ``gain=inf`` turns the guard off.

    Notes
    -----
    Both noises pass through the derivatives of the network into the variance of a measured force. The covariance stays
    positive definite because only :math:`P h h^T P / (h^T P h + R)` with R > 0 is ever taken away.

    References
    ----------
    Singhal, Wu (1989), Training multilayer perceptrons with the extended Kalman algorithm; Wang et al. (2020) for the
    law.
    """
    where = "filtered_network"
    positive = {"model_error": model_error, "scale_std": scale_std, "weight_std": weight_std, "gain": gain}
    for key, value in positive.items():
        if not value > 0.0:
            raise OutOfBounds(f"{where}: {key} = {value!r} must be positive.")
    for key, value in {"noise": noise, "noise_d": noise_d, "process": process, "evidence": evidence}.items():
        if not (value >= 0.0 and math.isfinite(value)):
            raise OutOfBounds(f"{where}: {key} = {value!r} must be finite and not negative.")
    if not 0.0 < fading < 1.0:
        raise OutOfBounds(f"{where}: fading = {fading!r} must lie between 0 and 1.")
    n = len(network.weights)
    adaptive = {"all": n, "output": network.width + 1, "scales": 0}
    if adapt not in adaptive:
        raise UnknownName("adaptive part", adapt, adaptive, where=where)
    if not network.error > 0.0 and noise == 0.0:
        raise BadInput(
            f"{where}: the network has no training error and no noise is given; state the noise of the force."
        )
    block = _block(network.width, network.depth, network.energy, adaptive[adapt], network.dt)
    at, numbers = _places(network.width, network.depth, adaptive[adapt]), np.zeros(block.memory)
    numbers[at.w : at.w + n] = numbers[at.frozen : at.frozen + n] = network.weights
    numbers[at.scale : at.scale + 14] = [*network.centre, *network.factor]
    stds = np.r_[np.full(2, scale_std), np.full(adaptive[adapt], weight_std)]
    numbers[at.P : at.P + len(stds) ** 2] = np.diag(stds**2).ravel()
    settings = {
        "tolerance": network.error,
        "floor": model_error / network.factor[6],
        "noise": noise,
        "noise_d": noise_d,
        "scale_std": scale_std,
        "weight_std": weight_std,
        "process": process,
        "evidence": evidence,
        "gain": gain,
        "fading": fading,
    }
    initial = {"sum_frozen": _CALM, "sum_updated": _CALM, "ticks": _CALM}
    return block(memory=numbers, initial=initial, **settings)


class _Places(NamedTuple):
    """Where everything lies in the block's memory."""

    w: int
    frozen: int  # pre-trained weights
    scale: int  # centre and factor of the six inputs and the force
    P: int
    h: int
    Ph: int
    g: int
    z: int
    gz: int
    hidden: int
    delta: int
    size: int


@cache
def _places(width: int, depth: int, adaptive: int) -> _Places:
    n, free = weight_count(INPUTS, width, depth), 2 + adaptive
    sizes = [n, n, 14, free * free, free, free, n, INPUTS, INPUTS, width * depth, width * depth]
    return _Places(*np.cumsum([0, *sizes]).tolist())


# named state of the block
_D, _F, _E, _A, _B, _FROZEN_F, _FROZEN_E, _VARIANCE, _SHARED, _OWN_F, _OWN_E, _SUM_FROZEN, _SUM_OWN, _TICKS = range(14)
_STATE = {
    "d_last": "m",
    "f_last": "N",
    "energy": "J",
    "ln_a": "-",
    "ln_b": "-",
    "f_frozen": "N",
    "e_frozen": "J",
    "variance": "N2",
    "shared": "N m",
    "f_updated": "N",
    "e_updated": "J",
    "sum_frozen": "-",
    "sum_updated": "-",
    "ticks": "-",
}


@cache
def _block(width: int, depth: int, energy: str, adaptive: int, dt: float) -> Block:
    n = weight_count(INPUTS, width, depth)
    make = inplace_block(
        inputs={"d": "m", "f_m": "N"},
        outputs={
            "force_scale": "-",
            "length_scale": "-",
            **{f"w_{k}": "-" for k in range(n)},
            "f": "N",
            "innovation": "N",
            "updated": "-",
        },
        state=_STATE,
        params={
            "tolerance": Param("N", 1.0, 0.0, about="error of the freely running network in training"),
            "floor": Param("N", 1.0, 0.0, about="what the network cannot represent, standard deviation"),
            "noise": Param("N", 0.0, 0.0, about="standard deviation of the measured force"),
            "noise_d": Param("m", 0.0, 0.0, about="standard deviation of the measured deformation"),
            "scale_std": Param("-", 0.2, 0.0, about="standard deviation of the logarithms of the scales at the start"),
            "weight_std": Param("-", 3e-3, 0.0, about="standard deviation of the weights at the start"),
            "process": Param("-", 0.0, 0.0, about="random walk in a tick over these"),
            "evidence": Param("-", 9.0, 0.0, about="squared error over what is explained that contradicts it"),
            "gain": Param("-", 0.8, 0.0, about="squared error of the update over that of the frozen network"),
            "fading": Param("-", 0.999, 0.0, 1.0, about="forgetting factor of the guard"),
        },
        memory=_places(width, depth, adaptive).size,
        reference="Singhal and Wu (1989), Training multilayer perceptrons with the extended Kalman algorithm.",
    )
    return replace(make(_step(width, depth, ENERGIES[energy], adaptive)), name="filtered_network", tick=dt)


@verb
def _slopes(gz, s, d, d_last, f_last):
    """Derivatives of the force (in the units of training) by d, d_last, f_last and the energy."""
    by_d = (gz[0] * s[0] + gz[4] * s[4] * f_last) / s[6]
    by_last = (gz[1] * s[1] + gz[3] * s[3] * f_last - gz[4] * s[4] * f_last) / s[6]
    by_f = (gz[2] * s[2] + gz[3] * s[3] * d_last + gz[4] * s[4] * (d - d_last)) / s[6]
    return by_d, by_last, by_f, gz[5] * s[5] / s[6]


def _step(width: int, depth: int, rule: int, adaptive: int) -> Callable:
    n, free, named = weight_count(INPUTS, width, depth), 2 + adaptive, len(_STATE)
    W, FROZEN, SCALE, COVARIANCE, H, PH, G, Z, GZ, HIDDEN, DELTA, SIZE = _places(width, depth, adaptive)
    rest = n - adaptive

    def advance(x, u, dt, p, y):
        m = x[named:]
        w, frozen, c, s = m[W : W + n], m[FROZEN : FROZEN + n], m[SCALE : SCALE + 7], m[SCALE + 7 : SCALE + 14]
        P, h, Ph, g = m[COVARIANCE:H], m[H:PH], m[PH:G], m[G:Z]
        z, gz, hidden, delta = m[Z:GZ], m[GZ:HIDDEN], m[HIDDEN:DELTA], m[DELTA:SIZE]
        d, f_m, d_last = u[0], u[1], x[_D]
        R_f, R_d = p[2] * p[2], p[3] * p[3]

        if math.isfinite(d) and math.isfinite(f_m):  # a sample that is missing teaches nothing
            # the frozen network runs freely, and with it the variance that noise in d gives its force:
            # the noise of this tick enters the next one too, with the other sign, hence the shared part
            features(z, d, d_last, x[_FROZEN_F], x[_FROZEN_E], c, s)
            f = limited(evaluate(frozen, z, hidden, INPUTS, width, depth)) / s[6] + c[6]
            gradients(frozen, z, hidden, g, gz, delta, INPUTS, width, depth)
            by_d, by_last, by_f, _ = _slopes(gz, s, d, d_last, x[_FROZEN_F])
            by_f = min(max(by_f, -1.0), 1.0)
            x[_VARIANCE] = max(
                by_f * by_f * x[_VARIANCE]
                + (by_d * by_d + by_last * by_last) * R_d
                + 2.0 * by_f * by_last * x[_SHARED],
                0.0,
            )
            x[_SHARED] = by_d * R_d
            x[_FROZEN_F] = f
            x[_FROZEN_E] += absorbed(f, d, d_last, rule)
            explained = p[0] * p[0] + R_f + x[_VARIANCE]

            # so does the updated network, before it learns from this sample
            a, b = math.exp(x[_A]), math.exp(x[_B])
            features(z, d / b, d_last / b, x[_OWN_F] / a, x[_OWN_E] / (a * b), c, s)
            own = a * (limited(evaluate(w, z, hidden, INPUTS, width, depth)) / s[6] + c[6])
            x[_OWN_F] = own
            x[_OWN_E] += absorbed(own, d, d_last, rule)
            x[_SUM_FROZEN] = p[9] * x[_SUM_FROZEN] + (f - f_m) ** 2 / explained
            x[_SUM_OWN] = p[9] * x[_SUM_OWN] + (own - f_m) ** 2 / explained
            x[_TICKS] = p[9] * x[_TICKS] + 1.0

            # extended Kalman filter on (ln a, ln b, weights), with the measured last force as input
            f_last, energy = x[_F] / a, x[_E] / (a * b)
            features(z, d / b, d_last / b, f_last, energy, c, s)
            predicted = limited(evaluate(w, z, hidden, INPUTS, width, depth)) / s[6] + c[6]
            gradients(w, z, hidden, g, gz, delta, INPUTS, width, depth)
            by_d, by_last, by_f, by_e = _slopes(gz, s, d / b, d_last / b, f_last)
            h[0] = a * (predicted - by_f * f_last - by_e * energy)
            h[1] = -a * (by_d * d / b + by_last * d_last / b + by_e * energy)
            for k in range(adaptive):
                h[2 + k] = a * g[rest + k] / s[6]
            for k in range(free):
                Ph[k] = 0.0
            for j in range(free):  # P is symmetric: columns are rows
                hj, row = h[j], P[j * free : (j + 1) * free]
                for k in range(free):
                    Ph[k] += row[k] * hj
            variance = p[1] * p[1] + R_f * (1.0 + by_f * by_f) + R_d * (by_d * by_d + by_last * by_last) * (a / b) ** 2
            spread = 0.0
            for k in range(free):
                spread += h[k] * Ph[k]
            innovation = f_m - a * predicted
            variance += max(spread, 0.0)
            step = innovation / variance
            if math.isfinite(step) and math.isfinite(spread):
                x[_A] += Ph[0] * step
                x[_B] += Ph[1] * step
                for k in range(adaptive):
                    w[rest + k] += Ph[2 + k] * step
                for j in range(free):
                    share, row = Ph[j] / variance, P[j * free : (j + 1) * free]
                    for k in range(free):
                        row[k] -= share * Ph[k]
                    walk = p[6] * (p[4] if j < 2 else p[5])
                    row[j] += walk * walk
            x[_F] = f_m
            x[_E] += absorbed(f_m, d, d_last, rule)
            x[_D] = d
            y[2 + n] = a * predicted
        else:
            y[2 + n] = x[_F]
        y[3 + n] = f_m - y[2 + n]

        updated = x[_SUM_FROZEN] > p[7] * x[_TICKS] and x[_SUM_OWN] < p[8] * x[_SUM_FROZEN]
        y[0] = math.exp(x[_A]) if updated else 1.0
        y[1] = math.exp(x[_B]) if updated else 1.0
        for k in range(n):
            y[2 + k] = w[k] if updated else frozen[k]
        y[4 + n] = 1.0 if updated else 0.0

    return advance
