r"""The free parameters of a law: how they are named, scaled, bounded and carried by an updater.

An updater carries a number m for each free parameter. Without a transform the parameter is :math:`\theta = s\,m` with
its starting value as the scale *s* (the width of its bounds where it starts at zero), so that a stiffness of 1e8 and
an exponent of 0.4 live together. With a transform m is the logit of its place between the bounds,

.. math:: \theta = \theta_l + \frac{\theta_h - \theta_l}{1 + e^{-s m}},

and *s* is such that a small change of m means the same at the start as without. What a tick makes of m stands in
`hyloop.updating.filters.carried`.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from hyloop.core.block import Block, Instance, Param
from hyloop.errors import BadInput, OutOfBounds, UnknownName

__all__ = [
    "CLIP",
    "REACH",
    "SHRINK",
    "TRANSFORM",
    "Free",
    "carried_params",
    "check_choice",
    "fixed_params",
    "free_parameters",
    "kept",
    "positive",
]

CLIP, SHRINK, TRANSFORM = 1, 2, 3
REACH = 6.0  # logits: within 0.25 % of a bound the transform is so flat that the filter could not return


class Free(NamedTuple):
    """A free parameter as an updater carries it."""

    m: float  # the carried number at the start
    scale: float
    low: float
    high: float
    process: float  # standard deviation of the random walk of m in a tick
    std: float  # standard deviation of m at the start


def free_parameters(
    law: Instance,
    free: Mapping[str, tuple[float, float]],
    process: float | Mapping[str, float],
    initial_std: float | Mapping[str, float],
    transformed: bool,
    where: str,
) -> dict[str, Free]:
    """Check the law, the names, the bounds and the deviations; return every free parameter by name."""
    block, names = law.block, tuple(free)
    if "f" not in block.outputs:
        raise BadInput(f"{where}: {block.name} has no output 'f' to compare with a measured force.")
    if "f_m" in block.inputs:
        raise BadInput(f"{where}: {block.name} already has an input 'f_m', the name of the measured force.")
    if block.memory:
        raise BadInput(
            f"{where}: {block.name} keeps an unnamed memory, which a filter on parameters does not carry. "
            "For a network take filtered_network or forgetting_network."
        )
    if not names:
        raise BadInput(f"{where}: name at least one free parameter of {', '.join(block.params)}.")
    for key in names:
        if key not in block.params:
            raise UnknownName("parameter", key, block.params, where=where)
    walks, deviations = _each(process, names, "process", where), _each(initial_std, names, "initial_std", where)
    return {
        key: _free(
            block.params[key], law.params[key], free[key], walks[key], deviations[key], transformed, f"{where}.{key}"
        )
        for key in names
    }


def _free(spec: Param, start: float, interval: Any, process: float, std: float, transformed: bool, where: str) -> Free:
    try:
        low, high = (float(bound) for bound in interval)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{where}: bounds must be a pair (low, high), got {interval!r}.") from error
    if not low < high or low < spec.low or high > spec.high:
        raise OutOfBounds(
            f"{where}: bounds ({low:g}, {high:g}) must be in order and inside those of the law, "
            f"[{spec.low:g}, {spec.high:g}]."
        )
    if not low <= start <= high:
        raise OutOfBounds(
            f"{where} starts at {start:g}, outside its bounds ({low:g}, {high:g}). Widen them or start inside."
        )
    if not 0.0 <= process < math.inf or not 0.0 < std < math.inf:
        raise OutOfBounds(
            f"{where}: process = {process!r} must not be negative and initial_std = {std!r} must be "
            "positive, both finite."
        )
    scale = abs(start) or high - low
    if not math.isfinite(scale):
        raise BadInput(f"{where} starts at zero, so its scale is the width of its bounds; give finite bounds.")
    if not transformed:
        return Free(start / scale, scale, low, high, process, std)
    if not (math.isfinite(low) and math.isfinite(high)):
        raise BadInput(f"{where}: bounds='transform' needs finite bounds, got ({low:g}, {high:g}).")
    place = (start - low) / (high - low)
    if not abs(2.0 * place - 1.0) < math.tanh(REACH / 2.0):
        raise OutOfBounds(
            f"{where} starts at {start:g}, on a bound or next to it; bounds='transform' needs a start "
            f"clearly inside ({low:g}, {high:g})."
        )
    scale /= (high - low) * place * (1.0 - place)
    return Free(math.log(place / (1.0 - place)) / scale, scale, low, high, process, std)


def _each(value: float | Mapping[str, float], names: tuple[str, ...], what: str, where: str) -> dict[str, float]:
    """One number for every free parameter, given as one for all or by name."""
    if not isinstance(value, Mapping):
        return dict.fromkeys(names, float(value))
    for key in value:
        if key not in names:
            raise UnknownName("free parameter", key, names, where=f"{where}: {what}")
    missing = [key for key in names if key not in value]
    if missing:
        raise BadInput(f"{where}: {what} lacks {', '.join(missing)}; give a number for every free parameter.")
    return {key: float(value[key]) for key in names}


def check_choice(kind: str, given: Any, allowed: Any, where: str) -> None:
    """Refuse a rule that does not exist, and name those that do."""
    if given not in allowed:
        raise UnknownName(kind, str(given), [str(key) for key in allowed], where=where)


def positive(value: float, name: str, where: str) -> float:
    """The value itself where it is positive and finite."""
    if not (value > 0.0 and math.isfinite(value)):
        raise OutOfBounds(f"{where}: {name} = {value!r} must be positive and finite.")
    return float(value)


# --- what an updater declares ---------------------------------------------------------------------------------
# Parameters of an updater's block: those of the law that are not free, its own settings, then those of the free ones.


def fixed_params(law: Block, names: tuple[str, ...]) -> dict[str, Param]:
    """Parameters of the law that stay as they are."""
    return {key: spec for key, spec in law.params.items() if key not in names}


def carried_params(law: Block, names: tuple[str, ...], walk: bool = True) -> dict[str, Param]:
    """Scale, bounds and, with `walk`, the random walk of every free parameter."""
    params: dict[str, Param] = {}
    for key in names:
        unit = law.params[key].unit
        params |= {
            f"{key}_scale": Param(unit, 1.0, about=f"{key} over the carried number (of its logit: transform)"),
            f"{key}_low": Param(unit, -np.inf, about=f"lower bound of {key}"),
            f"{key}_high": Param(unit, np.inf, about=f"upper bound of {key}"),
        }
        if walk:
            params[f"{key}_process"] = Param("-", 0.0, 0.0, about=f"random walk of {key} in a tick")
    return params


def kept(law: Instance, free: Mapping[str, Free], walk: bool = True) -> dict[str, float]:
    """Values of `fixed_params` and `carried_params`."""
    values = {key: number for key, number in law.params.items() if key not in free}
    for key, carried in free.items():
        values |= {f"{key}_scale": carried.scale, f"{key}_low": carried.low, f"{key}_high": carried.high}
        values |= {f"{key}_process": carried.process} if walk else {}
    return values
