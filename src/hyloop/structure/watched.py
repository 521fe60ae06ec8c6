"""`Watched`: a quantity that a loop computes in every step and records as a channel."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hyloop.errors import BadInput, BadShape
from hyloop.structure.structure import Structure

__all__ = ["Watched"]


@dataclass(frozen=True, eq=False)
class Watched:
    r"""A sum over displacements and states of members, :math:`y = c + \sum a_k u_k + \sum b_k x_k`.

    `Model.watch` makes those of a frame. One of your own, such as the displacement of a floor relative to another:
    ``Watched("sway", "m", dofs=[frame.dof("B2.ux"), frame.dof("A1.ux")], factors=[1.0, -1.0])``.

    Attributes
    ----------
    name, unit : str
        Of the channel.
    dofs, factors : array_like
        Degrees of freedom, by index, and their factors a.
    places, weights : array_like
        Places among the states of all element groups, one group after another, and their factors b.
    constant : float
        c.
    sites : mapping of name to float
        Factors of forces of sites (of one device each, times the number of devices there).
    reaction : bool
        Whether it is the force of a support. Devices that stand on the ground then get channels of their own, too.
    shear : str
        Direction ("ux") of a base shear, to which such devices are added; empty: it is none.
    made_for : Structure, optional
        The structure it belongs to; a loop with another one refuses it.
    """

    name: str
    unit: str
    dofs: Any = ()
    factors: Any = ()
    places: Any = ()
    weights: Any = ()
    constant: float = 0.0
    sites: Mapping[str, float] = field(default_factory=dict)
    reaction: bool = False
    shear: str = ""
    made_for: Structure | None = None

    def __post_init__(self) -> None:
        for index, factor in (("dofs", "factors"), ("places", "weights")):
            given = np.asarray(getattr(self, index))
            if given.size and not np.issubdtype(given.dtype, np.integer):
                raise BadInput(f"watched '{self.name}': {index} are whole numbers; `Structure.dof` has that of a name.")
            values = np.asarray(getattr(self, factor), dtype=float)
            if given.ndim != 1 or given.shape != values.shape or not np.isfinite(values).all():
                raise BadShape(
                    f"watched '{self.name}': {index} and {factor} must be as many, and finite; got shapes "
                    f"{given.shape} and {values.shape}."
                )
            object.__setattr__(self, index, given.astype(np.int64))
            object.__setattr__(self, factor, values)
        if not np.isfinite(self.constant):
            raise BadInput(f"watched '{self.name}': constant = {self.constant!r} must be finite.")
