"""A value that was found several times, from other random numbers each time: mean, spread, and what that settles."""

import math
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

__all__ = ["ENOUGH", "Seeds", "Value"]

# Student's t (95 %) is 4.3 for three values and 2.6 for six: fewer say little about a mean within their spread
ENOUGH = 6


class Seeds(NamedTuple):
    """What every seed gave; `mean` is judged, and no closer than its standard `error` allows."""

    values: tuple[float, ...]

    @classmethod
    def of(cls, values: Iterable[float]) -> "Seeds":
        """From any numbers, at least one."""
        return cls(tuple(float(value) for value in values))

    @property
    def mean(self) -> float:
        """Mean of the values; infinite where one is."""
        return sum(self.values) / len(self.values)

    @property
    def spread(self) -> float:
        """Standard deviation from n - 1 degrees of freedom; 0 of one value, nan where a value is not finite."""
        if len(self.values) < 2:
            return 0.0
        if not all(map(math.isfinite, self.values)):
            return math.nan
        return math.sqrt(sum((value - self.mean) ** 2 for value in self.values) / (len(self.values) - 1))

    @property
    def error(self) -> float:
        """Standard error of the mean."""
        return self.spread / math.sqrt(len(self.values))


Value: TypeAlias = float | Seeds
