"""Cross-sections of beam-columns: elastic, and of fibres.

Local axes: x along the member, y and z across it, usually the principal axes. Bending in the plane is about z, with y
the height in the section; a positive moment compresses the fibres at positive y.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from hyloop.core.jit import jit, pointer
from hyloop.core.memory import Growing, read, tail
from hyloop.errors import BadInput, BadShape, OutOfBounds
from hyloop.structure.fibres import section_forces
from hyloop.structure.fibres.materials import Concrete, Material
from hyloop.structure.fibres.section_forces import Coordinates, FibreRow, Point, section_at, section_places
from hyloop.structure.fibres.stress import HISTORY, WORK

__all__ = ["ElasticSection", "FibreSection", "MomentCurvature", "moment_curvature"]

ROUND_OFF = 1e-12  # of the stiffnesses it couples: what the sums over the fibres of a symmetric section leave


@dataclass(frozen=True)
class ElasticSection:
    r"""Section of a linear elastic member.

    All moments of area are taken about the member's axis, the line between its (rigid) ends. Where the centroid lies on
    that line and y, z are principal axes, as in most steel profiles, `Sz`, `Sy` and `Iyz` are zero. Otherwise axial
    force and bending are coupled:

    .. math::
        \begin{bmatrix} N \\ M_z \\ M_y \end{bmatrix} = E
        \begin{bmatrix} A & -S_z & S_y \\ -S_z & I_z & -I_{yz} \\ S_y & -I_{yz} & I_y \end{bmatrix}
        \begin{bmatrix} \varepsilon_0 \\ \kappa_z \\ \kappa_y \end{bmatrix}

    Parameters
    ----------
    E, A, Iz : float
        Modulus in Pa, area in m² and second moment of area about z, ∫ y² dA, in m⁴.
    Iy, G, J : float
        Second moment about y, ∫ z² dA, shear modulus and torsion constant; needed in space only.
    Sz, Sy, Iyz : float
        First moments ∫ y dA and ∫ z dA in m³ and product of inertia ∫ y z dA in m⁴. A centroid at the height e above
        the axis has Sz = A e, and Iz is then A e² more than about the centroid.
    """

    E: float
    A: float
    Iz: float
    Iy: float = 0.0
    G: float = 0.0
    J: float = 0.0
    Sz: float = 0.0
    Sy: float = 0.0
    Iyz: float = 0.0

    def __post_init__(self) -> None:
        for name in ("E", "A", "Iz"):
            if not 0.0 < getattr(self, name) < np.inf:
                raise OutOfBounds(f"ElasticSection: {name} = {getattr(self, name):g} must be positive and finite.")
        for name in ("Iy", "G", "J"):
            if not 0.0 <= getattr(self, name) < np.inf:
                raise OutOfBounds(f"ElasticSection: {name} = {getattr(self, name):g} must not be negative.")
        # Schwarz: the square of a mixed moment is less than the product of the two it mixes
        for name, one, other in (("Sz", "A", "Iz"), ("Sy", "A", "Iy"), ("Iyz", "Iz", "Iy")):
            value, most = getattr(self, name), getattr(self, one) * getattr(self, other)
            if value != 0.0 and not value * value < most:
                raise OutOfBounds(
                    f"ElasticSection: {name} = {value:g} needs {one} {other} above {name}² = "
                    f"{value * value:g}, got {most:g}; all moments are about the member's "
                    "axis."
                )
        if self.Iy > 0.0 and np.linalg.det(self.stiffness(3) / self.E) <= 0.0:
            raise OutOfBounds(
                "ElasticSection: no section has these Sz, Sy and Iyz together; all moments are about the member's axis."
            )

    @property
    def GJ(self) -> float:
        return self.G * self.J

    def stiffness(self, dimensions: int) -> np.ndarray:
        """Stiffness for (ε0, κz) in the plane, (ε0, κz, κy) in space, about the member's axis."""
        A, Sz, Sy, Iz, Iy, Iyz = (self.E * value for value in (self.A, self.Sz, self.Sy, self.Iz, self.Iy, self.Iyz))
        return np.array([[A, -Sz, Sy], [-Sz, Iz, -Iyz], [Sy, -Iyz, Iy]])[:dimensions, :dimensions]


