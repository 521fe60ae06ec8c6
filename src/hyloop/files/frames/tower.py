"""Braced towers in files: the fields of `hyloop.buildings.tower.Tower` with units, each with its default."""

from typing import Annotated, Any, Literal

from pydantic import Field

from hyloop.buildings.tower import tower
from hyloop.files.fields import Quantity, Table
from hyloop.files.frames.frame import FrameBase
from hyloop.structure.frames.model import Model

__all__ = ["TowerFrame"]

Length = Annotated[float, Quantity("m", above=0.0)]
Factor = Annotated[float, Quantity("-", above=0.0)]
Level = Annotated[int, Field(ge=1, le=1000)]


class Box(Table):
    """Concrete-filled steel box of the columns up to a level."""

    upto: Level
    size: Length
    plate: Length


class Strength(Table):
    """Yield force of the braces up to a level."""

    upto: Level
    force: Annotated[float, Quantity("N", above=0.0)]


Boxes = Annotated[tuple[Box, ...], Field(strict=False, min_length=1)]


class TowerFrame(FrameBase):
    """A braced tower with outriggers; what is not given is as in the 40 stories of `hyloop.buildings.tower.Tower`."""

    kind: Literal["tower"]
    heights: Annotated[Any, Quantity("m", above=0.0, depth=1)] = None
    """Story heights, bottom to top, basements included."""
    basements: Annotated[int, Field(ge=0)] | None = None
    """Number of stories below ground."""
    plan: Annotated[tuple[Length, Length], Field(strict=False)] | None = None
    """Size of the floors, north-south and east-west."""
    core_width: Length | None = None
    """Distance of the two rows of core columns."""
    bays: Annotated[int, Field(ge=1, le=100)] | None = None
    """Bays between the lines of the core."""
    braced_bays: Annotated[tuple[int, ...], Field(strict=False)] | None = None
    """Bays that are braced along both rows, counted from the west."""
    outriggers: Annotated[tuple[Level, ...], Field(strict=False)] | None = None
    """Levels of the top chords."""
    eccentricity: (
        Annotated[tuple[Annotated[float, Quantity("-")], Annotated[float, Quantity("-")]], Field(strict=False)] | None
    ) = None
    """Of the centre of mass, in parts of the plan."""
    mass: Annotated[float, Quantity("kg", above=0.0)] | None = None
    """Of a floor."""
    gyration: Factor | None = None
    """Radius of gyration of a floor, in parts of that of a uniform rectangle."""
    wall: Annotated[float, Quantity("N/m", low=0.0)] | None = None
    """Stiffness that holds every basement floor."""
    core_boxes: Boxes | None = None
    corner_boxes: Boxes | None = None
    core_area: Annotated[tuple[Factor, Factor], Field(strict=False)] | None = None
    """Factors on the axial stiffness of core columns, on inner and on end lines."""
    corner_area: Factor | None = None
    """Factor on the axial stiffness of corner columns."""
    brace_strength: Annotated[tuple[Strength, ...], Field(strict=False, min_length=1)] | None = None
    brace_area: Annotated[tuple[Factor, Factor, Factor], Field(strict=False)] | None = None
    """Area of a brace over force/290 MPa: on inner lines, on end lines, along the rows."""
    brace_taper: Annotated[tuple[Factor, Factor], Field(strict=False)] | None = None
    """Part of that left at the roof, on the lines and along the rows."""
    outrigger_strength: Annotated[float, Quantity("N", above=0.0)] | None = None
    """Yield force of the crossing diagonals of an outrigger."""

    def model(self) -> Model:
        changes = {key: value for key in sorted(TOWER_FIELDS) if (value := getattr(self, key)) is not None}
        for key in changes.keys() & {"core_boxes", "corner_boxes", "brace_strength"}:
            changes[key] = tuple(tuple(row.model_dump().values()) for row in changes[key])
        if "heights" in changes and not isinstance(changes["heights"], tuple):
            changes["heights"] = (changes["heights"],)
        return tower(**changes)


TOWER_FIELDS = TowerFrame.model_fields.keys() - FrameBase.model_fields.keys() - {"kind"}
