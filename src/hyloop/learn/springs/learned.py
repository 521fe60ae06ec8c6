"""What came out of learning, how good it is, and what can be wrong with what it is learned from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from hyloop.errors import BadInput, BadShape, OutOfBounds
from hyloop.learn.springs.through_structure import UnknownSprings
from hyloop.learn.springs.uncertainty import Uncertainty

__all__ = ["Learned", "checked", "covered", "nmse", "residuals", "squares_of", "variance_of"]


@dataclass(frozen=True, eq=False)
class Learned:
    """Springs learned from a response.

    Attributes
    ----------
    laws : list
        The laws, trusted within `coverage` only: beyond it they go on along their end tangents.
    nmse : float
        Mean squared error over the variance of the sensors, on the samples learned from.
    coverage : ndarray, (springs, 2)
        Smallest and largest deformation of each spring in those samples.
    held_out : float
        NMSE of samples not learned from; nan where none were given.
    iterations : int
        Evaluations of the sensitivities.
    problem : UnknownSprings
        The problem with the structure as it was found; the one given where nothing in it was uncertain.
    uncertainty : Uncertainty or None
        How far springs and structure may be off; None after a descent by gradients alone.
    """

    laws: list
    nmse: float
    coverage: np.ndarray
    held_out: float
    iterations: int
    problem: UnknownSprings
    uncertainty: Uncertainty | None = None

    def outside(self, d: Any) -> np.ndarray:
        """Part of deformations (..., springs) outside the coverage, for each spring: there nothing was learned."""
        d = np.asarray(d, dtype=float).reshape(-1, len(self.coverage))
        return np.mean((d < self.coverage[:, 0]) | (d > self.coverage[:, 1]), axis=0)


def covered(
    problem: UnknownSprings,
    laws: Sequence,
    loads: np.ndarray,
    measured: np.ndarray,
    held_out: int,
    weight: np.ndarray,
    evaluations: int,
) -> Learned:
    """What was learned, with the range it was learned on and its errors."""
    keep = len(loads) - held_out
    d = problem.simulate(laws, loads).d[:keep]
    coverage = np.stack([d.min(axis=(0, 1)), d.max(axis=(0, 1))], axis=1)
    laws = [law.within(*ends) for law, ends in zip(laws, coverage, strict=True)]
    squares = squares_of(problem, laws, loads, measured, weight)
    return Learned(
        laws,
        float(np.mean(squares[:keep])),
        coverage,
        float(np.mean(squares[keep:])) if held_out else np.nan,
        evaluations,
        problem,
    )


def nmse(problem: UnknownSprings, laws: Sequence, loads: Any, measured: Any) -> float:
    """Mean over sensors of the squared error over the variance of the sensor, Eq. (2) of Luo et al. by its count."""
    measured = np.asarray(measured, dtype=float)
    return float(np.mean(squares_of(problem, laws, loads, measured, 1.0 / np.std(measured, axis=(0, 1)))))


def residuals(problem, laws, loads, measured, weight):
    """Weighted errors of the sensors, (samples, steps, sensors)."""
    return weight * (problem.simulate(laws, loads).sensors - measured)


def squares_of(problem, laws, loads, measured, weight):
    """Their squares."""
    with np.errstate(over="ignore", invalid="ignore"):  # a model that diverges gives an infinite error
        return residuals(problem, laws, loads, measured, weight) ** 2


def variance_of(r):
    """Variance of the residuals (samples, steps, sensors) of every sensor, for as many readings without memory.

    Times (1 + ρ)/(1 - ρ), with the correlation ρ of neighbours: so many readings tell as much as one without memory.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        squares = np.mean(r**2, axis=(0, 1))
        memory = np.clip(np.mean(r[:, 1:] * r[:, :-1], axis=(0, 1)) / squares, 0.0, 0.999)
        return squares * (1 + memory) / (1 - memory)


def checked(where: str, problem: UnknownSprings, laws: Sequence, loads: Any, measured: Any, held_out: int):
    """Loads and readings as arrays, after everything that could be wrong with them was looked at."""
    if len(laws) != len(np.asarray(problem.along)):
        raise BadShape(f"{where}: {len(laws)} laws for {len(np.asarray(problem.along))} springs.")
    count = sum(leaf.size for law in laws for leaf in jax.tree.leaves(law.theta))
    if any(not jax.tree.leaves(law.theta) for law in laws):
        raise BadInput(f"{where}: one of the laws has nothing to learn. Give a spline, a network or an operator.")
    loads, measured = problem.checked_loads(loads), np.asarray(measured, dtype=float)
    measured = measured[None] if measured.ndim == 2 else measured
    if measured.shape != (*loads.shape[:2], len(problem.sensors)):
        raise BadShape(
            f"{where}: readings must be (samples, steps, sensors) = {(*loads.shape[:2], len(problem.sensors))}, "
            f"one column for each of {', '.join(problem.sensors)}; got {measured.shape}."
        )
    bad = ~np.isfinite(measured).all(axis=1)
    if bad.any():
        sample, sensor = np.argwhere(bad)[0]
        raise BadShape(
            f"{where}: sensor {list(problem.sensors)[sensor]} of sample {sample} has readings that are not finite. "
            "Leave the sample out, or the sensor."
        )
    if not 0 <= held_out < len(loads):
        raise OutOfBounds(f"{where}: held_out = {held_out} of {len(loads)} samples leaves none to learn from.")
    readings = (len(loads) - held_out) * measured.shape[1] * measured.shape[2]
    if measured.shape[1] < 8 or readings < 2 * count:
        raise BadInput(
            f"{where}: {measured.shape[1]} steps give {readings} readings for {count} unknowns; too short to learn "
            f"from. Give at least 8 steps and {2 * count} readings, or a law with fewer unknowns."
        )
    if np.min(np.std(measured[: len(loads) - held_out], axis=(0, 1))) == 0.0:
        raise BadInput(f"{where}: a sensor never changes. Leave it out.")
    return loads, measured
