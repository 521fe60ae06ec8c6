"""Members of a model: rows of basic deformations and, for elastic ones, the basic stiffness behind them.

Kinematics are linear. A member between two nodes has a few basic deformations e = b [u_i; u_j]; rigid ends and the
turn into local axes are inside the matrix b. An elastic member then has the stiffness b' k b, and a nonlinear one
the force b' q(e), whatever its law.

Signs: elongation positive; rotations counter-clockwise about the local axes (x along the member, y and z principal
axes of the section), at the ends relative to the chord.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hyloop.errors import BadInput, BadShape, OutOfBounds, UnknownName
from hyloop.structure.fibres.sections import ElasticSection

__all__ = [
    "Brace",
    "Elastic",
    "Fibre",
    "LeanOn",
    "Link",
    "Member",
    "Spring",
    "SuperElement",
    "axial_row",
    "axis",
    "beam_rows",
    "elastic_stiffness",
    "end_offsets",
    "link_rows",
    "local_axes",
    "relative_rows",
    "rigid_arm",
]

ROTATIONS = {2: {"i": 1, "j": 2}, 3: {"i": 1, "j": 2, "iz": 1, "jz": 2, "iy": 3, "jy": 4, "twist": 5}}
PARALLEL = 1e-6  # sine of the angle below which `up` cannot tell where the local y axis is
ALONG = 1e-9  # of the distance: node distances below this are zero


@dataclass(frozen=True, eq=False)
class Member:
    """What all members share.

    Attributes
    ----------
    name, i, j : str
        Name, first and second node.
    rows : ndarray, (rows, 2 dofs of a node)
        Basic deformations from the displacements of node i, then of node j.
    stiffness : ndarray, (rows, rows), or None
        Basic stiffness of an elastic member; None where a law takes its place.
    geometric : ndarray, (rows, rows), or None
        Basic stiffness of a constant axial force, kept apart because it can hide or make a mechanism.
    """

    name: str
    i: str
    j: str
    rows: np.ndarray
    stiffness: np.ndarray | None = None
    geometric: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Elastic(Member):
    """Elastic beam-column; `axial_force` is a constant compression."""

    section: Any = None
    length: float = 0.0
    axes: Any = None
    offsets: Any = None
    release: tuple[str, ...] = ()
    axial_force: float | None = None


@dataclass(frozen=True, eq=False)
class Fibre(Member):
    """Beam-column with fibre sections; `hinges` None: Gauss-Lobatto points all along."""

    beam: Any = None
    hinges: tuple[float, float] | None = None
    axes: Any = None
    offsets: Any = None
    pdelta: bool = True


@dataclass(frozen=True, eq=False)
class Brace(Member):
    """Truss; `length` is the part that yields, `distance` that between the nodes."""

    material: Any = None
    area: float = 0.0
    length: float = 0.0
    distance: float = 0.0


@dataclass(frozen=True, eq=False)
class LeanOn(Member):
    """Column without lateral stiffness under the compression `load`, over the height `height`."""

    load: float = 0.0
    height: float = 0.0


@dataclass(frozen=True, eq=False)
class Link(Member):
    """Linear springs between two nodes, one for each degree of freedom in `springs`."""

    springs: Any = None


@dataclass(frozen=True, eq=False)
class Spring(Member):
    """A device law between two nodes; `dof` None: along the line between them."""

    law: Any = None
    dof: str | None = None


class SuperElement(NamedTuple):
    """A linear part known by its matrices on some degrees of freedom."""

    dofs: tuple[str, ...]
    K: np.ndarray
    M: np.ndarray


def axis(name: str, xi: np.ndarray, xj: np.ndarray) -> tuple[np.ndarray, float]:
    """Unit vector from one point to another, and the distance."""
    distance = float(np.linalg.norm(xj - xi))
    if distance <= ALONG * max(1.0, float(np.abs(xi).max())):
        raise BadInput(
            f"member '{name}': zero length; both ends lie at {np.round(xi, 6).tolist()}. "
            "Move a node, shorten the rigid ends, or use a link."
        )
    return (xj - xi) / distance, distance


def end_offsets(name: str, xi: np.ndarray, xj: np.ndarray, offsets: Sequence) -> tuple[np.ndarray, np.ndarray]:
    """Rigid ends as vectors from the nodes: a number is a length along the member, a vector stands in global axes."""
    if len(offsets) != 2:
        raise BadShape(f"member '{name}': offsets are two, one for each end; got {len(offsets)}.")
    vectors = []
    for given, sign in zip(offsets, (1.0, -1.0), strict=True):
        d = np.asarray(given, dtype=float)
        if d.ndim == 0:
            if not 0.0 <= d < np.inf:
                raise OutOfBounds(f"member '{name}': rigid end {d} m must not be negative.")
            d = sign * d * axis(name, xi, xj)[0] if d > 0.0 else np.zeros_like(xi)
        if d.shape != xi.shape or not np.isfinite(d).all():
            raise BadShape(f"member '{name}': a rigid end is a length or a vector of {len(xi)} finite numbers.")
        vectors.append(d)
    if all(np.ndim(given) == 0 for given in offsets):
        rigid, distance = float(sum(offsets)), float(np.linalg.norm(xj - xi))
        if rigid >= distance > 0.0:
            raise OutOfBounds(f"member '{name}': rigid ends of {rigid:g} m leave nothing of its {distance:g} m.")
    return vectors[0], vectors[1]


def local_axes(name: str, x: np.ndarray, up: Sequence[float] | None) -> np.ndarray:
    """Rows: local axes x, y (and z) of a member along the unit vector `x`.

    In space the local y axis is the part of `up` across the member. Default: the vertical (0, 1, 0), and (1, 0, 0)
    for a column, so that Iz is for bending of a beam in the vertical plane and of a column towards global x.
    """
    if len(x) == 2:
        return np.array([x, [-x[1], x[0]]])
    if up is None:
        up = (1.0, 0.0, 0.0) if np.hypot(x[0], x[2]) < PARALLEL else (0.0, 1.0, 0.0)
    y = np.asarray(up, dtype=float)
    if y.shape != (3,) or not np.isfinite(y).all() or np.linalg.norm(y) == 0.0:
        raise BadShape(f"member '{name}': up = {up!r} must be three finite numbers, not all zero.")
    y = y / np.linalg.norm(y)
    y = y - (y @ x) * x
    if np.linalg.norm(y) < PARALLEL:
        raise BadInput(f"member '{name}': up = {tuple(up)} runs along the member; give a direction across it.")
    y /= np.linalg.norm(y)
    return np.array([x, y, np.cross(x, y)])


def rigid_arm(d: np.ndarray) -> np.ndarray:
    """Displacement at the end of a rigid arm `d`, u + θ × d, from all displacements of its node."""
    if len(d) == 2:
        return np.array([[1.0, 0.0, -d[1]], [0.0, 1.0, d[0]]])
    x, y, z = d
    return np.hstack([np.eye(3), [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]])


def beam_rows(axes: np.ndarray, length: float, di: np.ndarray, dj: np.ndarray, chord: bool = True) -> np.ndarray:
    r"""Basic deformations of a beam-column over its flexible length L.

    Plane: elongation, :math:`\theta_i, \theta_j, \psi`; space: elongation, :math:`\theta_{iz}, \theta_{jz},
    \theta_{iy}, \theta_{jy}`, twist, :math:`\psi_z = (v_j - v_i)/L, \psi_y = (w_j - w_i)/L`. The chord rotations
    :math:`\psi` carry the P-Delta effect, N L ψ; without it (`chord` False) their rows are empty.
    """
    dimensions, dofs = len(di), 3 * (len(di) - 1)
    relative = np.hstack([-axes @ rigid_arm(di), axes @ rigid_arm(dj)])  # in local axes, of the flexible ends
    turn = np.zeros((2, dimensions, 2 * dofs))  # rotations of both ends: about z alone in the plane
    if dimensions == 2:
        turn[0, 1, 2] = turn[1, 1, 5] = 1.0
        psi = relative[1] / length
        return np.array([relative[0], turn[0, 1] - psi, turn[1, 1] - psi, psi * chord])
    turn[0, :, 3:6] = turn[1, :, 9:12] = axes
    psi_z, psi_y = relative[1] / length, relative[2] / length
    # a positive slope of w is a negative rotation about y
    return np.array(
        [
            relative[0],
            turn[0, 2] - psi_z,
            turn[1, 2] - psi_z,
            turn[0, 1] + psi_y,
            turn[1, 1] + psi_y,
            turn[1, 0] - turn[0, 0],
            psi_z * chord,
            psi_y * chord,
        ]
    )


def elastic_stiffness(name: str, section: Any, length: float, dimensions: int, release: tuple[str, ...]) -> np.ndarray:
    r"""Basic stiffness of an Euler-Bernoulli member, released rotations condensed out (their rows are zero).

    .. math:: N = \frac{EA}{L} e, \qquad
              \begin{bmatrix} M_i \\ M_j \end{bmatrix} = \frac{EI}{L} \begin{bmatrix} 4 & 2 \\ 2 & 4 \end{bmatrix}
              \begin{bmatrix} \theta_i \\ \theta_j \end{bmatrix}, \qquad T = \frac{GJ}{L} \varphi

    A section with coupling :math:`k_{0a}` of axial force and bending about axis a adds :math:`k_{0a}/L` between e and
    the mean curvature :math:`\theta_j - \theta_i`. Its moment that changes sign along the member makes no axial force
    on the whole, so that part bends about the centroid, with :math:`EI - k_{0a} k_{0b}/EA`.
    """
    needed = ("E", "A", "Iz") if dimensions == 2 else ("E", "A", "Iz", "Iy", "G", "J")
    if not isinstance(section, ElasticSection):
        raise BadInput(
            f"member '{name}': section {section!r} is missing or not elastic; give an ElasticSection(E, A, Iz, ...)."
        )
    values = {key: float(getattr(section, key)) for key in needed}
    for key, value in values.items():
        if not 0.0 < value < np.inf:
            raise OutOfBounds(f"member '{name}': section has {key} = {value:g}; it must be positive.")
    section_stiffness = section.stiffness(dimensions)
    k = np.zeros((4, 4) if dimensions == 2 else (8, 8))
    k[0, 0] = section_stiffness[0, 0] / length
    bending, changing = np.array([[4.0, 2.0], [2.0, 4.0]]) / length, np.full((2, 2), 3.0 / length)
    for a in range(1, dimensions):
        ends = slice(2 * a - 1, 2 * a + 1)
        k[0, ends] = k[ends, 0] = section_stiffness[0, a] * np.array([-1.0, 1.0]) / length
        for b in range(1, dimensions):
            eccentric = section_stiffness[0, a] * section_stiffness[0, b] / section_stiffness[0, 0]
            k[ends, 2 * b - 1 : 2 * b + 1] = section_stiffness[a, b] * bending - eccentric * changing
    if dimensions == 3:
        k[5, 5] = section.GJ / length
    for end in release:
        if end not in ROTATIONS[dimensions]:
            raise UnknownName("release", end, ROTATIONS[dimensions], f"member '{name}'")
        r = ROTATIONS[dimensions][end]
        if k[r, r] > 0.0:
            k = k - np.outer(k[:, r], k[r]) / k[r, r]
            k[r], k[:, r] = 0.0, 0.0  # free of round-off, so that a free rotation is not a degree of freedom
    return k


def axial_row(x: np.ndarray) -> np.ndarray:
    """Elongation along the unit vector `x`, from all displacements of two nodes."""
    no_rotation = np.zeros(2 * len(x) - 3)
    return np.concatenate([-x, no_rotation, x, no_rotation])[None]


def relative_rows(dofs: Sequence[str], chosen: Sequence[str]) -> np.ndarray:
    """Differences j minus i of chosen degrees of freedom."""
    unit = np.eye(len(dofs))[[dofs.index(dof) for dof in chosen]]
    return np.hstack([-unit, unit])


def link_rows(xi: np.ndarray, xj: np.ndarray) -> np.ndarray:
    """Relative displacements and rotations, j minus i, at the point halfway between two nodes, in global axes.

    Nodes and point are joined by rigid arms, so that a link over a distance is in equilibrium.
    """
    dimensions, middle = len(xi), (xi + xj) / 2
    dofs = 3 * (dimensions - 1)
    rows = np.zeros((dofs, 2 * dofs))
    rows[:dimensions] = np.hstack([-rigid_arm(middle - xi), rigid_arm(middle - xj)])
    for k in range(dimensions, dofs):
        rows[k, k], rows[k, dofs + k] = -1.0, 1.0
    return rows
