r"""How far what was learned may be off: the covariance of Gauss and Newton, with the prior.

.. math:: \Sigma = \sigma^2\,(J^T J + \sigma^2 R^T R)^{-1}, \qquad \mathrm{var}\, g(\theta) = g' \Sigma\, g'^T

J are the sensitivities of the weighted readings, σ² the variance of their residuals (counted for as many readings
without memory) and R the prior in standard deviations, as in the descent itself. It holds where the readings are nearly
linear in θ within Σ, and where law and structure are the true ones at some θ; what no θ can mend is not in it.

References
----------
Tarantola (2005), Inverse Problem Theory, section 3.2.3; Bard (1974), Nonlinear Parameter Estimation, section 7.5.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from hyloop.errors import BadInput, OutOfBounds
from hyloop.learn.springs.operators import UncertainPart
from hyloop.learn.springs.unknowns import parameters

__all__ = ["Factor", "Uncertainty", "gauss_newton_covariance"]


class Factor(NamedTuple):
    """Factor of an uncertain part: 1 is what was believed."""

    value: float
    deviation: float
    prior: float  # deviation before anything was measured

    @property
    def learned(self) -> float:
        """Part of the prior variance that the readings have taken away: 0 where they say nothing."""
        return 1.0 - (self.deviation / self.prior) ** 2


def gauss_newton_covariance(curvature: Any, prior: np.ndarray, variance: float) -> np.ndarray:
    """Σ from J'J, R and σ²."""
    A = np.asarray(curvature) + variance * prior.T @ prior
    scale = 1.0 / np.sqrt(np.diag(A))  # parameters differ by orders of magnitude in what the readings say of them
    return variance * _inverse(A * np.outer(scale, scale)) * np.outer(scale, scale)


def _inverse(A: np.ndarray) -> np.ndarray:
    """Inverse of a matrix that is definite but for round-off, which then bounds what is known of a direction."""
    try:
        return cho_solve(cho_factor(A), np.eye(len(A)))
    except LinAlgError:
        values, vectors = eigh(A)
        return vectors / np.maximum(values, len(A) * np.finfo(float).eps * values[-1]) @ vectors.T


class Uncertainty:
    """What was learned, with the covariance of all of it.

    Parameters
    ----------
    laws : sequence
        Laws with what was learned.
    parts : sequence of UncertainPart
        Uncertain parts of the structure.
    z : (parts,)
        Their factors, in deviations.
    covariance : (p, p)
        Of the parameters of the laws, then z.
    """

    def __init__(self, laws: Sequence, parts: Sequence[UncertainPart], z: Any, covariance: np.ndarray) -> None:
        self.laws, self.parts, self.z, self.covariance = list(laws), tuple(parts), np.asarray(z, float), covariance

    @property
    def factors(self) -> dict[str, Factor]:
        """Factor of every uncertain part, by name."""
        spread = np.sqrt(np.diag(self.covariance)[len(self.covariance) - len(self.parts) :])
        return {
            part.name: Factor(1 + part.deviation * float(z), part.deviation * float(s), part.deviation)
            for part, z, s in zip(self.parts, self.z, spread, strict=True)
        }

    def of(self, function: Callable) -> tuple[np.ndarray, np.ndarray]:
        """Value and deviation of any ``function(laws, factors)``, factors by name, written with `jax.numpy`."""
        theta, put = parameters(self.laws)
        count, names = theta.size, [part.name for part in self.parts]
        deviations = jnp.array([part.deviation for part in self.parts])

        def value(all):
            factors = 1 + deviations * all[count:]
            return function(put(all[:count]), dict(zip(names, factors, strict=True)))

        def both(all):
            return value(all), jax.jacfwd(value)(all)

        found, J = eqx.filter_jit(both)(jnp.concatenate([theta, jnp.asarray(self.z)]))
        J = np.asarray(J)
        return np.asarray(found), np.sqrt(np.einsum("...i,ij,...j->...", J, self.covariance, J))

    def curve(self, d: Any, spring: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Force of an elastic spring at the deformations d, and its standard deviation."""
        if not 0 <= spring < len(self.laws):
            raise OutOfBounds(f"curve: spring = {spring} does not exist; there are {len(self.laws)}, counted from 0.")
        if self.laws[spring].rest().size:
            raise BadInput(f"curve: spring {spring} has a memory, and no curve. Ask `of` for what is wanted of it.")
        d = jnp.asarray(d, dtype=float)
        return self.of(lambda laws, factors: jax.vmap(lambda d: laws[spring](laws[spring].rest(), d)[0])(d))
