"""Members, floors, masses and loads in files that describe a frame: each table stands for a group of equal ones.

A table may be repeated for several values of n: ``n = "1..3"`` with ``"A{n-1}"`` and ``"A{n}"`` in names of nodes.
"""

import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from hyloop.errors import BadInput, BadShape, UnknownName
from hyloop.files.fields import Quantity, Table, kinds, refuse
from hyloop.files.frames.sections import Layers, one_material
from hyloop.files.laws import DeviceSpec
from hyloop.files.units import GRAVITY
from hyloop.structure.fibres.materials import Material
from hyloop.structure.frames.model import Model

__all__ = ["MEMBERS", "Floor", "Load", "Mass", "MemberSpec", "Parts", "nodes_like"]

_PLACE = re.compile(r"\{n([+-]\d+)?\}")
_MOST = 1000  # repetitions

Force = Annotated[float, Quantity("N")]
Moment = Annotated[float, Quantity("N m")]
Inertia = Annotated[float, Quantity("kg m2", low=0.0)]
Kilograms = Annotated[float, Quantity("kg", low=0.0)]
Names = Annotated[tuple[str, ...], Field(strict=False, min_length=1)]


@dataclass(frozen=True)
class Parts:
    """What members refer to by name."""

    materials: Mapping[str, Material | Layers]
    sections: Mapping[str, Any]

    def section(self, name: str, where: str) -> Any:
        if name not in self.sections:
            raise UnknownName("section", name, self.sections, where)
        return self.sections[name]


def _numbers(given: Any) -> Any:
    """``"1..4"`` is short for [1, 2, 3, 4]."""
    found = re.fullmatch(r"\s*(\d{1,4})\s*\.\.\s*(\d{1,4})\s*", given) if isinstance(given, str) else None
    if found is None:
        return given
    numbers = list(range(int(found[1]), int(found[2]) + 1))
    if not 0 < len(numbers) <= _MOST:
        raise BadInput(f"got {given!r}; write the lower number first, as in '1..4', and at most {_MOST} of them.")
    return numbers


class Repeated(Table):
    """A table that stands for itself, or for one at each n."""

    n: Annotated[tuple[int, ...], BeforeValidator(_numbers), Field(strict=False)] = ()
    """Numbers, as a list or "1..4"; {n}, {n-1} and {n+1} in names of nodes become each of them."""

    def every(self) -> Sequence[int | None]:
        return self.n or (None,)


def _named(text: str, n: int | None) -> str:
    """A name with its number put in."""
    if n is None and _PLACE.search(text):
        raise BadInput(f"'{text}' has a place for a number, but n is not given; add for example n = \"1..3\".")
    return _PLACE.sub(lambda found: str((n or 0) + int(found[1] or 0)), text)


def nodes_like(model: Model, patterns: Sequence[str], n: int | None = None) -> list[str]:
    """Nodes that match names in which * and ? stand for any letters, as in a shell; masters of floors by name only."""
    found: dict[str, None] = {}
    for pattern in (_named(text, n) for text in patterns):
        if pattern in model.nodes:
            found[pattern] = None
            continue
        matching = [node for node in model.nodes if node not in model.floors and fnmatchcase(node, pattern)]
        if not matching:
            raise UnknownName("node", pattern, model.nodes)
        found |= dict.fromkeys(matching)
    return list(found)


class Group(Repeated):
    """Members of one kind along some lines."""

    lines: Annotated[tuple[Names, ...], Field(strict=False, min_length=1)]
    """Each line runs through two or more nodes; a member stands between one node and the next."""

    @model_validator(mode="after")
    def _two_ends(self) -> Self:
        for line in self.lines:
            if len(line) < 2:
                refuse("lines", BadShape(f"got {list(line)}; a line needs two nodes or more, as in ['A0', 'A1']."))
        return self

    def pairs(self) -> Iterator[tuple[str, str]]:
        """The two nodes of each member."""
        for n in self.every():
            for line in self.lines:
                yield from pairwise(_named(node, n) for node in line)

    def add(self, model: Model, group: str, parts: Parts) -> None:
        """Add all members of the group, called ``"group A0-A1"``."""
        for i, j in self.pairs():
            self.one(model, f"{group} {i}-{j}", i, j, parts)

    @abstractmethod
    def one(self, model: Model, name: str, i: str, j: str, parts: Parts) -> None:
        """Add the member between two nodes."""


