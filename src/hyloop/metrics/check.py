"""Checks shared by all metrics."""

from typing import Any

import numpy as np

from hyloop.errors import BadInput, BadShape

__all__ = ["history", "not_zero", "pair"]


def history(name: str, given: Any, least: int = 1) -> np.ndarray:
    """A finite float64 vector of at least `least` samples."""
    try:
        values = np.asarray(given, dtype=float)
    except (TypeError, ValueError) as error:
        raise BadShape(f"{name}: expected a vector of numbers, got {type(given).__name__}.") from error
    if values.ndim != 1 or len(values) < least:
        raise BadShape(f"{name} must be a vector of at least {least} sample(s), got shape {values.shape}.")
    bad = ~np.isfinite(values)
    if bad.any():
        raise BadShape(
            f"{name}: {int(bad.sum())} of {len(values)} samples are not finite, the first at index "
            f"{int(np.argmax(bad))}. Cut or repair the history."
        )
    return values


def pair(one: str, first: Any, two: str, second: Any, least: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Two histories of one length."""
    a, b = history(one, first, least), history(two, second, least)
    if len(a) != len(b):
        raise BadShape(f"{one} has {len(a)} samples, {two} {len(b)}; give histories on the same times.")
    return a, b


def not_zero(metric: str, what: str, value: float) -> float:
    """The denominator of a metric, which a constant or zero history would make meaningless."""
    if value == 0.0:
        raise BadInput(f"{metric} is undefined: {what} is zero. Use rmse or mae for such a history.")
    return value
