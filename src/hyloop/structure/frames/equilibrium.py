"""States of equilibrium under a load whose factor follows from a displacement that is imposed.

.. math:: K u + r(u) = F_0 + \\lambda p, \\qquad c^T (u - u_0) = d

for the unknowns u and λ, with dead load F₀, load pattern p and the displacement d along c. The bordered matrix of both
is regular where the tangent stiffness is not, so that the branch behind a peak is found like the one before it.

References
----------
Batoz and Dhatt (1979), Incremental displacement algorithms for nonlinear problems, doi:10.1002/nme.1620140811.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import block_array, csc_array, csr_array
from scipy.sparse.linalg import splu

from hyloop.structure.elements import Elements
from hyloop.structure.fibres.beam_forces import Header
from hyloop.structure.fibres.beams import FibreBeams
from hyloop.structure.frames.gravity import balance, colours_of, resisting_force, tangent
from hyloop.structure.structure import Structure

__all__ = ["Path", "settled"]

BALANCE = 1e-8  # residual force, of the largest force in the balance: far below what anybody reads off a curve
ROUND_OFF = 1e-15  # of the terms of K u: what remains of them in their sum
ITERATIONS = 40  # with one size of step
SLOW = 0.2  # the tangent is renewed where an iteration leaves more than this of the residual
SHORTEST = 1 / 32  # of a correction that leads farther away
HALVINGS = 8  # of a step in which no equilibrium is found
LOST = 0.1  # of the largest factor so far, that may be lost or gained in a leap
STATIC = 50  # section iterations of beam-columns: Newton's method needs forces that are smooth in u


def settled(group: Elements) -> Elements:
    """The group for statics: its members iterate to their own equilibrium in every call."""
    if not isinstance(group, FibreBeams):
        return group
    integers = group.integers.copy()
    integers[Header._fields.index("iterations")] = STATIC
    return replace(group, integers=integers)


class Path:
    """A structure that is led along one displacement, from its state at rest.

    Parameters
    ----------
    load, control : ndarray, (n,)
        Load pattern p and direction c.
    seen : callable, optional
        Called with the displacements of every equilibrium, in their order.

    Attributes
    ----------
    u, factor : ndarray, float
        Displacements and load factor of the last equilibrium.
    states : list of ndarray
        States of all groups there.
    leaps : list of float
        Displacements where the path was left, to be found again farther on.
    """

    def __init__(
        self,
        structure: Structure,
        load: np.ndarray,
        control: np.ndarray,
        seen: Callable[[np.ndarray], None] = lambda u: None,
    ) -> None:
        self.structure = structure = replace(structure, elements=[settled(group) for group in structure.elements])
        self._load, self._control, self._colours = load, control, colours_of(structure)
        self.states = [group.initial.copy() for group in structure.elements]
        self.u, self.factor, self._rest = structure.at_rest.copy(), 0.0, structure.at_rest.copy()
        if structure.dead_load.any():  # what was left out of the structure may have carried some of it
            start = csr_array(structure.initial_stiffness)
            dead = structure.dead_load
            self.u, self.states, *_ = balance(structure, dead, self.u, self.states, start, self._colours, dead)
            self._rest = self.u.copy()
        self._factors: Any = None  # of the bordered matrix with the stiffness `_K`
        self._elastic = self._K = tangent(structure, self.u, self.states, self._colours)
        # border and K in one size, so that both solve well: the last unknown is a displacement like the others
        self._size = abs(self._K).max() / np.abs(load).max()
        self._seen, self.leaps, self._largest = seen, list[float](), 0.0  # the largest factor so far
        seen(self.u)
        self._last = np.zeros(structure.n), 0.0, 0.0  # increments of u, factor and displacement

    @property
    def displacement(self) -> float:
        """Along the control direction, from rest."""
        return float(self._control @ (self.u - self._rest))

    def go(self, goal: float, halvings: int = HALVINGS) -> bool:
        """Find the equilibrium at a displacement, in smaller steps where one does not do; False where none is found.

        What was found on the way stays.
        """
        if self._newton(goal):
            return True
        if halvings == 0:
            return False
        return self.go(0.5 * (self.displacement + goal), halvings - 1) and self.go(goal, halvings - 1)

    def leap(self, goal: float) -> bool:
        """Find an equilibrium farther on, where there is none near by: the path falls back on the way and is left.

        That happens where cracks close or cover spalls all at once, and a real structure would jump, too. An
        equilibrium with another load altogether belongs to another branch and is not taken.
        """
        last, before = self._last, self.displacement
        for guess in (last, (np.zeros_like(self.u), 0.0, 0.0)):
            self._last = guess
            if self._newton(goal, LOST * self._largest):
                self.leaps.append(before)
                return True
        self._last = last
        return False

    def _newton(self, goal: float, most: float = np.inf) -> bool:
        """Newton's method, with a tangent that is kept while it is good, and shorter corrections that lead away.

        An equilibrium whose factor differs by more than `most` from the last one is none.
        """
        u, factor = self._guess(goal)
        residual, error, trial = self._residual(u, factor)
        before = np.inf
        for _ in range(ITERATIONS):
            if error < BALANCE and abs(factor - self.factor) <= most:
                return self._keep(u, factor, trial)
            if not np.isfinite(error) or error < BALANCE:
                return False
            if error > SLOW * before:
                self._K, self._factors = tangent(self.structure, u, self.states, self._colours), None
            before = error
            try:
                more = self._correction(residual, goal - float(self._control @ (u - self._rest)))
            except RuntimeError:  # the matrix is singular
                return False
            cut = 1.0
            residual, error, trial = self._residual(u + more[:-1], factor + more[-1] * self._size)
            while not error < before and cut > SHORTEST:
                cut *= 0.5
                residual, error, trial = self._residual(u + cut * more[:-1], factor + cut * more[-1] * self._size)
            u, factor = u + cut * more[:-1], factor + cut * more[-1] * self._size
        return False

    def _keep(self, u: np.ndarray, factor: float, states: list[np.ndarray]) -> bool:
        """Take an equilibrium down; always True."""
        step = float(self._control @ (u - self.u))
        self._last = u - self.u, factor - self.factor, step
        self.u, self.factor, self.states = u, factor, states
        self._largest = max(self._largest, abs(factor))
        self._seen(u)
        return True

    def _guess(self, goal: float) -> tuple[np.ndarray, float]:
        """On in the direction of the last step; after a reversal along the stiffness at rest, as members unload."""
        step, (du, factor, last) = goal - self.displacement, self._last
        if step * last > 0.0:
            return self.u + step / last * du, self.factor + step / last * factor
        self._K, self._factors = self._elastic, None
        more = self._correction(np.zeros_like(self.u), step)
        return self.u + more[:-1], self.factor + more[-1] * self._size

    def _residual(self, u: np.ndarray, factor: float) -> tuple[np.ndarray, float, list[np.ndarray]]:
        """Unbalanced forces, the largest in terms of the largest force there is, and the states of the members."""
        trial, s = [x.copy() for x in self.states], self.structure
        pushed = factor * self._load
        with np.errstate(all="ignore"):
            resisting = resisting_force(s, u, trial)
            residual = s.dead_load + pushed - resisting
            scale = max(np.abs(pushed).max(), np.abs(s.dead_load).max(), np.abs(resisting).max(), np.finfo(float).tiny)
            error = (np.abs(residual) - ROUND_OFF * (abs(s.K) @ np.abs(u))).max() / scale
        return residual, float(error), trial

    def _correction(self, residual: np.ndarray, gap: float) -> np.ndarray:
        """Of u and of the factor over `_size`, from the bordered matrix."""
        if self._factors is None:
            k = abs(self._K).max()
            border = csc_array(self._load[:, None]) * self._size, csc_array(self._control[None, :]) * k
            self._factors = splu(csc_array(block_array([[csc_array(self._K), -border[0]], [border[1], None]]))), k
        factors, k = self._factors
        return factors.solve(np.append(residual, k * gap))
