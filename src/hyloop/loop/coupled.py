"""Blocks that several sites share: a plant that moves them all, or a specimen that resists at all of them.

Signals of a coupled block are numbered by axis: ``d1`` is the deformation at the site that has its axis 1, ``f2_m`` the
force last measured at the one with axis 2. Outputs without a number are channels and go to no site.
"""

import re
from dataclasses import dataclass

from hyloop.core import Instance
from hyloop.errors import BadInput, OutOfBounds

__all__ = ["Axis", "Coupled", "numbered"]

_NUMBERED = re.compile(r"([a-zA-Z]+)([1-9][0-9]*)(_m)?")


def numbered(name: str) -> tuple[str, int] | None:
    """Signal and axis of a name: of ``f2_m`` the signal ``f_m`` of axis 2; None for a name without a number."""
    found = _NUMBERED.fullmatch(name)
    return None if found is None else (found[1] + (found[3] or ""), int(found[2]))


@dataclass(frozen=True, eq=False)
class Coupled:
    """One block in the same role of several sites, each of which has one of its axes.

    ``table = Coupled("table", plant)`` and then ``Site("x", ..., transfer={"actuator": table.axis(1)})`` and
    ``Site("y", ..., transfer={"actuator": table.axis(2)})``. In a tick it runs when the blocks before it at all of
    its sites have run, and before those behind it.

    Parameters
    ----------
    name : str
        Prefix of its channels, such as ``table.d1``.
    block : Instance
        The block with its parameters. Its inputs bear numbers of axes, and so do the outputs that go to sites.
    """

    name: str
    block: Instance

    def __post_init__(self) -> None:
        if not self.name or not all(part.isidentifier() for part in self.name.split(".")):
            raise BadInput(f"name '{self.name}' of a coupled block must be letters, digits and underscores.")
        if not isinstance(self.block, Instance):
            raise BadInput(f"{self.name}: block must be a law called with its parameters, got {self.block!r}.")
        law = self.block.block
        bare = [key for key in law.inputs if numbered(key) is None]
        if bare:
            raise BadInput(
                f"{self.name}: input {', '.join(bare)} of {law.name} bears no number of an axis; name inputs d1, d2, "
                "f1_m, ..."
            )
        if not any(numbered(key) for key in law.outputs):
            raise BadInput(f"{self.name}: no output of {law.name} bears the number of an axis, such as d1.")

    @property
    def axes(self) -> int:
        """Number of axes."""
        law = self.block.block
        return max(found[1] for key in (*law.inputs, *law.outputs) if (found := numbered(key)))

    def axis(self, number: int) -> "Axis":
        """What stands at a site: axis `number` of the block; the first is 1."""
        if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= self.axes:
            raise OutOfBounds(f"{self.name}: axis = {number!r}, but its axes are 1 to {self.axes}.")
        return Axis(self, number)


@dataclass(frozen=True, eq=False)
class Axis:
    """One axis of a coupled block, in the chain of a site."""

    coupled: Coupled
    number: int

    @property
    def outputs(self) -> dict[str, str]:
        """Channel of each signal that it gives to its site."""
        found = {key: numbered(key) for key in self.coupled.block.block.outputs}
        return {
            place[0]: f"{self.coupled.name}.{key}"
            for key, place in found.items()
            if place is not None and place[1] == self.number
        }
