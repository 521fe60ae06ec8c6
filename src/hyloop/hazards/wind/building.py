"""The body in the wind: a rectangular plan and floors that take the load of the faces about them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hyloop.core.jit import Floats
from hyloop.errors import BadInput, BadShape, OutOfBounds
from hyloop.hazards.checks import positive, samples

__all__ = ["WindBuilding"]


@dataclass(frozen=True, eq=False)
class WindBuilding:
    """A rectangular building on axes x north, y up, z east.

    Parameters
    ----------
    heights : array, (n,)
        Heights of the floors above ground, m, upwards; the last is the roof.
    length_x, length_z : float
        Plan, north to south and east to west, m.
    floors : sequence of str
        Names of the masters that carry the loads, as in ``"floor12.ux"``; default ``"floor1"``, ``"floor2"``, ...
    master : tuple of float
        Where the masters stand, (x, z) from the middle of the plan, m. Moments are about them.

    Notes
    -----
    A floor takes the load from half the story below to half the story above; the lower half of the first story goes
    into the ground.
    """

    heights: Floats
    length_x: float
    length_z: float
    floors: Sequence[str] = ()
    master: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        where = "wind building"
        z = samples(where, "heights", self.heights)
        if z[0] <= 0.0 or np.any(np.diff(z) <= 0.0):
            raise OutOfBounds(f"{where}: heights must be above 0 and increase, got {z[:5].tolist()}...")
        names = tuple(self.floors) or tuple(f"floor{k + 1}" for k in range(z.size))
        if len(names) != z.size:
            raise BadShape(f"{where}: {len(names)} floors for {z.size} heights; give one for each height.")
        if len(set(names)) < len(names):
            raise BadInput(f"{where}: floors = {list(names)} must be different names.")
        master = samples(where, "master", self.master)
        if master.size != 2:
            raise BadShape(f"{where}: master must be two numbers, x and z from the middle of the plan.")
        object.__setattr__(self, "heights", z)
        object.__setattr__(self, "floors", names)
        object.__setattr__(self, "master", (float(master[0]), float(master[1])))
        for key in ("length_x", "length_z"):
            object.__setattr__(self, key, positive(where, key, getattr(self, key)))

    @property
    def roof(self) -> float:
        """Height of the roof H, m."""
        return float(self.heights[-1])

    @property
    def tributary(self) -> Floats:
        """Height of the faces that each floor carries, m."""
        z = self.heights
        edges = np.concatenate(([0.5 * z[0]], 0.5 * (z[:-1] + z[1:]), [z[-1]]))
        return np.diff(edges)

    @property
    def at(self) -> tuple[str, ...]:
        """Degrees of freedom: ux, uz and ry of every floor."""
        return tuple(f"{floor}.{dof}" for floor in self.floors for dof in ("ux", "uz", "ry"))

    def seen(self, direction: float) -> tuple[float, float]:
        """Width across and depth along a wind from `direction` (rad from north towards east), m."""
        c, s = abs(np.cos(direction)), abs(np.sin(direction))
        return self.length_z * c + self.length_x * s, self.length_x * c + self.length_z * s
