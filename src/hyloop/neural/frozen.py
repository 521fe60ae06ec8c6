"""A trained network that no longer learns: its weights, its card, its file, and the block it is in the loop."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from hyloop.core.block import Block, Instance, Param, inplace_block
from hyloop.core.tick import stated_tick
from hyloop.errors import BadInput, BadShape
from hyloop.neural.architecture import Architecture
from hyloop.neural.card import Card
from hyloop.neural.image import evaluate, memory_image

__all__ = ["SI_UNITS", "FrozenNetwork", "load_network"]

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
_KIND = "hyloop network"


@dataclass(frozen=True, eq=False)
class FrozenNetwork:
    """Weights of a network and its card.

    Parameters
    ----------
    architecture : Architecture
        Its layers.
    tensors : mapping of str to array
        Weights in float32 under the names of `Architecture.shapes`.
    card : Card
        Signals with scaling and training range, and the history of the network.
    """

    architecture: Architecture
    tensors: Mapping[str, np.ndarray]
    card: Card

    def __post_init__(self) -> None:
        _check_parts(self.architecture, self.tensors, self.card)
        if self.card.dt == 0.0 and self.architecture.recurrent:
            raise BadInput("network: a recurrent network has learned one time step; give the card its dt in s.")

    @cached_property
    def block(self) -> Block:
        """The network as a block: the signals of the card, and ``outside``.

        Output ``outside`` counts the ticks so far in which an input was outside the training range; the named states
        are that count and the largest excess, as a part of the width of the range. Parameters ``stiffness`` and
        ``damping`` are declared to integration methods that linearise a device; they do not enter the force. The block
        carries the weights, and runs at the sampling interval of its card only, where that has one.
        """
        for signal in (*self.card.inputs, *self.card.outputs):
            if signal.unit not in SI_UNITS:
                raise BadInput(
                    f"network: {signal.name} is in {signal.unit!r}, but the channels of a loop carry SI "
                    "units. Train with SI units; the scaling takes care of the numbers."
                )
        image = memory_image(self.architecture, dict(self.tensors), self.card)
        make = inplace_block(
            inputs={signal.name: signal.unit for signal in self.card.inputs},
            outputs={signal.name: signal.unit for signal in self.card.outputs} | {"outside": "-"},
            state={"ticks_outside": "-", "largest_excess": "-"},
            params={
                "stiffness": Param("N/m", 0.0, about="initial stiffness declared to the integration method"),
                "damping": Param("N s/m", 0.0, about="damping declared to the integration method"),
            },
            memory=len(image),
            reference=self.card.data or "trained network",
            linear=lambda stiffness, damping: (stiffness, damping),
        )
        return replace(make(advance), name="network", contents=image, tick=self.card.dt or None)

    def device(self, **params: float) -> Instance:
        """The network at rest, ready to be the device of a site or a block of a loop."""
        return self.block(**params)

    def drive(self, dt: float, *, units: Mapping[str, str] | None = None, **signals: Any) -> dict[str, np.ndarray]:
        """Outputs under sampled inputs, from rest; see `Instance.drive`. `units` are those of the signals given."""
        self.card.check_units(units or {}, "network")
        return self.device().drive(dt, **signals)

    def save(self, path: str | PathLike[str]) -> None:
        """Write a safetensors file with architecture, card and a digest of the weights, whole or not at all."""
        path = Path(path)
        tensors = {key: np.ascontiguousarray(value, np.float32) for key, value in self.tensors.items()}
        header = {
            "kind": _KIND,
            "architecture": json.dumps(self.architecture.as_json()),
            "digest": _digest(tensors),
            "card": json.dumps(self.card.as_json()),
        }
        part = path.with_name(path.name + ".part")
        part.write_bytes(save(tensors, header))
        part.replace(path)


def load_network(
    path: str | PathLike[str], units: Mapping[str, str] | None = None, dt: float | None = None
) -> FrozenNetwork:
    """Read a network that `FrozenNetwork.save` wrote; everything in the file is checked.

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
    try:
        data = Path(path).read_bytes()
        tensors = load(data)
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]
        if header["kind"] != _KIND:
            raise BadInput(f"holds {header['kind']!r}, not a {_KIND}")
        if _digest(tensors) != header["digest"]:
            raise BadInput("the weights are not those that were saved")
        architecture = Architecture.from_json(json.loads(header["architecture"]))
        card = Card.from_json(json.loads(header["card"]))
        _check_parts(architecture, tensors, card)
    except (OSError, SafetensorError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(
            f"{path}: no readable network ({error}). Copy the file again or train the network anew."
        ) from error
    card.check_units(units or {}, str(path))
    if architecture.recurrent or dt is not None:
        card = replace(card, dt=stated_tick(path, card.dt, dt, "load_network"))
    return FrozenNetwork(architecture, tensors, card)


def _check_parts(architecture: Architecture, tensors: Mapping[str, np.ndarray], card: Card) -> None:
    """Refuse tensors that are missing, too many, of another shape or not finite, and a card of another size."""
    shapes = architecture.shapes
    if set(tensors) != set(shapes):
        odd = sorted(set(tensors) ^ set(shapes))
        raise BadShape(f"network: tensors {', '.join(odd)} are missing or too many for the architecture.")
    for key, shape in shapes.items():
        if np.shape(tensors[key]) != shape:
            raise BadShape(f"network: tensor {key} has shape {np.shape(tensors[key])}, the architecture wants {shape}.")
        if not np.isfinite(tensors[key]).all():
            raise BadShape(f"network: tensor {key} holds numbers that are not finite.")
    sizes = (len(card.inputs), len(card.outputs))
    if sizes != (architecture.inputs, architecture.outputs):
        raise BadShape(
            f"network: the card has {sizes[0]} inputs and {sizes[1]} outputs, the architecture "
            f"{architecture.inputs} and {architecture.outputs}."
        )


def _digest(tensors: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256()
    for key in sorted(tensors):
        digest.update(key.encode() + np.ascontiguousarray(tensors[key], np.float32).tobytes())
    return digest.hexdigest()


def advance(x, u, dt, p, y):
    """A trained network; its layers, scales and weights are in its memory."""
    evaluate(x, u, y)
