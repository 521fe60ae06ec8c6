r"""A network as the law of a hysteretic device, after Wang et al. (2020).

The force follows from the deformation and from what was before,

.. math:: f_i = \varphi(d_i,\ d_{i-1},\ f_{i-1},\ d_{i-1} f_{i-1},\ f_{i-1}\,\Delta d_i,\ E_{i-1}),
          \qquad E_i = E_{i-1} + |f_i\,d_i|,

where :math:`\varphi` is a perceptron on inputs and output scaled to [-1, 1]. In a model the network hears its own last
force, so that its errors are fed back. It steps from sample to sample and E counts samples: trained at one rate it is
123 % off at twice that rate (8.5 % with the energy of increments), so it runs at the rate of its training only.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from os import PathLike
from typing import Any, Self

import numpy as np

from hyloop.core.block import Block, Instance, Param, inplace_block
from hyloop.core.jit import verb
from hyloop.errors import BadInput, OutOfBounds, UnknownName
from hyloop.neural.card import Card, Signal
from hyloop.neural.frozen import FrozenNetwork
from hyloop.neural.perceptron import evaluate, weight_count

__all__ = ["ENERGIES", "INPUTS", "REACH", "HysteresisNetwork", "absorbed", "features", "hysteresis_network", "limited"]

INPUTS = 6
ENERGIES = {"total": 0, "increment": 1}
REACH = 1.5  # the scaled force stays within this: a network that runs away must not take the structure along
_PARTS = ("error", "mse", "width", "depth", "energy", "stiffness")
_GIVEN = "a trained network gives all of them, take HysteresisNetwork.device()"


@verb
def features(z, d, d_last, f_last, energy, c, s):
    """Six inputs of the network from physical quantities, scaled by z = (value - c) s."""
    z[0] = (d - c[0]) * s[0]
    z[1] = (d_last - c[1]) * s[1]
    z[2] = (f_last - c[2]) * s[2]
    z[3] = (d_last * f_last - c[3]) * s[3]
    z[4] = (f_last * (d - d_last) - c[4]) * s[4]
    z[5] = (energy - c[5]) * s[5]


@verb
def limited(y):
    """Scaled output of the network, kept within reach."""
    return -REACH if y < -REACH else (REACH if y > REACH else y)


@verb
def absorbed(f, d, d_last, rule):
    """Energy added in a tick: |f d| as printed in the paper (rule 0), or |f Δd| (rule 1)."""
    return abs(f * (d - d_last)) if rule == 1 else abs(f * d)


@cache
def hysteresis_network(width: int = 10, depth: int = 3, energy: str = "total", *, dt: float) -> Block:
    r"""The law as a block whose parameters are all weights, so that an updater can write them.

    Two more parameters make similar devices of one network: with a force scale *a* and a length scale *b* the device is
    :math:`f = a\,\varphi(d/b, \dots)`, a stronger or longer one of the same kind. Parameter ``stiffness`` is the
    initial stiffness for methods that need one; it does not enter the force. `dt` is the sampling interval in s of the
    training, the only one at which the block runs.
    """
    if energy not in ENERGIES:
        raise UnknownName("energy", energy, ENERGIES, where="hysteresis_network")
    if not (1 <= width <= 64 and 1 <= depth <= 8):
        raise OutOfBounds(f"hysteresis_network: width = {width!r} must be in 1..64 and depth = {depth!r} in 1..8.")
    rule = ENERGIES[energy]
    params = {
        "stiffness": Param("N/m", 0.0, about="initial stiffness declared to the integration method"),
        "force_scale": Param("-", 1.0, 0.0, about="force over that of the device the network was trained on"),
        "length_scale": Param("-", 1.0, 0.0, about="deformation over that of the device the network was trained on"),
    }
    params |= {
        f"c_{k}": Param("-", math.nan, about=f"centre of an input (SI units), the last one of the force; {_GIVEN}")
        for k in range(7)
    }
    params |= {
        f"s_{k}": Param("-", math.nan, about=f"factor of an input (SI units), the last one of the force; {_GIVEN}")
        for k in range(7)
    }
    n = weight_count(INPUTS, width, depth)
    params |= {f"w_{k}": Param("-", math.nan, about=f"weight; {_GIVEN}") for k in range(n)}
    make = inplace_block(
        inputs={"d": "m"},
        outputs={"f": "N"},
        state={"d_last": "m", "f_last": "N", "energy": "J"},
        params=params,
        memory=INPUTS + width * depth,
        reference="Wang, Lv, Wu and Wang (2020), ANN based on forgetting factor for online model updating in "
        "substructure pseudo-dynamic hybrid simulation, Eq. (1).",
        linear=lambda stiffness, **_: (stiffness, 0.0),
    )
    return replace(make(_law(width, depth, rule)), name="hysteresis_network", tick=dt)


def _law(width: int, depth: int, rule: int) -> Callable:
    def advance(x, u, dt, p, y):
        a, b = p[1], p[2]
        c, s, w = p[3:10], p[10:17], p[17:]
        z, hidden = x[3 : 3 + INPUTS], x[3 + INPUTS :]
        d = u[0]
        features(z, d / b, x[0] / b, x[1] / a, x[2] / (a * b), c, s)
        f = a * (limited(evaluate(w, z, hidden, INPUTS, width, depth)) / s[6] + c[6])
        x[2] += absorbed(f, d, x[0], rule)
        x[0], x[1] = d, f
        y[0] = f

    advance.__doc__ = __doc__
    return advance


@dataclass(frozen=True, eq=False)
class HysteresisNetwork(FrozenNetwork, model="hysteresis"):
    """Weights of a trained hysteresis network and what it was trained on: what updaters of networks start from.

    Attributes
    ----------
    weights : ndarray
        Weights of the perceptron, in the order of `hyloop.neural.perceptron`.
    centre, factor : ndarray, (7,)
        Scaling of the six inputs and the force.
    error : float
        Root mean square error in N of the network running freely over the record it was trained on: what it explains at
        best.
    dt : float
        Sampling interval in s of that record.
    mse : float
        Mean square error of one-step predictions of the scaled force ([0, 1], as in the paper) in training.
    stiffness : float
        Initial stiffness in N/m, declared to integration methods.
    data, seed, about
        As in a `Card`.
    """

    weights: np.ndarray
    centre: np.ndarray
    factor: np.ndarray
    error: float
    dt: float
    mse: float = math.nan
    width: int = 10
    depth: int = 3
    energy: str = "total"
    stiffness: float = 0.0
    data: str = ""
    seed: int = 0
    about: Mapping[str, Any] = field(default_factory=dict)
    card: Card = field(init=False)

    def __post_init__(self) -> None:
        if not (self.dt > 0.0 and math.isfinite(self.dt)):
            raise OutOfBounds(f"HysteresisNetwork: dt = {self.dt!r} s must be positive and finite.")
        metrics = {"RMSE running freely, N": self.error, "MSE of one step": self.mse}
        finite = {key: value for key, value in metrics.items() if math.isfinite(value)}
        signals = _signals(self.centre, self.factor)
        object.__setattr__(self, "card", Card(*signals, self.dt, self.data, self.seed, finite, self.about))

    def make_block(self) -> Block:
        """The law; all weights are parameters of it, which `device` gives."""
        return hysteresis_network(self.width, self.depth, self.energy, dt=self.dt)

    def device(self, **params: float) -> Instance:
        """The network as a device of a site."""
        return self.block(**{"stiffness": self.stiffness, **self.named, **params})

    @property
    def named(self) -> dict[str, float]:
        """Scaling and weights under the names they have as parameters of the law."""
        groups = {"c": self.centre, "s": self.factor, "w": self.weights}
        return {f"{key}_{k}": float(v) for key, values in groups.items() for k, v in enumerate(values)}

    def drive(self, d: Any) -> np.ndarray:
        """Force of the freely running network under a deformation history, sampled as its training was."""
        return self.device().drive(self.dt, d=d)["f"]

    def save(self, path: str | PathLike[str], **about: Any) -> None:
        """Write a file that `load_network` reads; `data`, `seed` and anything else in `about` go to its card."""
        known = {key: about.pop(key) for key in ("data", "seed") if key in about}
        FrozenNetwork.save(replace(self, **known, about={**self.about, **about}), path)

    def taken_apart(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        parts = {key: getattr(self, key) for key in _PARTS}
        parts["mse"] = self.mse if math.isfinite(self.mse) else None  # JSON has no NaN
        return parts, {key: np.asarray(getattr(self, key), dtype=float) for key in ("weights", "centre", "factor")}

    @classmethod
    def rated(cls, parts: Mapping[str, Any]) -> bool:
        return True

    @classmethod
    def read_card(cls, data: dict[str, Any], tensors: Mapping[str, np.ndarray]) -> Card:
        """Signals and ranges are those of the scaling: it takes the range of the training to [-1, 1]."""
        _check(tensors)
        inputs, outputs = _signals(tensors["centre"], tensors["factor"])
        return Card(inputs, outputs, float(data.get("dt", 0.0)), data["data"], data["seed"], {}, data["about"])

    @classmethod
    def put_together(cls, parts: dict[str, Any], tensors: dict[str, np.ndarray], card: Card) -> Self:
        n = weight_count(INPUTS, parts["width"], parts["depth"])
        if tensors["weights"].shape != (n,):
            raise BadInput(f"damaged, {n} weights and 7 scales were expected")
        known = {**parts, "mse": math.nan if parts["mse"] is None else parts["mse"]}
        unknown = [key for key in known if key not in _PARTS]
        if unknown:
            raise UnknownName("part", unknown[0], _PARTS)
        return cls(**tensors, **known, dt=card.dt, data=card.data, seed=card.seed, about=card.about)


def _check(tensors: Mapping[str, np.ndarray]) -> None:
    if set(tensors) != {"weights", "centre", "factor"}:
        raise BadInput("damaged, the tensors weights, centre and factor were expected")
    if tensors["centre"].shape != (7,) or tensors["factor"].shape != (7,):
        raise BadInput("damaged, a number of weights and 7 scales were expected")
    if not all(np.isfinite(values).all() for values in tensors.values()):
        raise BadInput("damaged, not all numbers are finite")
    if not tensors["factor"].all():
        raise BadInput("damaged, a factor of the scaling is 0")


def _signals(centre: np.ndarray, factor: np.ndarray) -> tuple[tuple[Signal], tuple[Signal]]:
    """Deformation and force; the scaling took the range of the training to [-1, 1]."""

    def signal(name: str, unit: str, k: int) -> Signal:
        c, half = float(centre[k]), 1.0 / abs(float(factor[k]))
        return Signal(name, unit, c, float(factor[k]), c - half, c + half)

    return (signal("d", "m", 0),), (signal("f", "N", 6),)
