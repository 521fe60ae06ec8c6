"""Small dense factors for filters, in place on flat work arrays: nothing is allocated and nothing raises.

A matrix is a place ``at`` in a flat array with a ``stride`` between its rows, so that a filter can keep all of
them in its state vector.
"""

import math

from hyloop.core.jit import verb

__all__ = ["cholesky", "mend", "nearest", "reflect", "triangularise"]


@verb
def triangularise(w, at, n, columns):
    r"""Replace the n × columns matrix A by the lower triangle L with :math:`L L^T = A A^T` and no negative diagonal.

    Householder reflections from the right (an LQ factorisation): the product is never formed, so the condition
    number is not squared and the result is always a valid factor.
    """
    for i in range(n):
        row = at + i * columns
        norm = 0.0
        for k in range(i, columns):
            norm += w[row + k] * w[row + k]
        if norm == 0.0:
            continue
        norm = math.sqrt(norm)
        positive = w[row + i] > 0.0
        # the pivot grows in magnitude, so no digits cancel; the sign is set right afterwards
        pivot = w[row + i] + norm if positive else w[row + i] - norm
        for j in range(i + 1, n):
            other = at + j * columns
            s = w[other + i] * pivot
            for k in range(i + 1, columns):
                s += w[other + k] * w[row + k]
            s /= norm * abs(pivot)
            head = w[other + i] - s * pivot
            w[other + i] = -head if positive else head
            for k in range(i + 1, columns):
                w[other + k] -= s * w[row + k]
        w[row + i] = norm
        for k in range(i + 1, columns):
            w[row + k] = 0.0


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
    pivot = g[at] + norm if g[at] > 0.0 else g[at] - norm
    for i in range(n):
        row = lower + i * stride
        s = a[row] * pivot
        for k in range(1, n):
            s += a[row + k] * g[at + k]
        s /= norm * abs(pivot)
        for k in range(1, n):
            w[to + i * n + k - 1] = a[row + k] - s * g[at + k]
        w[to + i * n + n - 1] = -s * g[at + n]


@verb
def cholesky(a, at, n, w, to, stride):
    """Write the Cholesky factor of the symmetric matrix at ``a[at]`` to ``w[to]``; False where it is not definite.

    A failed factor holds nan from the failing pivot on, so that it cannot pass for a good one.
    """
    definite = True
    for j in range(n):
        for i in range(j):
            w[to + i * stride + j] = 0.0
        for i in range(j, n):
            s = a[at + i * n + j]
            for k in range(j):
                s -= w[to + i * stride + k] * w[to + j * stride + k]
            if i == j:
                definite = definite and s > 0.0
                w[to + j * stride + j] = math.sqrt(s) if s > 0.0 else math.nan
            else:
                w[to + i * stride + j] = s / w[to + j * stride + j]
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
    for i in range(n):
        for j in range(n):
            v[to + i * n + j] = 1.0 if i == j else 0.0
    for _ in range(_SWEEPS):
        for i in range(n):
            for j in range(i + 1, n):
                off = a[at + i * n + j]
                if off == 0.0:
                    continue
                t = (a[at + j * n + j] - a[at + i * n + i]) / (2.0 * off)
                t = (1.0 if t >= 0.0 else -1.0) / (abs(t) + math.sqrt(t * t + 1.0))
                c = 1.0 / math.sqrt(t * t + 1.0)
                s = t * c
                for k in range(n):
                    p, q = a[at + k * n + i], a[at + k * n + j]
                    a[at + k * n + i], a[at + k * n + j] = c * p - s * q, s * p + c * q
                for k in range(n):
                    p, q = a[at + i * n + k], a[at + j * n + k]
                    a[at + i * n + k], a[at + j * n + k] = c * p - s * q, s * p + c * q
                    p, q = v[to + k * n + i], v[to + k * n + j]
                    v[to + k * n + i], v[to + k * n + j] = c * p - s * q, s * p + c * q
    for k in range(n):
        root = math.sqrt(max(a[at + k * n + k], shift))
        for i in range(n):
            v[to + i * n + k] *= root
    for i in range(n):
        for j in range(n):
            s = 0.0
            for k in range(n):
                s += v[to + i * n + k] * v[to + j * n + k]
            a[at + i * n + j] = s


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
