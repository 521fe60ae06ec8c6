"""What a method is: a map from (M, C, K, Δt) to the operators of one recurrence.

The recurrence and the meaning of every symbol stand at the top of `hyloop.core.kernel`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, eigh, solve

from hyloop.core.low_rank import LowRank
from hyloop.core.sparse import SparseInverse
from hyloop.errors import BadInput, OutOfBounds, UnstableStep

__all__ = ["Method", "Operators", "highest_frequency", "inverse", "rho"]

_MASSLESS = (
    "the method needs a regular mass matrix, but some degrees of freedom have no mass. Condense them "
    "(hyloop.structure.condense) or use mkr_alpha(), which allows them."
)

_NONE = np.empty((0, 0))


class Operators(NamedTuple):
    """Operators of one method for one structure and step; empty matrices are the identity (P) or absent (B, M).

    Of a sparse structure A and `start` are factors (`hyloop.core.sparse.SparseInverse`), B is sparse, and `rho` is
    the part of w carried from step to step outside B.
    """

    w_to_u: float
    w_to_v: float
    A: Any
    start: Any  # w[0] = start (F - R - C v)[0]
    w_to_v_after: float = 0.0
    lag: float = 0.0
    w_to_a: float = 1.0
    alpha_f: float = 0.0
    B: Any = _NONE
    P: np.ndarray = _NONE
    M: np.ndarray = _NONE  # given by implicit methods only
    gamma: float = 0.0
    beta: float = 0.0
    alpha_m: float = 0.0
    rho: float = 0.0


@dataclass(frozen=True)
class Method:
    """An integration method.

    Attributes
    ----------
    name : str
        Name with its settings, for tables and error messages.
    build : callable
        ``build(M, C, Cm, Km, dt) -> Operators``. `C` is the damping of the equation of motion; `Cm` and `Km` are
        the damping and initial stiffness of the whole system, devices included, for model-based methods.
    limit : float
        Largest stable ωΔt of an undamped linear system (inf: unconditionally stable).
    sparse : bool
        Whether `build` understands sparse matrices.
    """

    name: str
    build: Callable[[Any, Any, Any, Any, float], Operators]
    limit: float = np.inf
    sparse: bool = False

    def operators(self, M, C, K, dt, *, Cm=None, Km=None) -> Operators:
        """Operators for a structure, after checking that the step is stable.

        Raises
        ------
        UnstableStep
            If the method is conditionally stable and dt exceeds its limit for the highest frequency of (M, Km).
        """
        if not dt > 0.0 or not np.isfinite(dt):
            raise OutOfBounds(f"dt = {dt!r} s: the step must be positive and finite.")
        if sparse.issparse(M) and not self.sparse:
            raise BadInput(
                f"{self.name} has no sparse operators; use mkr_alpha(), kr_alpha() or cr(), or give full "
                "matrices (Structure.dense()) where the model is small."
            )
        Cm, Km = C if Cm is None else Cm, K if Km is None else Km
        if np.isfinite(self.limit):
            fastest = highest_frequency(M, Km)
            if fastest * dt > self.limit * (1.0 + 1e-12):
                raise UnstableStep(
                    f"{self.name}: dt = {dt:g} s is unstable. The highest frequency, devices included, is "
                    f"{fastest:.6g} rad/s, so dt must not exceed {self.limit / fastest:.4g} s. "
                    "Take a smaller step or an unconditionally stable method such as mkr_alpha()."
                )
        return self.build(M, C, Cm, Km, dt)


def highest_frequency(M: np.ndarray, K: np.ndarray) -> float:
    """Largest angular frequency of K u = ω² M u in rad/s."""
    try:
        return float(np.sqrt(eigh(K, M, eigvals_only=True)[-1].clip(min=0.0)))
    except LinAlgError as error:
        raise BadInput(_MASSLESS) from error


def inverse(matrix: Any) -> Any:
    """Inverse by solving, with SciPy's warning about ill-conditioning intact; of a sparse matrix, its factors."""
    if sparse.issparse(matrix) or isinstance(matrix, LowRank):
        try:
            return SparseInverse(matrix)
        except LinAlgError as error:
            raise BadInput(
                f"the method's matrix of mass, damping and stiffness cannot be inverted: {error}. "
                "Check its mass and its members."
            ) from error
    try:
        return solve(matrix, np.eye(len(matrix)))
    except LinAlgError as error:
        raise BadInput(_MASSLESS) from error


def rho(rho_inf: float) -> float:
    """Check a spectral radius at infinite frequency."""
    if not 0.0 <= rho_inf <= 1.0:
        raise OutOfBounds(f"rho_inf = {rho_inf!r} must lie in [0, 1]: 1 is no numerical damping, 0 the most.")
    return float(rho_inf)
