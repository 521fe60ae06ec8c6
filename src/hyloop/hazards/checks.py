"""Checks that hazards share; each refuses with where, what was given and what is allowed."""

from typing import Any

import numpy as np

from hyloop.core.jit import Floats
from hyloop.errors import BadInput, BadShape, OutOfBounds

__all__ = ["G", "choice", "frequency", "ordinates", "period_axis", "positive", "samples"]

G = 9.80665
"""Standard gravity, m/s2 (exact by definition)."""


def positive(where: str, what: str, value: Any) -> float:
    """A finite number above zero."""
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{where}: {what} = {value!r} is not a number; give a positive number.") from error
    if not 0.0 < number < np.inf:
        raise OutOfBounds(f"{where}: {what} = {number:g} must be positive and finite.")
    return number


def frequency(where: str, what: str, value: Any, dt: float) -> float:
    """A frequency in Hz that a step of `dt` can carry."""
    number = positive(where, what, value)
    if number >= 0.5 / dt:
        raise OutOfBounds(
            f"{where}: {what} = {number:g} Hz is not below half the sampling rate, {0.5 / dt:g} Hz. "
            "Lower it or give a smaller dt."
        )
    return number


def choice(where: str, what: str, value: Any, allowed: tuple[str, ...]) -> str:
    """One of a few words."""
    if value not in allowed:
        raise BadInput(f"{where}: {what} = {value!r} is not known; give one of {', '.join(map(repr, allowed))}.")
    return value


def samples(where: str, what: str, values: Any) -> Floats:
    """A vector of finite samples, as a copy that cannot be written to."""
    try:
        array = np.array(values, np.float64, ndmin=1)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{where}: {what} must be numbers.") from error
    if array.ndim != 1 or array.size == 0:
        raise BadShape(f"{where}: {what} has shape {array.shape}; give a vector of at least one number.")
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise BadShape(
            f"{where}: {what} has {bad.size} value(s) that are not finite, the first at sample {bad[0]} "
            f"({array[bad[0]]}). Repair the record before using it."
        )
    array.flags.writeable = False
    return array


def period_axis(where: str, values: Any, *, zero: bool = True) -> Floats:
    """Periods in s: finite, not negative, and positive where `zero` is false."""
    array = samples(where, "periods", values)
    low = array.min()
    if low < 0.0 or (low == 0.0 and not zero):
        raise OutOfBounds(
            f"{where}: periods include {low:g} s; give {'zero or ' if zero else ''}positive periods in s."
        )
    return array


def ordinates(where: str, what: str, values: Any, n: int) -> Floats:
    """Positive ordinates, as many as there are periods; a single number stands for all."""
    array = samples(where, what, values)
    if array.size == 1:
        array = np.full(n, array[0])
    if array.size != n:
        raise BadShape(f"{where}: {what} has {array.size} values for {n} periods; give one for each period.")
    if array.min() <= 0.0:
        k = int(np.argmin(array))
        raise OutOfBounds(f"{where}: {what}[{k}] = {array[k]:g} must be positive.")
    return array
