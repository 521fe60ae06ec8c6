r"""One step of every kind of layer on flat float32 buffers.

LSTM (gates i f g o) and GRU (gates r z n), with all weights of a layer in one run ``b, W, U`` (then ``r``) of rows as
long as all gates together, each gate padded to a multiple of sixteen with zeros:

.. math:: i, f, o = \sigma(\cdot),\quad g = \tanh(\cdot), \qquad c' = f c + i g, \qquad h' = o \tanh c'

.. math:: r, z = \sigma(\cdot),\quad n = \tanh\{W_n x + b_n + r (U_n h + r_n)\}, \qquad h' = (1 - z)\,n + z\,h

Padding stays zero: its weights are zero, so are its candidate and its state.

References
----------
Hochreiter, Schmidhuber (1997), doi:10.1162/neco.1997.9.8.1735; Cho et al. (2014), doi:10.3115/v1/D14-1179, with the
reset gate after the product, as in cuDNN.
"""

from typing import NamedTuple

from hyloop.core.jit import verb
from hyloop.neural.activations import sigmoid, tanh
from hyloop.neural.lanes import broadcast, fill, load, multiply_add, store

__all__ = ["GRU", "KINDS", "LSTM", "Cell", "add_rows", "copy", "dense_step", "gru_step", "lstm_step"]

LINEAR, TANH, RELU, LSTM, GRU = range(5)
KINDS = {"linear": LINEAR, "tanh": TANH, "relu": RELU, "lstm": LSTM, "gru": GRU}


class Cell(NamedTuple):
    """A layer in the memory of its network; places count float32 numbers."""

    kind: int
    inputs: int
    source: int  # place of the inputs
    units: int
    width: int  # units, padded
    weights: int  # place of b, W, U (and r)
    state: int  # place of h and, behind it, c
    target: int  # place where the next layers read h
    room: int  # place for gates: all layers share it


@verb
def copy(m, source, target, n):
    for k in range(0, n, 16):
        store(m, target + k, load(m, source + k))


@verb
def add_rows(m, w, x, rows, z, n):
    """z += x W for the matrix of `rows` rows of n numbers at `w`; four running sums hide the delay of an addition."""
    i = 0
    while i + 64 <= n:
        a, b, c, d = load(m, z + i), load(m, z + i + 16), load(m, z + i + 32), load(m, z + i + 48)
        q = w + i
        for k in range(rows):
            s = broadcast(m, x + k)
            a = multiply_add(s, load(m, q), a)
            b = multiply_add(s, load(m, q + 16), b)
            c = multiply_add(s, load(m, q + 32), c)
            d = multiply_add(s, load(m, q + 48), d)
            q += n
        store(m, z + i, a)
        store(m, z + i + 16, b)
        store(m, z + i + 32, c)
        store(m, z + i + 48, d)
        i += 64
    while i < n:
        a = load(m, z + i)
        q = w + i
        for k in range(rows):
            a = multiply_add(broadcast(m, x + k), load(m, q), a)
            q += n
        store(m, z + i, a)
        i += 16


@verb
def dense_step(m, cell):
    """h = f(b + x W) of a layer without memory."""
    h, w, width = cell.state, cell.weights, cell.width
    copy(m, w, h, width)
    add_rows(m, w + width, cell.source, cell.inputs, h, width)
    if cell.kind == TANH:
        for k in range(0, width, 16):
            store(m, h + k, tanh(load(m, h + k)))
    elif cell.kind == RELU:
        for k in range(h, h + width):
            if m[k] < 0.0:
                m[k] = 0.0


@verb
def lstm_step(m, cell):
    """New h and c of an LSTM layer; there is room for its four gates at z."""
    h, w, z, width = cell.state, cell.weights, cell.room, cell.width
    n, c = 4 * width, h + width
    copy(m, w, z, n)
    add_rows(m, w + n, cell.source, cell.inputs, z, n)
    add_rows(m, w + n + cell.inputs * n, h, cell.units, z, n)
    for k in range(0, width, 16):
        i, f = sigmoid(load(m, z + k)), sigmoid(load(m, z + width + k))
        g, o = tanh(load(m, z + 2 * width + k)), sigmoid(load(m, z + 3 * width + k))
        new = multiply_add(f, load(m, c + k), i * g)
        store(m, c + k, new)
        store(m, h + k, o * tanh(new))


@verb
def gru_step(m, cell):
    """New h of a GRU layer; there is room for three gates at z and, from the last state, at s."""
    h, w, z, width = cell.state, cell.weights, cell.room, cell.width
    n = 3 * width
    s, last = z + n, w + n * (1 + cell.inputs + cell.units)
    copy(m, w, z, n)
    add_rows(m, w + n, cell.source, cell.inputs, z, n)
    for k in range(0, 2 * width, 16):
        store(m, s + k, fill(0.0))
    copy(m, last, s + 2 * width, width)
    add_rows(m, w + n + cell.inputs * n, h, cell.units, s, n)
    for k in range(0, width, 16):
        r = sigmoid(load(m, z + k) + load(m, s + k))
        u = sigmoid(load(m, z + width + k) + load(m, s + width + k))
        new = tanh(multiply_add(r, load(m, s + 2 * width + k), load(m, z + 2 * width + k)))
        store(m, h + k, multiply_add(u, load(m, h + k) - new, new))
