"""Scaling of inputs and outputs, fitted on training histories only.

The scalings themselves, z = (x - centre) factor for every signal, are those of `hyloop.neural.card.Signal`, which the
card of a network keeps: min-max as in Malik et al. (2025), Eq. (18), though to [-1, 1] and not [0, 1]; robust, by
median and quartiles; or standard.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from hyloop.errors import BadShape
from hyloop.neural.card import Signal
from hyloop.neural.histories import History

__all__ = ["fit_signals", "scaled", "unscaled"]


def fit_signals(histories: Sequence[History], what: str, units: Mapping[str, str], scaling: str) -> tuple[Signal, ...]:
    """Scaling and range of the ``"inputs"`` or the ``"target"`` of training histories.

    Parameters
    ----------
    histories : sequence of History
        Those trained on, no others: a range taken from validation or test events would leak into training.
    what : {"inputs", "target"}
    units : mapping
        Name and unit of every column, in order.
    scaling : {"min-max", "robust", "standard", "none"}
    """
    columns = getattr(histories[0], what).shape[1]
    if columns != len(units):
        raise BadShape(f"scaling: the histories have {columns} {what}, but {len(units)} names are given.")
    return tuple(
        Signal.of(name, unit, [getattr(history, what)[:, k] for history in histories], scaling)
        for k, (name, unit) in enumerate(units.items())
    )


def scaled(histories: Sequence[History], inputs: Sequence[Signal], target: Sequence[Signal]) -> list[History]:
    """The histories as a network sees them."""
    return [
        replace(history, inputs=_scale(history.inputs, inputs), target=_scale(history.target, target))
        for history in histories
    ]


def unscaled(values: np.ndarray, signals: Sequence[Signal]) -> np.ndarray:
    """Physical values (samples, signals) from those of the network."""
    return np.column_stack([signal.unscale(values[:, k]) for k, signal in enumerate(signals)])


def _scale(values: np.ndarray, signals: Sequence[Signal]) -> np.ndarray:
    return np.column_stack([signal.scale(values[:, k]) for k, signal in enumerate(signals)])
