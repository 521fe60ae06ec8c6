r"""Hyperbolic tangent and logistic function of sixteen float32 numbers.

.. math:: \tanh x \approx x\,\frac{P(x^2)}{Q(x^2)}, \qquad \sigma(x) = \tfrac12 + \tfrac12 \tanh\tfrac x2

P and Q are of degree 4, fitted on [0, 9] so that the largest relative error is as small as possible (2.1e-8, a third of
the spacing of float32). All coefficients are positive, so nothing cancels. Beyond 9 the tangent is 1 in float32.
"""

from hyloop.core.jit import verb
from hyloop.neural.lanes import fill, limit, multiply_add

__all__ = ["sigmoid", "tanh"]


@verb
def tanh(x):
    """Hyperbolic tangent of every lane."""
    x = limit(x, fill(9.0))
    y = x * x
    p = multiply_add(y, fill(1.335488552481472e-08), fill(2.060926523424952e-05))
    q = multiply_add(y, fill(7.776656122270989e-07), fill(3.285653925028076e-04))
    p = multiply_add(y, p, fill(3.4956002658520836e-03))
    q = multiply_add(y, q, fill(2.5877029558903097e-02))
    p = multiply_add(y, p, fill(1.338103625662265e-01))
    q = multiply_add(y, q, fill(4.6714351886695943e-01))
    p = multiply_add(y, p, fill(9.999999795831034e-01))
    q = multiply_add(y, q, fill(1.0))
    return x * p / q


@verb
def sigmoid(x):
    """Logistic function of every lane."""
    half = fill(0.5)
    return multiply_add(half, tanh(half * x), half)
