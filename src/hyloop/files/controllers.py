"""Controllers in experiment files: what commands the devices that obey one.

A further kind is one more class here that inherits `Controller`, named in `ControllerSpec`, and its case in
`hyloop.study.control`.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, PlainValidator, WithJsonSchema

from hyloop.devices.commands import COMMANDS, Command, command_of
from hyloop.errors import BadInput
from hyloop.files.fields import Quantity, Table, kinds
from hyloop.files.laws import DeviceSpec
from hyloop.files.units import quantity

__all__ = [
    "CONTROLLERS",
    "ClippedOptimal",
    "Controller",
    "ControllerSpec",
    "PassiveOff",
    "PassiveOn",
    "Skyhook",
    "command_at",
]

# in the unit of the command, which the device knows; read when the experiment is checked as a whole
Level = Annotated[
    Any, PlainValidator(lambda given: given), WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string"}]})
]


class Controller(Table):
    """A controller of one site."""

    site: str
    """Site whose device it commands."""

    @property
    def commands(self) -> tuple[str, ...]:
        """Names of the sites that it commands."""
        return (self.site,)

    def level_at(self, command: Command) -> float | None:
        """Command when on, in SI units; None for the largest that the device takes."""
        given = getattr(self, "level", None)
        if given is None:
            return None
        value = quantity(given, command.unit)
        if not 0.0 < value <= command.most:
            raise BadInput(f"got {given!r}; allowed are values above 0 and at most {command.most:g} {command.unit}.")
        return value


class PassiveOff(Controller):
    """No command: what control has to beat."""

    kind: Literal["passive_off"]


class PassiveOn(Controller):
    """A constant command; the same as giving it as a parameter of the device."""

    kind: Literal["passive_on"]
    level: Level = None
    """The command, such as "0.5 A"; default: the largest that the device takes."""


class Skyhook(Controller):
    """A damper that works against the absolute motion wherever its own allows; see `hyloop.control.skyhook`."""

    kind: Literal["skyhook"]
    at: str | None = None
    """Degree of freedom with an accelerometer; default: the one whose motion lengthens the device most."""
    full: Annotated[float, Quantity("m/s", low=0.0)] = 0.0
    """Absolute velocity from which on the command is full; 0: it switches."""
    lowest: Annotated[float, Quantity("Hz", above=0.0)] = 0.1
    """Frequency below which the integration of the acceleration forgets."""
    cutoff: Annotated[float, Quantity("Hz", above=0.0)] = 50.0
    """Cut-off of the velocity that is made of the measured deformation."""
    noise: Annotated[float, Quantity("m/s2", low=0.0)] = 0.02
    """Standard deviation of the accelerometer; what is heard has it."""
    level: Level = None
    """Command when on; default: the largest that the device takes."""


class ClippedOptimal(Table):
    """LQG control from the structure's own matrices, clipped; see `hyloop.control.clipped_optimal`."""

    kind: Literal["clipped_optimal"]
    sites: Annotated[tuple[str, ...], Field(strict=False, min_length=1)]
    """Sites whose devices it commands."""
    drift: Annotated[float, Quantity("m", above=0.0)]
    """Drift of a story that counts as one in the cost; a larger number counts less."""
    acceleration: Annotated[float, Quantity("m/s2", above=0.0)]
    """Absolute acceleration of a floor that counts as one."""
    force: Annotated[float, Quantity("N", above=0.0)]
    """Force of one device that counts as one."""
    measured: Annotated[tuple[str, ...], Field(strict=False)] | None = None
    """Degrees of freedom with an accelerometer; default: all floors."""
    ground: Annotated[float, Quantity("m/s2", above=0.0)] = 1.0
    """Root mean square of the ground acceleration that the estimator expects."""
    noise: Annotated[float, Quantity("m/s2", above=0.0)] = 0.02
    """Standard deviation of the accelerometers; it is expected, and what is heard has it."""
    noise_d: Annotated[float, Quantity("m", above=0.0)] | None = None
    """Standard deviation expected of the measured deformations of the devices; not given, they are not heard."""
    full: Annotated[float, Quantity("N", low=0.0)] = 0.0
    """Wanted force from which on the command is full; 0: it switches."""
    level: Level = None
    """Command when on; default: the largest that the device takes."""

    @property
    def commands(self) -> tuple[str, ...]:
        """Names of the sites that it commands."""
        return self.sites

    level_at = Controller.level_at


ControllerSpec = Annotated[PassiveOff | PassiveOn | Skyhook | ClippedOptimal, Field(discriminator="kind")]
CONTROLLERS = kinds(ControllerSpec)


def command_at(device: DeviceSpec | None) -> Command:
    """The command of the device that a site of a file has, or a refusal."""
    if device is None:
        raise BadInput("the site follows another and has no command of its own; name one with a device.")
    if device.network is not None:
        raise BadInput(f"the device is a network, which obeys no command; laws that do are {', '.join(COMMANDS)}.")
    return command_of(device.make())
