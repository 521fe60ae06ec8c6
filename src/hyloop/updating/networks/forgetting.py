r"""A hysteresis network retrained in every tick on a sliding window that forgets, after Wang et al. (2020).

With the weights :math:`\omega_m = \frac{1-\mu}{1-\mu^L}\mu^{L-m}` of the samples in the window, a tick makes a few
Levenberg-Marquardt steps on

.. math:: \sum_m \omega_m\,[\varphi(z_m; w) - y_m]^2 + \lambda\,|w - w_0|^2.

The paper has no anchor (:math:`\lambda = 0`). With few rows and many weights a step is cheapest in its dual form: with
weighted residuals *e*, their derivatives *J*, :math:`r = J^T e + \lambda (w - w_0)` and :math:`t = \nu + \lambda`,

.. math:: \Delta w = -\tfrac{1}{t}\left[r - J^T (J J^T + t I)^{-1} J r\right].
"""

import math
from dataclasses import replace
from functools import cache

import numpy as np

from hyloop.core.block import Block, Instance, inplace_block
from hyloop.errors import OutOfBounds
from hyloop.neural.hysteresis import ENERGIES, INPUTS, HysteresisNetwork
from hyloop.neural.perceptron import weight_count
from hyloop.updating.networks.forgetting_step import PARAMS, STATE, forgetting_memory, forgetting_step

__all__ = ["forgetting_network"]

_NEGLIGIBLE = 1e-14  # weight of a sample that cannot change the result


def forgetting_network(
    network: HysteresisNetwork,
    *,
    window: int = 200,
    forgetting: float = 0.1,
    damping: float = 1e-5,
    iterations: int = 2,
    anchor: float = 0.0,
    fallback: bool = True,
    budget: float = math.inf,
) -> Instance:
    """An updater that retrains a network in every tick with the latest samples of the measured device.

    Inputs are the measured deformation ``d`` and force ``f_m``. Outputs are the weights ``w_0, w_1, ...`` for the
    models that follow, ``f`` (the network's prediction of the measured force, made before it learns from it),
    ``innovation`` and ``updated`` (1 where the weights are new ones, 0 where they are those of the trained network).

    Parameters
    ----------
    network : HysteresisNetwork
        The pre-trained network; see `pretrain`.
    window : int
        Samples in the window. One sample alone is the paper's traditional network (ANN2).
    forgetting : float
        Weight of a sample over that of the next one. Samples whose weight is below 1e-14 are not kept.
    damping : float
        Levenberg-Marquardt damping at the start of every tick; times 0.1 after a step that lowers the error of the
        window, times 10 after one that does not (which is then not made).
    iterations : int
        Steps in a tick.
    anchor : float
        Weight λ of the distance from the pre-trained weights. 0 is the paper's; 1e-2 keeps the network from spoiling
        what the window does not show.
    fallback : bool
        Give out the pre-trained weights wherever they explain the window better than the updated ones.
    budget : float
        Time for a tick in s. The newest samples are used first, the older ones as far as time allows, and a step that
        comes too late is not made. With a finite budget two runs need not be equal.

    References
    ----------
    Wang, Lv, Wu and Wang (2020), Eqs. (3)-(5), (16).
    """
    where = "forgetting_network"
    if int(window) != window or window < 1 or int(iterations) != iterations or iterations < 1:
        raise OutOfBounds(
            f"{where}: window = {window!r} and iterations = {iterations!r} must be whole numbers of at least 1."
        )
    if not 0.0 < forgetting <= 1.0:
        raise OutOfBounds(f"{where}: forgetting = {forgetting!r} must lie in (0, 1].")
    if not damping > 0.0 or not anchor >= 0.0 or not budget > 0.0:
        raise OutOfBounds(
            f"{where}: damping = {damping!r} and budget = {budget!r} must be positive and anchor = "
            f"{anchor!r} not negative."
        )
    rows = int(window)
    if forgetting < 1.0:
        rows = min(rows, 1 + math.floor(math.log(_NEGLIGIBLE) / math.log(forgetting)))
    block = _block(network.width, network.depth, network.energy, rows, network.dt)
    at, size = forgetting_memory(network.width, network.depth, rows)
    n, x = len(network.weights), np.zeros(size)
    x[at.w : at.w + n] = x[at.frozen : at.frozen + n] = network.weights
    x[at.centre : at.centre + 7], x[at.factor : at.factor + 7] = network.centre, network.factor
    x[at.importance : at.importance + rows] = _importance(forgetting, int(window), rows)
    settings = {"damping": damping, "iterations": iterations, "anchor": anchor, "budget": budget}
    return block(memory=x[len(STATE) :], fallback=float(fallback), **settings)


def _importance(forgetting: float, window: int, rows: int) -> np.ndarray:
    """Weights of the samples, the oldest first; Eq. (5)."""
    powers = forgetting ** np.arange(window - 1, -1, -1.0)
    return (powers / powers.sum())[-rows:]


@cache
def _block(width: int, depth: int, energy: str, rows: int, dt: float) -> Block:
    n = weight_count(INPUTS, width, depth)
    make = inplace_block(
        inputs={"d": "m", "f_m": "N"},
        outputs={**{f"w_{k}": "-" for k in range(n)}, "f": "N", "innovation": "N", "updated": "-"},
        state=STATE,
        params=PARAMS,
        memory=forgetting_memory(width, depth, rows)[1] - len(STATE),
        reference="Wang, Lv, Wu and Wang (2020), ANN based on forgetting factor for online model updating in "
        "substructure pseudo-dynamic hybrid simulation.",
    )
    return replace(make(forgetting_step(width, depth, ENERGIES[energy], rows)), name="forgetting_network", tick=dt)
