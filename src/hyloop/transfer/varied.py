"""A linear plant that is a little stronger or slower, without a new block: only what its memory begins with changes."""

import numpy as np

from hyloop.core.block import Instance
from hyloop.transfer.linear import plant_arrays

__all__ = ["is_plant", "varied"]

_POWERS = {"A": 1, "B": 1, "CA": 1, "CB": 1, "CAA": 2, "CAB": 2}  # of 1/time in each array
_GAINS = ("C", "D", "CA", "CB", "CAA", "CAB")


def is_plant(instance: Instance) -> bool:
    """Whether a block is a linear plant given by its roots, coefficients or matrices, perhaps behind a dead time."""
    return plant_arrays(instance) is not None


def varied(instance: Instance, gain: float = 1.0, time: float = 1.0) -> np.ndarray:
    r"""Memory of the plant :math:`g\,G(\theta s)`: every motion times *g*, all time constants times :math:`\theta`."""
    arrays = plant_arrays(instance)
    assert arrays is not None, "only of plants"
    memory = instance.memory.copy()
    for key, place in arrays.items():
        memory[place] *= (gain if key in _GAINS else 1.0) / time ** _POWERS.get(key, 0)
    return memory
