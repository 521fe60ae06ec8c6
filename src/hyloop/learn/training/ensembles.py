"""The same training from several seeds: mean and spread, so that one lucky seed is not taken for a result."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hyloop.errors import BadInput
from hyloop.learn.training.train import Trained

__all__ = ["Ensemble", "Spread", "train_ensemble"]


class Spread(NamedTuple):
    """A number found with several seeds."""

    mean: float
    std: float
    """With n - 1 in the denominator; NaN for one seed."""
    values: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Members of an ensemble, by seed."""

    members: dict[int, Trained]

    def spread(self, measure: Callable[[Any], float]) -> Spread:
        """Mean and spread of a measure of the members' models."""
        values = tuple(float(measure(member.model)) for member in self.members.values())
        std = float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
        return Spread(float(np.mean(values)), std, values)


def train_ensemble(train_one: Callable[[int], Trained], seeds: Sequence[int]) -> Ensemble:
    """Train the same thing once for every seed.

    Parameters
    ----------
    train_one : function
        ``seed -> Trained``: starting weights, order of batches and keys must all come from the seed. Members that share
        loss, optimiser and shapes are compiled once.
    seeds : sequence of int
    """
    if not seeds or len(set(seeds)) != len(seeds):
        raise BadInput(f"ensemble: seeds = {list(seeds)} must be one or more different numbers.")
    return Ensemble({seed: train_one(seed) for seed in seeds})
