r"""A nonlinear state-space network that no longer learns, as one block.

.. math:: \dot x = L\,(x, u) + \omega N(x, u; w), \qquad y = C x

by one classical Runge-Kutta step over a tick, in which the inputs move on a straight line. Trained it is a
`hyloop.learn.networks.state_space.StateSpaceNetwork`. Signals are scaled as the card says; all is float64.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from hyloop.core.block import Block, inplace_block
from hyloop.core.jit import verb
from hyloop.core.memory import laid_out, read
from hyloop.errors import BadInput, BadShape
from hyloop.neural.card import Card
from hyloop.neural.dense import Perceptron, respond
from hyloop.neural.frozen import DECLARED, FrozenNetwork, check_si
from hyloop.neural.lanes import as_int64
from hyloop.neural.ranges import MONITOR, monitor

__all__ = ["FrozenStateSpace"]


@dataclass(frozen=True, eq=False)
class FrozenStateSpace(FrozenNetwork, model="state space"):
    """A linear model, the perceptron that bends it, and its card.

    Parameters
    ----------
    A, B, C : array
        Linear model of the scaled signals, (n, n), (n, inputs) and (outputs, n), in time of 1/rate.
    rate : float
        1/s, factor on linear model and perceptron alike.
    network : Perceptron
        From states and inputs to n rates.
    card : Card
        Signals with scaling and training range; its dt is that of the training.
    """

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    rate: float
    network: Perceptron
    card: Card

    def __post_init__(self) -> None:
        for key in "ABC":
            object.__setattr__(self, key, np.array(getattr(self, key), dtype=float))
        n, m, k = len(self.A), len(self.card.inputs), len(self.card.outputs)
        sizes = self.network.sizes
        if (self.A.shape, self.B.shape, self.C.shape) != ((n, n), (n, m), (k, n)) or n < 1:
            raise BadShape(
                f"state space: A {self.A.shape}, B {self.B.shape} and C {self.C.shape} do not fit a card of {m} inputs "
                f"and {k} outputs."
            )
        if (sizes[0], sizes[-1]) != (n + m, n):
            raise BadShape(f"state space: a perceptron from {n + m} to {n} numbers is needed, this one is {sizes}.")
        if not all(np.isfinite(matrix).all() for matrix in (self.A, self.B, self.C)):
            raise BadShape("state space: holds numbers that are not finite.")
        if not (0.0 < self.rate < np.inf and self.card.dt > 0.0):
            raise BadInput(
                f"state space: rate = {self.rate!r} 1/s and the card's dt = {self.card.dt!r} s must be positive; it "
                "has learned one time step."
            )

    def make_block(self) -> Block:
        """The network as a block: the signals of the card, and ``outside`` (see `FrozenStack`).

        Parameters ``stiffness`` and ``damping`` are declared to integration methods; by default there are none.
        """
        check_si(self.card)
        image = _image(self)
        make = inplace_block(
            inputs={signal.name: signal.unit for signal in self.card.inputs},
            outputs={signal.name: signal.unit for signal in self.card.outputs} | {"outside": "-"},
            state=MONITOR,
            params=DECLARED,
            memory=len(image),
            reference=self.card.data or "trained state-space network",
            linear=lambda stiffness, damping: (stiffness, damping),
        )
        return replace(make(advance), name="state-space network", contents=image, tick=self.card.dt)

    def taken_apart(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        tensors = {"A": self.A, "B": self.B, "C": self.C, "rate": np.array([self.rate])}
        return {"unit": self.network.unit}, tensors | self.network.tensors()

    @classmethod
    def rated(cls, parts: Mapping[str, Any]) -> bool:
        return True

    @classmethod
    def put_together(cls, parts: dict[str, Any], tensors: dict[str, np.ndarray], card: Card) -> Self:
        (rate,) = tensors["rate"].tolist()
        network = Perceptron.of(tensors, parts["unit"])
        return cls(tensors["A"], tensors["B"], tensors["C"], rate, network, card)


class Places(NamedTuple):
    """Table at the head of the memory: sizes, then positions in the state of the block."""

    n: int
    inputs: int
    outputs: int
    dense: int  # table of the perceptron
    ranges: int
    scaling: int  # centre and factor of every input, then of every output
    state: int
    last: int  # scaled inputs of the tick before
    now: int
    seen: int  # states and inputs of a stage, as the perceptron is asked
    slope: int
    sum: int  # of the slopes, weighted
    linear: int  # rows of (A, B)
    output: int  # rows of C
    rate: int


def _image(made: FrozenStateSpace) -> np.ndarray:
    """The memory of the block: the table, then what it refers to."""
    signals = (*made.card.inputs, *made.card.outputs)
    n, m = made.B.shape
    dense, weights = made.network.laid_out(0)
    parts = {
        "ranges": [end for signal in made.card.inputs for end in (signal.low, signal.high)],
        "scaling": [number for signal in signals for number in (signal.centre, signal.factor)],
        "state": np.zeros(n),
        "last": [signal.scale(0.0) for signal in made.card.inputs],
        "now": np.zeros(m),
        "seen": np.zeros(n + m),
        "slope": np.zeros(n),
        "sum": np.zeros(n),
        "linear": np.column_stack([made.A, made.B]).ravel(),
        "output": made.C.ravel(),
        "rate": [made.rate],
    }
    table = len(MONITOR)
    begin = table + len(Places._fields) + len(dense)
    at, behind = laid_out(dict, {key: len(part) for key, part in parts.items()}, begin)
    dense, _ = made.network.laid_out(behind)
    places = Places(n=n, inputs=m, outputs=len(made.C), dense=table + len(Places._fields), **at)
    words = np.array([*places, *dense], dtype=np.int64)
    return np.concatenate([words.view(float), *(np.asarray(part, dtype=float) for part in parts.values()), weights])


def advance(x, u, dt, p, y):
    """A trained state-space network; matrices, scales and weights are in its memory."""
    m = read(Places, as_int64(x), 2)
    monitor(x, 0, u, m.inputs, m.ranges)
    for k in range(m.inputs):
        x[m.now + k] = (u[k] - x[m.scaling + 2 * k]) * x[m.scaling + 2 * k + 1]
    step = dt * x[m.rate]
    for i in range(m.n):
        x[m.sum + i] = 0.0
        x[m.slope + i] = 0.0
    _stage(x, m, 0.0, step)
    _add(x, m, 1.0)
    _stage(x, m, 0.5, step)
    _add(x, m, 2.0)
    _stage(x, m, 0.5, step)
    _add(x, m, 2.0)
    _stage(x, m, 1.0, step)
    _add(x, m, 1.0)
    for i in range(m.n):
        x[m.state + i] += x[m.sum + i] / 6.0
    for k in range(m.inputs):
        x[m.last + k] = x[m.now + k]
    for k in range(m.outputs):
        s = 0.0
        for j in range(m.n):
            s += x[m.output + k * m.n + j] * x[m.state + j]
        at = m.scaling + 2 * (m.inputs + k)
        y[k] = s / x[at + 1] + x[at]
    y[m.outputs] = x[0]


@verb
def _stage(x, m, part, step):
    """Slope over the tick, at this part of it, from the state plus this part of the slope before."""
    for i in range(m.n):
        x[m.seen + i] = x[m.state + i] + part * x[m.slope + i]
    for k in range(m.inputs):
        x[m.seen + m.n + k] = x[m.last + k] + part * (x[m.now + k] - x[m.last + k])
    width = m.n + m.inputs
    for i in range(m.n):
        s = 0.0
        for j in range(width):
            s += x[m.linear + i * width + j] * x[m.seen + j]
        x[m.slope + i] = s
    respond(x, as_int64(x), m.dense, m.seen, 1.0, m.slope)
    for i in range(m.n):
        x[m.slope + i] *= step


@verb
def _add(x, m, weight):
    for i in range(m.n):
        x[m.sum + i] += weight * x[m.slope + i]
