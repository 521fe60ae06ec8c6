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
from dataclasses import replace
from functools import cache

import numpy as np

from hyloop.core.block import Block, Instance, inplace_block
from hyloop.errors import BadInput, OutOfBounds, UnknownName
from hyloop.neural.hysteresis import ENERGIES, INPUTS, HysteresisNetwork
from hyloop.neural.perceptron import weight_count
from hyloop.updating.networks.filtered_step import PARAMS, STATE, filtered_memory, filtered_step

__all__ = ["filtered_network"]

_CALM = 50.0  # ticks the guard counts in advance as explained, so that it does not jump at the first sample


def filtered_network(
    network: HysteresisNetwork,
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
    network : HysteresisNetwork
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
    stds = np.r_[np.full(2, scale_std), np.full(adaptive[adapt], weight_std)]
    at, size = filtered_memory(network.width, network.depth, adaptive[adapt])
    x = np.zeros(size)
    x[at.w : at.w + n] = x[at.frozen : at.frozen + n] = network.weights
    x[at.centre : at.centre + 7], x[at.factor : at.factor + 7] = network.centre, network.factor
    x[at.P : at.P + len(stds) ** 2] = np.diag(stds**2).ravel()
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
    return block(memory=x[len(STATE) :], initial=initial, **settings)


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
        state=STATE,
        params=PARAMS,
        memory=filtered_memory(width, depth, adaptive)[1] - len(STATE),
        reference="Singhal and Wu (1989), Training multilayer perceptrons with the extended Kalman algorithm.",
    )
    return replace(make(filtered_step(width, depth, ENERGIES[energy], adaptive)), name="filtered_network", tick=dt)
