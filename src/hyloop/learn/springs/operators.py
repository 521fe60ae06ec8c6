r"""Operators of the recurrence from the matrices of a structure, and how they change with uncertain parts of it.

.. math:: M = M_0 + \sum_i \varphi_i M_i, \quad C = C_0 + \sum_i \varphi_i C_i, \quad K = K_0 + \sum_i \varphi_i K_i,
    \quad E = E_0 + \sum_i \varphi_i E_i

A part i (the stiffness of a story, the mass of a floor, a coefficient of Rayleigh's damping, the scale of a load) has
the factor :math:`1 + \varphi_i`, and before any measurement :math:`\varphi_i` is normal with mean zero and a stated
deviation :math:`s_i`. What is learned is :math:`z_i = \varphi_i/s_i`, about one in size like all that is learned.

References
----------
Friswell and Mottershead (1995), Finite Element Model Updating in Structural Dynamics, chapter 8 (substructure
parameters); Beck and Katafygiotis (1998), doi:10.1061/(ASCE)0733-9399(1998)124:4(455) (prior and posterior).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import solve_triangular

from hyloop.errors import BadInput, BadShape, OutOfBounds
from hyloop.structure import Structure

__all__ = ["Assembly", "Operators", "UncertainPart", "stacked", "with_factors"]

LARGEST = 0.5  # deviation of a factor: beyond it a normal prior reaches negative masses and stiffnesses


class Operators(NamedTuple):
    """Constants of the recurrence; X = A⁻¹Sᵀ and H = S X with A of the linear part."""

    h: jax.Array
    h2AK: jax.Array
    hAC: jax.Array
    h2AE: jax.Array  # of unit loads
    X: jax.Array
    S: jax.Array
    H: jax.Array
    stabilised: jax.Array  # α h² where tangents enter, else 0
    Mhat: jax.Array  # for the start, without damping
    E: jax.Array
    outputs: jax.Array  # (3, sensors, n): what sensors read of u, v and a


@dataclass(frozen=True, eq=False)
class UncertainPart:
    """A part of a structure whose size is known within a deviation.

    Parameters
    ----------
    name : str
        For tables and messages.
    deviation : float
        Standard deviation of its factor: 0.05 for five percent.
    M, C, K : array_like, (n, n), optional
        What the part has in the matrices of the structure. Damping that is proportional to the part goes with it
        (``C = a1 K_part``), or is a part of its own; the second supposes less.
    loads : array_like, (n, patterns), optional
        What it has in the load patterns: with all of them (`Structure.loads`) it is the scale of the load.
    """

    name: str
    deviation: float
    M: Any = None
    C: Any = None
    K: Any = None
    loads: Any = None

    def __post_init__(self) -> None:
        if not (np.isfinite(self.deviation) and 0.0 < self.deviation <= LARGEST):
            raise OutOfBounds(
                f"UncertainPart {self.name}: deviation = {self.deviation!r} must lie in (0, {LARGEST:g}], 0.05 for 5 %."
                " Leave out a part that is known exactly."
            )
        if not any(np.any(np.asarray(part)) for part in (self.M, self.C, self.K, self.loads) if part is not None):
            raise BadInput(f"UncertainPart {self.name}: nothing is uncertain. Give it M, C, K or loads.")


def stacked(
    structure: Structure, parts: Sequence[UncertainPart]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """M, C, K and loads of the parts, (parts, n, n) or (parts, n, patterns), each times its deviation."""
    names = [part.name for part in parts]
    if len(set(names)) < len(names):
        raise BadInput(f"uncertain parts: {names} must have different names.")
    found = []
    for key, whole in (("M", structure.M), ("C", structure.C), ("K", structure.K), ("loads", structure.loads)):
        rows = np.zeros((len(parts), *whole.shape))
        for i, part in enumerate(parts):
            given = getattr(part, key)
            if given is None:
                continue
            given = np.asarray(given, dtype=float)
            if given.shape != whole.shape or not np.isfinite(given).all():
                raise BadShape(f"UncertainPart {part.name}: {key} must be {whole.shape} finite numbers.")
            rows[i] = part.deviation * given
        found.append(rows)
    return tuple(found)


def with_factors(structure: Structure, parts: Sequence[UncertainPart], z: Any) -> Structure:
    """The structure with other factors; z counts in deviations."""
    M, C, K, loads = (np.tensordot(np.asarray(z, dtype=float), part, 1) for part in stacked(structure, parts))
    try:
        return replace(
            structure, M=structure.M + M, C=structure.C + C, K=structure.K + K, loads=structure.loads + loads
        )
    except BadInput as error:
        factors = ", ".join(f"{p.name} {1 + p.deviation * one:.3g}" for p, one in zip(parts, z, strict=True))
        raise BadInput(f"uncertain parts: no structure has the factors {factors} ({error}).") from error


class Assembly(eqx.Module):
    """Everything the operators are made of; parts are times their deviations."""

    matrices: tuple  # M, C, K, E
    parts: tuple  # the same of every part
    S: jax.Array
    outputs: jax.Array
    h: jax.Array
    added: jax.Array  # stiffness of the springs, for α alone
    tangent: bool = eqx.field(static=True)

    @property
    def count(self) -> int:
        """Number of uncertain parts."""
        return self.parts[0].shape[0]

    def operators(self, z) -> Operators:
        """Operators of the recurrence at the factors z, differentiable."""
        M, C, K, E = (whole + jnp.tensordot(z, part, 1) for whole, part in zip(self.matrices, self.parts, strict=True))
        h, S = self.h, self.S
        added = S.T @ (self.added[:, None] * S)
        alpha = jnp.tanh(_highest_frequency(M, K + added) * h / 4) / 4
        Mhat = M + alpha * h**2 * (K if self.tangent else K + added)
        A = Mhat + h / 2 * C
        X = jnp.linalg.solve(A, S.T)
        return Operators(
            h,
            h**2 * jnp.linalg.solve(A, K),
            h * jnp.linalg.solve(A, C),
            h**2 * jnp.linalg.solve(A, E),
            X,
            S,
            S @ X,
            alpha * h**2 if self.tangent else jnp.zeros(()),
            Mhat,
            E,
            self.outputs,
        )


def _highest_frequency(M, K):
    L = jnp.linalg.cholesky(M)
    half = solve_triangular(L, K, lower=True)
    return jnp.sqrt(jnp.linalg.eigvalsh(solve_triangular(L, half.T, lower=True))[-1])
