r"""A law whose parameters come from a stack of layers that listens, frozen, as one block.

.. math:: p_n = p^0 \cdot h(o_n), \qquad o_n = \mathrm{stack}(z_n, \text{its state}), \qquad
          (y_n, x_{n+1}) = \mathrm{law}(x_n, u_n, \delta t, p_n)

The stack hears a measured device (and the law's own motion), the law is driven by its own motion alone. A head *h* is
bounded, between two factors, or unbounded; both are 1 where the stack says 0:

.. math:: h = l + (u - l)\,\sigma(o + \mathrm{logit}\tfrac{1 - l}{u - l}), \qquad
          h = \ln(1 + e^{o + c}),\ c = \ln(e - 1)

The law is calculated in float64, the stack in float32. Trained it is a `hyloop.learn.physics.guided.GuidedLaw`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from hyloop.core.block import Block, Param, inplace_block
from hyloop.devices import LAWS
from hyloop.errors import BadInput, BadShape, UnknownName
from hyloop.neural.architecture import Architecture
from hyloop.neural.card import Card, Signal
from hyloop.neural.frozen import FrozenNetwork, check_physical, check_si, check_tensors
from hyloop.neural.guided_step import compiled_step
from hyloop.neural.image import memory_image, weights_place
from hyloop.neural.ranges import MONITOR

__all__ = ["AT_ONE", "FrozenGuidedLaw", "Head", "check_guided"]

AT_ONE = math.log(math.e - 1.0)  # where the softplus is 1


@dataclass(frozen=True)
class Head:
    """What becomes of an output of the stack: the factor on a parameter.

    It stays between `low` and `high`, and is 1 at 0; with `high` infinite it is a softplus, above 0 and unbounded.
    """

    low: float = 0.0
    high: float = math.inf

    def __post_init__(self) -> None:
        unbounded = self.low == 0.0 and self.high == math.inf
        if not (unbounded or 0.0 <= self.low < 1.0 < self.high < math.inf):
            raise BadInput(
                f"head: a factor between {self.low!r} and {self.high!r} must have 1 between its ends; for an unbounded "
                "one leave both out."
            )

    @property
    def bounded(self) -> bool:
        return self.high < math.inf

    @property
    def shift(self) -> float:
        """What is added to an output of the stack, so that 0 means 1."""
        return math.log((1.0 - self.low) / (self.high - 1.0)) if self.bounded else AT_ONE


@dataclass(frozen=True, eq=False)
class FrozenGuidedLaw(FrozenNetwork, model="guided law"):
    """A law, its nominal parameters, and the stack that multiplies some of them at every sample.

    Parameters
    ----------
    law : Block
        A pure law. Only one of `hyloop.devices` can be saved: a file names it.
    values : array_like
        Nominal parameters of the law, in its order.
    guided : mapping of parameter to Head
        Parameters that the stack gives, one for each of its outputs, in their order.
    architecture, tensors
        The stack and its weights in float32.
    card : Card
        First the inputs of the stack, in its order and with its scaling; then those of the law that the stack does not
        read, without. Outputs are those of the law, without scaling.
    """

    law: Block
    values: np.ndarray
    guided: Mapping[str, Head]
    architecture: Architecture
    tensors: Mapping[str, np.ndarray]
    card: Card

    def __post_init__(self) -> None:
        law, where = self.law, f"guided law {self.law.name}"
        values = np.array(self.values, dtype=float)
        if values.shape != (len(law.params),):
            raise BadShape(f"{where}: values must be {len(law.params)} numbers, got shape {values.shape}.")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "guided", dict(self.guided))
        named = dict(zip(law.params, values.tolist(), strict=True))
        for key, spec in law.params.items():
            spec.check(named[key], f"{where}: {key}")
        check_guided(law, named, self.guided, self.architecture, where)
        check_tensors(self.tensors, self.architecture.shapes)
        names, read = [signal.name for signal in self.card.inputs], self.architecture.inputs
        extra = [key for key in law.inputs if key not in names[:read]]
        if names[read:] != extra:
            raise BadInput(
                f"{where}: the card has the inputs {', '.join(names)}; the stack reads {read}, behind which "
                f"{', '.join(extra) or 'nothing'} must follow."
            )
        for signal in self.card.inputs:
            if signal.name in law.inputs and signal.unit != law.inputs[signal.name]:
                raise BadInput(f"{where}: {signal.name} is in {signal.unit}, the law has {law.inputs[signal.name]}.")
        check_physical(replace(self.card, inputs=(Signal("o", "-"),)), {"o": "-"}, law.outputs, where)
        if self.card.dt == 0.0:
            raise BadInput(f"{where}: its stack has learned one time step; give the card its dt in s.")

    def make_block(self) -> Block:
        """The law as a block: the signals of the card, every guided parameter as ``NAME_used``, and ``outside``.

        The parameters of the law are parameters of the block, with their nominal values as defaults: a device of
        another capacity is given its own. ``stiffness`` and ``damping`` are declared to integration methods; where
        they are 0 those of the law with these parameters are.
        """
        check_si(self.card)
        law, read = self.law, self.architecture.inputs
        outputs = tuple(Signal(f"o{k}", "-") for k in range(len(self.guided)))
        image = memory_image(
            self.architecture, dict(self.tensors), replace(self.card, inputs=self.card.inputs[:read], outputs=outputs)
        )
        names = [signal.name for signal in self.card.inputs]
        own = {
            key: replace(spec, default=float(value))
            for (key, spec), value in zip(law.params.items(), self.values, strict=True)
        }
        make = inplace_block(
            inputs={signal.name: signal.unit for signal in self.card.inputs},
            outputs={**law.outputs, **{f"{key}_used": law.params[key].unit for key in self.guided}, "outside": "-"},
            state={
                **law.state,
                **{f"{key}_kept": spec.unit for key, spec in law.params.items()},
                **{f"{key}_kept": unit for key, unit in law.inputs.items()},
                **MONITOR,
            },
            params={**_DECLARED, **own},
            memory=len(image),
            reference=self.card.data or law.reference,
            linear=self._linear,
            start=self._start,
        )
        places = [names.index(key) for key in law.inputs]
        chosen = [list(law.params).index(key) for key in self.guided]
        step = compiled_step(law, places, chosen, [(h.low, h.high, h.shift) for h in self.guided.values()])
        made, monitor = make(step), len(law.state) + len(law.params) + len(law.inputs)
        made = replace(made, name=f"guided {law.name}", contents=image, tick=self.card.dt)
        return replace(made, constant=weights_place(image, monitor))

    def _linear(self, stiffness: float, damping: float, **named: float) -> tuple[float, float]:
        k, c = self.law.linear(**named) if self.law.linear else (0.0, 0.0)
        return stiffness or k, damping or c

    def _start(self, stiffness: float, damping: float, **named: float) -> dict[str, float]:
        return dict(self.law.start(**named)) if self.law.start else {}

    def taken_apart(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        if LAWS.get(self.law.name) is not self.law:
            raise BadInput(
                f"guided law {self.law.name}: a file names its law, and this one is none of hyloop.devices. Add the "
                "law there (CONTRIBUTING.md) and train again."
            )
        parts = {
            "law": self.law.name,
            "params": list(self.law.params),
            "state": list(self.law.state),
            "guided": list(self.guided),
            "bounded": [head.bounded for head in self.guided.values()],
            "architecture": self.architecture.as_json(),
        }
        ends = [(head.low, head.high) if head.bounded else (0.0, 0.0) for head in self.guided.values()]
        tensors = {key: np.asarray(value, np.float32) for key, value in self.tensors.items()}
        return parts, tensors | {"values": self.values, "ends": np.array(ends, dtype=float)}

    @classmethod
    def rated(cls, parts: Mapping[str, Any]) -> bool:
        return True

    @classmethod
    def put_together(cls, parts: dict[str, Any], tensors: dict[str, np.ndarray], card: Card) -> Self:
        if parts["law"] not in LAWS:
            raise UnknownName("law", str(parts["law"]), LAWS)
        law = LAWS[parts["law"]]
        for key in ("params", "state"):
            if parts[key] != list(getattr(law, key)):
                raise BadInput(f"the law {law.name} has had other {key} when this was trained: {', '.join(parts[key])}")
        ends = zip(parts["guided"], parts["bounded"], tensors["ends"].tolist(), strict=True)
        heads = {key: Head(*pair) if bounded else Head() for key, bounded, pair in ends}
        weights = {key: value for key, value in tensors.items() if key not in ("values", "ends")}
        return cls(law, tensors["values"], heads, Architecture.from_json(parts["architecture"]), weights, card)


_DECLARED = {
    "stiffness": Param("N/m", 0.0, about="initial stiffness declared to the integration method; 0: that of the law"),
    "damping": Param("N s/m", 0.0, about="damping declared to the integration method; 0: that of the law"),
}


def check_guided(
    law: Block, values: Mapping[str, float], guided: Mapping[str, Head], architecture: Architecture, where: str
) -> None:
    """Refuse a law that cannot be guided so: not pure, parameters missing or 0, another number of outputs."""
    if not law.pure or not law.state:
        raise BadInput(f"{where}: only a pure law with a state can be guided; choose another.")
    for key in guided:
        if key not in law.params:
            raise UnknownName("parameter", key, law.params, where=where)
        if values[key] == 0.0:
            raise BadInput(f"{where}: {key} is 0, and a factor cannot change that. Give it a value.")
    if len(guided) != architecture.outputs:
        raise BadShape(f"{where}: the stack has {architecture.outputs} outputs for {len(guided)} guided parameters.")
