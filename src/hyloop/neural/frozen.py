"""Trained models that no longer learn: what all of them can do, and the one way to read them from a file.

A further kind of model is one class in this package that inherits `FrozenNetwork` and names itself; files, loader and
experiment files find it in `MODELS`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np

from hyloop.core.block import Block, Instance, Param
from hyloop.core.tick import stated_tick
from hyloop.errors import BadInput, BadShape, UnknownName
from hyloop.neural.card import Card
from hyloop.neural.file import Contents, read, unreadable, write

__all__ = [
    "DECLARED",
    "MODELS",
    "SI_UNITS",
    "FrozenNetwork",
    "check_physical",
    "check_si",
    "check_tensors",
    "load_network",
]

# what the channels of a loop carry
SI_UNITS = frozenset(
    {
        "-",
        "s",
        "Hz",
        "m",
        "m/s",
        "m/s2",
        "N",
        "N/m",
        "N s/m",
        "N m",
        "Pa",
        "J",
        "W",
        "kg",
        "rad",
        "rad/s",
        "K",
        "V",
        "A",
    }
)
MODELS: dict[str, type["FrozenNetwork"]] = {}

# parameters of every trained block: what integration methods that linearise a device are told
DECLARED = {
    "stiffness": Param("N/m", 0.0, about="initial stiffness declared to the integration method"),
    "damping": Param("N s/m", 0.0, about="damping declared to the integration method"),
}


class FrozenNetwork(ABC):
    """A trained model: its card, the block it is in the loop, and its file.

    Attributes
    ----------
    card : Card
        Signals with units, scaling and training range, sampling interval, and the history of the training.
    """

    card: Card
    model: ClassVar[str]

    def __init_subclass__(cls, model: str = "", **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if model:
            cls.model = model
            MODELS[model] = cls

    @cached_property
    def block(self) -> Block:
        """The model as a block of the loop, see `make_block`; the same object every time."""
        return self.make_block()

    @abstractmethod
    def make_block(self) -> Block:
        """Make the block. It runs at the sampling interval of the card only, where that has one."""

    def device(self, **params: float) -> Instance:
        """The model at rest, ready to be the device of a site or a block of a loop."""
        return self.block(**params)

    def save(self, path: str | PathLike[str]) -> None:
        """Write a file that `load_network` reads, whole or not at all."""
        parts, tensors = self.taken_apart()
        write(path, Contents(self.model, parts, tensors, self.card.as_json()))

    @abstractmethod
    def taken_apart(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """How it is put together, as plain data, and its numbers."""

    @classmethod
    def rated(cls, parts: Mapping[str, Any]) -> bool:
        """Whether a model of these parts has learned one sampling interval."""
        return False

    @classmethod
    def read_card(cls, data: dict[str, Any], tensors: Mapping[str, np.ndarray]) -> Card:
        """The card from that of a file."""
        return Card.from_json(data)

    @classmethod
    @abstractmethod
    def put_together(cls, parts: dict[str, Any], tensors: dict[str, np.ndarray], card: Card) -> Self:
        """The reverse of `taken_apart`; refuses whatever does not fit."""


def load_network(
    path: str | PathLike[str], units: Mapping[str, str] | None = None, dt: float | None = None
) -> FrozenNetwork:
    """Read a trained model of any kind; everything in the file is checked.

    Parameters
    ----------
    path
        The file.
    units : mapping of name to unit, optional
        Units of the signals that will be connected; one that differs from the card is refused.
    dt : float, optional
        Sampling interval in s of the training data, for a file that does not say it; one that contradicts the file is
        refused.
    """
    contents = read(path)
    try:
        if contents.model not in MODELS:
            raise UnknownName("model", contents.model, MODELS)
        cls = MODELS[contents.model]
        card = cls.read_card(contents.card, contents.tensors)
        rated = cls.rated(contents.parts)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise unreadable(path, error) from error
    card.check_units(units or {}, str(path))
    if rated or dt is not None:
        card = replace(card, dt=stated_tick(path, card.dt, dt, "load_network"))
    try:
        return cls.put_together(contents.parts, contents.tensors, card)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise unreadable(path, error) from error


def check_tensors(tensors: Mapping[str, np.ndarray], shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Refuse tensors that are missing, too many, of another shape or not finite."""
    if set(tensors) != set(shapes):
        odd = sorted(set(tensors) ^ set(shapes))
        raise BadShape(f"network: tensors {', '.join(odd)} are missing or too many for the architecture.")
    for key, shape in shapes.items():
        if np.shape(tensors[key]) != shape:
            raise BadShape(f"network: tensor {key} has shape {np.shape(tensors[key])}, the architecture wants {shape}.")
        if not np.isfinite(tensors[key]).all():
            raise BadShape(f"network: tensor {key} holds numbers that are not finite.")


def check_physical(card: Card, inputs: Mapping[str, str], outputs: Mapping[str, str], where: str) -> None:
    """Refuse a card whose signals are not those of a model in physical units, in its order and without scaling."""
    for side, signals, wanted in (("inputs", card.inputs, inputs), ("outputs", card.outputs, outputs)):
        if [(signal.name, signal.unit) for signal in signals] != list(wanted.items()):
            said = ", ".join(f"{signal.name} in {signal.unit}" for signal in signals)
            needs = ", ".join(f"{name} in {unit}" for name, unit in wanted.items())
            raise BadInput(f"{where}: the {side} of the card are {said}; they must be {needs}.")
    for signal in (*card.inputs, *card.outputs):
        if (signal.centre, signal.factor) != (0.0, 1.0):
            raise BadInput(
                f"{where}: {signal.name} is scaled on the card, but the model works with physical values. Make the "
                'signal with Signal.of(..., scaling="none").'
            )


def check_si(card: Card) -> None:
    """Refuse signals in units that no channel of a loop carries."""
    for signal in (*card.inputs, *card.outputs):
        if signal.unit not in SI_UNITS:
            raise BadInput(
                f"network: {signal.name} is in {signal.unit!r}, but the channels of a loop carry SI "
                "units. Train with SI units; the scaling takes care of the numbers."
            )
