r"""An LSTM layer over a batch of whole histories, and its exact gradient, compiled for the CPU.

Gates i f g o, everything in float32 and by rows (time, history, cell):

.. math:: z_t = b + x_t W + h_{t-1} U, \qquad i, f, o = \sigma(z), \quad g = \tanh z, \qquad
          c_t = f c_{t-1} + i g, \qquad h_t = o \tanh c_t

and backwards, with :math:`\bar a` the derivative of the loss by a,

.. math:: \bar c \mathrel{+}= \bar h\,o\,(1 - \tanh^2 c), \qquad
          \bar z = \bigl(\bar c\,g\,i(1-i),\ \bar c\,c_{t-1} f(1-f),\ \bar c\,i\,(1-g^2),\ \bar h \tanh c\;o(1-o)\bigr),
          \qquad \bar h_{t-1} = \bar z\,U^T, \quad \bar c_{t-1} = \bar c f .

Only c and h are kept. The backward pass goes over the histories in pieces of `PIECE` steps and calculates the gates of
a piece again: all h are known by then, so this is one product. A piece stays in the cache, and a training step touches
a third of the memory it would otherwise; fresh memory costs more time than the arithmetic.

Inputs and cells come in multiples of sixteen (`hyloop.neural.lanes`); padding with zero weights stays zero.
"""

from numba import types

from hyloop.core.jit import verb
from hyloop.learn.networks.products import add_product, add_transposed_product
from hyloop.neural.activations import sigmoid, tanh
from hyloop.neural.lanes import fill, load, multiply_add, store

__all__ = ["CALL", "PIECE", "lstm_backward", "lstm_forward"]

PIECE = 16  # steps; with a batch of ten and 48 cells the gates of a piece take 120 kB

_ARRAYS = types.CPointer(types.CPointer(types.float32))
# XLA calls a compiled function with the addresses of outputs and inputs, a text with its length, and a status
CALL = types.void(_ARRAYS, _ARRAYS, types.voidptr, types.uintp, types.voidptr)


@verb
def fill_rows(z, rows, n, b):
    """Every row of z (rows, n) = b."""
    for r in range(rows):
        for k in range(0, n, 16):
            store(z, r * n + k, load(b, k))


@verb
def activate(z, q, width):
    """Gates i f g o of sixteen cells from their sums at z[q]."""
    i, f = sigmoid(load(z, q)), sigmoid(load(z, q + width))
    return i, f, tanh(load(z, q + 2 * width)), sigmoid(load(z, q + 3 * width))


def lstm_forward(out, given, text, length, status):
    """(sizes, x, W, U, b, h0, c0) -> (h, c, room): all outputs and cells, and room for one piece of gates."""
    steps, batch = int(given[0][0]), int(given[0][1])
    inputs, width = int(given[0][2]), int(given[0][3])
    x, W, U, bias = given[1], given[2], given[3], given[4]
    h, c, z = out[0], out[1], out[2]
    row, n = batch * width, 4 * width
    for begin in range(0, steps, PIECE):
        piece = min(PIECE, steps - begin)
        fill_rows(z, piece * batch, n, bias)
        add_product(x, begin * batch * inputs, piece * batch, inputs, W, z, 0, n)
        for t in range(begin, begin + piece):
            at = (t - begin) * batch * n
            h_last, c_last, last = (given[5], given[6], 0) if t == 0 else (h, c, (t - 1) * row)
            add_product(h_last, last, batch, width, U, z, at, n)
            for b in range(batch):
                for k in range(0, width, 16):
                    m = b * width + k
                    i, f, g, o = activate(z, at + b * n + k, width)
                    cell = multiply_add(f, load(c_last, last + m), i * g)
                    store(c, t * row + m, cell)
                    store(h, t * row + m, o * tanh(cell))


def lstm_backward(out, given, text, length, status):
    """(sizes, x, W, U, b, h0, c0, W', U', h, c, dh, dh_end, dc_end) -> (dx, dW, dU, db, dh0, dc0, room)."""
    steps, batch = int(given[0][0]), int(given[0][1])
    inputs, width = int(given[0][2]), int(given[0][3])
    x, W, U, bias, h0, c0 = given[1], given[2], given[3], given[4], given[5], given[6]
    W_t, U_t, h, c, outer = given[7], given[8], given[9], given[10], given[11]
    dx, dW, dU, db, dh, dc, z = out[0], out[1], out[2], out[3], out[4], out[5], out[6]
    row, n = batch * width, 4 * width
    one, zero = fill(1.0), fill(0.0)
    for k in range(0, row, 16):
        store(dh, k, load(given[12], k))
        store(dc, k, load(given[13], k))
    for k in range(0, inputs * n, 16):
        store(dW, k, zero)
    for k in range(0, width * n, 16):
        store(dU, k, zero)
    for k in range(0, n, 16):
        store(db, k, zero)
    for k in range(0, steps * batch * inputs, 16):
        store(dx, k, zero)

    for begin in range((steps - 1) // PIECE * PIECE, -1, -PIECE):
        piece = min(PIECE, steps - begin)
        rows, first = piece * batch, begin * batch * inputs
        # rows of h one step before those of z; at the very start the first of them are h0
        skip = batch if begin == 0 else 0
        before = 0 if begin == 0 else (begin - 1) * row

        fill_rows(z, rows, n, bias)
        add_product(x, first, rows, inputs, W, z, 0, n)
        add_product(h0, 0, skip, width, U, z, 0, n)
        add_product(h, before, rows - skip, width, U, z, skip * n, n)
        for t in range(begin + piece - 1, begin - 1, -1):
            c_last, last = (c0, 0) if t == 0 else (c, (t - 1) * row)
            for b in range(batch):
                for k in range(0, width, 16):
                    q, m = ((t - begin) * batch + b) * n + k, b * width + k
                    i, f, g, o = activate(z, q, width)
                    s = tanh(load(c, t * row + m))
                    dh_now = load(dh, m) + load(outer, t * row + m)
                    dc_now = multiply_add(dh_now * o, one - s * s, load(dc, m))
                    store(z, q, dc_now * g * (i * (one - i)))
                    store(z, q + width, dc_now * load(c_last, last + m) * (f * (one - f)))
                    store(z, q + 2 * width, dc_now * i * (one - g * g))
                    store(z, q + 3 * width, dh_now * s * (o * (one - o)))
                    store(dc, m, dc_now * f)
                    store(dh, m, zero)
            add_product(z, (t - begin) * batch * n, batch, n, U_t, dh, 0, width)

        # z now holds its own derivative
        add_product(z, 0, rows, n, W_t, dx, first, inputs)
        add_transposed_product(x, first, inputs, rows, z, 0, dW, n)
        add_transposed_product(h0, 0, width, skip, z, 0, dU, n)
        add_transposed_product(h, before, width, rows - skip, z, skip * n, dU, n)
        for r in range(rows):
            for k in range(0, n, 16):
                store(db, k, load(db, k) + load(z, r * n + k))
