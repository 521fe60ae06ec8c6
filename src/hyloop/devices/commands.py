"""Devices that obey a command: which parameter it is, and how far it reaches.

The command of a law is one of its parameters. A constant one is given like any other; a controller is a block whose
output overwrites it while the loop runs.
"""

from typing import NamedTuple

from hyloop.core.block import Instance
from hyloop.devices.mr_damper import mr_damper
from hyloop.devices.mr_eyring import mr_eyring
from hyloop.devices.variable_friction import variable_friction
from hyloop.errors import BadInput

__all__ = ["COMMANDS", "Command", "command_of"]

# of a law: the parameter that is the command, and the one that bounds it
COMMANDS = {mr_damper.name: ("i", "i_max"), mr_eyring.name: ("i", "i_max"), variable_friction.name: ("N", "N_max")}


class Command(NamedTuple):
    """The command of a device: its parameter, unit, and largest value; the least is zero."""

    param: str
    unit: str
    most: float


def command_of(device: Instance, where: str = "") -> Command:
    """The command of a device, or a refusal of one that has none."""
    name = device.block.name
    if name not in COMMANDS:
        raise BadInput(
            f"{where + ': ' if where else ''}the device is {name}, which obeys no command; those that do are "
            f"{', '.join(COMMANDS)}."
        )
    param, most = COMMANDS[name]
    return Command(param, device.block.params[param].unit, device.params[most])
