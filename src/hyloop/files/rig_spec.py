"""An identified rig as the actuator of a site of an experiment file."""

from typing import Annotated, ClassVar, Self

from pydantic import model_validator

from hyloop.core import Instance
from hyloop.errors import BadInput
from hyloop.files.fields import Quantity, Table, refuse
from hyloop.files.rig_file import RigFile
from hyloop.transfer import transfer_function

__all__ = ["RigSpec"]


class RigSpec(Table):
    """A rig as it was identified from a record of its command and its motion; [rig.md](rig.md) has the whole way."""

    file: RigFile
    """What ``hyloop identify-rig --save`` wrote, relative to the experiment file."""
    stroke: Annotated[float, Quantity("m", above=0.0)] | None = None
    """Largest deformation; there the piston stands."""
    velocity: Annotated[float, Quantity("m/s", above=0.0)] | None = None
    """Largest velocity."""
    rate: Annotated[float, Quantity("m/s", above=0.0)] | None = None
    """Largest rate of the command."""
    law: ClassVar[str] = "identified rig"
    role: ClassVar[str] = "actuator"
    draw: ClassVar[bool] = False

    def make(self) -> Instance:
        """The block."""
        limits = {key: getattr(self, key) for key in ("stroke", "velocity", "rate")}
        given = {key: value for key, value in limits.items() if value is not None}
        rig = self.file
        hold = "line"  # a hold of the test's controller is part of the rig, or was taken off it
        return transfer_function(rig.numerator, rig.denominator, delay=rig.delay, hold=hold, **given)

    @property
    def outputs(self) -> dict[str, str]:
        """Signals that it gives, with their units."""
        return dict(self.make().block.outputs)

    @model_validator(mode="after")
    def _possible(self) -> Self:
        try:
            self.make()
        except BadInput as error:
            refuse("file", error)
        return self
