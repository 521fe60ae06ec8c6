r"""Forces and flexibility of a fibre section from its deformations; compiled.

Plane sections stay plane: :math:`\varepsilon = \varepsilon_0 - y\,\kappa_z + z\,\kappa_y`, so that
:math:`N = \sum \sigma A`, :math:`M_z = -\sum y\,\sigma A`, :math:`M_y = \sum z\,\sigma A`.

A section in the plane has two deformations (ε0, κz), in space three. `Section` is its state. Its constants are the
tangent floor (a matrix), then for every row of fibres the `Coordinates`. `Point` says where both lie.
"""

from typing import Any, NamedTuple

from hyloop.core.jit import verb
from hyloop.core.memory import columns, entry, tail, views
from hyloop.structure.fibres.stress import HISTORY, PARAMETERS, Work, advance

__all__ = ["FLOOR", "Coordinates", "FibreRow", "Point", "Section", "resist", "section_at", "section_places"]

FLOOR = 1e-8  # of the initial stiffness, added to the tangent: ideally plastic fibres leave none. Forces do not change


class Point(NamedTuple):
    """Where an integration point with fibres lies in the flat arrays."""

    state: int  # in x: `Section`
    constants: int  # in p: tangent floor and fibres, the same for all points of one section
    rows: int  # in i: table of `FibreRow`
    n_rows: int
    place: int  # in p: where it stands along the member (`beam_forces.Place`)


class FibreRow(NamedTuple):
    """Fibres of one material."""

    kind: int
    fibres: int


class Section(NamedTuple):
    """State of a section."""

    d: Any  # deformations ε0, κz, (κy)
    D: Any  # forces N, Mz, (My)
    f: Any  # flexibility, by rows
    history: Any  # of the fibres, row by row


class Coordinates(NamedTuple):
    """A row of fibres: coordinates and areas of all, then the numbers of their material. There is no z in the plane."""

    y: Any
    z: Any
    area: Any
    material: Any


def section_places(n: int, at: int) -> Section:
    """Places of a state that begins at ``x[at]``; the histories end it."""
    return Section(at, at + n, at + 2 * n, at + 2 * n + n * n)


_places = verb(section_places)


@verb
def section_at(n, x, point):
    """The state of a point, with `n` deformations."""
    return views(x, _places(n, point.state))


@verb
def resist(n, x, p, i, point, work, size, commit):
    """Forces and flexibility at the deformations that stand in the state; histories follow if `commit`.

    `work` is room for `Work` on rows of `size` fibres, the largest number in a row.
    """
    section, room = section_at(n, x, point), columns(Work, work, size)
    tangent, history, q = section.f, section.history, point.constants
    for a in range(n):
        section.D[a] = 0.0
    for a in range(n * n):
        tangent[a] = p[q + a]
    q += n * n
    for k in range(point.n_rows):
        row = entry(FibreRow, i, point.rows, k)
        fibres = _fibres(n, row.fibres, p, q)
        _strain(n, row.fibres, section.d, fibres, room.strain)
        advance(row.kind, row.fibres, room, history, fibres.material, commit)
        _sum(n, row.fibres, room, fibres, section.D, tangent)
        history = tail(history, HISTORY[row.kind] * row.fibres)
        q += n * row.fibres + PARAMETERS[row.kind]
    _invert(n, tangent)


@verb
def _fibres(n, count, p, q):
    return views(p, Coordinates(q, q + count, q + (n - 1) * count, q + n * count))


@verb
def _strain(n, count, d, fibres, strain):
    mean, about_z = d[0], d[1]
    for k in range(count):
        strain[k] = mean - fibres.y[k] * about_z
    if n == 3:
        about_y = d[2]
        for k in range(count):
            strain[k] += fibres.z[k] * about_y


@verb
def _sum(n, count, work, fibres, D, tangent):
    """Add the forces and the tangent stiffness of a row of fibres."""
    N, M_z, M_y = 0.0, 0.0, 0.0
    EA, ES_z, EI_z, ES_y, EI_yz, EI_y = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(count):
        f, stiff, y = work.stress[k] * fibres.area[k], work.tangent[k] * fibres.area[k], -fibres.y[k]
        N += f
        M_z += y * f
        EA += stiff
        ES_z += y * stiff
        EI_z += y * y * stiff
        if n == 3:
            z = fibres.z[k]
            M_y += z * f
            ES_y += z * stiff
            EI_yz += y * z * stiff
            EI_y += z * z * stiff
    D[0] += N
    D[1] += M_z
    tangent[0] += EA
    tangent[1] += ES_z
    tangent[n] += ES_z
    tangent[n + 1] += EI_z
    if n == 3:
        D[2] += M_y
        tangent[2] += ES_y
        tangent[6] += ES_y
        tangent[5] += EI_yz
        tangent[7] += EI_yz
        tangent[8] += EI_y


@verb
def _invert(n, k):
    """Inverse of a symmetric matrix of two or three rows in place."""
    if n == 2:
        a, b, c = k[0], k[1], k[3]
        determinant = a * c - b * b
        k[0], k[1], k[2], k[3] = c / determinant, -b / determinant, -b / determinant, a / determinant
        return
    a, b, c, d, e, f = k[0], k[1], k[2], k[4], k[5], k[8]
    A, B, C = d * f - e * e, c * e - b * f, b * e - c * d
    determinant = a * A + b * B + c * C
    k[0], k[1], k[2] = A / determinant, B / determinant, C / determinant
    k[3], k[4], k[5] = k[1], (a * f - c * c) / determinant, (b * c - a * e) / determinant
    k[6], k[7], k[8] = k[2], k[5], (a * d - b * b) / determinant
