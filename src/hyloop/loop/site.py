"""Sites: where a device meets the structure, and what stands between them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hyloop.core import Instance
from hyloop.errors import BadInput, BadShape, OutOfBounds, UnknownName
from hyloop.loop.coupled import RESERVED, Axis
from hyloop.transfer.interlock_tick import Kept

__all__ = ["ROLES", "STOP", "FreeBlock", "Guard", "Site", "replaced"]

# order in which the blocks of a physical site run; an ideal site has a device only, and a specimen with several axes
# stands before the devices that hand on its forces
ROLES = ("compensator", "interlock", "actuator", "specimen", "device", "guard", "sensor")
_INNER = ("device", "guard")  # roles that are no part of a transfer system
FREE_ROLES = ("model", "ear", "fallback")  # of blocks that belong to no site
STOP = "stop"  # channel that all interlocks of a loop share: what is not zero makes them trip


@dataclass(frozen=True, eq=False)
class Guard:
    """A block between a modelled device and the structure, such as a monitor that may replace its force.

    It reads what the chain of the site gives, and the force of the device as ``f``; further inputs have their channel
    in `wiring`. Its outputs are channels of the site: its ``f`` is then ``name.f``, and that of the device
    ``name.f_model``.
    """

    block: Instance
    wiring: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Site:
    """A place in the structure with a device, real or modelled.

    The structure imposes the deformation ``d`` along a direction vector (with rate ``v`` and acceleration ``a``)
    and feels the force ``f`` along the same vector. Channels are named ``name.signal``; those of the transfer
    system ``name.role.signal``. A block reads each input from the nearest block before it in the chain that gives
    a signal of that name, or from the site itself; the force fed back is the last ``f`` of the chain. An input whose
    name ends in ``_m`` is what the site has `measured`, as it stood at the end of the tick before, and ``f`` in an
    actuator the force of the device then; before the first tick both are zero.

    Parameters
    ----------
    name : str
        Name of the site, unique in a loop.
    along : array_like, (n,)
        Direction vector: d = along · u. `Structure.story` and `Structure.between` make them.
    device : Instance
        The device law with its parameters.
    count : float
        Number of equal devices in parallel at this place.
    physical : bool
        True for the device that is (or stands for) the measured specimen. Physical sites run before updaters and
        modelled sites, so that a model can use what was measured in the same tick.
    transfer : mapping of role to Instance or Axis
        Blocks of the transfer system (``"compensator"``, ``"actuator"``, ``"sensor"``); empty means ideal. Before an
        actuator an ``"interlock"`` may stand (`hyloop.transfer.interlock`). One that several sites share is an axis of
        a `Coupled` block, and so is a ``"specimen"`` with several axes, whose forces the devices hand on
        (`hyloop.transfer.handed_on`).
    wiring : mapping of input to channel
        Inputs of the device that come from elsewhere, such as ``{"f1": "damper1.f"}``.
    max_d, max_f : float
        Limits on deformation in m and force in N; passing one stops the run.
    shares : str, optional
        Site whose device lends its parameters: an equal law with equal parameters. The site then has no parameter
        channels of its own, so that an updater of the other device keeps this one true as well.
    guard : Guard, optional
        What stands between the device, which must be a model, and the structure (`hyloop.trust`).
    linear : (float, float), optional
        Stiffness in N/m and damping in N s/m of one device, as a model-based method and damping by modes shall take it
        (`hyloop.devices.linearised`); they do not enter its force. Default: what the law declares of itself at rest.
    """

    name: str
    along: Any
    device: Instance
    count: float = 1.0
    physical: bool = False
    transfer: Mapping[str, Instance | Axis] = field(default_factory=dict)
    wiring: Mapping[str, str] = field(default_factory=dict)
    max_d: float = np.inf
    max_f: float = np.inf
    shares: str | None = None
    guard: Guard | None = None
    linear: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if not self.name or not all(part.isidentifier() for part in self.name.split(".")):
            raise BadInput(f"site name '{self.name}' must be letters, digits and underscores, such as 'damper1'.")
        if self.name.split(".")[0] in RESERVED:
            raise BadInput(f"site name: '{self.name}' is the name of channels that every loop has; give another.")
        along = np.array(self.along, dtype=float)
        if along.ndim != 1 or not np.isfinite(along).all() or not along.any():
            raise BadShape(f"site {self.name}: along must be a finite vector that is not zero, got {self.along!r}.")
        object.__setattr__(self, "along", along)
        if not isinstance(self.device, Instance):
            raise BadInput(f"site {self.name}: device must be a law called with its parameters, such as spring(k=1e6).")
        if "f" not in self.device.block.outputs:
            raise BadInput(f"site {self.name}: {self.device.block.name} has no output 'f', so it cannot be a device.")
        if not self.count > 0.0:
            raise OutOfBounds(f"site {self.name}: count = {self.count!r} must be positive.")
        if not (self.max_d > 0.0 and self.max_f > 0.0):
            raise OutOfBounds(f"site {self.name}: the limits max_d and max_f must be positive.")
        for role, block in self.transfer.items():
            if role not in ROLES or role in _INNER:
                raise UnknownName("role", role, [r for r in ROLES if r not in _INNER], where=f"site {self.name}")
            if not isinstance(block, (Instance, Axis)):
                raise BadInput(f"site {self.name}: {role} must be a block called with its parameters, got {block!r}.")
            if role == "specimen" and not isinstance(block, Axis):
                raise BadInput(
                    f"site {self.name}: a specimen is an axis of a Coupled block; one with a single axis is the device."
                )
        if (interlock := self.transfer.get("interlock")) is not None:
            if not self.physical or "actuator" not in self.transfer:
                raise BadInput(f"site {self.name}: an interlock is for a physical site with an actuator; leave it out.")
            if not isinstance(interlock, Instance) or tuple(interlock.block.state) != Kept._fields:
                raise BadInput(f"site {self.name}: interlock must be one that hyloop.transfer.interlock makes.")
        for key in self.wiring:
            if key not in self.device.block.inputs:
                raise UnknownName("input", key, self.device.block.inputs, where=f"site {self.name}")
        if self.linear is not None and not (len(self.linear) == 2 and np.isfinite(self.linear).all()):
            raise BadShape(
                f"site {self.name}: linear = {self.linear!r} must be a stiffness and a damping, both finite."
            )
        if self.guard is not None:
            if self.physical:
                raise BadInput(f"site {self.name}: a guard is for a model; a physical site has none.")
            if "f" not in self.guard.block.block.outputs:
                raise BadInput(f"site {self.name}: {self.guard.block.block.name} has no output 'f', so it is no guard.")

    @property
    def stiffness(self) -> float:
        """Stiffness of one device as a method takes it."""
        return self.device.stiffness if self.linear is None else self.linear[0]

    @property
    def damping(self) -> float:
        """Damping of one device as a method takes it."""
        return self.device.damping if self.linear is None else self.linear[1]

    @property
    def chain(self) -> dict[str, Instance]:
        """The blocks that are the site's own, in the order they run."""
        present = {**self.transfer, "device": self.device}
        if self.guard is not None:
            present["guard"] = self.guard.block
        return {role: block for role in ROLES if isinstance(block := present.get(role), Instance)}

    @property
    def axes(self) -> dict[str, Axis]:
        """The axes of coupled blocks in its chain, by role."""
        return {role: block for role in ROLES if isinstance(block := self.transfer.get(role), Axis)}

    def prefix(self, role: str) -> str:
        """What the channels of a block of the chain begin with."""
        return self.name if role == "device" else f"{self.name}.{role}"

    def renamed(self, role: str) -> dict[str, str]:
        """Channels of outputs that do not begin with the prefix of their block: those of a guard, and what it hides.

        Interlocks write into a channel that all of them share.
        """
        if role == "interlock":
            return {"stop": STOP}
        if self.guard is None or role not in _INNER:
            return {}
        if role == "device":
            return {"f": f"{self.name}.f_model"}
        return {key: f"{self.name}.{key}" for key in self.guard.block.block.outputs}

    @property
    def given(self) -> dict[str, dict[str, str]]:
        """Channel of each signal that the blocks of the chain give, by role, in the order they run."""
        own = {
            role: {key: f"{self.prefix(role)}.{key}" for key in instance.block.outputs} | self.renamed(role)
            for role, instance in self.chain.items()
        }
        found = own | {role: axis.outputs for role, axis in self.axes.items()}
        return {role: found[role] for role in ROLES if role in found}

    def felt(self, key: str) -> str:
        """Channel of a signal of the motion as the device feels it, behind its transfer system."""
        channel = f"{self.name}.{key}"
        for role, signals in self.given.items():
            if role == "device":
                break
            channel = signals.get(key, channel)
        return self.wiring.get(key, channel)

    @property
    def own(self) -> dict[str, str]:
        """Channels of the deformation and the force of the device itself, behind its transfer system."""
        return {"d": self.felt("d"), "f": f"{self.name}.f"}

    @property
    def feedback(self) -> str:
        """Channel of the force that returns to the structure: the last ``f`` of the chain."""
        return [signals["f"] for signals in self.given.values() if "f" in signals][-1]

    @property
    def measured(self) -> dict[str, str]:
        """Channel of each signal as an instrument shows it, from the last block of the chain that gives it.

        A block that senses itself, such as a virtual specimen, gives its reading of ``f`` as ``f_m``; that reading then
        counts, not the true force. Velocity and acceleration are among them only where the block that shows the
        deformation, or one behind it, gives them: others are of a motion that no instrument has seen.
        """
        channels = {"d": f"{self.name}.d"}
        for role, signals in self.given.items():
            if role == "interlock":  # it shows what it commands
                continue
            given = signals | {key.removesuffix("_m"): signals[key] for key in signals if key.endswith("_m")}
            stale = ("v", "a") if "d" in given else ()
            channels = {key: channel for key, channel in channels.items() if key not in stale} | given
        return channels


