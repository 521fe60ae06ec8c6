r"""Forces and flexibility of a fibre section from its deformations; compiled.

Plane sections stay plane: :math:`\varepsilon = \varepsilon_0 - y\,\kappa_z + z\,\kappa_y`, so that
:math:`N = \sum \sigma A`, :math:`M_z = -\sum y\,\sigma A`, :math:`M_y = \sum z\,\sigma A`.

A section in the plane has two deformations (ε0, κz), in space three. The state of a section at ``x[at:]`` is

    deformations | forces | flexibility, by rows | histories of the fibres

and its constants at ``p[q:]`` are the tangent floor (a matrix), then for every row of fibres y, (z,) areas and the
numbers of the material. The rows, each of one material, stand as pairs of kind and number of fibres in ``i[first:]``.
"""

from hyloop.core.jit import verb
from hyloop.structure.fibres import stress
from hyloop.structure.fibres.stress import HISTORY, PARAMETERS, advance

__all__ = ["FLOOR", "WORK", "history_at", "resist"]

FLOOR = 1e-8  # of the initial stiffness, added to the tangent: ideally plastic fibres leave none. Forces do not change
WORK = stress.WORK


@verb
def history_at(n):
    """Position of the histories of the fibres in the state of a section with `n` deformations."""
    return 2 * n + n * n


@verb
def resist(n, x, at, w, size, p, q, i, first, rows, commit):
    """Forces and flexibility at the deformations that stand in the state; histories follow if `commit`.

    `w` is scratch for ``WORK * size`` numbers, `size` the largest number of fibres in a row.
    """
    force, tangent, h = at + n, at + 2 * n, at + history_at(n)
    for a in range(n):
        x[force + a] = 0.0
    for a in range(n * n):
        x[tangent + a] = p[q + a]
    q += n * n
    for row in range(rows):
        kind, count = i[first + 2 * row], i[first + 2 * row + 1]
        _strain(n, count, x, at, w, p, q)
        advance(kind, count, x, w, size, h, p, q + n * count, commit)
        _sum(n, count, x, force, tangent, w + size, w + 2 * size, p, q)
        h += HISTORY[kind] * count
        q += n * count + PARAMETERS[kind]
    _invert(n, x, tangent)


@verb
def _strain(n, count, x, at, w, p, q):
    mean, about_z = x[at], x[at + 1]
    for k in range(count):
        x[w + k] = mean - p[q + k] * about_z
    if n == 3:
        about_y = x[at + 2]
        for k in range(count):
            x[w + k] += p[q + count + k] * about_y


@verb
def _sum(n, count, x, force, tangent, s, t, p, q):
    N, M_z, M_y = 0.0, 0.0, 0.0
    EA, ES_z, EI_z, ES_y, EI_yz, EI_y = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    area = q + (n - 1) * count
    for k in range(count):
        f, stiff, y = x[s + k] * p[area + k], x[t + k] * p[area + k], -p[q + k]
        N += f
        M_z += y * f
        EA += stiff
        ES_z += y * stiff
        EI_z += y * y * stiff
        if n == 3:
            z = p[q + count + k]
            M_y += z * f
            ES_y += z * stiff
            EI_yz += y * z * stiff
            EI_y += z * z * stiff
    x[force] += N
    x[force + 1] += M_z
    x[tangent] += EA
    x[tangent + 1] += ES_z
    x[tangent + n] += ES_z
    x[tangent + n + 1] += EI_z
    if n == 3:
        x[force + 2] += M_y
        x[tangent + 2] += ES_y
        x[tangent + 6] += ES_y
        x[tangent + 5] += EI_yz
        x[tangent + 7] += EI_yz
        x[tangent + 8] += EI_y


@verb
def _invert(n, x, k):
    """Inverse of a symmetric matrix of two or three rows in place."""
    if n == 2:
        a, b, c = x[k], x[k + 1], x[k + 3]
        determinant = a * c - b * b
        x[k], x[k + 1], x[k + 2], x[k + 3] = c / determinant, -b / determinant, -b / determinant, a / determinant
        return
    a, b, c, d, e, f = x[k], x[k + 1], x[k + 2], x[k + 4], x[k + 5], x[k + 8]
    A, B, C = d * f - e * e, c * e - b * f, b * e - c * d
    determinant = a * A + b * B + c * C
    x[k], x[k + 1], x[k + 2] = A / determinant, B / determinant, C / determinant
    x[k + 3], x[k + 4], x[k + 5] = x[k + 1], (a * f - c * c) / determinant, (b * c - a * e) / determinant
    x[k + 6], x[k + 7], x[k + 8] = x[k + 2], x[k + 5], (a * d - b * b) / determinant
