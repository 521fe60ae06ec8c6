r"""A hysteresis network followed by extended Kalman filters: what its sensor does, what it should be scaled by, and how
its weights change.

What is measured has two explanations, which learn side by side. Both run freely under the measured deformation, as a
model at another place would, so that noise in the force never enters their inputs.

1. *The sensor*: the network is right, and :math:`f_m(t) = (1 + g)\,f(t - \tau) + c` with the offset *c* (which may
   drift), the delay :math:`\tau`, the gain *g* within a few per cent, and an offset of the deformation. Before
   anything moves, the force shown is the offset. A constant error of the network itself, once the device has moved, is
   kept apart from it.
2. *Another device*, behind such a sensor, *similar* to that of the training: with a force scale *a*, a length scale *b*
   and weights *w* around the trained ones,

   .. math:: f_i = a\,\varphi\!\left(\tfrac{d_i}{b}, \tfrac{d_{i-1}}{b}, \tfrac{f_{i-1}}{a}, \dots,
             \tfrac{E_{i-1}}{ab};\ w\right).

   Derivatives of the force by all unknowns are carried along with it. The filter remembers the whole test, unlike a
   window, and its prior is the anchor: what the measured device has not shown stays as it was trained.

A guard shrinks what the models get of the second. With the squared errors :math:`S_1, S_2` of both, over what training
error and noise explain, summed over *n* ticks and fading, the models get the part

.. math:: \kappa = \max\left(0,\ 1 - \frac{\epsilon\,n + S_2}{S_1}\right)

of the change of the scales: nothing as long as sensor faults and noise explain what is measured, nearly all where
another device explains it far better. (The form is that of James and Stein.) Scales carry over to every place. What
weights learn holds for motions like those of the measured device alone, and harms where they are smaller, as at a roof:
they take what no scale explains, so that scales need not, and `share` of their change is given out: by default none.
A *witness* is heard as well: a model as it would be given out runs freely beside the measured device. With its squared
errors *W* and those :math:`W_1` of the first explanation, over the last hundred ticks or so, the models get
:math:`\min(1, 4\,(1 - W/W_1))` of that part. What cannot be followed must not be followed: where scales are the wrong
remedy, as for a device with sharper loops, a witness gains a little now and then, and models elsewhere lose by it. So
the witness must also have saved a tenth of the error, :math:`1 - \sqrt{W/W_1}`, over the memory of the guard, in the
ticks in which there was something to give; from a fifth on all is given, and a smooth step lies between.

A device that does not move keeps its force, and a network with other weights may not: where motions are small, as at a
roof, its force would creep away tick by tick. So every other tick the filter is told that, at some state between rest
and the present one, the force after a tick without motion is that of the network as trained, within `creep`.

Errors of a network last: their variance counts `lasting` times. Where inputs leave the range of the training, the
network is believed the less the further out they are, so that extrapolation does not become a scale.

A gain of a few per cent cannot be told from a device that is stronger by as much, an offset not from a preload, and a
delay of an elastic device not from negative viscosity; the guard sees to it that they do no harm.
"""

import math
from dataclasses import replace
from functools import cache

import numpy as np

from hyloop.core.block import Block, Instance, inplace_block
from hyloop.errors import BadInput, OutOfBounds, UnknownName
from hyloop.neural.hysteresis import ENERGIES, INPUTS, HysteresisNetwork
from hyloop.neural.perceptron import weight_count
from hyloop.updating.networks.filtered_memory import PARAMS, STATE, filtered_memory
from hyloop.updating.networks.filtered_step import CHANNELS, filtered_step

__all__ = ["filtered_network"]

_CALM = 300.0  # ticks the guard counts in advance as explained, so that it does not jump at the first strong motion
_WALK = 1 / 200  # of the offset in a tick, over its standard deviation at the start: what a straight line leaves
_MOST = 2.0  # standard deviations: bounds of the gain
_LONGEST = 256  # ticks of delay


