"""Coefficients of an inverse plant: where they start, within what limits, and how fast they may change."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from hyloop.core.block import Param
from hyloop.core.jit import verb
from hyloop.core.tick import same_tick, typed_tick
from hyloop.errors import BadInput, OutOfBounds

__all__ = [
    "HIGHEST",
    "LIMITS",
    "adopt",
    "check_limits",
    "check_sampling",
    "limit_params",
    "limit_values",
    "made_for",
    "outputs",
]

HIGHEST = 3  # derivatives
LIMITS = 3  # numbers of each coefficient: low, high, rate


def check_sampling(where: str, dt: float, cutoff: float | None = None, substeps: int = 1) -> None:
    """Refuse ticks, cut-offs and substeps that make no filter."""
    if not 0.0 < dt < math.inf:
        raise OutOfBounds(f"{where}: dt = {dt!r} s must be positive: the interval between controller ticks.")
    if cutoff is not None and not 0.0 < cutoff <= 0.25 / dt:
        raise OutOfBounds(
            f"{where}: cutoff = {cutoff!r} Hz must be positive and at most a quarter of the {1 / dt:g} ticks in a "
            "second, or the filter is none. Lower it, or run the controller faster."
        )
    if int(substeps) != substeps or substeps < 1:
        raise OutOfBounds(
            f"{where}: substeps = {substeps!r} must be a whole number of at least 1: ticks in a step of the structure."
        )


def made_for(dt: float) -> Callable[..., None]:
    """What refuses any other tick than `dt`: windows, filters and weights were laid out for it."""

    def fits(tick: float, **params: float) -> None:
        if not same_tick(tick, dt):
            raise BadInput(
                f"it was made for {1.0 / dt:g} ticks in a second and would run at {1.0 / tick:g}. Make it with dt = "
                f"{typed_tick(tick)}."
            )

    return fits


def check_limits(
    where: str,
    a: Sequence[float],
    limits: Sequence[tuple[float, float]] | None,
    rates: Sequence[float] | None,
    lowest: int = 1,
) -> tuple[list[tuple[float, float]], list[float]]:
    """Limits and rates as lists as long as the coefficients, and seeds inside them; None means none."""
    order = len(a) - 1
    if not lowest <= order <= HIGHEST:
        raise BadInput(
            f"{where}: a has {len(a)} coefficients; give {lowest + 1} to {HIGHEST + 1}: of the deformation, its "
            "velocity, its acceleration, ..."
        )
    bounds = [(-math.inf, math.inf)] * len(a) if limits is None else [(float(b[0]), float(b[1])) for b in limits]
    speeds = [math.inf] * len(a) if rates is None else [float(rate) for rate in rates]
    if len(bounds) != len(a) or len(speeds) != len(a):
        raise BadInput(
            f"{where}: {len(a)} coefficients need as many limits and rates, got {len(bounds)} and {len(speeds)}."
        )
    for k, (seed, (low, high), rate) in enumerate(zip(a, bounds, speeds, strict=True)):
        if not math.isfinite(seed) or not low <= seed <= high:
            raise OutOfBounds(
                f"{where}: the seed a{k} = {seed:g} s^{k} lies outside its limits [{low:g}, {high:g}]. Start inside "
                "them, or widen the limits."
            )
        if not rate >= 0.0:
            raise OutOfBounds(f"{where}: the rate of a{k}, {rate!r} in a second, must not be negative.")
    return bounds, speeds


def limit_params(order: int) -> dict[str, Param]:
    """Limits of all coefficients as parameters of a block."""
    found: dict[str, Param] = {}
    for k in range(order + 1):
        found[f"low_{k}"] = Param(f"s^{k}", -math.inf, about=f"lower limit of a{k}")
        found[f"high_{k}"] = Param(f"s^{k}", math.inf, about=f"upper limit of a{k}")
        found[f"rate_{k}"] = Param(f"s^{k}/s", math.inf, 0.0, about=f"largest change of a{k} in a second")
    return found


def limit_values(limits: Sequence[tuple[float, float]], rates: Sequence[float]) -> dict[str, float]:
    """Values of `limit_params`."""
    found: dict[str, float] = {}
    for k, ((low, high), rate) in enumerate(zip(limits, rates, strict=True)):
        found |= {f"low_{k}": low, f"high_{k}": high, f"rate_{k}": rate}
    return found


def outputs(order: int) -> dict[str, str]:
    """The command and the coefficients."""
    return {"d": "m"} | {f"a{k}": f"s^{k}" for k in range(order + 1)}


@verb
def adopt(a: Any, k: int, value: float, limits: Any, time: float) -> None:
    """Move coefficient k to a value as far as its limits allow, and its rate in that time."""
    low, high, most = limits[LIMITS * k], limits[LIMITS * k + 1], limits[LIMITS * k + 2] * time
    value = min(max(value, low), high)
    a[k] += min(max(value - a[k], -most), most)
