r"""A device law with learned parameters that no longer learns, as one block.

.. math:: p_n = p^0 \cdot R^{\tanh N(x_n, u_n; w)}, \qquad (y_n, x_{n+1}) = \mathrm{law}(x_n, u_n, \delta t, p_n)

The law is compiled into the block; what was learned lies in its memory. Trained it is a
`hyloop.learn.physics.layers.PhysicsLayer`. A factor cannot leave :math:`[1/R, R]`, whatever the network says.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from hyloop.core.block import Block, inplace_block, rebind
from hyloop.core.jit import verb
from hyloop.core.memory import read
from hyloop.devices import LAWS
from hyloop.errors import BadInput, BadShape, UnknownName
from hyloop.neural.card import Card
from hyloop.neural.dense import Perceptron, respond
from hyloop.neural.frozen import DECLARED, FrozenNetwork, check_physical
from hyloop.neural.lanes import as_int64
from hyloop.neural.ranges import MONITOR, monitor

__all__ = ["FrozenLaw"]


class Places(NamedTuple):
    """Table at the head of the memory; all are positions in the state of the block, or counts."""

    monitored: int  # the two states of the monitor
    inputs: int
    ranges: int
    params: int
    given: int  # parameters as learned for all samples
    used: int  # parameters of this tick
    by_sample: int
    chosen: int  # which parameters the network multiplies
    features: int
    seen: int  # where each feature lies: states from 0 on, inputs from -1 down
    scales: int
    scaled: int
    answer: int
    log_reach: int
    even: int
    dense: int  # table of the perceptron


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

    @cached_property
    def block(self) -> Block:
        """The law as a block: its signals, ``outside`` (see `FrozenStack`), and its states under their names.

        Parameters ``stiffness`` and ``damping`` are declared to integration methods; by default they are those of the
        law with the parameters that hold for all samples.
        """
        law = self.law
        named = dict(zip(law.params, self.values.tolist(), strict=True))
        declared = law.linear(**named) if law.linear else (0.0, 0.0)
        image = _image(self)
        make = inplace_block(
            inputs=law.inputs,
            outputs={**law.outputs, "outside": "-"},
            state={**law.state, **MONITOR},
            params={
                key: replace(spec, default=float(value))
                for (key, spec), value in zip(DECLARED.items(), declared, strict=True)
            },
            memory=len(image),
            reference=self.card.data or law.reference,
            linear=lambda stiffness, damping: (stiffness, damping),
            start=lambda **_: dict(zip(law.state, self.rest.tolist(), strict=True)),
        )
        made = make(_compiled(law))
        return replace(made, name=f"learned {law.name}", contents=image, tick=self.card.dt or None)

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


def _image(made: FrozenLaw) -> np.ndarray:
    """The memory of the block: the table, then what it refers to."""
    law, names = made.law, list(made.law.params)
    states, inputs = list(law.state), list(law.inputs)
    chosen = [names.index(key) for key in made.by_sample]
    seen = [states.index(key) if key in states else -1 - inputs.index(key) for key in made.features]
    head = len(states) + len(MONITOR)
    numbers = head + len(Places._fields) + len(chosen) + len(seen)
    dense, weights = made.network.laid_out(0) if made.network else ([], np.empty(0))
    numbers += len(dense)  # where whole numbers end
    parts = {
        "ranges": [end for signal in made.card.inputs for end in (signal.low, signal.high)],
        "given": made.values,
        "used": made.values,
        "scales": list(made.features.values()),
        "scaled": np.zeros(len(seen)),
        "answer": np.zeros(len(chosen)),
        "log_reach": [math.log(made.reach)],
        "weights": weights,
    }
    at = dict(zip(parts, numbers + np.cumsum([0, *map(len, parts.values())]), strict=False))
    dense, _ = made.network.laid_out(int(at.pop("weights"))) if made.network else ([], None)
    after = head + len(Places._fields)
    table = Places(
        monitored=len(states),
        inputs=len(inputs),
        params=len(names),
        by_sample=len(chosen),
        chosen=after,
        features=len(seen),
        seen=after + len(chosen),
        even=int(made.even),
        dense=after + len(chosen) + len(seen),
        **{key: int(place) for key, place in at.items()},
    )
    words = np.array([*table, *chosen, *seen, *dense], dtype=np.int64)
    return np.concatenate([words.view(float), *(np.asarray(part, dtype=float) for part in parts.values())])


@verb
def _set_parameters(x, u, m):
    """Parameters of this tick, and the count of ticks outside the training range."""
    words = as_int64(x)
    monitor(x, m.monitored, u, m.inputs, m.ranges)
    for k in range(m.params):
        x[m.used + k] = x[m.given + k]
    if m.by_sample == 0:
        return
    for k in range(m.features):
        place = words[m.seen + k]
        x[m.scaled + k] = (x[place] if place >= 0 else u[-1 - place]) / x[m.scales + k]
    for k in range(m.by_sample):
        x[m.answer + k] = 0.0
    respond(x, words, m.dense, m.scaled, 1.0, m.answer)
    if m.even == 1:
        respond(x, words, m.dense, m.scaled, -1.0, m.answer)
    for k in range(m.by_sample):
        answer = 0.5 * x[m.answer + k] if m.even == 1 else x[m.answer + k]
        x[m.used + words[m.chosen + k]] *= math.exp(x[m.log_reach] * math.tanh(answer))


law: Any = None  # put among the globals of `advance`, as `hyloop.core.block` does


def _compiled(block: Block) -> Any:
    """The step of the block round a law; the counts are closure variables, so that they enter the cache key."""
    states, outputs = len(block.state), len(block.outputs)
    table = states + len(MONITOR)

    def stateful(x, u, dt, p, y):
        m = read(Places, as_int64(x), table)
        _set_parameters(x, u, m)
        found, new = law(x, u, dt, x[m.used : m.used + m.params])
        for k in range(outputs):
            y[k] = found[k]
        for k in range(states):
            x[k] = new[k]
        y[outputs] = x[m.monitored]

    def stateless(x, u, dt, p, y):  # an empty tuple cannot be indexed
        m = read(Places, as_int64(x), table)
        _set_parameters(x, u, m)
        found, _ = law(x, u, dt, x[m.used : m.used + m.params])
        for k in range(outputs):
            y[k] = found[k]
        y[outputs] = x[m.monitored]

    advance = rebind(stateful if states else stateless, law=block.compiled)
    advance.__doc__ = f"The law {block.name} with learned parameters, which are in its memory.\n\n{block.doc}"
    return advance
