"""`Structure`: mass, damping, stiffness, where the excitation acts, and nonlinear elements."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.linalg import eigh

from hyloop.errors import BadShape, OutOfBounds, UnknownName
from hyloop.structure.elements import Elements

__all__ = ["Modes", "Structure"]

SYMMETRY = 1e-9  # of the largest entry: matrices from a file keep about ten digits


@dataclass(frozen=True)
class Modes:
    """Natural modes: angular frequencies in rad/s (rising), periods in s, mass-normalised shapes in columns."""

    omega: np.ndarray
    shapes: np.ndarray

    @property
    def periods(self) -> np.ndarray:
        return np.divide(2 * np.pi, self.omega, out=np.full_like(self.omega, np.inf), where=self.omega > 0)


@dataclass(frozen=True, eq=False)
class Structure:
    """A structure M a + C v + R(u) = F, with R linear (K u) plus the forces of nonlinear elements.

    Parameters
    ----------
    M, K, C : array_like, (n, n)
        Mass (positive definite, or semi-definite where K makes up for it), linear stiffness and damping, in SI units.
        A one-dimensional M is a diagonal. C may be left out; `hyloop.structure.damping` makes one.
    influence : array_like, (n,) or (n, k), optional
        Displacement of every degree of freedom when the ground moves by one, a column for each direction of ground
        motion; the load is then -M influence a_g. Default: ones.
    loads : array_like, (n, j), optional
        Further load patterns driven by force histories, after those of the ground.
    elements : sequence of Elements
        Nonlinear members of the analytical substructure (`hyloop.structure.springs`).
    names : sequence of str, optional
        Names of the degrees of freedom; default ``"1"``, ``"2"``, ...
    """

    M: Any
    K: Any
    C: Any = None
    influence: Any = None
    loads: Any = None
    elements: Sequence[Elements] = ()
    names: Sequence[str] = field(default=())

    def __post_init__(self) -> None:
        M = np.array(self.M, dtype=float)
        M = np.diag(M) if M.ndim == 1 else M
        if M.ndim != 2 or M.shape[0] != M.shape[1] or len(M) == 0:
            raise BadShape(f"M must be a square matrix or a vector of masses, got shape {np.shape(self.M)}.")
        n = len(M)
        K, C = _square("K", self.K, n), _square("C", np.zeros((n, n)) if self.C is None else self.C, n)
        _symmetric("M", M)
        _symmetric("K", K)
        if np.min(np.diag(M)) < 0.0:
            worst = int(np.argmin(np.diag(M)))
            raise OutOfBounds(
                f"M: mass of degree of freedom {worst + 1} is {M[worst, worst]:g}; it cannot be negative."
            )
        if np.linalg.eigvalsh(M)[0] < -SYMMETRY * np.abs(M).max():
            raise OutOfBounds("M has a negative eigenvalue; a mass matrix must be positive semi-definite.")
        influence = np.ones(n) if self.influence is None else np.array(self.influence, dtype=float)
        loads = np.zeros((n, 0)) if self.loads is None else np.array(self.loads, dtype=float)
        names = tuple(self.names) or tuple(str(i + 1) for i in range(n))
        if len(names) != n or len(set(names)) != n:
            raise BadShape(f"names: {n} different names are needed, got {list(names)}.")
        for key, value in (("M", M), ("K", K), ("C", C), ("influence", _columns("influence", influence, n)),
                           ("loads", _columns("loads", loads, n)), ("elements", tuple(self.elements)),
                           ("names", names)):  # fmt: skip
            object.__setattr__(self, key, value)
        for group in self.elements:
            if len(group.stiffness) != n:
                raise BadShape(f"{group.name}: made for {len(group.stiffness)} degrees of freedom, structure has {n}.")

    @property
    def n(self) -> int:
        """Number of degrees of freedom."""
        return len(self.M)

    @property
    def initial_stiffness(self) -> np.ndarray:
        """K with the initial stiffness of all nonlinear elements."""
        return self.K + sum((group.stiffness for group in self.elements), np.zeros_like(self.K))

    @property
    def excitation(self) -> np.ndarray:
        """Load of unit excitations: a column -M influence for each ground direction, then the other loads."""
        return np.hstack([-self.M @ self.influence, self.loads])

    def with_damping(self, C: np.ndarray) -> "Structure":
        """The same structure with another damping matrix."""
        return replace(self, C=C)

    def with_elements(self, *groups: Elements) -> "Structure":
        """The same structure with further nonlinear elements."""
        return replace(self, elements=(*self.elements, *groups))

    def modes(self, extra: np.ndarray | float = 0.0) -> Modes:
        """Natural modes of the initial stiffness, plus `extra` (for instance that of the devices).

        A massless degree of freedom adds no mode.
        """
        K = self.initial_stiffness + extra
        if np.linalg.eigvalsh(self.M)[0] > SYMMETRY * np.abs(self.M).max():
            values, shapes = eigh(K, self.M)
            return Modes(np.sqrt(values.clip(min=0.0)), shapes)
        # massless degrees of freedom: 1/ω² of the inverted problem, whose zeros are the modes that do not exist
        values, shapes = eigh(self.M, K)
        exists = values > 1e-12 * values[-1]
        omega = 1.0 / np.sqrt(values[exists][::-1])
        return Modes(omega, shapes[:, exists][:, ::-1] * omega)

    def dof(self, name: str | int) -> int:
        """Index of a degree of freedom given by name (or by index)."""
        if isinstance(name, (int, np.integer)):
            if not 0 <= name < self.n:
                raise OutOfBounds(f"degree of freedom {name} does not exist; indices run from 0 to {self.n - 1}.")
            return int(name)
        if name not in self.names:
            raise UnknownName("degree of freedom", name, self.names)
        return self.names.index(name)

    def between(self, upper: str | int, lower: str | int | None = None, factor: float = 1.0) -> np.ndarray:
        """Direction vector of a device between two degrees of freedom (`lower` None: the ground).

        Its deformation is factor (u_upper - u_lower); a brace at an angle has the cosine as factor.
        """
        direction = np.zeros(self.n)
        direction[self.dof(upper)] = factor
        if lower is not None:
            if self.dof(lower) == self.dof(upper):
                raise OutOfBounds(f"a device cannot connect degree of freedom '{upper}' with itself.")
            direction[self.dof(lower)] = -factor
        return direction

    def story(self, number: int, factor: float = 1.0) -> np.ndarray:
        """Direction vector of the drift of story `number` (the first is 1) when degrees of freedom are floors."""
        if not 1 <= number <= self.n:
            raise OutOfBounds(f"story {number} does not exist; stories run from 1 to {self.n}.")
        return self.between(number - 1, number - 2 if number > 1 else None, factor)


def _square(name: str, matrix: np.ndarray, n: int) -> np.ndarray:
    matrix = np.array(matrix, dtype=float)
    if matrix.shape != (n, n):
        raise BadShape(f"{name} must have the shape of M, ({n}, {n}); got {matrix.shape}.")
    if not np.isfinite(matrix).all():
        raise BadShape(f"{name} contains numbers that are not finite.")
    return matrix


def _symmetric(name: str, matrix: np.ndarray) -> None:
    if not np.isfinite(matrix).all():
        raise BadShape(f"{name} contains numbers that are not finite.")
    difference = np.abs(matrix - matrix.T)
    if difference.max() > SYMMETRY * np.abs(matrix).max():
        i, j = np.unravel_index(np.argmax(difference), matrix.shape)
        raise BadShape(
            f"{name} must be symmetric, but {name}[{i},{j}] = {matrix[i, j]:g} and {name}[{j},{i}] = {matrix[j, i]:g}."
        )


def _columns(name: str, array: np.ndarray, n: int) -> np.ndarray:
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or len(array) != n or not np.isfinite(array).all():
        raise BadShape(f"{name} must be finite, with a row for each of the {n} degrees of freedom; got {array.shape}.")
    return array