class _Beam(Group):
    section: str
    """Name of a section."""
    offsets: Annotated[Any, Quantity("m", depth=2)] = (0.0, 0.0)
    """Rigid ends: two lengths along the member, or two vectors from the nodes."""
    up: Annotated[Any, Quantity("-", depth=1)] = None
    """Direction of the local y axis, in space; default vertical, and x for columns."""

    @model_validator(mode="after")
    def _ends(self) -> Self:
        if not isinstance(self.offsets, tuple) or len(self.offsets) != 2:
            refuse("offsets", BadShape("give two rigid ends, as in ['0.2 m', '0.2 m']."))
        return self


class ElasticMembers(_Beam):
    """Elastic beam-columns."""

    kind: Literal["elastic"]
    release: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """Hinges: "i", "j"; in space also "iy", "jy" and "twist"."""
    axial_force: Force | None = None
    """Constant compression whose P-Delta effect counts."""

    def one(self, model: Model, name: str, i: str, j: str, parts: Parts) -> None:
        model.elastic(
            name,
            i,
            j,
            parts.section(self.section, "section"),
            release=self.release,
            offsets=self.offsets,
            up=self.up,
            axial_force=self.axial_force,
        )


class FibreMembers(_Beam):
    """Force-based beam-columns with fibre sections."""

    kind: Literal["fibre"]
    hinges: Annotated[Any, Quantity("m", above=0.0, depth=1)] = None
    """Lengths of the plastic hinges at both ends, one number or two; default: fibres all along."""
    points: Annotated[int, Field(ge=3, le=20)] = 5
    """Integration points where there are no hinges."""
    interior: str | None = None
    """Name of the elastic section between the hinges; default: the uncracked section."""
    pdelta: bool = True

    @model_validator(mode="after")
    def _two_hinges(self) -> Self:
        if isinstance(self.hinges, tuple) and len(self.hinges) != 2:
            refuse("hinges", BadShape(f"got {len(self.hinges)} lengths; give one for both ends, or two."))
        return self

    def one(self, model: Model, name: str, i: str, j: str, parts: Parts) -> None:
        hinges = self.hinges if self.hinges is None or isinstance(self.hinges, tuple) else (self.hinges, self.hinges)
        interior = None if self.interior is None else parts.section(self.interior, "interior")
        model.fibre(
            name,
            i,
            j,
            parts.section(self.section, "section"),
            hinges=hinges,
            interior=interior,
            offsets=self.offsets,
            up=self.up,
            pdelta=self.pdelta,
            points=self.points,
        )


class Braces(Group):
    """Trusses."""

    kind: Literal["brace"]
    material: str
    area: Annotated[float, Quantity("m2", above=0.0)]
    length: Annotated[float, Quantity("m", above=0.0)] | None = None
    """Of the part that deforms; default: from node to node."""

    def one(self, model: Model, name: str, i: str, j: str, parts: Parts) -> None:
        model.brace(name, i, j, one_material(self.material, parts.materials, "material"), self.area, self.length)


class LeanOns(Group):
    """P-Delta of columns without lateral stiffness, from the lower to the upper node or floor."""

    kind: Literal["lean_on"]
    load: Annotated[float, Quantity("N", low=0.0)]
    """Compression."""

    def one(self, model: Model, name: str, i: str, j: str, parts: Parts) -> None:
        model.lean_on(name, i, j, self.load)


