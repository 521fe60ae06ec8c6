"""Ranges of free parameters: every one is searched as a place between 0 and 1, on a logarithmic scale if it is wide."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hyloop.core.block import Instance, Param
from hyloop.errors import BadInput, OutOfBounds, UnknownName

__all__ = ["Range", "ranges"]

_DECADE = 10.0  # a positive range at least this wide is searched on a logarithmic scale
_REACH = 10.0  # a range that is not given reaches this many times below and above the start


@dataclass(frozen=True)
class Range:
    r"""A closed range and the scale on which it is searched.

    .. math:: p = p_{low} + z\,(p_{high} - p_{low}) \quad\text{or}\quad
        p = p_{low} (p_{high}/p_{low})^z, \qquad 0 \le z \le 1
    """

    low: float
    high: float

    @property
    def logarithmic(self) -> bool:
        return self.low > 0.0 and self.high >= _DECADE * self.low

    def value(self, z: float) -> float:
        """Parameter at the place z, never outside the range by round-off."""
        even = self.low + z * (self.high - self.low)
        value = self.low * (self.high / self.low) ** z if self.logarithmic else even
        return min(max(value, self.low), self.high)

    def place(self, value: float) -> float:
        """Place z of a parameter."""
        if self.logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def slope(self, z: float) -> float:
        """Change of the parameter with its place, dp/dz."""
        return self.value(z) * math.log(self.high / self.low) if self.logarithmic else self.high - self.low


def ranges(law: Instance, free: Mapping[str, tuple[float, float]] | Iterable[str], where: str) -> dict[str, Range]:
    """Check the free parameters of a law and give each a range.

    Names alone get the bounds of the law where these are finite, else a factor of 10 below and above the start.
    """
    if isinstance(free, str):
        free = [free]
    given: dict[str, Any] = dict(free) if isinstance(free, Mapping) else dict.fromkeys(free)
    if not given:
        raise BadInput(f"{where}: name at least one free parameter of {', '.join(law.block.params)}.")
    for key in given:
        if key not in law.block.params:
            raise UnknownName("parameter", key, law.block.params, where=where)
    return {
        key: _checked(law.block.params[key], law.params[key], interval, f"{where}.{key}")
        for key, interval in given.items()
    }


def _checked(spec: Param, start: float, interval: Any, where: str) -> Range:
    if interval is None:
        return _usual(spec, start, where)
    try:
        low, high = (float(bound) for bound in interval)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{where}: bounds must be a pair (low, high), got {interval!r}.") from error
    if not (math.isfinite(low) and math.isfinite(high) and low < high) or low < spec.low or high > spec.high:
        raise OutOfBounds(
            f"{where}: bounds ({low:g}, {high:g}) must be finite, in order and inside those of the law, "
            f"[{spec.low:g}, {spec.high:g}]."
        )
    if not low <= start <= high:
        raise OutOfBounds(
            f"{where} starts at {start:g}, outside its bounds ({low:g}, {high:g}). Widen them or start inside."
        )
    return Range(low, high)


def _usual(spec: Param, start: float, where: str) -> Range:
    size = abs(start)
    if spec.low >= 0.0 or size == 0.0:
        low, high = size / _REACH, size * _REACH
    else:
        low, high = -size * _REACH, size * _REACH
    low, high = max(low, spec.low), min(high, spec.high)
    if math.isfinite(spec.low) and math.isfinite(spec.high):
        low, high = spec.low, spec.high
    if not low < high:
        raise BadInput(f"{where} starts at {start:g}, from which no range can be guessed. Give its bounds (low, high).")
    return Range(low, high)