def filtered_network(
    network: HysteresisNetwork,
    *,
    noise: float | None = None,
    noise_d: float | None = None,
    model_error: float = 0.02,
    lasting: float = 50.0,
    scale_std: float = 0.3,
    weight_std: float = 2e-3,
    process: float = 0.0,
    adapt: str = "all",
    offset_std: float = 0.03,
    drift_std: float = 2e-3,
    shift_std: float = 0.003,
    delay_std: float = 0.7,
    gain_std: float = 0.02,
    bias_std: float = 0.02,
    late: int = 4,
    evidence: float = 4.0,
    share: float = 0.0,
    fading: float = 0.999,
    recent: float = 0.99,
    creep: float = 3e-3,
) -> Instance:
    """An updater that follows a measured device with two scales and the weights of a network.

    Inputs are the measured deformation ``d`` and force ``f_m``. Outputs are ``force_scale``, ``length_scale`` and the
    weights ``w_0, w_1, ...`` for the models that follow; ``f`` and ``innovation`` (force expected with the other
    device, and measured less that); ``updated``, the part of the update that is given out; what is found of the sensor,
    ``offset``, ``drift`` (change of the offset since the start, of which the weights take a part), ``delay``, ``shift``
    of the deformation and ``noise_f`` of the force; and ``cause``, a number that counts in
    `hyloop.updating.networks.diagnosis.CAUSES`.

    Parameters
    ----------
    network : HysteresisNetwork
        The pre-trained network; see `pretrain`.
    noise, noise_d : float, optional
        Standard deviation of the measured force in N and of the measured deformation in m; found from the data if not
        given.
    model_error : float
        Standard deviation of what the network cannot represent, as a fraction of half the force range of its training.
    lasting : float
        Ticks over which such an error lasts.
    scale_std, weight_std : float
        Standard deviation of the logarithms of the two scales, and of the weights, before the test.
    process : float
        Random walk of both in a tick, as a fraction of these. 0 takes the device for constant.
    adapt : {"all", "output", "scales"}
        Weights that may change: all, those of the output layer, or none beside the two scales.
    offset_std, shift_std : float
        Offsets of force and deformation to be expected, over half their ranges in training.
    drift_std : float
        Growth of the offset of the force to be expected in a second, over the same.
    delay_std, late : float, int
        Delay of the force to be expected, and the longest one, in ticks.
    gain_std : float
        Error of the sensitivity of the load cell to be expected; twice as much is taken for another device.
    bias_std : float
        Constant error of the network on another motion, over half the force range of its training.
    evidence, share, fading : float
        The guard: see the module. `fading` is the weight of a tick over that of the next one; ``evidence=0`` gives out
        all that lowers the error.
    recent : float
        The same as `fading` for the witness; 0 hears none.
    creep : float
        Standard deviation of what an update may change in the force at rest, in a tick, over half the force range of
        the training; 0 for no such bound.

    Notes
    -----
    The covariances stay positive definite because only :math:`P h h^T P / (h^T P h + R)` with R > 0 is ever taken away.

    References
    ----------
    Singhal, Wu (1989), Training multilayer perceptrons with the extended Kalman algorithm; Williams, Zipser (1989),
    doi:10.1162/neco.1989.1.2.270, for the derivatives; James, Stein (1961), Estimation with quadratic loss; Wang et al.
    (2020) for the law.
    """
    where = "filtered_network"
    positive = {"model_error": model_error, "scale_std": scale_std, "weight_std": weight_std}
    for key, value in positive.items():
        if not (value > 0.0 and math.isfinite(value)):
            raise OutOfBounds(f"{where}: {key} = {value!r} must be positive and finite.")
    others = {"noise": noise, "noise_d": noise_d, "process": process, "evidence": evidence, "creep": creep}
    others |= {
        "offset_std": offset_std,
        "shift_std": shift_std,
        "drift_std": drift_std,
        "delay_std": delay_std,
        "gain_std": gain_std,
        "bias_std": bias_std,
    }
    for key, value in others.items():
        if value is not None and not (value >= 0.0 and math.isfinite(value)):
            raise OutOfBounds(f"{where}: {key} = {value!r} must be finite and not negative.")
    if not 1.0 <= lasting < math.inf:
        raise OutOfBounds(f"{where}: lasting = {lasting!r} must be at least one tick.")
    if not (0 <= late <= _LONGEST and late == int(late)):
        raise OutOfBounds(f"{where}: late = {late!r} must be a whole number of ticks from 0 to {_LONGEST}.")
    if not 0.0 < fading < 1.0:
        raise OutOfBounds(f"{where}: fading = {fading!r} must lie between 0 and 1.")
    if not 0.0 <= recent < 1.0:
        raise OutOfBounds(f"{where}: recent = {recent!r} must be 0 or lie below 1.")
    if not 0.0 <= share <= 1.0:
        raise OutOfBounds(f"{where}: share = {share!r} must lie between 0 and 1.")
    n = len(network.weights)
    adaptive = {"all": n, "output": network.width + 1, "scales": 0}
    if adapt not in adaptive:
        raise UnknownName("adaptive part", adapt, adaptive, where=where)
    if not network.error > 0.0 and noise == 0.0:
        raise BadInput(
            f"{where}: the network has no training error and no noise is given; state the noise of the force."
        )
    half_d, half_f = 1.0 / abs(network.factor[0]), 1.0 / abs(network.factor[6])
    sensor = [offset_std * half_f, drift_std * half_f, delay_std, shift_std * half_d]
    at, size = filtered_memory(network.width, network.depth, adaptive[adapt], int(late))
    x = np.zeros(size)
    x[at.w : at.w + n] = x[at.frozen : at.frozen + n] = network.weights
    x[at.centre : at.centre + 7], x[at.factor : at.factor + 7] = network.centre, network.factor
    for place, stds in (
        (at.P_sensor, [*sensor, gain_std, bias_std * half_f]),
        (at.P_device, [*sensor, scale_std, scale_std, *[weight_std] * adaptive[adapt]]),
    ):
        x[place : place + len(stds) ** 2] = np.diag(np.square(stds)).ravel()
    settings = {
        "tolerance": network.error,
        "floor": model_error * half_f,
        "lasting": lasting,
        "noise": -1.0 if noise is None else noise,
        "noise_d": -1.0 if noise_d is None else noise_d,
        "offset_walk": _WALK * sensor[0],
        "most_gain": _MOST * gain_std,
        "scale_walk": process * scale_std,
        "weight_walk": process * weight_std,
        "evidence": evidence,
        "share": share,
        "fading": fading,
        "recent": recent,
        "creep": creep,
    }
    block = _block(network.width, network.depth, network.energy, adaptive[adapt], int(late), network.dt)
    initial = {"sum_sensor": _CALM, "sum_device": _CALM, "weight": _CALM}
    return block(memory=x[len(STATE) :], initial=initial, **settings)


@cache
def _block(width: int, depth: int, energy: str, adaptive: int, late: int, dt: float) -> Block:
    n = weight_count(INPUTS, width, depth)
    make = inplace_block(
        inputs={"d": "m", "f_m": "N"},
        outputs={"force_scale": "-", "length_scale": "-", **{f"w_{k}": "-" for k in range(n)}, **CHANNELS},
        state=STATE,
        params=PARAMS,
        memory=filtered_memory(width, depth, adaptive, late)[1] - len(STATE),
        reference="Singhal and Wu (1989), Training multilayer perceptrons with the extended Kalman algorithm.",
    )
    step = filtered_step(width, depth, ENERGIES[energy], adaptive, late)
    return replace(make(step), name="filtered_network", tick=dt)