@dataclass(frozen=True, eq=False)
class FibreSection:
    """A section as fibres, each with its own material and history.

    Parameters
    ----------
    y, area : array_like, (fibres,)
        Coordinates along y in m from the member's axis, and areas in m². The axis is where y = 0, be it the centroid or
        not (OpenSees moves it to the centroid of the fibres unless given ``-noCentroid``).
    materials : Material or sequence of Material
        One for all fibres, or one for each.
    z : array_like, (fibres,)
        Coordinates along z; default zero, enough for bending about z alone.
    GJ : float
        Torsional stiffness in N m², elastic and apart from the fibres; needed in space only.
    """

    y: np.ndarray
    area: np.ndarray
    materials: Sequence[Material]
    z: np.ndarray = field(default_factory=lambda: np.zeros(0))
    GJ: float = 0.0

    def __post_init__(self) -> None:
        y, area = np.array(self.y, dtype=float), np.array(self.area, dtype=float)
        z = np.array(self.z, dtype=float) if np.size(self.z) else np.zeros_like(y)
        if y.ndim != 1 or len(y) == 0 or y.shape != area.shape or z.shape != y.shape:
            raise BadShape(
                f"FibreSection: y {y.shape}, z {z.shape} and area {area.shape} must be vectors of one "
                "length, one number for each fibre."
            )
        for name, values in (("y", y), ("z", z), ("area", area)):
            if not np.isfinite(values).all():
                raise BadShape(f"FibreSection: {name} of fibre {int(np.argmin(np.isfinite(values)))} is not finite.")
        if area.min() <= 0.0:
            worst = int(np.argmin(area))
            raise OutOfBounds(f"FibreSection: area of fibre {worst} is {area[worst]:g} m²; it must be positive.")
        materials = (self.materials,) * len(y) if isinstance(self.materials, Material) else tuple(self.materials)
        if len(materials) != len(y) or not all(isinstance(m, Material) for m in materials):
            raise BadShape(f"FibreSection: {len(materials)} materials for {len(y)} fibres; give one, or one for each.")
        if not any(m.carries_tension for m in materials):
            raise BadInput(
                "FibreSection: no fibre carries tension, so the section is lost once it cracks. "
                "Add reinforcing bars of Steel."
            )
        if not 0.0 <= self.GJ < np.inf:
            raise OutOfBounds(f"FibreSection: GJ = {self.GJ:g} N m² must not be negative.")
        # fibres of one material stand together and are advanced in one loop
        different = list(dict.fromkeys(materials))
        order = np.argsort([different.index(m) for m in materials], kind="stable")
        for key, value in (
            ("y", y[order]),
            ("z", z[order]),
            ("area", area[order]),
            ("materials", tuple(materials[k] for k in order)),
        ):
            object.__setattr__(self, key, value)

    def stiffness(self, dimensions: int) -> np.ndarray:
        """Initial stiffness for (ε0, κz) in the plane, (ε0, κz, κy) in space, about the member's axis."""
        shape = np.array([np.ones_like(self.y), -self.y, self.z][:dimensions])
        EA = np.array([m.stiffness for m in self.materials]) * self.area
        return shape * EA @ shape.T

    def elastic(self) -> ElasticSection:
        """The uncracked section about the member's axis, as an elastic one with the modulus of its stiffest concrete.

        Without concrete it is that of the stiffest material. The coupling of axial force and bending is kept.
        """
        k = self.stiffness(3)
        scale = np.sqrt(np.outer(np.diag(k), np.diag(k)))
        k[np.abs(k) <= ROUND_OFF * scale] = 0.0
        if np.linalg.det(k) <= ROUND_OFF * np.prod(np.diag(k)):
            k[2], k[:, 2] = 0.0, 0.0  # the fibres lie on one line: a section for the plane only
        E = max(
            (m.stiffness for m in self.materials if isinstance(m, Concrete)),
            default=max(m.stiffness for m in self.materials),
        )
        A, Iz, Iy, Sz, Sy, Iyz = k[0, 0], k[1, 1], k[2, 2], -k[0, 1], k[0, 2], -k[1, 2]
        # only G J counts
        return ElasticSection(E, A / E, Iz / E, Iy / E, G=1.0, J=self.GJ, Sz=Sz / E, Sy=Sy / E, Iyz=Iyz / E)

    def in_plane(self) -> "FibreSection":
        """The same section for bending about z alone: fibres of one height and material become one."""
        merged: dict[tuple[float, Material], float] = {}
        for y, area, material in zip(self.y, self.area, self.materials, strict=True):
            merged[y, material] = merged.get((y, material), 0.0) + area
        heights, materials = zip(*merged, strict=True)
        return FibreSection(np.array(heights), np.array(list(merged.values())), materials, GJ=self.GJ)

    def rows(self) -> list[FibreRow]:
        """Kind and number of fibres for every material, in the order of the fibres."""
        return [FibreRow(m.kind, self.materials.count(m)) for m in dict.fromkeys(self.materials)]

    def constants(self, dimensions: int) -> np.ndarray:
        """The numbers `hyloop.structure.fibres.section_forces` reads: tangent floor, then every row of fibres."""
        parts, k = [section_forces.FLOOR * self.stiffness(dimensions).ravel()], 0
        for row in self.rows():
            here = slice(k, k + row.fibres)
            z = self.z[here] if dimensions == 3 else np.zeros(0)
            parts += Coordinates(self.y[here], z, self.area[here], material=np.array(self.materials[k].numbers()))
            k += row.fibres
        return np.concatenate(parts)

    def initial(self, dimensions: int) -> np.ndarray:
        """State before any strain: the flexibility, and zeros."""
        places = section_places(dimensions, 0)
        x = np.zeros(places.history + sum(HISTORY[row.kind] * row.fibres for row in self.rows()))
        x[places.f : places.history] = np.linalg.inv(self.stiffness(dimensions)).ravel()
        return x


