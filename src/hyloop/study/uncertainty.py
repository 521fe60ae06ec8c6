"""What is not known of a planned test, drawn for every rehearsal."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from hyloop.core import Instance
from hyloop.errors import BadInput, OutOfBounds, UnknownName
from hyloop.files.rehearsal import Rehearsal, Spread
from hyloop.files.units import quantity
from hyloop.loop import Loop
from hyloop.loop.wiring import placed
from hyloop.transfer.varied import is_plant, varied

__all__ = ["Draw", "Uncertain", "draw", "uncertain_parts"]

FARTHEST = 3.0  # standard deviations: no draw lies farther, so that no time constant becomes negative
TIMES, GAINS = 0.1, 0.02  # relative standard deviations where a file says nothing
# parameters of actuators that are times (or frequencies) and gains, and hence not known exactly
_TIMES = ("tau", "frequency", "damping", "delay", "a1_beta0", "a2", "beta1", "beta2")
_GAINS = ("gain",)
_FACTORS = ("gain", "time")  # of plants that are made of roots, coefficients or matrices


class Uncertain(NamedTuple):
    """A parameter (or a factor on a plant) that is drawn: normal about its value, or evenly in a range."""

    channel: str
    value: float
    low: float
    high: float
    deviation: float | None
    unit: str
    plant: str = ""  # the block whose factor it is

    @property
    def text(self) -> str:
        if self.deviation is not None:
            return f"±{100 * self.deviation:.3g} %"
        return f"{self.low:g} to {self.high:g} {self.unit}".rstrip(" -")


class Draw(NamedTuple):
    """Parameters by channel, and contents of the memory of blocks, for `Loop.copy`."""

    parameters: dict[str, float]
    contents: dict[str, np.ndarray]


def uncertain_parts(loop: Loop, rehearsal: Rehearsal) -> list[Uncertain]:
    """What is drawn, checked; of `loop` as the file has it."""
    blocks = placed(loop.sites, loop.blocks)
    plants = {name: block for name, block in blocks.items() if is_plant(block)}
    given = rehearsal.uncertain
    if given is None:
        given = _usual(loop, blocks)
    found = []
    for channel, spread in given.items():
        where = f"rehearsal.uncertain.{channel}"
        name, _, key = channel.rpartition(".")
        if name in plants and key in _FACTORS:
            found.append(_uncertain(where, channel, 1.0, spread, "-", name))
        elif channel in loop.parameters:
            part = _uncertain(where, channel, loop[channel], spread, loop.channels[channel])
            _check_ends(where, loop, part)
            found.append(part)
        else:
            factors = [f"{name}.{key}" for name in plants for key in _FACTORS]
            near = [p for p in loop.parameters if p.partition(".")[0] == channel.partition(".")[0]]
            raise UnknownName("parameter", channel, [*factors, *(near or loop.parameters)], where="rehearsal.uncertain")
    return found


def _usual(loop: Loop, blocks: Mapping[str, Instance]) -> dict[str, Spread]:
    """Times and gains of all actuators at physical sites."""
    found: dict[str, Spread] = {}
    for site in loop.sites:
        axis = site.axes.get("actuator")
        name = axis.coupled.name if axis is not None else f"{site.name}.actuator"
        block = blocks.get(name)
        if not site.physical or block is None:
            continue
        if is_plant(block):
            found |= {f"{name}.gain": GAINS, f"{name}.time": TIMES}
        for key, value in block.params.items():
            if value != 0.0 and key in (*_TIMES, *_GAINS):
                found[f"{name}.{key}"] = GAINS if key in _GAINS else TIMES
    return found


def _uncertain(where: str, channel: str, value: float, spread: Spread, unit: str, plant: str = "") -> Uncertain:
    if isinstance(spread, tuple):
        low, high = (quantity(end, unit, where) for end in spread)
        if not low < high:
            raise BadInput(f"{where}: the range from {spread[0]} to {spread[1]} is empty; give the smaller end first.")
        if plant and not low > 0.0:
            raise BadInput(f"{where}: a factor must be positive, got {spread[0]}.")
        return Uncertain(channel, value, low, high, None, unit, plant)
    if value == 0.0:
        raise BadInput(f"{where}: it is 0, and a part of that is 0 too; give a range, such as [0, 1].")
    reach = FARTHEST * spread
    if plant and not reach < 1.0:
        raise BadInput(f"{where}: with {100 * spread:g} % a factor could become negative; give at most 33 %.")
    return Uncertain(channel, value, value * (1.0 - reach), value * (1.0 + reach), spread, unit, plant)


def _check_ends(where: str, loop: Loop, part: Uncertain) -> None:
    """Refuse values that the block does not allow. With a normal spread a rig far off may be one that cannot be: such
    a draw is counted as a run that fails, and is not refused."""
    for end in (part.low, part.high):
        try:
            loop.copy({part.channel: end})
        except OutOfBounds as error:
            raise BadInput(f"{where}: draws reach from {part.low:g} to {part.high:g}, but {error}") from None
        except BadInput as error:
            if part.deviation is None:
                raise BadInput(f"{where}: {error}") from None


def draw(loop: Loop, parts: list[Uncertain], seed: int, run: int) -> Draw:
    """One rehearsal: every part has random numbers of its own, so that another part changes none of the others.

    Sensors get other noise in every run.
    """
    parameters: dict[str, float] = {}
    factors: dict[str, dict[str, float]] = {}
    for part in parts:
        value = _drawn(part, _stream(part.channel, seed, run))
        if part.plant:
            factors.setdefault(part.plant, {})[part.channel.rpartition(".")[2]] = value
        else:
            parameters[part.channel] = value
    for channel in loop.parameters:
        if channel.endswith(".seed") and channel not in parameters:
            parameters[channel] = float(_stream(channel, seed, run).integers(2**52))
    blocks = placed(loop.sites, loop.blocks)
    return Draw(parameters, {name: varied(blocks[name], **changed) for name, changed in factors.items()})


def _drawn(part: Uncertain, stream: np.random.Generator) -> float:
    if part.deviation is None:
        return float(stream.uniform(part.low, part.high))
    number = stream.standard_normal()
    while abs(number) > FARTHEST:
        number = stream.standard_normal()
    return float(part.value * (1.0 + part.deviation * number))


def _stream(channel: str, seed: int, run: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(run, *channel.encode())))
