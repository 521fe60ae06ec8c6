"""A learned spring that no longer learns: a curve or a hysteresis learned from a response, as one block."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from hyloop.core.block import Block, inplace_block
from hyloop.errors import BadInput, BadShape, UnknownName
from hyloop.neural.card import Card
from hyloop.neural.dense import Perceptron
from hyloop.neural.frozen import DECLARED, FrozenNetwork, check_physical
from hyloop.neural.ranges import MONITOR
from hyloop.neural.spring_forms import FORMS, Places, advance

__all__ = ["FrozenSpring"]

_LENGTHS, _FORCES = ("m", "rad"), ("N", "N m")
_SMALL = 1e-6  # of the length of a spring: the deformation at which its initial stiffness is taken


@dataclass(frozen=True, eq=False)
class FrozenSpring(FrozenNetwork, model="spring"):
    """Numbers of a learned spring and its card.

    Parameters
    ----------
    form : str
        One of `hyloop.neural.spring_forms.FORMS`.
    numbers : mapping of str to float
        Those of the form.
    arrays : mapping of str to array
        Those of the form, of one length.
    card : Card
        Deformation d in, force f out, without scaling; the range of d is that of the training.
    network : Perceptron, optional
        Where the form has one.
    """

    form: str
    numbers: Mapping[str, float]
    arrays: Mapping[str, np.ndarray]
    card: Card
    network: Perceptron | None = None

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise UnknownName("form of a spring", self.form, FORMS)
        form, where = FORMS[self.form], f"spring ({self.form})"
        if set(self.numbers) != set(form.numbers) or set(self.arrays) != set(form.arrays):
            raise BadShape(f"{where}: needs the numbers {', '.join(form.numbers)} and arrays {', '.join(form.arrays)}.")
        lengths = {np.shape(self.arrays[key]) for key in form.arrays}
        least = {"spline": 4, "slope": 4, "return": 4}.get(self.form, 1)
        if lengths and (len(lengths) > 1 or len(shape := lengths.pop()) != 1 or shape[0] < least):
            raise BadShape(f"{where}: {' and '.join(form.arrays)} must be vectors of one length, {least} or more.")
        everything = [*self.numbers.values(), *(value for key in form.arrays for value in self.arrays[key])]
        if not np.isfinite(everything).all():
            raise BadShape(f"{where}: holds numbers that are not finite.")
        for key in ("force", "length", "spacing", "increment"):
            if not self.numbers.get(key, 1.0) > 0.0:
                raise BadInput(f"{where}: {key} = {self.numbers[key]!r} must be positive.")
        if "r" in self.arrays and not (np.asarray(self.arrays["r"]) > 0.0).all():
            raise BadInput(f"{where}: the thresholds r must be positive.")
        sizes = self.network.sizes if self.network else (0, 1)
        if sizes[0] != form.inputs or sizes[-1] != 1:
            raise BadShape(f"{where}: needs a perceptron of {form.inputs} inputs and one output, got {sizes}.")
        first, last = self.card.inputs[0].unit, self.card.outputs[0].unit
        length, force = (first if first in _LENGTHS else "m"), (last if last in _FORCES else "N")
        check_physical(self.card, {"d": length}, {"f": force}, where)
        if form.rated and self.card.dt == 0.0:
            raise BadInput(f"{where}: it has learned one time step; give the card its dt in s.")

    def make_block(self) -> Block:
        """The spring as a block: d in; f and ``outside`` (see `FrozenStack`) out.

        Parameters ``stiffness`` and ``damping`` are declared to integration methods; by default the stiffness is that
        of the spring at rest (none where that would be negative).
        """
        image = _image(self)
        make = inplace_block(
            inputs={"d": self.card.inputs[0].unit},
            outputs={"f": self.card.outputs[0].unit, "outside": "-"},
            state=MONITOR,
            params=DECLARED,
            memory=len(image),
            reference=self.card.data or "learned spring",
            linear=lambda stiffness, damping: (stiffness, damping),
        )
        made = replace(make(advance), name="learned spring", contents=image, tick=self.card.dt or None)
        length = self.numbers.get("length") or 4.0 * self.numbers["spacing"]
        small = _SMALL * length
        f = [made().drive(self.card.dt or 1.0, d=np.array([d]))["f"][0] for d in (small, -small)]
        stiffness = replace(DECLARED["stiffness"], default=max(float(f[0] - f[1]) / (2.0 * small), 0.0))
        return replace(made, params={**made.params, "stiffness": stiffness})

    def taken_apart(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        form = FORMS[self.form]
        parts = {"form": self.form, "numbers": list(form.numbers), "unit": self.network.unit if self.network else None}
        tensors = {"numbers": np.array([self.numbers[key] for key in form.numbers], dtype=float)}
        tensors |= {key: np.asarray(self.arrays[key], dtype=float) for key in form.arrays}
        return parts, tensors | (self.network.tensors() if self.network else {})

    @classmethod
    def rated(cls, parts: Mapping[str, Any]) -> bool:
        return FORMS[parts["form"]].rated

    @classmethod
    def put_together(cls, parts: dict[str, Any], tensors: dict[str, np.ndarray], card: Card) -> Self:
        network = Perceptron.of(tensors, parts["unit"]) if parts["unit"] else None
        numbers = dict(zip(parts["numbers"], tensors["numbers"].tolist(), strict=True))
        arrays = {key: tensors[key] for key in FORMS[parts["form"]].arrays}
        return cls(parts["form"], numbers, arrays, card, network)


def _image(spring: FrozenSpring) -> np.ndarray:
    """The memory of the block: the table, then what it refers to."""
    form, head = FORMS[spring.form], len(MONITOR)
    arrays = [np.asarray(spring.arrays[key], dtype=float) for key in form.arrays]
    dense, weights = spring.network.laid_out(0) if spring.network else ([], np.empty(0))
    parts = {
        "ranges": [spring.card.inputs[0].low, spring.card.inputs[0].high],
        "state": np.zeros(form.states if form.states >= 0 else len(arrays[0])),
        "numbers": [spring.numbers[key] for key in form.numbers],
        "first": arrays[0] if arrays else [],
        "second": arrays[1] if len(arrays) > 1 else [],
        "query": np.zeros(form.inputs),
        "answer": np.zeros(1),
        "weights": weights,
    }
    begin = head + len(Places._fields) + len(dense)
    at = dict(zip(parts, (begin + np.cumsum([0, *map(len, parts.values())])).tolist(), strict=False))
    if spring.network:
        dense, _ = spring.network.laid_out(at["weights"])
    del at["weights"]
    table = Places(code=form.code, entries=len(arrays[0]) if arrays else 0, dense=head + len(Places._fields), **at)
    words = np.array([*table, *dense], dtype=np.int64)
    return np.concatenate([words.view(float), *(np.asarray(part, dtype=float) for part in parts.values())])
