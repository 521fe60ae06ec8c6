"""`Structure`: mass, damping, stiffness, where the excitation acts, and nonlinear elements."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from hyloop.core.factor import Factor
from hyloop.core.low_rank import LowRank
from hyloop.errors import BadInput, BadShape, OutOfBounds, UnknownName
from hyloop.structure.elements import Elements
from hyloop.structure.modes import Modes, dense_modes, sparse_modes
from hyloop.structure.places import excitation_names, labels, load_columns, place

__all__ = ["DENSE", "Modes", "Structure"]

# degrees of freedom up to which the structure of a model has full matrices, which are easier to look at and take every
# kind of damping; what a step works with is up to the loop (hyloop.loop.storage)
DENSE = 200
SYMMETRY = 1e-9  # of the largest entry: matrices from a file keep about ten digits


@dataclass(frozen=True, eq=False)
class Structure:
    """A structure M a + C v + R(u) = F, with R linear (K u) plus the forces of nonlinear elements.

    Parameters
    ----------
    M, K, C : array_like or scipy.sparse array, (n, n)
        Mass (positive definite, or semi-definite where K makes up for it), linear stiffness and damping, in SI units.
        Without mass, a degree of freedom that nothing loads follows statics; a loaded one does so after some steps
        only (docs/frames.md).
        A one-dimensional M is a diagonal. C may be left out; `hyloop.structure.damping` makes one. With a sparse M or
        K everything is kept sparse (CSR), and C may be a `hyloop.core.LowRank`.
    influence : array_like, (n,) or (n, k), optional
        Displacement of every degree of freedom when the ground moves by one, a column for each direction of ground
        motion; the load is then -M influence a_g. Default: ones.
    loads : array_like, (n, j), optional
        Further load patterns driven by force histories, after those of the ground.
    elements : sequence of Elements
        Nonlinear members of the analytical substructure (`hyloop.structure.springs`).
    names : sequence of str, optional
        Names of the degrees of freedom; default ``"1"``, ``"2"``, ...
    dead_load : array_like, (n,), optional
        Load in N that always acts, such as gravity.
    at_rest : array_like, (n,), optional
        Displacement under the dead load alone, where a run begins. Devices are installed in that state: their
        deformation is counted from it. Default: zero.
    floors : sequence of str or int, optional
        Horizontal degrees of freedom of the floors from the bottom up, by name or index, for `story`. Without them a
        structure has no stories; `shear_frame` gives them.
    heights : sequence of float, optional
        Story heights in m, one for each floor, for drift ratios and pictures.
    directions : sequence of str, optional
        Names of the directions of ground motion, such as ("x", "z"), one for each column of `influence`: where there
        are several, channels are called ``ground.x`` and ``base_shear.x``. Default: "1", "2", ...
    load_names : sequence of str, optional
        Names of the loads, one for each column: the degrees of freedom where they act (`with_loads` sets them).
        Channels are called ``load.NAME``, without names ``load.1``, ...
    """

    M: Any
    K: Any
    C: Any = None
    influence: Any = None
    loads: Any = None
    elements: Sequence[Elements] = ()
    names: Sequence[str] = field(default=())
    dead_load: Any = None
    at_rest: Any = None
    floors: Sequence[str | int] = ()
    heights: Any = ()
    directions: Sequence[str] = ()
    load_names: Sequence[str] = ()

    def __post_init__(self) -> None:
        is_sparse = sparse.issparse(self.M) or sparse.issparse(self.K)
        M: Any = self.M if sparse.issparse(self.M) else np.array(self.M, dtype=float)
        if M.ndim == 1:
            M = sparse.diags_array(M) if is_sparse else np.diag(M)
        if M.ndim != 2 or M.shape[0] != M.shape[1] or M.shape[0] == 0:
            raise BadShape(f"M must be a square matrix or a vector of masses, got shape {np.shape(self.M)}.")
        n = M.shape[0]
        M, K = _square("M", M, n, is_sparse), _square("K", self.K, n, is_sparse)
        C = _square("C", sparse.csr_array((n, n)) if self.C is None else self.C, n, is_sparse)
        _symmetric("M", M)
        _symmetric("K", K)
        _masses(M)
        influence = np.ones(n) if self.influence is None else np.array(self.influence, dtype=float)
        loads = np.zeros((n, 0)) if self.loads is None else np.array(self.loads, dtype=float)
        names = tuple(self.names) or tuple(str(i + 1) for i in range(n))
        if len(names) != n or len(set(names)) != n:
            raise BadShape(f"names: {n} different names are needed, got {list(names)}.")
        for key, value in (
            ("M", M),
            ("K", K),
            ("C", C),
            ("influence", _columns("influence", influence, n)),
            ("loads", _columns("loads", loads, n)),
            ("elements", tuple(self.elements)),
            ("names", names),
            ("dead_load", _load("dead_load", self.dead_load, n)),
            ("at_rest", _load("at_rest", self.at_rest, n)),
        ):
            object.__setattr__(self, key, value)
        object.__setattr__(self, "floors", _floors(self))
        object.__setattr__(self, "heights", _heights(self))
        object.__setattr__(self, "directions", labels("directions", self.directions, self.influence))
        object.__setattr__(self, "load_names", labels("load_names", self.load_names, self.loads))
        for group in self.elements:
            if group.stiffness.shape != (n, n):
                raise BadShape(
                    f"{group.name}: made for {group.stiffness.shape[0]} degrees of freedom, structure has {n}."
                )

    @property
    def n(self) -> int:
        """Number of degrees of freedom."""
        return self.M.shape[0]

    @property
    def is_sparse(self) -> bool:
        """Whether M and K are sparse arrays (and C too, perhaps with a part of low rank)."""
        return sparse.issparse(self.M)

    @property
    def initial_stiffness(self) -> Any:
        """K with the initial stiffness of all nonlinear elements."""
        if self.is_sparse:
            return sum((sparse.csr_array(group.stiffness) for group in self.elements), self.K)
        parts = (group.stiffness for group in self.elements)
        full = (part.toarray() if sparse.issparse(part) else part for part in parts)
        return self.K + sum(full, np.zeros_like(self.K))

    @property
    def excitation(self) -> np.ndarray:
        """Load of unit excitations: a column -M influence for each ground direction, then the other loads."""
        return np.hstack([-self.M @ self.influence, self.loads])

    @property
    def excitation_names(self) -> tuple[str, ...]:
        """Channel of each column of `excitation`: ``ground`` or, of several, ``ground.x``; ``load.NAME``."""
        return excitation_names(self)

    def dense(self) -> "Structure":
        """The same structure with full matrices, for methods and tools that need them; for small models."""
        return replace(self, M=self.M.toarray(), K=self.K.toarray(), C=self.C.toarray()) if self.is_sparse else self

    def with_damping(self, C: Any) -> "Structure":
        """The same structure with another damping matrix."""
        return replace(self, C=C)

    def with_elements(self, *groups: Elements) -> "Structure":
        """The same structure with further nonlinear elements."""
        return replace(self, elements=(*self.elements, *groups))

    def with_loads(self, loads: Any) -> "Structure":
        """The same structure with a load at each degree of freedom of a `hyloop.hazards.LoadHistory`, or at these.

        ``Loop.run`` then takes the history, alone or beside ground motions. A name may also be "story 3", see `place`.
        """
        columns, names = load_columns(self, loads)
        return replace(self, loads=np.hstack([self.loads, columns]), load_names=(*self.load_names, *names))

    def modes(self, extra: Any = 0.0, count: int | None = None) -> Modes:
        """Natural modes of the initial stiffness, plus `extra` (for instance that of the devices).

        A massless degree of freedom adds no mode. `count` is the number of modes wanted, from the lowest; by default
        all, but 30 where a sparse model has more than 400 degrees of freedom with mass.
        """
        if count is not None and not 1 <= count <= self.n:
            raise OutOfBounds(f"modes: count = {count!r} must lie between 1 and the {self.n} degrees of freedom.")
        K = self.initial_stiffness
        if self.is_sparse:
            if sparse.issparse(extra) or np.ndim(extra) == 2:
                K = K + sparse.csr_array(extra)
            return sparse_modes(self.M, K, count)
        modes = dense_modes(self.M, K + (extra.toarray() if sparse.issparse(extra) else extra))
        return Modes(modes.omega[:count], modes.shapes[:, :count])

    def dof(self, name: str | int) -> int:
        """Index of a degree of freedom given by name (or by index)."""
        if isinstance(name, (int, np.integer)):
            if not 0 <= name < self.n:
                raise OutOfBounds(f"degree of freedom {name} does not exist; indices run from 0 to {self.n - 1}.")
            return int(name)
        if name not in self.names:
            raise UnknownName("degree of freedom", name, self.names)
        return self.names.index(name)

    def place(self, name: str) -> int:
        """Index of a degree of freedom by name; "story 3" is the floor on top of that story, "story 3.uz" across."""
        return place(self, name)

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
        """Direction vector of the drift of story `number` (the first is 1), for structures that know their floors."""
        if not self.floors:
            raise BadInput(
                f"story {number}: this structure does not know its floors. Use between(upper, lower) or, "
                "for a model, Model.direction; or name the floors from the bottom up: Structure(..., "
                'floors=[...]), in a file floors = ["..."].'
            )
        if not 1 <= number <= len(self.floors):
            raise OutOfBounds(f"story {number} does not exist; stories run from 1 to {len(self.floors)}.")
        return self.between(self.floors[number - 1], self.floors[number - 2] if number > 1 else None, factor)


def _floors(structure: Structure) -> tuple[int, ...]:
    """Indices of the floors, which stay right when degrees of freedom are renamed."""
    if isinstance(structure.floors, str):
        raise BadInput(f"floors: {structure.floors!r} must be a list of degrees of freedom, from the bottom up.")
    try:
        found = tuple(structure.dof(floor) for floor in structure.floors)
    except BadInput as error:
        error.args = (f"floors: {error}",)
        raise
    if len(set(found)) < len(found):
        raise BadInput(f"floors: {list(structure.floors)} must name each floor once, from the bottom up.")
    return found


def _heights(structure: Structure) -> tuple[float, ...]:
    heights = np.atleast_1d(np.asarray(structure.heights, dtype=float))
    if len(heights) == 0:
        return ()
    if heights.shape != (len(structure.floors),):
        raise BadShape(f"heights: {len(structure.floors)} are needed, one for each floor; got shape {heights.shape}.")
    if not (np.isfinite(heights).all() and heights.min() > 0.0):
        raise OutOfBounds(f"heights: {heights.tolist()} must be positive.")
    return tuple(heights.tolist())


def _square(name: str, matrix: Any, n: int, is_sparse: bool) -> Any:
    """A finite matrix of the right shape, copied: sparse (CSR, sorted, entries summed) or full."""
    low_rank = isinstance(matrix, LowRank)
    given: Any = matrix if low_rank or sparse.issparse(matrix) else np.array(matrix, dtype=float)
    if given.shape != (n, n):
        raise BadShape(f"{name} must have the shape of M, ({n}, {n}); got {given.shape}.")
    if low_rank and is_sparse:
        return LowRank(_square(name, given.sparse, n, True), _columns(name, given.factor, n), given.weights)
    if is_sparse:
        made = sparse.csr_array(given, dtype=float, copy=True)
        made.sum_duplicates()
        values = made.data
    else:
        values = made = given if isinstance(given, np.ndarray) else given.toarray().astype(float)
    if not np.isfinite(values).all():
        raise BadShape(f"{name} contains numbers that are not finite.")
    return made


def _symmetric(name: str, matrix: Any) -> None:
    difference = abs(matrix - matrix.T)
    if difference.max() > SYMMETRY * abs(matrix).max():
        i, j = np.unravel_index(difference.argmax(), matrix.shape)
        raise BadShape(
            f"{name} must be symmetric, but {name}[{i},{j}] = {matrix[i, j]:g} and {name}[{j},{i}] = {matrix[j, i]:g}."
        )


def _masses(M: Any) -> None:
    """Refuse a mass matrix that is not positive semi-definite."""
    diagonal = M.diagonal()
    if np.min(diagonal) < 0.0:
        worst = int(np.argmin(diagonal))
        raise OutOfBounds(f"M: mass of degree of freedom {worst + 1} is {diagonal[worst]:g}; it cannot be negative.")
    # positive pivots of M plus an allowance are the same statement as no eigenvalue below minus the allowance
    allowance = SYMMETRY * abs(M).max() or 1.0
    try:
        if sparse.issparse(M):
            positive = Factor(M + allowance * sparse.eye_array(M.shape[0])).pivots.min() > 0.0
        else:
            np.linalg.cholesky(M + allowance * np.eye(len(M)))
            positive = True
    except np.linalg.LinAlgError:
        positive = False
    if not positive:
        raise OutOfBounds("M has a negative eigenvalue; a mass matrix must be positive semi-definite.")


def _load(name: str, given: Any, n: int) -> np.ndarray:
    vector = np.zeros(n) if given is None else np.array(given, dtype=float)
    if vector.shape != (n,) or not np.isfinite(vector).all():
        raise BadShape(f"{name} must be {n} finite numbers, one for each degree of freedom; got shape {vector.shape}.")
    return vector


def _columns(name: str, array: np.ndarray, n: int) -> np.ndarray:
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or len(array) != n or not np.isfinite(array).all():
        raise BadShape(f"{name} must be finite, with a row for each of the {n} degrees of freedom; got {array.shape}.")
    return array
