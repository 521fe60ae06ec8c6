"""Frames in files: nodes, materials, sections, members, floors, supports, masses and loads, or a regular frame."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from hyloop.errors import BadInput, BadShape, OutOfBounds, UnknownName
from hyloop.files.damping import Damping
from hyloop.files.fields import Quantity, Table, refuse
from hyloop.files.frames.members import Floor, Load, Mass, MemberSpec, Names, Parts, nodes_like
from hyloop.files.frames.sections import MaterialSpec, SectionSpec
from hyloop.structure.frames.model import Model
from hyloop.structure.frames.plane_frame import plane_frame
from hyloop.structure.structure import Structure

__all__ = ["Frame", "FrameBase", "PlaneFrame", "frame_along", "story_nodes"]


class FrameBase(Table):
    """What every kind of frame has; `model` describes it and `structure` makes the matrices."""

    title: str = ""
    file: str | None = None
    """File with the tables of the frame, relative to this one; what is said here too wins."""
    materials: dict[str, MaterialSpec] = Field(default_factory=dict)
    sections: dict[str, SectionSpec] = Field(default_factory=dict)
    ground: Literal["ux", "uy", "uz"] = "ux"
    """Direction of the ground motion, where the excitation does not say it."""
    condense: Annotated[tuple[str, ...], Field(strict=False)] | None = None
    """Condense all elastic degrees of freedom without mass, but for those named here ([]: but for none)."""
    damping: Damping | None = None

    def parts(self) -> Parts:
        """Materials and sections by name."""
        materials, sections = {}, {}
        for name, material in self.materials.items():
            with _naming(f"materials.{name}"):
                materials[name] = material.make()
        for name, section in self.sections.items():
            with _naming(f"sections.{name}"):
                sections[name] = section.make(materials)
        return Parts(materials, sections)

    @abstractmethod
    def model(self) -> Model:
        """The frame as nodes and members."""

    def structure(self, model: Model, ground: Sequence[str] = ()) -> Structure:
        """The structure of this model, under its dead load and without damping; it knows its stories, along x.

        `ground` has the directions of several ground motions; default is that of the table.
        """
        return with_stories(model, model.structure(ground=tuple(ground) or (self.ground,), condense=self.condense))


class Grid(Table):
    """Nodes at every crossing of lines and levels; the name is that of the lines and the level: A0, or AS0 in space."""

    x: dict[str, Annotated[float, Quantity("m")]]
    """Lines across x by name: { A = 0, B = "6 m" }."""
    z: dict[str, Annotated[float, Quantity("m")]] | None = None
    """Lines across z by name, in space."""
    levels: Annotated[Any, Quantity("m", depth=1)]
    """Heights; the first is level 0."""

    def nodes(self) -> Iterator[tuple[str, tuple[float, ...]]]:
        heights = np.atleast_1d(self.levels)
        for (level, height), (line, x) in product(enumerate(heights), self.x.items()):
            if self.z is None:
                yield f"{line}{level}", (x, float(height))
            else:
                for across, z in self.z.items():
                    yield f"{line}{across}{level}", (x, float(height), z)


class Supports(Table):
    """Nodes held in place; * and ? stand for any letters."""

    fixed: Names | None = None
    pinned: Names | None = None
    held: dict[str, Names] = Field(default_factory=dict)
    """Other supports: nodes by what is held, as in { ux = ["B0"] }."""

    def add(self, model: Model) -> None:
        for what, patterns in (("fixed", self.fixed), ("pinned", self.pinned), *self.held.items()):
            with _naming(f"supports.{'held.' if what in self.held else ''}{what}"):
                for node in nodes_like(model, patterns or ()):
                    model.support(node, what)


class Frame(FrameBase):
    """A plane or space frame, piece by piece."""

    kind: Literal["frame"]
    dimensions: Literal[2, 3] = 2
    """Plane (x, y) or space (x, y, z); y points up."""
    grid: Grid | None = None
    nodes: dict[str, Annotated[Any, Quantity("m", depth=1)]] = Field(default_factory=dict)
    """Coordinates of nodes, besides those of the grid."""
    supports: Supports = Supports()
    members: dict[str, MemberSpec] = Field(default_factory=dict)
    floors: dict[str, Floor] = Field(default_factory=dict)
    masses: Annotated[tuple[Mass, ...], Field(strict=False)] = ()
    loads: Annotated[tuple[Load, ...], Field(strict=False)] = ()

    @model_validator(mode="after")
    def _plane_or_space(self) -> Self:
        if self.grid is not None and (self.grid.z is None) == (self.dimensions == 3):
            refuse("grid.z", BadInput("belongs to a grid in space, dimensions = 3, and to no other."))
        return self

    def model(self) -> Model:
        model, parts = Model(self.dimensions), self.parts()
        if self.grid is not None:
            with _naming("grid"):
                for name, place in self.grid.nodes():
                    model.node(name, *place)
        for name, place in self.nodes.items():
            with _naming(f"nodes.{name}"):
                model.node(name, *np.atleast_1d(place))
        for name, floor in self.floors.items():
            with _naming(f"floors.{name}"):
                floor.add(model, name)
        self.supports.add(model)
        for name, group in self.members.items():
            with _naming(f"members.{name}"):
                group.add(model, name, parts)
        for key, entries in (("masses", self.masses), ("loads", self.loads)):
            for k, entry in enumerate(entries):
                with _naming(f"{key}[{k}]"):
                    entry.add(model)
        return model


class PlaneFrame(FrameBase):
    """A regular moment frame: columns A, B, ... from the left, levels 0, 1, ... from the ground."""

    kind: Literal["plane_frame"]
    bays: Annotated[Any, Quantity("m", above=0.0, depth=1)]
    """Widths between the axes of the columns."""
    heights: Annotated[Any, Quantity("m", above=0.0, depth=1)]
    """Story heights, bottom to top."""
    columns: str | Annotated[tuple[str, ...], Field(strict=False, min_length=1)]
    """Name of a section, or one for each story."""
    beams: str | Annotated[tuple[str, ...], Field(strict=False, min_length=1)]
    """Name of a section, or one for each story."""
    masses: Annotated[Any, Quantity("kg", low=0.0, depth=1)] = None
    """Floor masses, spread over the nodes."""
    gravity: Annotated[Any, Quantity("N", low=0.0, depth=1)] = None
    """Dead loads of the floors, spread over the nodes."""
    leaning: Annotated[Any, Quantity("N", low=0.0, depth=1)] = None
    """Loads of the floors on columns outside that lean on this frame."""
    base: Literal["fixed", "pinned"] = "fixed"
    joints: Annotated[Any, Quantity("m", low=0.0, depth=1)] = (0.0, 0.0)
    """Width of the columns and depth of the beams, within which joints are rigid."""
    column_hinges: Annotated[float, Quantity("m", above=0.0)] | None = None
    beam_hinges: Annotated[float, Quantity("m", above=0.0)] | None = None
    """Lengths of plastic hinges; default: fibres all along."""
    column_interior: str | None = None
    beam_interior: str | None = None
    """Names of the elastic sections between the hinges; default: the uncracked ones."""
    rigid_floors: bool = False
    pdelta: bool = True

    @model_validator(mode="after")
    def _joints(self) -> Self:
        if not isinstance(self.joints, tuple) or len(self.joints) != 2:
            refuse("joints", BadShape("give two lengths: the width of the columns and the depth of the beams."))
        return self

    def model(self) -> Model:
        parts = self.parts()

        def find(key: str) -> Any:
            given = getattr(self, key)
            if given is None or isinstance(given, str):
                return None if given is None else parts.section(given, key)
            return [parts.section(name, key) for name in given]

        sections = {key: find(key) for key in ("columns", "beams", "column_interior", "beam_interior")}
        plain = (
            "masses",
            "gravity",
            "leaning",
            "base",
            "joints",
            "column_hinges",
            "beam_hinges",
            "rigid_floors",
            "pdelta",
        )
        return plane_frame(self.bays, self.heights, **sections, **{key: getattr(self, key) for key in plain})


def story_nodes(model: Model) -> list[str]:
    """One node for each story, bottom to top: the rigid floors, or else the leftmost node of each level with mass."""
    heavy = {name.split(".")[0] for name, mass in model.masses.items() if name.endswith(".ux") and mass > 0.0}
    chosen = list(model.floors) or (list(heavy) if model.dimensions == 2 else [])
    if not chosen:
        raise BadInput("the frame has no floors and so no stories; add floors, or use between = [node, node].")
    left = sorted(chosen, key=lambda name: (model.nodes[name][1], model.nodes[name][0]))
    levels = {round(float(model.nodes[name][1]), 6): name for name in reversed(left)}
    return [levels[height] for height in sorted(levels)]


def with_stories(model: Model, structure: Structure) -> Structure:
    """The structure with the floors and story heights of its model, where it has floors."""
    try:
        nodes = story_nodes(model)
    except BadInput:
        return structure
    floors = [f"{node}.ux" for node in nodes]
    foot = min(float(place[1]) for place in model.nodes.values())
    heights = np.diff([foot, *(float(model.nodes[node][1]) for node in nodes)])
    if not set(floors) <= set(structure.names) or heights.min() <= 0.0:
        return structure
    return replace(structure, floors=floors, heights=heights)


def frame_along(model: Model, structure: Structure, story: int | None, between: tuple[str, ...] | None) -> np.ndarray:
    """Direction of a device: horizontal drift along x of a story, or between two nodes along the line between them.

    Names with a dot, such as ``"A1.ux"``, are degrees of freedom: upper and lower end, as for any other structure.
    """
    if story is not None:
        floors = story_nodes(model)
        if not 1 <= story <= len(floors):
            raise OutOfBounds(f"story {story} does not exist; stories run from 1 to {len(floors)}.")
        return structure.between(f"{floors[story - 1]}.ux", f"{floors[story - 2]}.ux" if story > 1 else None)
    names = list(between or ())
    nodes, _, dofs = zip(*(name.partition(".") for name in names), strict=True)
    for node in nodes:
        if node not in model.nodes:
            raise UnknownName("node", node, model.nodes)
    if len(names) == 2 and dofs[0] == dofs[1]:
        i, j = (nodes[1], nodes[0]) if dofs[0] else nodes  # between dofs it is the first that counts positive
        return model.direction(structure, i, j, dofs[0] or None)
    if not all(dofs):
        raise BadShape(f"got {names}; name two nodes, or degrees of freedom such as '{nodes[0]}.ux'.")
    return structure.between(names[0], names[1] if len(names) == 2 else None)


@contextmanager
def _naming(where: str) -> Iterator[None]:
    """Name the table in every refusal."""
    try:
        yield
    except BadInput as error:
        error.args = (f"{where}: {error}",)
        raise
