"""What yields in a frame that is pushed: sections of beam-columns, braces, springs and devices, and when."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hyloop.core.memory import entry, read
from hyloop.structure.elements import Elements, law_of, spring_members
from hyloop.structure.fibres.beam_forces import Header, Member
from hyloop.structure.fibres.beams import FibreBeams
from hyloop.structure.fibres.braces import Trusses, axial_response
from hyloop.structure.fibres.materials import Bilinear, Concrete, Steel
from hyloop.structure.fibres.section_forces import Point, section_places
from hyloop.structure.fibres.sections import FibreSection
from hyloop.structure.frames.assembly import spring_groups
from hyloop.structure.frames.members import Brace

if TYPE_CHECKING:
    from hyloop.structure.frames.model import Model

__all__ = ["BraceWatch", "Hinge", "SectionWatch", "SpringWatch", "watches", "yield_row"]

SOFT = 0.5  # of the initial stiffness: a member whose tangent is below that while it is loaded further has yielded
MOVED = 1e-9  # of the largest deformation: smaller increments tell no stiffness


@dataclass(frozen=True)
class Hinge:
    """Something that yields.

    Attributes
    ----------
    member : str
        Name of the member or device.
    kind : str
        "section", "brace", "spring" or "device".
    place : float
        Where along the member, from 0 (end i) to 1 (end j); nan for what yields as a whole.
    row : int
        Row of the curve in which it yields.
    ductility : float
        Largest deformation over that at yield: of the fibre strained most, of a brace, of a device.
    crushed : int
        Row in which the first concrete fibre passes the strain at its strength; -1: in none.
    """

    member: str
    kind: str
    place: float
    row: int
    ductility: float
    crushed: int = -1


class _Fibre(NamedTuple):
    """A fibre: where the deformations of its section stand in the state, what they count, and the strain allowed."""

    point: int
    places: tuple[int, ...]
    shape: tuple[float, ...]
    strain: float


class SectionWatch:
    """Strains of all fibres of a group of beam-columns, in parts of their yield strain (bars) or of ε_c (concrete)."""

    def __init__(self, group: FibreBeams) -> None:
        self.points: list[tuple[str, float]] = []
        bars, concrete = [], []
        header = read(Header, group.integers, 0)
        for m, beam in enumerate(group.members):
            first = entry(Member, group.integers, header.member, m).begin
            fibrous = [(k, section) for k, section in enumerate(beam.sections) if isinstance(section, FibreSection)]
            for s, (k, section) in enumerate(fibrous):
                at = section_places(group.dimensions, entry(Point, group.integers, header.point, first + s).state)
                for bar, one in _fibres(section, len(self.points), at.d, group.dimensions):
                    (bars if bar else concrete).append(one)
                self.points.append((beam.name, float(beam.rule.x[k] / beam.length)))
        self._bars, self._concrete = bars, concrete
        self._rows: list[tuple[np.ndarray, np.ndarray]] = []

    def follow(self, u: np.ndarray) -> None:
        """Nothing: what is wanted stands in the state."""

    def see(self, x: np.ndarray) -> None:
        """Take down the state of the group after a step."""
        self._rows.append((self._largest(self._bars, x, abs), self._largest(self._concrete, x, np.negative)))

    def _largest(self, fibres: list[_Fibre], x: np.ndarray, sign) -> np.ndarray:
        found = np.zeros(len(self.points))
        if fibres:
            point, places, shape, strain = (np.array(column) for column in zip(*fibres, strict=True))
            np.maximum.at(found, point, sign((x[places] * shape).sum(axis=1)) / strain)
        return found

    def hinges(self) -> list[Hinge]:
        """The sections with a bar beyond its yield strain."""
        bars, concrete = (np.array(rows) for rows in zip(*self._rows, strict=True))
        found = []
        for k, (member, place) in enumerate(self.points):
            row, crushed = _first(bars[:, k] >= 1.0), _first(concrete[:, k] >= 1.0)
            if row >= 0:
                found.append(Hinge(member, "section", place, row, float(bars[:, k].max()), crushed))
        return found


def _fibres(section: FibreSection, point: int, at: int, n: int) -> list[tuple[bool, _Fibre]]:
    """The fibres of a section that yield or crush, and which of both: those that yield are bars."""
    found, places = [], tuple(range(at, at + n))
    for y, z, material in zip(section.y, section.z, section.materials, strict=True):
        shape = (1.0, -float(y), float(z))[:n]
        if isinstance(material, (Steel, Bilinear)):
            found.append((True, _Fibre(point, places, shape, material.fy / material.E)))
        elif isinstance(material, Concrete):
            found.append((False, _Fibre(point, places, shape, material.ec)))
    return found


class _AxialWatch:
    """Deformation and force of every member of a group that has one of each."""

    def __init__(self, kind: str, names: Sequence[str]) -> None:
        self.kind, self.names = kind, list(names)
        self._rows: list[tuple[np.ndarray, np.ndarray]] = []

    @property
    def histories(self) -> tuple[np.ndarray, np.ndarray]:
        """Deformations and forces, (rows, members)."""
        d, f = zip(*self._rows, strict=True)
        return np.array(d), np.array(f)

    def hinges(self) -> list[Hinge]:
        """The members whose tangent has fallen below half of the largest one."""
        found = []
        for name, d, f in zip(self.names, *(rows.T for rows in self.histories), strict=True):
            row = yield_row(d, f)
            if row >= 0:
                found.append(Hinge(name, self.kind, np.nan, row, float(np.abs(d).max() / np.abs(d[row]))))
        return found


class BraceWatch(_AxialWatch):
    """Strain and axial force of the braces of a group."""

    def __init__(self, group: Trusses, names: Sequence[str]) -> None:
        count = len(group.order)
        super().__init__("brace", names if len(names) == count else _numbered("brace", count))
        self._group = group

    def follow(self, u: np.ndarray) -> None:
        """Nothing: what is wanted stands in the state."""

    def see(self, x: np.ndarray) -> None:
        """Take down the state of the group after a step."""
        felt = axial_response(self._group, x)
        self._rows.append((felt.strain, felt.force))


class SpringWatch(_AxialWatch):
    """Deformation and force of springs and devices, which are taken along, as their group keeps no forces.

    Parameters
    ----------
    members : sequence of (row, Elements)
        Directions and groups of one member each.
    zero : ndarray, (n,), optional
        Displacements from which deformations count.
    """

    def __init__(self, kind: str, names: Sequence[str], members: Sequence[tuple[np.ndarray, Elements]], zero=0.0):
        super().__init__(kind, names)
        self._members, self._zero = list(members), zero
        self._states = [group.initial.copy() for _, group in members]
        self._d = np.zeros(len(self._members))
        self._f = np.zeros(len(self._members))

    def follow(self, u: np.ndarray) -> None:
        """Go along to the next equilibrium."""
        w = u - self._zero
        v = np.zeros_like(w)
        for k, ((row, group), x) in enumerate(zip(self._members, self._states, strict=True)):
            group.forces(w, v, 1.0, x)
            self._d[k], self._f[k] = row @ w, x[-1]

    def see(self, x: np.ndarray) -> None:
        """Take down where they are after a step."""
        self._rows.append((self._d.copy(), self._f.copy()))


def yield_row(d: np.ndarray, f: np.ndarray) -> int:
    """The row from which on a member goes beyond all its deformations with less than half its stiffness; -1: none."""
    steps = np.diff(d)
    moves = np.abs(steps) > MOVED * np.abs(d).max()
    k = np.divide(np.diff(f), steps, out=np.full(len(steps), np.nan), where=moves)
    if not moves.any():
        return -1
    farther = np.abs(d[1:]) > np.maximum.accumulate(np.abs(d[:-1]))
    return _first(moves & farther & (k < SOFT * np.nanmax(k)) & (np.abs(d[:-1]) > 0.0))


def _first(holds: np.ndarray) -> int:
    return int(np.argmax(holds)) if holds.any() else -1


def watches(groups: Sequence[Elements], model: "Model | None") -> list["SectionWatch | BraceWatch | SpringWatch"]:
    """What looks at each group of members, in their order."""
    members = [] if model is None else list(model.members.values())
    braces = [member.name for member in members if isinstance(member, Brace)]
    devices = [] if model is None else [member for same in spring_groups(model) for member in same]
    found: list[SectionWatch | BraceWatch | SpringWatch] = []
    springs = 0
    for group in groups:
        if isinstance(group, FibreBeams):
            found.append(SectionWatch(group))
        elif isinstance(group, Trusses):
            found.append(BraceWatch(group, braces))
        elif law_of(group) is not None:
            alone = spring_members(group)
            own = [member.name for member in devices[springs : springs + len(alone)]]
            found.append(SpringWatch("spring", own or _numbered("spring", len(alone), springs), alone))
            springs += len(alone)
        else:
            found.append(SpringWatch("member", [], []))  # nobody can tell its members apart
    return found


def _numbered(word: str, count: int, first: int = 0) -> list[str]:
    return [f"{word} {first + k + 1}" for k in range(count)]
