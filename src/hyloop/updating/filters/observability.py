"""What a filter has learnt: covariance of its parameters, and which of them the data could not show."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from hyloop.core.block import Instance
from hyloop.errors import BadInput

__all__ = ["Observability", "covariance", "observability"]


class Observability(NamedTuple):
    """How well the free parameters of a filter were seen."""

    fall: dict[str, float]
    """Smallest standard deviation in the history over that at the start; 1 where nothing was learnt."""
    std: dict[str, float]
    """Standard deviation at the end, as a fraction of the starting value."""
    unobservable: tuple[str, ...]
    """Parameters whose standard deviation did not fall far enough; all of them where the filter has failed."""
    entangled: dict[tuple[str, str], float]
    """Pairs of which only one combination is known, with their correlation at the end."""

    def __str__(self) -> str:
        lines = []
        for key, fall in self.fall.items():
            verdict = ", not observable" if key in self.unobservable else ""
            lines.append(
                f"{key}: standard deviation {self.std[key]:.2g} of its start, at best {fall:.2g} times that "
                f"at the start{verdict}"
            )
        for (a, b), r in self.entangled.items():
            lines.append(f"{a} and {b}: correlation {r:+.4f}, only a combination is known")
        return "\n".join(lines)


def _names(filtered: Instance) -> list[str]:
    """Free parameters: those outputs of an updater that have a scale."""
    names = [key for key in filtered.block.outputs if f"{key}_scale" in filtered.block.params]
    if not names or not filtered.block.flags & {"square-root", "nearest", "none", "ensemble"}:
        raise BadInput(
            f"{filtered.block.name} carries no covariance. Give a filter made by unscented, ensemble or "
            "recursive_least_squares."
        )
    return names


def covariance(filtered: Instance, states: Mapping[str, Any]) -> np.ndarray:
    """Covariance of the carried parameters, (..., n, n), from the states that `Instance.drive` returns.

    The carried numbers are multiples of the starting values; with ``bounds="transform"`` only to first order.
    """
    names = _names(filtered)
    if "ensemble" in filtered.block.flags:
        members = sum(key.startswith(f"m_{names[0]}_") for key in filtered.block.state)
        A = np.stack([np.stack([states[f"m_{key}_{j}"] for j in range(members)], -1) for key in names], -2)
        A = (A - A.mean(axis=-1, keepdims=True)) / np.sqrt(members - 1.0)
        return A @ np.swapaxes(A, -1, -2)
    total = sum(key.startswith("S_0_") for key in filtered.block.state)  # filtered states of the law come last
    S = np.stack([np.stack([states[f"S_{i}_{j}"] for j in range(total)], -1) for i in range(len(names))], -2)
    return S @ np.swapaxes(S, -1, -2) if "square-root" in filtered.block.flags else S


def observability(
    filtered: Instance, history: Mapping[str, Any], *, fall: float = 0.5, correlation: float = 0.99
) -> Observability:
    """Judge from a driven filter which of its parameters the data have shown.

    A filter reports a number for every parameter, also for one that the test never touched: the stiffness of a spring
    that did not move, the viscosity in a static test. Its covariance knows better.

    Parameters
    ----------
    filtered : Instance
        The filter, as it started.
    history : mapping
        What ``filtered.drive`` returned.
    fall : float
        A parameter counts as seen if its standard deviation was once below this share of that at the start.
    correlation : float
        From this size of the correlation at the end on, only a combination of two parameters is known.
    """
    names = _names(filtered)
    start = np.sqrt(np.diagonal(covariance(filtered, filtered.initial)))
    P = covariance(filtered, history)
    with np.errstate(invalid="ignore"):  # a covariance that has failed may have any diagonal
        std = np.sqrt(np.diagonal(P, axis1=-2, axis2=-1))
    if std.ndim != 2 or not len(std):
        raise BadInput(f"observability({filtered.block.name}): the history has no samples; drive the filter first.")
    least, last = std.min(axis=0) / start, std[-1]
    with np.errstate(invalid="ignore", divide="ignore"):
        R = P[-1] / np.outer(last, last)
    failed = not all(np.isfinite(history[key][-1]) for key in names)
    unseen = tuple(key for key, share in zip(names, least, strict=True) if failed or not share < fall)
    pairs = {
        (names[i], names[j]): float(R[i, j])
        for i in range(len(names))
        for j in range(i + 1, len(names))
        if abs(R[i, j]) >= correlation
    }
    return Observability(_by_name(names, least), _by_name(names, last), unseen, pairs)


def _by_name(names: list[str], numbers: np.ndarray) -> dict[str, float]:
    return {key: float(number) for key, number in zip(names, numbers, strict=True)}
