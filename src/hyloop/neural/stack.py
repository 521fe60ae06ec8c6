"""A stack of layers (LSTM, GRU, dense) that no longer learns, as one block."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from hyloop.core.block import Block, inplace_block
from hyloop.errors import BadInput, BadShape
from hyloop.neural.architecture import Architecture
from hyloop.neural.card import Card
from hyloop.neural.frozen import DECLARED, FrozenNetwork, check_si, check_tensors
from hyloop.neural.image import evaluate, memory_image, weights_place

__all__ = ["FrozenStack"]


@dataclass(frozen=True, eq=False)
class FrozenStack(FrozenNetwork, model="stack"):
    """Weights of a network of layers and its card.

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
        check_tensors(self.tensors, self.architecture.shapes)
        sizes = (len(self.card.inputs), len(self.card.outputs))
        if sizes != (self.architecture.inputs, self.architecture.outputs):
            raise BadShape(
                f"network: the card has {sizes[0]} inputs and {sizes[1]} outputs, the architecture "
                f"{self.architecture.inputs} and {self.architecture.outputs}."
            )
        if self.card.dt == 0.0 and self.architecture.recurrent:
            raise BadInput("network: a recurrent network has learned one time step; give the card its dt in s.")

    def make_block(self) -> Block:
        """The network as a block: the signals of the card, and ``outside``.

        Output ``outside`` counts the ticks so far in which an input was outside the training range; the named states
        are that count and the largest excess, as a part of the width of the range. Parameters ``stiffness`` and
        ``damping`` are declared to integration methods that linearise a device; they do not enter the force. The block
        carries the weights, and runs at the sampling interval of its card only, where that has one.
        """
        check_si(self.card)
        image = memory_image(self.architecture, dict(self.tensors), self.card)
        make = inplace_block(
            inputs={signal.name: signal.unit for signal in self.card.inputs},
            outputs={signal.name: signal.unit for signal in self.card.outputs} | {"outside": "-"},
            state={"ticks_outside": "-", "largest_excess": "-"},
            params=DECLARED,
            memory=len(image),
            reference=self.card.data or "trained network",
            linear=lambda stiffness, damping: (stiffness, damping),
        )
        made = replace(make(advance), name="network", contents=image, tick=self.card.dt or None)
        return replace(made, constant=weights_place(image))

    def drive(self, dt: float, *, units: Mapping[str, str] | None = None, **signals: Any) -> dict[str, np.ndarray]:
        """Outputs under sampled inputs, from rest; see `Instance.drive`. `units` are those of the signals given."""
        self.card.check_units(units or {}, "network")
        return self.device().drive(dt, **signals)

    def taken_apart(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        tensors = {key: np.asarray(value, np.float32) for key, value in self.tensors.items()}
        return {"architecture": self.architecture.as_json()}, tensors

    @classmethod
    def rated(cls, parts: Mapping[str, Any]) -> bool:
        return Architecture.from_json(parts["architecture"]).recurrent

    @classmethod
    def put_together(cls, parts: dict[str, Any], tensors: dict[str, np.ndarray], card: Card) -> Self:
        return cls(Architecture.from_json(parts["architecture"]), tensors, card)


def advance(x, u, dt, p, y):
    """A trained network; its layers, scales and weights are in its memory."""
    evaluate(x, u, y)
