"""Structures in experiment files."""

from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from hyloop.errors import BadInput, BadShape, UnknownName
from hyloop.files.damping import Damping
from hyloop.files.directions import AXES
from hyloop.files.fields import Quantity, Table, kinds, refuse
from hyloop.files.frames.frame import Frame, FrameBase, PlaneFrame
from hyloop.files.frames.tower import TowerFrame
from hyloop.files.opensees import OpenSeesScript

__all__ = ["FRAMES", "STRUCTURES", "Damping", "Matrices", "OpenSeesScript", "ShearFrame", "StructureSpec"]

_LARGEST = 1000  # degrees of freedom: all matrices are dense


class ShearFrame(Table):
    """Rigid floors; lists run from the bottom to the top, one number stands for all stories."""

    kind: Literal["shear_frame"]
    stories: Annotated[int, Field(ge=1, le=_LARGEST)]
    masses: Annotated[Any, Quantity("kg", low=0.0, depth=1)]
    """Floor masses."""
    stiffnesses: Annotated[Any, Quantity("N/m", low=0.0, depth=1)]
    """Lateral stiffness of the stories."""
    gravity: Annotated[Any, Quantity("N", low=0.0, depth=1)] = None
    """Gravity load of the floors, for P-Delta; needs heights."""
    heights: Annotated[Any, Quantity("m", above=0.0, depth=1)] = None
    """Story heights, for P-Delta (with gravity), drift ratios and the picture."""
    damping: Damping | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for key in ("masses", "stiffnesses", "gravity", "heights"):
            value = getattr(self, key)
            if isinstance(value, tuple) and len(value) != self.stories:
                refuse(key, BadShape(f"got {len(value)} values for {self.stories} stories; give one for each, or one."))
        if self.gravity is not None and self.heights is None:
            refuse("heights", BadInput("is missing; gravity acts by P-Delta, which needs both gravity and heights."))
        return self


class Matrices(Table):
    """Mass, stiffness and damping matrices; plain numbers are in SI."""

    kind: Literal["matrices"]
    M: Annotated[Any, Quantity("kg", depth=2)]
    """Mass matrix, or a list of masses."""
    K: Annotated[Any, Quantity("N/m", depth=2)]
    """Stiffness matrix."""
    C: Annotated[Any, Quantity("N s/m", depth=2)] = None
    """Damping matrix; or give damping."""
    influence: Annotated[Any, Quantity("-", depth=1)] | dict[str, Annotated[Any, Quantity("-", depth=1)]] | None = None
    """Displacement of each degree of freedom when the ground moves by one along x; default ones. Or by direction:
    { x = [1, 0], z = [0, 1] }."""
    names: Annotated[tuple[str, ...], Field(strict=False, min_length=1)] | None = None
    """Names of the degrees of freedom; default 1, 2, ..."""
    floors: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """Names of the horizontal degrees of freedom of the floors, from the bottom up; needed for sites with a story."""
    heights: Annotated[Any, Quantity("m", above=0.0, depth=1)] = None
    """Story heights, one for each floor, for drift ratios and the picture."""
    damping: Damping | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        n = len(self.M) if isinstance(self.M, tuple) else 0
        for key in ("M", "K", "C"):
            rows = getattr(self, key)
            if rows is not None and not (_square(rows, n) or (key == "M" and _flat(rows))):
                kind = "a list of masses or a square matrix" if key == "M" else f"{n} rows of {n} numbers, as M has"
                refuse(key, BadShape(f"must be {kind}."))
        for key, given in (*self._influences(), ("names", self.names)):
            if given is not None and not (isinstance(given, tuple) and len(given) == n):
                refuse(key, BadShape(f"must be a list of {n}, one for each degree of freedom."))
        known = self.names or tuple(str(k + 1) for k in range(n))
        for floor in self.floors:
            if floor not in known:
                refuse("floors", UnknownName("degree of freedom", floor, known))
        if len(set(self.floors)) < len(self.floors):
            refuse("floors", BadInput("name each floor once, from the bottom up."))
        if self.heights is not None and np.shape(self.heights) not in ((), (len(self.floors),)):
            refuse("heights", BadShape(f"give one for each of the {len(self.floors)} floors, or one for all."))
        if self.heights is not None and not self.floors:
            refuse("heights", BadInput("needs floors too; name the degrees of freedom of the floors."))
        if n > _LARGEST:
            refuse("M", BadShape(f"has {n} degrees of freedom; at most {_LARGEST} are allowed."))
        if self.C is not None and self.damping is not None:
            refuse("damping", BadInput("a damping matrix C is given too; give one of them."))
        return self

    def _influences(self) -> list[tuple[str, Any]]:
        if not isinstance(self.influence, dict):
            return [("influence", self.influence)]
        for axis in self.influence:
            if axis not in AXES:
                refuse("influence", UnknownName("direction", axis, AXES))
        if not self.influence:
            refuse("influence", BadInput("is empty; give a list for each direction, as in { x = [1, 0], z = [0, 1] }."))
        return [(f"influence.{axis}", column) for axis, column in self.influence.items()]

    def columns(self) -> dict[str, Any]:
        """Influence by direction: a list, or none at all, is along x."""
        return self.influence if isinstance(self.influence, dict) else {"x": self.influence or np.ones(len(self.M))}


def _flat(rows: Any) -> bool:
    return isinstance(rows, tuple) and not any(isinstance(row, tuple) for row in rows)


def _square(rows: Any, n: int) -> bool:
    return isinstance(rows, tuple) and len(rows) == n and all(isinstance(row, tuple) and len(row) == n for row in rows)


StructureSpec = Annotated[
    ShearFrame | Matrices | Frame | PlaneFrame | TowerFrame | OpenSeesScript, Field(discriminator="kind")
]
STRUCTURES = kinds(StructureSpec)
FRAMES = {name: table for name, table in STRUCTURES.items() if issubclass(table, FrameBase)}