class MomentCurvature(NamedTuple):
    """Moment in N m and strain at the member's axis, for each curvature in 1/m."""

    curvature: np.ndarray
    moment: np.ndarray
    strain: np.ndarray


BALANCE = 1e-12  # unbalanced axial force allowed, of the largest force the initial stiffness could make of the strains
SMALL = 1e-9  # a strain that makes this bound more than zero without any force
LARGEST = 0.2  # strain at which the search is given up
REACH = 1e-4  # first step in strain where the tangent points the wrong way
ATTEMPTS = 200  # a third of them halve the bracket


def moment_curvature(section: FibreSection, axial_force: float, curvatures) -> MomentCurvature:
    """Moments along a history of curvatures about z, under a constant axial force (tension positive).

    The axial force is applied first, without curvature. At every curvature the strain at the axis is then found by
    Newton's method with a bracket, so that the fibres carry `axial_force`.

    Examples
    --------
    >>> from hyloop.structure.fibres.materials import Elastic
    >>> bar = FibreSection([-0.1, 0.1], [1e-3, 1e-3], Elastic(200e9))
    >>> moment_curvature(bar, 0.0, [0.0, 1e-3]).moment
    array([   0., 4000.])
    """
    curvatures = np.atleast_1d(np.asarray(curvatures, dtype=float))
    if curvatures.ndim != 1 or not np.isfinite(curvatures).all() or not np.isfinite(axial_force):
        raise BadShape("moment_curvature: the curvatures must be a vector of finite numbers, the axial force finite.")
    plane = section.in_plane()
    rows = plane.rows()
    size = max(row.fibres for row in rows)
    x, i = Growing(), Growing(np.int64)
    i.add(Point(state=x.add(plane.initial(2)), constants=0, rows=len(Point._fields), n_rows=len(rows), place=0))
    i.add(rows)
    work = x.add(np.zeros(WORK * size))
    EA, EI = (float(value) for value in np.diag(plane.stiffness(2)))
    history = np.concatenate([[0.0], curvatures])
    moment, strain = np.empty_like(history), np.empty_like(history)
    arrays = (x.vector(), plane.constants(2), i.vector())
    done = _bend(*arrays, work, size, float(axial_force), history, moment, strain, EA, (EI / EA) ** 0.5)
    if done < len(history):
        raise BadInput(
            f"moment_curvature: the section cannot carry N = {axial_force:g} N at curvature "
            f"{history[done]:g} 1/m; lower the axial force or the curvature."
        )
    return MomentCurvature(curvatures, moment[1:], strain[1:])


@jit
def _bend(x, p, i, work, size, N, curvatures, moment, strain, EA, radius):
    """Fill `moment` and `strain`; return the index of the first curvature without balance, or their number."""
    point = read(Point, i, 0)
    section, room = section_at(2, pointer(x), point), tail(x, work)
    d, D, f = section.d, section.D, section.f
    for k in range(curvatures.shape[0]):
        d[1] = curvatures[k]
        low, high, reach = -np.inf, np.inf, REACH
        balanced = work < 0  # not yet
        for attempt in range(ATTEMPTS):
            section_forces.resist(2, pointer(x), pointer(p), pointer(i), point, room, size, balanced)
            if balanced:  # and by now committed
                break
            if abs(d[0]) > LARGEST:
                return k
            excess = D[0] - N
            if abs(excess) <= BALANCE * (abs(N) + EA * (abs(d[0]) + radius * abs(d[1]) + SMALL)):
                balanced = True
                continue
            if excess > 0.0:
                high = d[0]
            else:
                low = d[0]
            # axial tangent from the flexibility: k11 = f22/(f11 f22 - f12²)
            new = d[0] - excess * (f[0] * f[3] - f[1] * f[2]) / f[3]
            if high - low < np.inf:
                # now and then the middle, so that the bracket shrinks whatever Newton's method does
                d[0] = new if low < new < high and attempt % 3 != 2 else 0.5 * (low + high)
            elif excess * (new - d[0]) < 0.0:
                d[0] = new
            else:  # the section softens: on until the force turns
                d[0] -= reach if excess > 0.0 else -reach
                reach *= 2.0
        if not balanced:
            return k
        moment[k], strain[k] = D[1], d[0]
    return curvatures.shape[0]
