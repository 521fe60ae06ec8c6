"""Small dense factors for filters, in place on flat work arrays: nothing is allocated and nothing raises.

A matrix is a place ``at`` in a flat array with a ``stride`` between its rows, so that a filter can keep all of
them in its state vector.
"""

import math

from numba import carray

from hyloop.core.jit import verb
from hyloop.core.memory import tail

__all__ = ["cholesky", "mend", "nearest", "reflect", "triangularise"]


@verb
def triangularise(w, at, n, columns):
    r"""Replace the n × columns matrix A by the lower triangle L with :math:`L L^T = A A^T` and no negative diagonal.

    Householder reflections from the right (an LQ factorisation): the product is never formed, so the condition
    number is not squared and the result is always a valid factor.
    """
    A = carray(tail(w, at), (n, columns))
    for i in range(n):
        norm = 0.0
        for k in range(i, columns):
            norm += A[i, k] * A[i, k]
        if norm == 0.0:
            continue
        norm = math.sqrt(norm)
        positive = A[i, i] > 0.0
        # the pivot grows in magnitude, so no digits cancel; the sign is set right afterwards
        pivot = A[i, i] + norm if positive else A[i, i] - norm
        for j in range(i + 1, n):
            s = A[j, i] * pivot
            for k in range(i + 1, columns):
                s += A[j, k] * A[i, k]
            s /= norm * abs(pivot)
            head = A[j, i] - s * pivot
            A[j, i] = -head if positive else head
            for k in range(i + 1, columns):
                A[j, k] -= s * A[i, k]
        A[i, i] = norm
        for k in range(i + 1, columns):
            A[i, k] = 0.0


@verb
def reflect(g, at, norm, n, a, lower, stride, w, to):
    r"""Write a factor S of :math:`L (I - g g^T / s) L^T` to ``w[to]``.

    Here :math:`s = g^T g + r^2` with r at ``g[at + n]``, and `norm` is its root. One Householder reflection takes the
    row :math:`(g, r)` to its first place; what it makes of the other columns of :math:`(L, 0)` is S. Potter's form of
    the same update subtracts from one, and S becomes singular once r is below 1e-16 of g; here it does not.

    References
    ----------
    Kaminski, Bryson, Schmidt (1971), doi:10.1109/TAC.1971.1099816.
    """
    g, L, S = tail(g, at), carray(tail(a, lower), (n, stride)), carray(tail(w, to), (n, n))
    pivot = g[0] + norm if g[0] > 0.0 else g[0] - norm
    for i in range(n):
        s = L[i, 0] * pivot
        for k in range(1, n):
            s += L[i, k] * g[k]
        s /= norm * abs(pivot)
        for k in range(1, n):
            S[i, k - 1] = L[i, k] - s * g[k]
        S[i, n - 1] = -s * g[n]


@verb
def cholesky(a, at, n, w, to, stride):
    """Write the Cholesky factor of the symmetric matrix at ``a[at]`` to ``w[to]``; False where it is not definite.

    A failed factor holds nan from the failing pivot on, so that it cannot pass for a good one.
    """
    A, L, definite = carray(tail(a, at), (n, n)), carray(tail(w, to), (n, stride)), True
    for j in range(n):
        for i in range(j):
            L[i, j] = 0.0
        for i in range(j, n):
            s = A[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            if i == j:
                definite = definite and s > 0.0
                L[j, j] = math.sqrt(s) if s > 0.0 else math.nan
            else:
                L[i, j] = s / L[j, j]
    return definite


SHIFT = 1e-11  # of the tall-building paper: the least that keeps a rebuilt covariance definite
_SWEEPS = 12  # Jacobi converges quadratically; eight unknowns need about six sweeps


@verb
def nearest(a, at, n, v, to, shift):
    r"""Replace the symmetric matrix at ``a[at]`` by the nearest positive semi-definite one, then lift it off zero.

    .. math:: A = V \Lambda V^T \;\rightarrow\; V \max(\Lambda, \epsilon) V^T

    With :math:`\epsilon = 0` this is the nearest such matrix in the Frobenius norm; the shift :math:`\epsilon` keeps
    round-off from making it indefinite again. Eigenvectors by cyclic Jacobi rotations, built at ``v[to]``.

    References
    ----------
    Higham (1988), doi:10.1016/0024-3795(88)90223-6.
    """
    A, V = carray(tail(a, at), (n, n)), carray(tail(v, to), (n, n))
    for i in range(n):
        for j in range(n):
            V[i, j] = 1.0 if i == j else 0.0
    for _ in range(_SWEEPS):
        for i in range(n):
            for j in range(i + 1, n):
                if A[i, j] != 0.0:
                    rotate(A, V, n, i, j)
    for k in range(n):
        root = math.sqrt(max(A[k, k], shift))
        for i in range(n):
            V[i, k] *= root
    for i in range(n):
        for j in range(n):
            s = 0.0
            for k in range(n):
                s += V[i, k] * V[j, k]
            A[i, j] = s


@verb
def rotate(A, V, n, i, j):
    """The Jacobi rotation of rows and columns i and j that makes A[i, j] vanish, also of the vectors in V."""
    t = (A[j, j] - A[i, i]) / (2.0 * A[i, j])
    t = (1.0 if t >= 0.0 else -1.0) / (abs(t) + math.sqrt(t * t + 1.0))
    c = 1.0 / math.sqrt(t * t + 1.0)
    s = t * c
    for k in range(n):
        p, q = A[k, i], A[k, j]
        A[k, i], A[k, j] = c * p - s * q, s * p + c * q
    for k in range(n):
        p, q = A[i, k], A[j, k]
        A[i, k], A[j, k] = c * p - s * q, s * p + c * q
        p, q = V[k, i], V[k, j]
        V[k, i], V[k, j] = c * p - s * q, s * p + c * q


@verb
def mend(a, at, good, n, w, to, stride):
    """Make the matrix at ``a[at]`` positive definite: the nearest such matrix, lifted, or else the last good one.

    What passes is kept at ``a[good]``. The factor at ``w[to]`` is used as a work space.
    """
    definite = cholesky(a, at, n, w, to, stride)
    if not definite:
        nearest(a, at, n, w, to, SHIFT)
        definite = cholesky(a, at, n, w, to, stride)
    for k in range(n * n):
        if definite:
            a[good + k] = a[at + k]
        else:
            a[at + k] = a[good + k]
