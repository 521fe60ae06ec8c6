"""Channels of a loop under JAX: those of its bus, and the derived ones that are linear in the motion."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from hyloop.errors import BadInput, UnknownName
from hyloop.learn.loops.recurrence import Histories
from hyloop.record import Recording

__all__ = ["Channels"]


class Channels:
    """What is returned of a loop, by the names that `record` asks for.

    Attributes
    ----------
    beside : ndarray of int
        Positions on the bus that are recorded beside time, excitation and motion.
    motion : str
        What is needed of the motion: some of "uva".
    """

    def __init__(self, loop: Any, record: Sequence[str] | str) -> None:
        plan, derived = loop.parts.plan, loop.derived()
        linear = [name for name in derived.names if not name.startswith("energy.")]
        own = [name for name in loop.channels if name not in loop.watched]
        wanted = _selected(
            [record] if isinstance(record, str) else record, [*own, *linear], [*loop.watched, *derived.names]
        )
        place = {name: k for k, name in enumerate(loop.channels)}
        first, last = plan.bus_excitation, plan.bus_response + 3 * plan.n
        bus = [name for name in wanted if name in place]
        ends = [0, *(plan.excitations + plan.n * np.arange(4)).tolist()]
        self._parts = {symbol: slice(*ends[k : k + 2]) for k, symbol in enumerate("euva")}
        self._moving = {name: self._column(place[name] - first) for name in bus if first <= place[name] < last}
        self._time = [name for name in bus if place[name] == 0]
        others = [name for name in bus if place[name] >= last]
        self.beside = np.array([place[name] for name in others], dtype=np.int64)
        self._others = {name: k for k, name in enumerate(others)}
        self._derived = [name for name in wanted if name not in place]
        self._linear = _linear(loop, self._derived) if self._derived else None
        used = {symbol for symbol, _ in self._moving.values()}
        if self._linear is not None:
            used |= {symbol for symbol, part in self._parts.items() if self._linear[0][part].any()}
        self._used = [symbol for symbol in "euva" if symbol in used]
        self.motion = "".join(symbol for symbol in self._used if symbol != "e")
        self._wanted = wanted

    def _column(self, place: int) -> tuple[str, int]:
        """A number of excitation and motion as part and column."""
        symbol = next(symbol for symbol, part in self._parts.items() if place < part.stop)
        return symbol, place - self._parts[symbol].start

    def of(self, found: Histories, excitation: Any, dt: float) -> dict[str, jax.Array]:
        """Histories by name, in the order of the loop."""
        parts = {"e": excitation, "u": found.u, "v": found.v, "a": found.a}
        named = {name: parts[symbol][:, k] for name, (symbol, k) in self._moving.items()}
        named |= {name: dt * jnp.arange(float(len(excitation))) for name in self._time}
        named |= {name: found.kept[:, k] for name, k in self._others.items()}
        if self._linear is not None:
            factors, constant = self._linear
            products = [parts[symbol] @ factors[self._parts[symbol]] for symbol in self._used]
            derived = sum(products, jnp.zeros((len(excitation), len(constant)))) + constant
            named |= {name: derived[:, k] for k, name in enumerate(self._derived)}
        return {name: named[name] for name in self._wanted}


def _selected(patterns: Sequence[str], names: Sequence[str], every: Sequence[str]) -> list[str]:
    """Names that any of the patterns fits, in their order; a pattern that fits none is refused."""
    if not patterns:
        raise BadInput("differentiable: record = [] records nothing. Name at least one channel.")
    for pattern in patterns:
        if any(fnmatchcase(name, pattern) for name in names):
            continue
        if any(fnmatchcase(name, pattern) for name in every):
            raise BadInput(
                f"differentiable: '{pattern}' is computed by compiled runs alone: energies, and what is watched. "
                "Record displacements, forces, drifts or accelerations."
            )
        raise UnknownName("channel", pattern, names, where="differentiable")
    return [name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)]


def _linear(loop: Any, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Derived channels as rows over excitation and motion, and what they are without any.

    They are read off `Loop.derived` itself, by motions of which one number is one and all others are zero.
    """
    derived = loop.derived()
    plan = loop.parts.plan
    count = plan.excitations + 3 * plan.n
    data = np.zeros((1 + count, len(derived.sources)))
    data[1:, :count] = np.eye(count)  # excitation and motion stand first among the sources
    units = ("-",) * len(derived.sources)
    values = derived.of(Recording(np.arange(1.0 + count), data, derived.sources, units))
    values = values[:, [derived.names.index(name) for name in names]]
    return values[1:] - values[0], values[0]
