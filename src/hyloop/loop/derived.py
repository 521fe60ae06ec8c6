r"""Channels that follow from the motion: absolute accelerations, drifts, base shear and the balance of energy.

They cost nothing in a step: they are computed from what was recorded, piece by piece.

The energies are relative to the ground and counted from the first row. With the load :math:`F = E e` of the excitation,

.. math:: \int F^T du = \tfrac12 v^T M v + \int (C v)^T du + \left(\tfrac12 u^T K u - P^T u\right) + \sum n \int f\, dd

where P is the dead load and n the number of equal devices at a site. Integrals are sums by the trapezoidal rule over
the steps. What is left over is what the method loses or gains (its numerical damping) and shows as
``energy.residual``. Forces of nonlinear members are not among what is recorded of every run: where there are some, the
energy they take is found by difference, and there is no residual.

The base shear is that of masses and loads. One from the forces of members is watched (`Model.watch`).

References
----------
Uang, Bertero (1990), Evaluation of seismic energy in structures, doi:10.1002/eqe.4290190108.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from hyloop.core.low_rank import LowRank
from hyloop.loop.site import Site
from hyloop.record import Recording
from hyloop.structure import Structure
from hyloop.structure.places import by_direction

__all__ = ["Derived", "floors_across"]

_WORK = 4_000_000  # numbers that are worked on at once
_ENERGIES = ("input", "kinetic", "damping", "structure", "devices")


class Derived:
    """Derived channels of a loop, from recordings of `sources` that follow one another.

    Attributes
    ----------
    names, units : tuple of str
        Of the derived channels.
    sources : tuple of str
        Channels they are computed from.
    """

    def __init__(self, structure: Structure, sites: Sequence[Site]) -> None:
        self._structure, self._sites, self._excitations = structure, tuple(sites), structure.excitation_names
        # sparse products go row by row: pieces of a recording give the numbers of the whole, to the last bit
        self._M, self._K, self._load, self._influence, self._others = (
            sparse.csr_array(matrix)
            for matrix in (structure.M, structure.K, structure.excitation, structure.influence, structure.loads)
        )
        C = structure.C
        # full columns would be multiplied by a library that sums in another order for another number of rows
        self._C = replace(C, factor=sparse.csr_array(C.factor)) if isinstance(C, LowRank) else sparse.csr_array(C)
        drifts = [structure.story(k + 1) for k in range(len(structure.floors))]
        self._stories = sparse.csr_array(np.array(drifts).reshape(-1, structure.n))
        across = floors_across(structure)
        self._moving = np.array(list(dict.fromkeys([*_moving(structure), *across])), dtype=int)
        stories = range(1, len(drifts) + 1)
        below, above = np.array([-1, *across[:-1]], dtype=int)[: len(across)], np.array(across, dtype=int)
        self._across = below, above
        self._linear = not structure.elements
        channels = {f"a_abs.{structure.names[k]}": "m/s2" for k in self._moving}
        channels |= {f"drift.{k}": "m" for k in stories}
        channels |= {f"drift_ratio.{k}": "-" for k in stories if structure.heights}
        if across:
            channels |= {f"drift_z.{k}": "m" for k in stories}
            channels |= {f"drift_ratio_z.{k}": "-" for k in stories if structure.heights}
        channels |= dict.fromkeys(by_direction(structure, "base_shear"), "N")
        channels |= {f"energy.{name}": "J" for name in (*_ENERGIES, *(["residual"] if self._linear else []))}
        self.names, self.units = tuple(channels), tuple(channels.values())
        motion = [f"{symbol}.{name}" for symbol in "uva" for name in structure.names]
        self._motion = (*self._excitations, *motion)
        self._devices = tuple(name for site in sites for name in (f"{site.name}.d", site.feedback))
        self.sources = tuple(dict.fromkeys((*self._motion, *self._devices)))
        self._totals = np.zeros(3)  # work of the excitation, of the damping and of the devices
        self._last: tuple[np.ndarray, ...] | None = None
        self._start = 0.0, 0.0  # kinetic and stored energy in the first row
        self._held = np.zeros(len(self.names))  # of the last step, until the next one ends

    def of(self, recording: Recording, substeps: int = 1) -> np.ndarray:
        """Rows of the derived channels for a recording that goes on where the last one ended.

        The first row of the first recording is the state at the start. Where ticks are recorded, the motion changes
        with every `substeps`-th row only, and so do these.
        """
        count = len(recording)
        ends = np.arange(count)[substeps - 1 :: substeps]  # rows with which a step ends
        steps = ends if self._last else np.append(0, np.arange(substeps, count, substeps))
        columns = {name: k for k, name in enumerate(recording.names)}
        motion, devices = (np.array([columns[k] for k in names], int) for names in (self._motion, self._devices))
        pieces = np.array_split(steps, max(-(-len(steps) * len(motion) // _WORK), 1))
        rows = [
            self._rows(recording.data[np.ix_(p, motion)], recording.data[np.ix_(p, devices)]) for p in pieces if len(p)
        ]
        known = np.vstack([self._held, *rows])
        self._held = known[-1]
        return known[np.searchsorted(steps, np.arange(count), side="right")]

    def kept(self) -> dict[str, np.ndarray]:
        """What the rows to come hang on, for a run that goes on elsewhere."""
        last = {f"last{k}": part for k, part in enumerate(self._last or ())}
        return {"totals": self._totals, "start": np.array(self._start), "held": self._held, **last}

    def take_back(self, kept: Mapping[str, np.ndarray]) -> None:
        """Go on from there."""
        self._totals, self._held, start = kept["totals"], kept["held"], kept["start"]
        self._start = float(start[0]), float(start[1])
        self._last = tuple(kept[f"last{k}"] for k in range(5)) if "last0" in kept else None

    def joined(self, recording: Recording, wanted: Sequence[str], substeps: int = 1) -> Recording:
        """The channels wanted of a recording, and the derived ones after them."""
        columns = {name: k for k, name in enumerate(recording.names)}
        kept = [columns[name] for name in wanted]
        data = np.hstack([recording.data[:, kept], self.of(recording, substeps)])
        units = (*(recording.units[k] for k in kept), *self.units)
        attributes = dict(recording.attributes)
        if "parameters" in attributes:
            attributes["parameters"] = [name for name in attributes["parameters"] if name in set(wanted)]
        return replace(recording, data=data, names=(*wanted, *self.names), units=units, attributes=attributes)

    def _rows(self, motion: np.ndarray, devices: np.ndarray) -> np.ndarray:
        s, n, k = self._structure, self._structure.n, len(self._excitations)
        e, (u, v, a) = motion[:, :k], (motion[:, k + i * n : k + (i + 1) * n] for i in range(3))
        absolute = a + _times(self._influence, e[:, : s.influence.shape[1]])
        drift = _times(self._stories, u - s.at_rest)
        columns = [absolute[:, self._moving], drift]
        if s.heights:
            columns.append(drift / np.asarray(s.heights))
        below, above = self._across
        if len(above):
            moved = u - s.at_rest
            drift = moved[:, above] - np.where(below < 0, 0.0, moved[:, below])
            columns += [drift, drift / np.asarray(s.heights)] if s.heights else [drift]
        other = _times(self._others, e[:, s.influence.shape[1] :])  # loads that are not those of the ground
        columns.append(_times(self._influence.T.tocsr(), other - _times(self._M, absolute)))
        return np.hstack([*columns, self._energies(e, u, v, devices)])

    def _energies(self, e: np.ndarray, u: np.ndarray, v: np.ndarray, devices: np.ndarray) -> np.ndarray:
        s = self._structure
        load, friction = _times(self._load, e), _times(self._C, v)
        d, f = devices[:, 0::2], devices[:, 1::2] * np.array([site.count for site in self._sites])
        kinetic = 0.5 * _dot(v, _times(self._M, v))
        stored = 0.5 * _dot(u, _times(self._K, u)) - _dot(u, np.broadcast_to(s.dead_load, u.shape))
        if self._last is None:
            self._last = load[:1], friction[:1], f[:1], u[:1], d[:1]
            self._start = kinetic[0], stored[0]
        (load0, friction0, f0, u0, d0), self._last = self._last, (load[-1:], friction[-1:], f[-1:], u[-1:], d[-1:])
        du, dd = np.diff(u, axis=0, prepend=u0), np.diff(d, axis=0, prepend=d0)
        done = [(load0, load, du), (friction0, friction, du), (f0, f, dd)]
        work = np.column_stack([_work(*parts, total) for parts, total in zip(done, self._totals, strict=True)])
        self._totals = work[-1]
        put_in, damping, by_devices = work.T
        rest = put_in - (kinetic - self._start[0]) - damping - by_devices
        if not self._linear:
            return np.column_stack([put_in, kinetic, damping, rest, by_devices])
        stored = stored - self._start[1]
        return np.column_stack([put_in, kinetic, damping, stored, by_devices, rest - stored])


def _moving(structure: Structure) -> list[int]:
    """Degrees of freedom whose absolute acceleration is of interest: the floors, in every direction the ground moves.

    All that the ground moves, where floors are not known.
    """
    moved = structure.influence.any(axis=1)
    if not structure.floors:
        return np.flatnonzero(moved).tolist()
    floors = [structure.dof(floor) for floor in structure.floors]
    place = {name: k for k, name in enumerate(structure.names)}
    nodes = [structure.names[k].rpartition(".")[0] for k in floors]
    others = [place.get(f"{node}.u{d}", -1) for d in structure.directions for node in nodes if node]
    return [*floors, *(k for k in others if k >= 0 and moved[k] and k not in floors)]


def floors_across(structure: Structure) -> list[int]:
    """Degrees of freedom ``uz`` of the nodes whose ``ux`` are the floors; none unless all have one, as in space."""
    place = {name: k for k, name in enumerate(structure.names)}
    names = [structure.names[structure.dof(floor)] for floor in structure.floors]
    across = [place.get(f"{name.removesuffix('.ux')}.uz") for name in names if name.endswith(".ux")]
    return [k for k in across if k is not None] if len(across) == len(names) and None not in across else []


def _work(before: np.ndarray, force: np.ndarray, path: np.ndarray, total: float) -> np.ndarray:
    """Work of forces along their paths until each row, from the row before the first, where it was `total`."""
    middle = 0.5 * (force + np.concatenate([before, force[:-1]]))
    return np.cumsum(np.append(total, _dot(middle, path)))[1:]


def _times(matrix: Any, rows: np.ndarray) -> np.ndarray:
    """The product with every row."""
    return np.ascontiguousarray((matrix @ rows.T).T)


def _dot(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Scalar product of each row."""
    return (one * other).sum(axis=1)
