"""Commands that stay as they are: a constant command is a parameter of the device and needs no block."""

from dataclasses import replace

from hyloop.devices.commands import command_of
from hyloop.errors import OutOfBounds
from hyloop.loop import Site

__all__ = ["level_of", "passive_off", "passive_on"]


def passive_off(site: Site) -> Site:
    """The site with its device at no command."""
    return _commanded(site, 0.0)


def passive_on(site: Site, level: float | None = None) -> Site:
    """The site with its device at a constant command, by default the largest."""
    return _commanded(site, level_of(site, level))


def level_of(site: Site, level: float | None) -> float:
    """A level of the command of a device that can be given, by default the largest."""
    command = command_of(site.device, f"site {site.name}")
    if level is None:
        return command.most
    if not 0.0 < level <= command.most:
        raise OutOfBounds(
            f"site {site.name}: level = {level!r} {command.unit} must be positive and at most "
            f"{command.most:g} {command.unit}, the largest that the device takes."
        )
    return float(level)


def _commanded(site: Site, level: float) -> Site:
    device = site.device
    params = {**device.params, command_of(device, f"site {site.name}").param: level}
    return replace(site, device=device.block(**params))
