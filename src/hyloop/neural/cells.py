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

from hyloop.core.jit import verb
from hyloop.neural.activations import sigmoid, tanh
from hyloop.neural.lanes import broadcast, fill, load, multiply_add, store

__all__ = ["DENSE", "GRU", "LSTM", "add_rows", "copy", "dense_step", "gru_step", "lstm_step"]

LSTM, GRU = 3, 4
DENSE = {"linear": 0, "tanh": 1, "relu": 2}


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
def dense_step(m, kind, w, x, inputs, h, width):
    """h = f(b + x W) of a layer without memory; `width` is padded."""
    copy(m, w, h, width)
    add_rows(m, w + width, x, inputs, h, width)
    if kind == 1:
        for k in range(0, width, 16):
            store(m, h + k, tanh(load(m, h + k)))
    elif kind == 2:
        for k in range(h, h + width):
            if m[k] < 0.0:
                m[k] = 0.0


@verb
def lstm_step(m, w, x, inputs, h, units, width, z):
    """New h and, behind it, c of an LSTM layer with `units` cells, padded to `width`; z is room for four gates."""
    n, c = 4 * width, h + width
    copy(m, w, z, n)
    add_rows(m, w + n, x, inputs, z, n)
    add_rows(m, w + n + inputs * n, h, units, z, n)
    for k in range(0, width, 16):
        i, f = sigmoid(load(m, z + k)), sigmoid(load(m, z + width + k))
        g, o = tanh(load(m, z + 2 * width + k)), sigmoid(load(m, z + 3 * width + k))
        cell = multiply_add(f, load(m, c + k), i * g)
        store(m, c + k, cell)
        store(m, h + k, o * tanh(cell))


@verb
def gru_step(m, w, x, inputs, h, units, width, z):
    """New h of a GRU layer with `units` cells, padded to `width`; z is room for three gates, twice."""
    n, s, last = 3 * width, z + 3 * width, w + 3 * width * (1 + inputs + units)
    copy(m, w, z, n)
    add_rows(m, w + n, x, inputs, z, n)
    for k in range(0, 2 * width, 16):
        store(m, s + k, fill(0.0))
    copy(m, last, s + 2 * width, width)
    add_rows(m, w + n + inputs * n, h, units, s, n)
    for k in range(0, width, 16):
        r = sigmoid(load(m, z + k) + load(m, s + k))
        u = sigmoid(load(m, z + width + k) + load(m, s + width + k))
        new = tanh(multiply_add(r, load(m, s + 2 * width + k), load(m, z + 2 * width + k)))
        store(m, h + k, multiply_add(u, load(m, h + k) - new, new))
