"""The matrix exponential, compiled: what turns a linear system into its exact recurrence over a tick.

Scaling and squaring of a Taylor polynomial, on a matrix that was balanced by powers of two first: states of a plant
have units of their own, and their sizes must not cost digits.
"""

import numpy as np

from hyloop.core.jit import jit

__all__ = ["exponential", "held_input"]

_TERMS = 18  # with a norm of at most one half the rest is below 0.5^19 / 19! = 2e-23
_NORM = 0.5
_SWEEPS = 20  # of the balancing; it ends by itself long before
_HALVINGS = 1000  # a norm that takes more is not a number


@jit
def exponential(M):
    """exp(M) of a square matrix."""
    n = len(M)
    A, E, work, scale = np.empty((n, n)), np.empty((n, n)), np.empty((n, n)), np.empty(n)
    for i in range(n):
        scale[i] = 1.0
        for j in range(n):
            A[i, j] = M[i, j]
            E[i, j] = 1.0 if i == j else 0.0
    _balance(A, scale)
    halvings, part = 0, 1.0
    while part * _norm(A) > _NORM and halvings < _HALVINGS:
        halvings, part = halvings + 1, 0.5 * part
    for k in range(_TERMS, 0, -1):  # Horner's scheme
        _multiply(A, E, part / k, work)
        for i in range(n):
            for j in range(n):
                E[i, j] = work[i, j] + (1.0 if i == j else 0.0)
    for _ in range(halvings):
        _multiply(E, E, 1.0, work)
        E, work = work, E
    for i in range(n):
        for j in range(n):
            E[i, j] *= scale[i] / scale[j]
    return E


# loops and no products of NumPy: a block that uses them compiles in a tenth of the time
@jit
def _norm(A):
    """Largest column sum."""
    largest = 0.0
    for j in range(len(A)):
        total = 0.0
        for i in range(len(A)):
            total += abs(A[i, j])
        largest = max(largest, total)
    return largest


@jit
def _multiply(A, B, factor, product):
    n = len(A)
    for i in range(n):
        for j in range(n):
            total = 0.0
            for k in range(n):
                total += A[i, k] * B[k, j]
            product[i, j] = factor * total


@jit
def _balance(A, scale):
    """Make rows and columns of equal size, D⁻¹ A D with powers of two in D: no digit changes."""
    n = len(A)
    for _ in range(_SWEEPS):
        changed = False
        for i in range(n):
            row, column = 0.0, 0.0
            for j in range(n):
                if j != i:
                    row += abs(A[i, j])
                    column += abs(A[j, i])
            if row == 0.0 or column == 0.0:
                continue
            f, total = 1.0, row + column
            while column < 0.5 * row:
                f, column, row = 2.0 * f, 2.0 * column, 0.5 * row
            while column >= 2.0 * row:
                f, column, row = 0.5 * f, 0.5 * column, 2.0 * row
            if f != 1.0 and row + column < 0.95 * total:
                changed = True
                scale[i] *= f
                for j in range(n):
                    A[j, i] *= f
                for j in range(n):
                    A[i, j] /= f
        if not changed:
            break


@jit
def held_input(A, B, dt, line):
    r"""Recurrence of a linear system over a tick.

    .. math:: \dot x = A x + B u, \qquad x_k = \Phi x_{k-1} + \Gamma_0 u_{k-1} + \Gamma_1 u_k

    Exact for an input that moves on a straight line over the tick where `line` is true, else for one that stays at
    :math:`u_{k-1}`; :math:`\Gamma_1` is zero then.

    References
    ----------
    Franklin, Powell, Workman (1998), Digital Control of Dynamic Systems, 3rd ed., sections 4.3 and 6.3.2 (block
    exponentials for held and triangular inputs).
    """
    n, m = B.shape
    M = np.zeros((n + 2 * m, n + 2 * m))
    for i in range(n):
        for j in range(n):
            M[i, j] = A[i, j] * dt
        for j in range(m):
            M[i, n + j] = B[i, j] * dt
    for j in range(m):
        M[n + j, n + m + j] = 1.0
    E = exponential(M)
    Phi, G0, G1 = np.empty((n, n)), np.empty((n, m)), np.empty((n, m))
    for i in range(n):
        for j in range(n):
            Phi[i, j] = E[i, j]
        for j in range(m):
            G1[i, j] = E[i, n + m + j] if line else 0.0
            G0[i, j] = E[i, n + j] - G1[i, j]
    return Phi, G0, G1
