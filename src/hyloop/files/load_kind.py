"""What every kind of loads in experiment files has."""

from abc import abstractmethod
from typing import Annotated

from hyloop.files.fields import Quantity, Table
from hyloop.hazards import LoadHistory
from hyloop.structure import Structure

__all__ = ["LoadTable", "RampedLoad"]

Ramp = Annotated[float, Quantity("s", low=0.0, high=86400.0)]


class LoadTable(Table):
    """What every kind of loads has."""

    scale: Annotated[float, Quantity("-")] = 1.0
    """Factor on the loads."""

    @abstractmethod
    def own(self, dt: float, seed: int, structure: Structure) -> LoadHistory:
        """The loads before scale and ramps, at `dt` or at a step of their own; `seed` is for these loads alone."""

    def history(self, dt: float, seed: int, structure: Structure) -> LoadHistory:
        """The loads, scaled."""
        return self.own(dt, seed, structure).scaled(self.scale)


class RampedLoad(LoadTable):
    """Loads that may be ramped, as those of wind are."""

    ramp_up: Ramp = 0.0
    """Time in which the loads rise on a line from zero, from the start on."""
    ramp_down: Ramp = 0.0
    """Time in which the loads fall on a line to zero, at the end."""

    def history(self, dt: float, seed: int, structure: Structure) -> LoadHistory:
        return super().history(dt, seed, structure).ramped(self.ramp_up, self.ramp_down)
