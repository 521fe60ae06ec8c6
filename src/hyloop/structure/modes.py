"""Natural modes of full and of sparse matrices."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh

from hyloop.core.factor import Factor
from hyloop.errors import OutOfBounds

__all__ = ["Modes", "dense_modes", "sparse_modes"]

REGULAR = 1e-9  # of the largest mass: below that a mass counts as none
EXISTS = 1e-12  # of the largest 1/ω²: below that a mode is one of a massless degree of freedom
SINGULAR = 1e-14  # of a diagonal entry: a pivot below that belongs to a structure that floats
FEW = 400  # masses for which the modes are found from the flexibility, all of them
COUNT = 30  # modes of a larger model, where no number is asked for


@dataclass(frozen=True)
class Modes:
    """Natural modes: angular frequencies in rad/s (rising), periods in s, mass-normalised shapes in columns."""

    omega: np.ndarray
    shapes: np.ndarray

    @property
    def periods(self) -> np.ndarray:
        return np.divide(2 * np.pi, self.omega, out=np.full_like(self.omega, np.inf), where=self.omega > 0)


def dense_modes(M: np.ndarray, K: np.ndarray) -> Modes:
    """All modes of full matrices; a massless degree of freedom adds none."""
    if np.linalg.eigvalsh(M)[0] > REGULAR * np.abs(M).max():
        values, shapes = eigh(K, M)
        return Modes(np.sqrt(values.clip(min=0.0)), shapes)
    # massless degrees of freedom: 1/ω² of the inverted problem, whose zeros are the modes that do not exist
    values, shapes = eigh(M, K)
    exists = values > EXISTS * values[-1]
    omega = 1.0 / np.sqrt(values[exists][::-1])
    return Modes(omega, shapes[:, exists][:, ::-1] * omega)


def sparse_modes(M: Any, K: Any, count: int | None) -> Modes:
    r"""The lowest modes of sparse matrices by inverse iteration, with one factorisation of K + s M.

    A structure on supports has s = 0. With few masses, :math:`M = R R^T` on the degrees of freedom that have one, all
    modes follow from the flexibility: :math:`R^T (K + s M)^{-1} R\, y = y / (\omega^2 + s)`. With many, Lanczos' method
    finds `count` of them.
    """
    mass = M.diagonal()
    massive = np.flatnonzero(mass)
    if len(massive) == 0:
        raise OutOfBounds("modes: no degree of freedom has a mass; give the structure masses.")
    factor, shift = _factor(M, K, massive)
    if len(massive) <= FEW:
        values, root = eigh(M[massive][:, massive].toarray())
        R = np.zeros((len(mass), len(massive)))
        R[massive] = root * np.sqrt(values.clip(min=0.0))
        X = factor.solve(R)
        inverted, y = eigh(R.T @ X)
        shapes = X @ y
    else:
        most = len(massive) // 2  # beyond half of them Lanczos' method is no gain
        if count is not None and count > most:
            raise OutOfBounds(
                f"modes: count = {count}; at most {most} are found, half of the {len(massive)} degrees "
                "of freedom with mass. Use the structure's dense() for more."
            )
        asked = min(COUNT if count is None else count, most)
        begin = factor.solve(M @ np.random.default_rng(0).normal(size=len(mass)))  # fixed: the same answer every time
        inverse: Any = LinearOperator(shape=M.shape, matvec=factor.solve, dtype=float)  # pyright: ignore[reportCallIssue]
        values, shapes = eigsh(K, k=asked, M=M, sigma=-shift, OPinv=inverse, v0=begin, tol=0)
        inverted = 1.0 / (values + shift)
        shapes = shapes * inverted  # as above: a shape of unit mass times 1/(ω² + s)
    exists = np.abs(inverted) > EXISTS * np.abs(inverted).max()
    eigenvalues, shapes = 1.0 / inverted[exists] - shift, shapes[:, exists] / inverted[exists]
    rising = np.argsort(eigenvalues)[:count]
    return Modes(np.sqrt(eigenvalues[rising].clip(min=0.0)), shapes[:, rising])


def _factor(M: Any, K: Any, massive: np.ndarray) -> tuple[Factor, float]:
    """Factors of K + s M, with s = 0 unless the structure can move as a rigid body."""
    try:
        factor = Factor(K)
        if abs(factor.weakest[0]) > SINGULAR:
            return factor, 0.0
    except np.linalg.LinAlgError:
        pass  # shifted below
    shift = 1e-3 * float(np.abs(K.diagonal()[massive] / M.diagonal()[massive]).min())
    try:
        return Factor(K + shift * M), shift
    except np.linalg.LinAlgError as error:
        raise OutOfBounds("modes: a degree of freedom has neither mass nor stiffness; remove it or hold it.") from error
