r"""A device law with learned parameters that no longer learns, as one block.

.. math:: p_n = p^0 \cdot R^{\tanh N(x_n, u_n; w)}, \qquad (y_n, x_{n+1}) = \mathrm{law}(x_n, u_n, \delta t, p_n)

The law is compiled into the block; what was learned lies in its memory. Trained it is a
`hyloop.learn.physics.layers.PhysicsLayer`. A factor cannot leave :math:`[1/R, R]`, whatever the network says.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from hyloop.core.block import Block, inplace_block
from hyloop.devices import LAWS
from hyloop.devices.commands import COMMANDS
from hyloop.errors import BadInput, BadShape, UnknownName
from hyloop.neural.card import Card
from hyloop.neural.dense import Perceptron
from hyloop.neural.frozen import DECLARED, FrozenNetwork, check_physical
from hyloop.neural.law_step import compiled_step, memory_image
from hyloop.neural.ranges import MONITOR

__all__ = ["FrozenLaw"]


@dataclass(frozen=True, eq=False)
class FrozenLaw(FrozenNetwork, model="law"):
    """A law, its parameters, and the network that multiplies some of them at every sample.

    Parameters
    ----------
    law : Block
        A pure law. Only one of `hyloop.devices` can be saved: a file names it.
    values : array_like
        All parameters of the law in its order, with what was learned for all samples.
    rest : array_like
        Its state at the beginning.
    card : Card
        Signals of the law, without scaling, with their ranges in training; its dt is that of the training.
    by_sample : sequence of str
        Parameters that the network multiplies; none: the law has constant parameters, and runs at any rate.
    features : mapping of str to float
        What the network sees, states and inputs of the law, and what each is divided by.
    network : Perceptron, optional
        From features to one number for each parameter of `by_sample`.
    even : bool
        Take the mean of the answers to z and to -z.
    reach : float
        The bound R of a factor.
    """

    law: Block
    values: np.ndarray
    rest: np.ndarray
    card: Card
    by_sample: tuple[str, ...] = ()
    features: Mapping[str, float] = field(default_factory=dict)
    network: Perceptron | None = None
    even: bool = False
    reach: float = math.e

    def __post_init__(self) -> None:
        law, where = self.law, f"law {self.law.name}"
        if not law.pure:
            raise BadInput(f"{where}: only a pure law can have learned parameters; choose another.")
        for key, size in (("values", len(law.params)), ("rest", len(law.state))):
            numbers = np.array(getattr(self, key), dtype=float)
            if numbers.shape != (size,) or not np.isfinite(numbers).all():
                raise BadShape(f"{where}: {key} must be {size} finite numbers, got shape {numbers.shape}.")
            object.__setattr__(self, key, numbers)
        for (name, spec), value in zip(law.params.items(), self.values, strict=True):
            spec.check(value, f"{where}: learned {name}")
        object.__setattr__(self, "features", dict(self.features))
        for key in self.by_sample:
            if key not in law.params:
                raise UnknownName("parameter", key, law.params, where=where)
        for key, scale in self.features.items():
            if key not in (*law.state, *law.inputs):
                raise UnknownName("feature", key, (*law.state, *law.inputs), where=where)
            if not (scale > 0.0 and math.isfinite(scale)):
                raise BadInput(f"{where}: the scale of {key} is {scale!r}; it must be positive and finite.")
        sizes = self.network.sizes if self.network else (0, 0)
        if (sizes[0], sizes[-1]) != (len(self.features), len(self.by_sample)):
            raise BadShape(
                f"{where}: a network of {sizes[0]} inputs and {sizes[-1]} outputs does not fit {len(self.features)} "
                f"features and {len(self.by_sample)} parameters."
            )
        if not (self.reach > 1.0 and math.isfinite(self.reach)):
            raise BadInput(f"{where}: reach = {self.reach!r} must be more than 1.")
        check_physical(self.card, law.inputs, law.outputs, where)
        if self.by_sample and self.card.dt == 0.0:
            raise BadInput(f"{where}: its network has learned one time step; give the card its dt in s.")

    def make_block(self) -> Block:
        """The law as a block: its signals, ``outside`` (see `FrozenStack`), and its states under their names.

        Parameters ``stiffness`` and ``damping`` are declared to integration methods; by default they are those of the
        law with the parameters that hold for all samples. The command of a law that obeys one (the current of an MR
        damper) stays a parameter of the block.
        """
        law = self.law
        named = dict(zip(law.params, self.values.tolist(), strict=True))
        declared = law.linear(**named) if law.linear else (0.0, 0.0)
        params = {
            key: replace(spec, default=float(value))
            for (key, spec), value in zip(DECLARED.items(), declared, strict=True)
        }
        if self.command:
            params[self.command] = replace(law.params[self.command], default=named[self.command])
        image = memory_image(self)
        make = inplace_block(
            inputs=law.inputs,
            outputs={**law.outputs, "outside": "-"},
            state={**law.state, **MONITOR},
            params=params,
            memory=len(image),
            reference=self.card.data or law.reference,
            linear=lambda stiffness, damping, **_: (stiffness, damping),
            start=self._start,
        )
        made = make(compiled_step(law))
        return replace(made, name=f"learned {law.name}", contents=image, tick=self.card.dt or None)

    @property
    def command(self) -> str:
        """The parameter that is the command of the law; empty where it obeys none."""
        return COMMANDS[self.law.name][0] if self.law.name in COMMANDS else ""

    def _start(self, **params: float) -> dict[str, float]:
        """State at the beginning; what hangs on the command follows the one given."""
        found = dict(zip(self.law.state, self.rest.tolist(), strict=True))
        if self.command and self.law.start:
            named = dict(zip(self.law.params, self.values.tolist(), strict=True))
            found |= self.law.start(**named | {self.command: params[self.command]})
        return found

    def taken_apart(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        name = next((name for name, law in LAWS.items() if law is self.law), None)
        if name is None:
            raise BadInput(
                f"law {self.law.name}: a file names its law, and this one is none of hyloop.devices, so that "
                "nobody who reads the file could find it. Add the law there (CONTRIBUTING.md) and train again."
            )
        parts = {
            "law": name,
            "params": list(self.law.params),
            "state": list(self.law.state),
            "by_sample": list(self.by_sample),
            "features": list(self.features),
            "unit": self.network.unit if self.network else None,
            "even": self.even,
        }
        tensors = {
            "values": self.values,
            "rest": self.rest,
            "scales": np.array(list(self.features.values()), dtype=float),
            "reach": np.array([self.reach]),
        }
        return parts, tensors | (self.network.tensors() if self.network else {})

    @classmethod
    def rated(cls, parts: Mapping[str, Any]) -> bool:
        return bool(parts["by_sample"])

    @classmethod
    def put_together(cls, parts: dict[str, Any], tensors: dict[str, np.ndarray], card: Card) -> Self:
        if parts["law"] not in LAWS:
            raise UnknownName("law", str(parts["law"]), LAWS)
        law = LAWS[parts["law"]]
        for key in ("params", "state"):
            if parts[key] != list(getattr(law, key)):
                raise BadInput(f"the law {law.name} has had other {key} when this was trained: {', '.join(parts[key])}")
        network = Perceptron.of(tensors, parts["unit"]) if parts["unit"] else None
        features = dict(zip(parts["features"], tensors["scales"].tolist(), strict=True))
        (reach,) = tensors["reach"].tolist()
        return cls(
            law,
            tensors["values"],
            tensors["rest"],
            card,
            tuple(parts["by_sample"]),
            features,
            network,
            bool(parts["even"]),
            reach,
        )
