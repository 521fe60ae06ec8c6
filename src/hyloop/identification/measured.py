"""A test of a device: what was imposed on it and the force that was measured."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hyloop.errors import BadInput, BadShape, OutOfBounds, UnknownName

__all__ = ["MeasuredTest"]

_FEWEST = 8  # samples; below that there is nothing to estimate a spread from


@dataclass(frozen=True, eq=False)
class MeasuredTest:
    """One recorded test, uniformly sampled.

    Parameters
    ----------
    dt : float
        Sampling interval in s.
    inputs : mapping of str to array
        What drove the device, named as the inputs of a law: ``d`` (m), ``v`` (m/s), ``a`` (m/s2). Signals that a law
        does not read are ignored, so that one test serves several laws.
    f : array
        Measured force in N.
    start : str or mapping, optional
        A mapping gives initial values of states. The name of a state says that the device is at rest at the first
        sample, its force the measured one, and that this state is to be solved for; a state ``d_last`` then begins at
        the first d. None: the initial state of the law.
    weight : float or array
        Factor on the residual, for the whole test or sample by sample; a sample with weight 0 does not count.
    name : str
        For tables and messages.
    noise : mapping of str to float
        Standard deviation of the noise in the inputs, where it is known; 0 says that a signal is exact. What is not
        given is estimated where it is needed.
    """

    dt: float
    inputs: Mapping[str, Any]
    f: Any
    start: str | Mapping[str, float] | None = None
    weight: Any = 1.0
    name: str = "test"
    noise: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not (np.isfinite(self.dt) and self.dt > 0.0):
            raise OutOfBounds(f"{self.name}: dt = {self.dt!r} s must be positive and finite.")
        force = self._signal("f", self.f)
        object.__setattr__(self, "f", force)
        object.__setattr__(self, "inputs", {key: self._signal(key, value) for key, value in self.inputs.items()})
        for key, signal in self.inputs.items():
            if signal.shape != force.shape:
                raise BadShape(
                    f"{self.name}: {key} has {signal.size} samples and f has {force.size}; give one sample "
                    "of every signal for each instant."
                )
        for key, size in self.noise.items():
            if key not in self.inputs:
                raise UnknownName("input", key, self.inputs, where=f"{self.name}: noise")
            if not (np.isfinite(size) and size >= 0.0):
                raise OutOfBounds(f"{self.name}: the noise of {key}, {size!r}, must be finite and not negative.")
        weight = np.asarray(self.weight, dtype=float)
        if weight.shape not in ((), force.shape):
            raise BadShape(f"{self.name}: weight has shape {weight.shape}; give one number or {force.size} of them.")
        if not np.isfinite(weight).all() or (weight < 0.0).any() or not (weight > 0.0).any():
            raise OutOfBounds(f"{self.name}: weights must be finite, not negative, and not all zero.")
        object.__setattr__(self, "weight", np.broadcast_to(weight, force.shape))

    @property
    def counted(self) -> np.ndarray:
        """Samples whose residual counts, as a mask."""
        return self.weight > 0.0

    def nrmse(self, f: np.ndarray) -> float:
        """Root mean square error over the range of the measured force, both over the samples that count."""
        span = float(np.ptp(self.f[self.counted]))
        return self.rmse(f) / span if span > 0.0 else float("nan")

    def rmse(self, f: np.ndarray) -> float:
        """Root mean square error in N of a predicted force over the samples that count."""
        return float(np.sqrt(np.mean((f - self.f)[self.counted] ** 2)))

    def _signal(self, key: str, given: Any) -> np.ndarray:
        try:
            signal = np.ascontiguousarray(given, dtype=float)
        except (TypeError, ValueError) as error:
            raise BadShape(f"{self.name}: {key} must be an array of numbers, got {type(given).__name__}.") from error
        if signal.ndim != 1:
            raise BadShape(f"{self.name}: {key} must be one-dimensional, got shape {signal.shape}.")
        if signal.size < _FEWEST:
            raise BadInput(
                f"{self.name}: {key} has {signal.size} samples; at least {_FEWEST} are needed. Give a longer record."
            )
        bad = np.flatnonzero(~np.isfinite(signal))
        if bad.size:
            raise BadShape(
                f"{self.name}: {key} is not finite in {bad.size} sample(s), the first at {bad[0]}. Cut the "
                "record there or repair it."
            )
        return signal
