"""Two devices in laboratories, heard by one place: a network that hears both beside one that hears the first alone.

The second one may move along in another story, or run another test altogether; what it then tells is what devices of
this make are like.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from hyloop.neural import load_network

from .scores import listening, table
from .specimens import Run

ORDERS = ("first moves along", "first moves otherwise")  # who hears two then hears the other case from the second


def validated(paths: Mapping[str, Path], runs: Sequence[Run]) -> dict[tuple[str, str], float]:
    """NRMSE in % on histories, by "one" or "two" devices heard and what the first does."""
    found = {}
    for model, kind in (("one", "listening"), ("two", "two")):
        for order, hears in zip(ORDERS, ("own run", "another"), strict=True):
            heard = listening(load_network(paths[kind]), kind, hears=hears)
            found[model, order] = float(table(heard, runs)[:, 0].mean())
    return found