class Springs(Table):
    """Stiffnesses in global axes."""

    ux: Annotated[float, Quantity("N/m", low=0.0)] | None = None
    uy: Annotated[float, Quantity("N/m", low=0.0)] | None = None
    uz: Annotated[float, Quantity("N/m", low=0.0)] | None = None
    rx: Annotated[float, Quantity("N m", low=0.0)] | None = None
    ry: Annotated[float, Quantity("N m", low=0.0)] | None = None
    rz: Annotated[float, Quantity("N m", low=0.0)] | None = None


class Links(Group):
    """Linear springs between two nodes."""

    kind: Literal["link"]
    springs: Springs

    def one(self, model: Model, name: str, i: str, j: str, parts: Parts) -> None:
        model.link(name, i, j, _given(self.springs))


class Devices(Group):
    """A device law that belongs to the structure; devices that are tested or updated are sites instead."""

    kind: Literal["device"]
    device: DeviceSpec
    dof: str | None = None
    """Degree of freedom it acts in; default: along the line between the nodes."""

    def one(self, model: Model, name: str, i: str, j: str, parts: Parts) -> None:
        if self.device.draw:
            raise BadInput("device: draw is for sites; give the parameters of a device of the structure.")
        model.spring(name, i, j, self.device.make(), self.dof)


MemberSpec = Annotated[ElasticMembers | FibreMembers | Braces | LeanOns | Links | Devices, Field(discriminator="kind")]
MEMBERS = kinds(MemberSpec)


class Floor(Repeated):
    """A floor rigid in its plane; repeated for n, its name gets the number: floor1, floor2, ..."""

    nodes: Names
    """Nodes, where * and ? stand for any letters."""
    centre: Annotated[Any, Quantity("m", depth=1)] = None
    """Centre of mass in plan, [x, z], where the master stands; default: the middle of the nodes."""
    mass: Kilograms = 0.0
    rotary: Inertia = 0.0
    """Moment of inertia about the vertical axis."""

    def add(self, model: Model, name: str) -> None:
        for n in self.every():
            nodes, master = nodes_like(model, self.nodes, n), None
            if self.centre is not None:
                if model.dimensions != 3 or not isinstance(self.centre, tuple) or len(self.centre) != 2:
                    raise BadShape(f"centre: got {self.centre}; give [x, z] of the centre of mass, in space only.")
                master = (self.centre[0], float(model.nodes[nodes[0]][1]), self.centre[1])
            model.diaphragm(name if n is None else f"{name}{n}", nodes, master, self.mass, self.rotary)


class Mass(Repeated):
    """Lumped mass at some nodes."""

    nodes: Names
    ux: Kilograms | None = None
    uy: Kilograms | None = None
    uz: Kilograms | None = None
    rx: Inertia | None = None
    ry: Inertia | None = None
    rz: Inertia | None = None
    weight: bool = False
    """Its weight is a dead load too."""

    def add(self, model: Model) -> None:
        if self.weight and self.ux is None:
            raise BadInput("weight: the weight is that of the mass ux, which is missing.")
        for n in self.every():
            for node in nodes_like(model, self.nodes, n):
                model.mass(node, **_given(self))
                if self.weight:
                    model.load(node, uy=-GRAVITY * (self.ux or 0.0))


class Load(Repeated):
    """Dead load at some nodes."""

    nodes: Names
    ux: Force | None = None
    uy: Force | None = None
    uz: Force | None = None
    rx: Moment | None = None
    ry: Moment | None = None
    rz: Moment | None = None

    def add(self, model: Model) -> None:
        for n in self.every():
            for node in nodes_like(model, self.nodes, n):
                model.load(node, **_given(self))


def _given(table: Table) -> dict[str, float]:
    """Values for degrees of freedom."""
    keys = ("ux", "uy", "uz", "rx", "ry", "rz")
    return {key: value for key in keys if (value := getattr(table, key)) is not None}
