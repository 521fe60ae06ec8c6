"""The card of a network: what its inputs and outputs are, how they are scaled, and what it was trained on."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from hyloop.errors import BadInput, BadShape, UnknownName

__all__ = ["SCALINGS", "Card", "Signal"]

SCALINGS = ("min-max", "robust", "standard", "none")


@dataclass(frozen=True)
class Signal:
    """An input or output: its unit, its scaling, and its range in the training data.

    The network sees (value - centre) factor. `low` and `high` are in the unit of the signal.
    """

    name: str
    unit: str
    centre: float = 0.0
    factor: float = 1.0
    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        where = f"signal {self.name!r}"
        if not (isinstance(self.name, str) and self.name.isidentifier() and isinstance(self.unit, str)):
            raise BadInput(f"{where}: the name must be a plain identifier and the unit a text, got {self.unit!r}.")
        for key in ("centre", "factor", "low", "high"):
            if isinstance(getattr(self, key), bool) or not isinstance(getattr(self, key), (int, float)):
                raise BadInput(f"{where}: {key} = {getattr(self, key)!r} must be a number.")
        if not (math.isfinite(self.centre) and math.isfinite(self.factor) and self.factor != 0.0):
            raise BadInput(
                f"{where}: centre = {self.centre} and factor = {self.factor} must be finite and the factor not 0."
            )
        if not self.low <= self.high:
            raise BadInput(f"{where}: its range [{self.low}, {self.high}] is empty; give low <= high.")

    @classmethod
    def of(cls, name: str, unit: str, values: Any, scaling: str = "min-max") -> "Signal":
        """Scaling and range from training data.

        Parameters
        ----------
        values : array_like or sequence of arrays
            The signal in all training histories.
        scaling : str
            ``"min-max"`` to [-1, 1]; ``"robust"`` median to 0 and interquartile range to 1; ``"standard"`` mean to 0
            and standard deviation to 1; ``"none"``.
        """
        parts = values if isinstance(values, (list, tuple)) else [values]
        flat = np.concatenate([np.empty(0), *(np.ravel(np.asarray(part, dtype=float)) for part in parts)])
        if flat.size == 0 or not np.isfinite(flat).all():
            raise BadShape(
                f"signal {name!r}: the training data are empty or not finite; remove or repair those histories."
            )
        low, high = float(flat.min()), float(flat.max())
        if scaling == "min-max":
            centre, spread = 0.5 * (low + high), 0.5 * (high - low)
        elif scaling == "robust":
            first, centre, third = np.quantile(flat, [0.25, 0.5, 0.75])
            spread = third - first
        elif scaling == "standard":
            centre, spread = flat.mean(), flat.std()
        elif scaling == "none":
            centre, spread = 0.0, 1.0
        else:
            raise UnknownName("scaling", scaling, SCALINGS, where=f"signal {name!r}")
        if not spread > 0.0:
            raise BadInput(
                f"signal {name!r}: it does not vary in the training data, so scaling {scaling!r} is not "
                'defined. Leave the signal out or take scaling "none".'
            )
        return cls(name, unit, float(centre), float(1.0 / spread), low, high)

    def scale(self, values: Any) -> np.ndarray:
        """Physical values as the network sees them."""
        return (np.asarray(values, dtype=float) - self.centre) * self.factor

    def unscale(self, values: Any) -> np.ndarray:
        """Physical values from those of the network."""
        return np.asarray(values, dtype=float) / self.factor + self.centre


@dataclass(frozen=True)
class Card:
    """Everything about a network but its weights.

    Attributes
    ----------
    inputs, outputs : tuple of Signal
        In the order of the network.
    dt : float
        Sampling interval in s of the training data, the only one at which the network runs; 0 for a network without
        memory (no LSTM or GRU layer), whose answer to a sample does not depend on the one before, so that it runs at
        any.
    data : str
        What it was trained on.
    seed : int
        Seed of the training.
    metrics : mapping of str to float
        What it reached, such as ``{"validation NRMSE": 0.019}``.
    about : mapping
        Anything else worth keeping; must be plain enough for JSON.
    """

    inputs: tuple[Signal, ...]
    outputs: tuple[Signal, ...]
    dt: float = 0.0
    data: str = ""
    seed: int = 0
    metrics: Mapping[str, float] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [signal.name for signal in (*self.inputs, *self.outputs)]
        if not self.inputs or not self.outputs or len(set(names)) != len(names):
            raise BadInput(f"card: give at least one input and one output, all of different names; got {names}.")
        if not (math.isfinite(self.dt) and self.dt >= 0.0):
            raise BadInput(f"card: dt = {self.dt} s must be finite and not negative.")

    def check_units(self, units: Mapping[str, str], where: str) -> None:
        """Refuse signals that the card does not know or knows in another unit."""
        known = {signal.name: signal.unit for signal in (*self.inputs, *self.outputs)}
        for name, unit in units.items():
            if name not in known:
                raise UnknownName("signal", name, known, where=where)
            if unit != known[name]:
                raise BadInput(
                    f"{where}: {name} is in {unit!r}, but the network was trained with {known[name]!r}. "
                    f"Convert the signal to {known[name]!r}."
                )

    def as_json(self) -> dict[str, Any]:
        """Plain data; an open end of a range is left out because JSON has no infinity."""
        signals = {
            key: [
                {name: value for name, value in asdict(signal).items() if value not in (-math.inf, math.inf)}
                for signal in getattr(self, key)
            ]
            for key in ("inputs", "outputs")
        }
        return asdict(self) | signals

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Card":
        signals = {key: tuple(Signal(**signal) for signal in data[key]) for key in ("inputs", "outputs")}
        return cls(**{**data, **signals})
