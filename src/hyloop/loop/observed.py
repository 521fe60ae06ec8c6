"""What a test could know: signals of instruments and of the controller, and which blocks are fed with anything else."""

from collections.abc import Callable, Iterator

from hyloop.core import Instance
from hyloop.devices.specimens import SPECIMENS
from hyloop.loop.loop import Loop
from hyloop.loop.site import Site

__all__ = ["observed", "unobserved"]

MOTION = ("d", "v", "a")


def observed(site: Site) -> dict[str, str]:
    """Channel of each signal of a physical site that an instrument shows.

    Those are the deformation and the force as `Site.measured` has them (with velocity and acceleration, where what
    shows the deformation gives them), all that a sensor shows, and the readings of a device that senses itself, such as
    the band tensions of a virtual specimen. Whatever else a law gives is hidden inside the device.
    """
    measured, given = site.measured, site.given
    shown = {key: measured[key] for key in (*MOTION, "f") if key in measured}
    device = given["device"]
    if any(key.endswith("_m") for key in device):
        shown = {key: channel for key, channel in device.items() if f"{key}_m" not in device} | shown
    return {key: measured[key] for key in (*shown, *given.get("sensor", {})) if key in measured}


def unobserved(loop: Loop, learns: Callable[[Instance], bool]) -> Iterator[tuple[str, str, str]]:
    """Inputs of blocks that learn or filter which are neither measured nor commands: block, input, channel.

    `learns` tells which blocks do. A command is what the structure wants of a site, or what a compensator or an
    interlock sends instead. What a block makes of measured signals and commands is as good as they are, if it belongs
    to no site, or learns. The devices, actuators and sensors of physical sites are hardware, or stand for it, and may
    hear anything.
    """
    found = loop.connections
    physical = [site for site in loop.sites if site.physical]
    known = {f"{site.name}.{key}" for site in loop.sites for key in MOTION} | {"t"}
    known |= {channel for site in physical for channel in observed(site).values()}
    commands = ("compensator", "interlock")
    known |= {channel for site in physical for role in commands for channel in site.given.get(role, {}).values()}
    inside = {site.prefix(role) for site in physical for role in site.given} | {
        axis.coupled.name for site in physical for axis in site.axes.values()
    }
    models = {site.name for site in loop.sites if not site.physical}
    maker = {channel: place for place, one in found.items() for channel in one.outputs.values()}
    unclean = inside | {place for place in models if place in found and not learns(found[place].instance)}
    # a virtual specimen beside the test is a truth to compare with, whatever moves it
    unclean |= {place for place, one in found.items() if one.instance.block.name in SPECIMENS}

    def clean(channel: str) -> bool:
        return channel in known or (channel in maker and maker[channel] not in unclean)

    more = True
    while more:  # what hears something unclean is so itself; blocks may hear each other
        found_now = {place for place, one in found.items() if not all(map(clean, one.inputs.values()))} - unclean
        unclean, more = unclean | found_now, bool(found_now)
    hardware = {site.prefix(role) for site in physical for role in site.given if role not in commands}
    for place, one in found.items():
        if place not in hardware and learns(one.instance):
            yield from ((place, key, channel) for key, channel in one.inputs.items() if not clean(channel))
