"""Inherent damping in experiment files."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from hyloop.errors import BadInput, BadShape
from hyloop.files.fields import Quantity, Table, refuse

__all__ = ["Damping"]


class Damping(Table):
    """Inherent damping."""

    kind: Literal["rayleigh", "modal", "caughey", "modal_and_stiffness"] = "rayleigh"
    ratio: Annotated[Any, Quantity("-", low=0.0, high=0.999, depth=1)]
    """Damping ratio, or a list: one for each of `modes` (modal: for the first modes, the others undamped)."""
    modes: Annotated[tuple[int, ...], Field(strict=False, min_length=1)] = (1, 2)
    """Modes that have the ratio, counted from 1; not for modal damping."""
    count: Annotated[int, Field(ge=1)] = 30
    """modal_and_stiffness: the number of lowest modes that have the ratio; above, it rises with the frequency."""
    devices: bool = False
    """Whether the initial stiffness of the devices counts in the modes."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.kind in ("modal", "modal_and_stiffness") and "modes" in self.model_fields_set:
            refuse("modes", BadInput("modal damping takes the modes in order; leave modes out, or use caughey."))
        if "count" in self.model_fields_set and self.kind != "modal_and_stiffness":
            refuse("count", BadInput("is for modal_and_stiffness; leave it out."))
        if self.kind == "modal_and_stiffness" and isinstance(self.ratio, tuple):
            refuse("ratio", BadShape("modal_and_stiffness has one ratio for all modes; give one number."))
        if self.kind == "rayleigh" and len(self.modes) != 2:
            refuse("modes", BadShape(f"got {list(self.modes)}; Rayleigh damping needs two modes."))
        if min(self.modes) < 1 or len(set(self.modes)) != len(self.modes):
            refuse("modes", BadInput(f"got {list(self.modes)}; give different modes, counted from 1."))
        if (
            self.kind in ("rayleigh", "caughey")
            and isinstance(self.ratio, tuple)
            and len(self.ratio) != len(self.modes)
        ):
            refuse("ratio", BadShape(f"got {len(self.ratio)} ratios for {len(self.modes)} modes; give one for each."))
        return self
