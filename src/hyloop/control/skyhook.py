"""Skyhook control: a damper that works against the absolute motion wherever its own motion allows."""

from dataclasses import replace
from functools import cache

import numpy as np

from hyloop.control.passive import level_of
from hyloop.core.block import Block, Param, inplace_block
from hyloop.core.noise import normal_pair
from hyloop.devices.commands import command_of
from hyloop.errors import BadInput, OutOfBounds
from hyloop.loop import FreeBlock, Site
from hyloop.structure import Structure
from hyloop.transfer.kinematics import CUTOFF, kinematics

__all__ = ["skyhook"]

_LOWEST = 0.1  # Hz: below it an integrated accelerometer drifts


def skyhook(
    name: str,
    structure: Structure,
    site: Site,
    *,
    at: str | int | None = None,
    full: float = 0.0,
    lowest: float = _LOWEST,
    cutoff: float = CUTOFF,
    noise: float = 0.0,
    level: float | None = None,
    seed: int = 0,
) -> list[FreeBlock]:
    r"""Command a device so that it acts like a damper between a floor and the sky.

    .. math:: i = i_{max}\,\min(|v_{abs}| / v_{full}, 1) \quad\text{where } v_{abs}\,v_{rel} > 0, \quad\text{else } 0

    On or off with ``full=0``. It is causal and hears instruments alone: the absolute acceleration of one degree of
    freedom, integrated above `lowest` to the velocity v_abs, and the measured deformation of the site, of which
    `hyloop.transfer.kinematics` makes v_rel.

    Parameters
    ----------
    name : str
        Prefix of its channels, such as ``name.v_abs``.
    structure : Structure
        Where the accelerometer is.
    site : Site
        Its device is commanded.
    at : str, optional
        Degree of freedom with the accelerometer; default: the one whose motion lengthens the device most.
    full : float
        Absolute velocity in m/s from which on the command is full; 0 (default) switches.
    lowest : float
        Frequency in Hz below which the integration forgets.
    cutoff : float
        Frequency in Hz from which on the velocity of the device is damped.
    noise : float
        Standard deviation of the accelerometer in m/s2; what is heard has it.
    level : float, optional
        Command when on; default: the largest that the device takes.
    seed : int
        Of the noise.

    References
    ----------
    Karnopp, Crosby, Harwood (1974), doi:10.1115/1.3438373.
    """
    command = command_of(site.device, f"site {site.name}")
    if site.shares:
        raise BadInput(f"{name}: site {site.name} shares its parameters and has no command of its own.")
    if structure.influence.shape[1] != 1:
        raise BadInput(f"{name}: skyhook is for one direction of the ground; this structure has several.")
    for key, value in (("full", full), ("noise", noise)):
        if not 0.0 <= value < np.inf:
            raise OutOfBounds(f"{name}: {key} = {value!r} must be finite and not negative.")
    place = int(np.argmax(site.along)) if at is None else structure.dof(at)
    if not site.along[place] > 0.0:
        raise BadInput(
            f"{name}: a positive motion of degree of freedom '{structure.names[place]}' does not lengthen the device "
            f"of {site.name}; name one that does."
        )
    blocks, v = [], site.measured.get("v")
    if v is None:
        blocks = [FreeBlock(f"{name}.kinematics", kinematics(cutoff=cutoff), {"d": site.measured["d"]}, role="ear")]
        v = f"{name}.kinematics.v"
    params = {
        "most": level_of(site, level),
        "full": full,
        "lowest": lowest,
        "influence": structure.influence[place, 0],
        "noise_a": noise,
        "seed": float(seed),
    }
    inputs = {"a": f"a.{structure.names[place]}", "ground": "ground", "v": v}
    switch = FreeBlock(name, _block(command.unit)(**params), inputs, {"command": f"{site.name}.{command.param}"})
    return [*blocks, switch]


@cache
def _block(unit: str) -> Block:
    make = inplace_block(
        inputs={"a": "m/s2", "ground": "m/s2", "v": "m/s"},
        outputs={"command": unit, "v_abs": "m/s"},
        state={"v_last": "m/s", "ticks": "-"},
        params={
            "most": Param(unit, 1.0, 0.0, about="command when on"),
            "full": Param("m/s", 0.0, 0.0, about="absolute velocity from which on the command is full; zero: switches"),
            "lowest": Param("Hz", _LOWEST, 1e-6, about="frequency below which the integration forgets"),
            "influence": Param("-", 1.0, about="displacement there when the ground moves by one"),
            "noise_a": Param("m/s2", 0.0, 0.0, about="standard deviation of the accelerometer"),
            "seed": Param("-", 0.0, 0.0, about="of its noise"),
        },
        reference="Karnopp, Crosby, Harwood (1974), doi:10.1115/1.3438373.",
    )
    return replace(make(_advance), name="skyhook")


def _advance(x, u, dt, p, y):
    r"""One tick: :math:`\dot v_{abs} + 2\pi f_{low} v_{abs} = a`, exact for a held acceleration, then the switch."""
    most, full, lowest, influence = p[0], p[1], p[2], p[3]
    noise, _ = normal_pair(p[5], x[1])
    a = u[0] + influence * u[1] + p[4] * noise
    rate = 2.0 * np.pi * lowest
    fade = np.exp(-rate * dt)
    v = fade * x[0] + (1.0 - fade) / rate * a
    more = 1.0 if full == 0.0 else min(abs(v) / full, 1.0)
    y[0] = most * more if v * u[2] > 0.0 else 0.0
    y[1] = v
    x[0] = v
    x[1] += 1.0
