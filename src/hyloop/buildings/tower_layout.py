"""Layout and sizes of braced towers; by default those of one of 40 stories."""

from dataclasses import dataclass

import numpy as np

from hyloop.errors import BadInput, OutOfBounds

__all__ = ["Table", "Tower"]

Table = tuple[tuple[float, ...], ...]  # rows (last level, values...), from the bottom to the top


@dataclass(frozen=True)
class Tower:
    """Layout and sizes of a braced tower; every default is that of the 40-story tower.

    x points north, y up and z east. The core has two rows of columns (N, S) on the lines 1, 2, ... from west to east.
    Each line is a braced frame one bay wide; along each row some bays are braced. Braces form inverted Vs. At the
    outrigger levels arms one story deep reach from the core columns of the end lines to the corner columns NW, NE,
    SW, SE, without touching them: what joins the two is a damper (see `dampers`).

    Attributes
    ----------
    heights : tuple of float
        Of the stories in m, from the bottom; level k is the floor above story k.
    basements : int
        Number of stories below ground.
    plan, core_width : (float, float), float
        Size of the floors, north-south and east-west, and distance of the two rows of core columns, in m.
    bays, braced_bays : int, tuple of int
        Bays between the lines, and those that are braced along both rows, counted from the west.
    outriggers : tuple of int
        Levels of the top chords.
    eccentricity : (float, float)
        Of the centre of mass, in parts of the plan.
    mass, gyration : float
        Mass of a floor in kg; its radius of gyration in parts of that of a uniform rectangle.
    wall : float
        Stiffness in N/m, in both directions, that ties every basement floor to the ground at the centre of the plan
        a x b. Against turning it is wall (a² + b²)/8, half of what walls on the four edges would give.
    core_boxes, corner_boxes : rows (last level, size, plate)
        Concrete-filled steel boxes of the columns, in m.
    core_area, corner_area : (float, float), float
        Factors on the axial stiffness of core columns on inner and on end lines, and of corner columns.
    brace_strength : rows (last level, force)
        Yield force of a brace in N.
    brace_area : (float, float, float)
        Area of a brace over its nominal one, force/290 MPa: on inner lines, on end lines, along the rows.
    brace_taper : (float, float)
        Part of that left at the roof, on the lines and along the rows; linear in the level, 1 at the base.
    outrigger_strength : float
        Yield force in N of the crossing diagonals of an outrigger.

    References
    ----------
    Al-Subaihawi, Ricles, Quiel and Marullo (2024), Development of multi-directional real-time hybrid simulation for
    tall buildings subject to multi-natural hazards. What the paper leaves open (sizes, and which bays are braced) is
    fitted to its natural frequencies, with basement walls it does not mention.
    """

    heights: tuple[float, ...] = (3.5,) * 4 + (4.15,) * 40
    basements: int = 4
    plan: tuple[float, float] = (32.6, 51.7)
    core_width: float = 10.0336
    bays: int = 5
    braced_bays: tuple[int, ...] = (2, 3, 4)
    outriggers: tuple[int, ...] = (24, 34, 44)
    eccentricity: tuple[float, float] = (0.05, 0.05)
    mass: float = 1209.9515e3
    gyration: float = 1.005
    wall: float = 2e10
    core_boxes: Table = ((9, 1.40, 0.076), (19, 1.20, 0.076), (29, 1.00, 0.064), (37, 0.80, 0.050), (44, 0.60, 0.038))
    corner_boxes: Table = ((9, 1.00, 0.064), (19, 0.90, 0.064), (29, 0.75, 0.050), (37, 0.60, 0.038), (44, 0.45, 0.038))
    core_area: tuple[float, float] = (1.0151, 0.6062)
    corner_area: float = 3.0
    brace_strength: Table = ((14, 3440e3), (24, 2990e3), (34, 2490e3), (44, 2045e3))
    brace_area: tuple[float, float, float] = (0.9102, 0.9881, 1.1588)
    brace_taper: tuple[float, float] = (0.705, 0.6975)
    outrigger_strength: float = 3 * 3440e3

    def __post_init__(self) -> None:
        if not self.heights or min(self.heights) <= 0.0:
            raise OutOfBounds(f"tower: heights = {self.heights!r} must be positive; give one for each story.")
        if not 0 <= self.basements < self.levels:
            raise OutOfBounds(f"tower: {self.basements} basements of {self.levels} stories; one must be above ground.")
        if self.bays < 1 or not set(self.braced_bays) <= set(range(1, self.bays + 1)):
            raise OutOfBounds(f"tower: braced_bays = {self.braced_bays!r} must lie in 1 to {self.bays}.")
        if not set(self.outriggers) <= set(range(2, self.levels + 1)):
            raise OutOfBounds(f"tower: outriggers at levels {self.outriggers!r}; they must lie in 2 to {self.levels}.")
        if any(upper - 1 in self.outriggers for upper in self.outriggers):
            raise BadInput(f"tower: outriggers at levels {self.outriggers!r} touch; leave a story between two.")
        if not 0.0 < self.core_width < self.plan[0] or min(self.plan) <= 0.0:
            raise OutOfBounds(f"tower: a core {self.core_width!r} m wide does not fit into the plan {self.plan!r} m.")
        for name in ("core_boxes", "corner_boxes", "brace_strength"):
            if not getattr(self, name) or getattr(self, name)[-1][0] < self.levels:
                raise BadInput(
                    f"tower: {name} must reach up to level {self.levels}; the last row is for the levels "
                    f"up to {getattr(self, name)[-1][0] if getattr(self, name) else 0}."
                )

    @property
    def levels(self) -> int:
        """Floors above the base."""
        return len(self.heights)

    @property
    def columns(self) -> dict[str, tuple[float, float]]:
        """Places (x, z) of all column lines: N1, S1, N2, ... of the core and the corners NW, SW, NE, SE."""
        east = self.plan[1] / 2
        place = {
            f"{row}{k + 1}": (side * self.core_width / 2, z)
            for k, z in enumerate(np.linspace(-east, east, self.bays + 1).tolist())
            for row, side in (("N", 1), ("S", -1))
        }
        corners = {
            f"{row}{end}": (side * self.plan[0] / 2, z)
            for end, z in (("W", -east), ("E", east))
            for row, side in (("N", 1), ("S", -1))
        }
        return place | corners

    @property
    def frames(self) -> list[tuple[str, str]]:
        """Pairs of columns with braces between them."""
        across = [(f"N{k}", f"S{k}") for k in range(1, self.bays + 2)]
        return across + [(f"{row}{k}", f"{row}{k + 1}") for row in "NS" for k in self.braced_bays]

    @property
    def arms(self) -> list[tuple[str, str]]:
        """Core and corner column at both ends of each outrigger."""
        return [(f"{row}{line}", f"{row}{end}") for line, end in ((1, "W"), (self.bays + 1, "E")) for row in "NS"]

    @property
    def dampers(self) -> list[tuple[str, str]]:
        """Corner column and tip of the outrigger at every place of a vertical damper, from the bottom.

        ``model.direction(structure, column, tip, "uy")`` is the direction of the damper between them.
        """
        return [(f"{corner}-{level}", f"{corner}tip-{level}") for level in self.outriggers for _, corner in self.arms]

    @property
    def retained(self) -> list[str]:
        """Degrees of freedom to name in ``model.structure(condense=...)``: all verticals, where dampers end, and the
        rotations of the tips. All others without mass or brace are eliminated."""
        return ["*.uy", "*tip-*.rz"] if self.outriggers else ["*.uy"]