@dataclass(frozen=True, eq=False)
class FreeBlock:
    """A block that belongs to no site, such as an updater: it reads and writes any channel.

    Parameters
    ----------
    name : str
        Prefix of its channels.
    block : Instance
        The block with its parameters.
    inputs : mapping of input to channel
        Where each input comes from; all must be given.
    outputs : mapping of output to channel
        Outputs that overwrite another channel, such as ``{"Fc": "damper2.Fc"}``; the others become channels
        ``name.output``.
    shares : str, optional
        Site or block whose parameters it reads instead of having its own: an equal law with equal parameters.
    role : {"model", "ear", "fallback"}
        What it is to a tick that begins too late (`Pacing`): part of a model or its updating, which such a tick may
        pass over; an ear, which carries on what is measured and loses its count of time if it misses a tick; or what a
        guard hands over to.
    """

    name: str
    block: Instance
    inputs: Mapping[str, str]
    outputs: Mapping[str, str] = field(default_factory=dict)
    shares: str | None = None
    role: str = "model"

    def __post_init__(self) -> None:
        law = self.block.block
        if self.role not in FREE_ROLES:
            raise UnknownName("role", self.role, FREE_ROLES, where=self.name)
        if self.name.split(".")[0] in RESERVED:
            raise BadInput(f"block name: '{self.name}' is the name of channels that every loop has; give another.")
        for key in self.inputs:
            if key not in law.inputs:
                raise UnknownName("input", key, law.inputs, where=self.name)
        for key in self.outputs:
            if key not in law.outputs:
                raise UnknownName("output", key, law.outputs, where=self.name)
        missing = [key for key in law.inputs if key not in self.inputs]
        if missing:
            raise BadInput(f"{self.name}: input {', '.join(missing)} is not connected; name a channel for it.")


def replaced(sites: Sequence[Site], others: Sequence[Site] | Mapping[str, "Site | Instance"]) -> list[Site]:
    """Sites with others in place of those named; a device takes the place of a device."""
    if not isinstance(others, Mapping):
        return list(others)
    for name in others:
        if name not in [site.name for site in sites]:
            raise UnknownName("site", name, [site.name for site in sites], where="Loop.replace")
    found = []
    for site in sites:
        other = others.get(site.name, site)
        found.append(other if isinstance(other, Site) else replace(site, device=other))
    return found
