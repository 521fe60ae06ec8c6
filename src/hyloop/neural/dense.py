"""Perceptrons in float64 inside the memory of a block, of any widths, with any number of outputs.

What `hyloop.neural.image` is for stacks in float32: sizes stand in a table that the compiled code reads, so that one
compiled function serves every perceptron. Float64, as the laws and springs that are calculated with their answers.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hyloop.core.jit import verb
from hyloop.core.memory import read
from hyloop.errors import BadShape, UnknownName

__all__ = ["UNITS", "Dense", "Perceptron", "respond"]

UNITS = {"tanh": 0, "relu": 1}


@dataclass(frozen=True, eq=False)
class Perceptron:
    """Weights (outputs, inputs) and biases layer by layer; all layers but the last have units."""

    layers: tuple[tuple[np.ndarray, np.ndarray], ...]
    unit: str

    def __post_init__(self) -> None:
        if not self.layers:
            raise BadShape("perceptron: has no layer.")
        if self.unit not in UNITS:
            raise UnknownName("unit of a perceptron", self.unit, UNITS)
        before = np.shape(self.layers[0][0])[-1:]
        for w, b in self.layers:
            if np.ndim(w) != 2 or np.shape(w)[1:] != before or np.shape(b) != (len(w),):
                raise BadShape(f"perceptron: weights {np.shape(w)} and biases {np.shape(b)} of a layer do not fit.")
            if not (np.isfinite(w).all() and np.isfinite(b).all()):
                raise BadShape("perceptron: holds numbers that are not finite.")
            before = np.shape(b)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Inputs, hidden widths, outputs."""
        return (self.layers[0][0].shape[1], *(len(b) for _, b in self.layers))

    def tensors(self) -> dict[str, np.ndarray]:
        """All numbers by name: ``"0.W"`` and ``"0.b"`` are those of the first layer."""
        named = [
            (f"{k}.{key}", value) for k, pair in enumerate(self.layers) for key, value in zip("Wb", pair, strict=True)
        ]
        return {key: np.asarray(value, dtype=float) for key, value in named}

    @classmethod
    def of(cls, tensors: Any, unit: str) -> "Perceptron":
        """From tensors named as in `tensors`; others are left alone."""
        count = sum(key.endswith(".W") for key in tensors)
        return cls(tuple((tensors[f"{k}.W"], tensors[f"{k}.b"]) for k in range(count)), unit)

    def laid_out(self, first: int) -> tuple[list[int], np.ndarray]:
        """The table `Dense` with the sizes behind it, and the numbers it refers to if they lie at `first` on.

        Rows of weights have their bias last; room for two layers of activations follows.
        """
        flat = np.concatenate([np.column_stack([w, b]).ravel() for w, b in self.layers])
        room = max(self.sizes)
        numbers = np.concatenate([flat, np.zeros(2 * room)])
        table = [*Dense(len(self.layers), UNITS[self.unit], first, first + len(flat), room), *self.sizes]
        return table, numbers


class Dense(NamedTuple):
    """What the compiled code needs to know of a perceptron; its sizes follow in the table."""

    layers: int
    unit: int
    weights: int
    room: int
    widest: int


_SIZES = len(Dense._fields)


@verb
def respond(x, words, table, source, sign, target):
    """Answer of the perceptron at ``words[table]`` to ``sign * x[source ...]``, added to ``x[target ...]``."""
    m = read(Dense, words, table)
    w = m.weights
    at, scale = source, sign
    for layer in range(m.layers):
        n, width = words[table + _SIZES + layer], words[table + _SIZES + layer + 1]
        to = m.room + m.widest * (layer % 2)
        for i in range(width):
            s = 0.0
            for j in range(n):
                s += x[w + j] * (scale * x[at + j])
            s += x[w + n]
            w += n + 1
            if layer + 1 == m.layers:
                x[target + i] += s
            else:
                x[to + i] = math.tanh(s) if m.unit == 0 else (s if s > 0.0 or s != s else 0.0)
        at, scale = to, 1.0
