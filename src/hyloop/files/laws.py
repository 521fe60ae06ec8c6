"""Device laws in experiment files: a name, parameters with units, initial values."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import ConfigDict, Field, WithJsonSchema, model_validator

import hyloop.devices
from hyloop.core import Block
from hyloop.devices.specimens import SPECIMENS
from hyloop.errors import BadInput, UnknownName
from hyloop.files.fields import Table, refuse
from hyloop.files.units import quantity

__all__ = ["LAWS", "DeviceSpec"]

LAWS: dict[str, Block] = {
    name: law for name in hyloop.devices.__all__ if isinstance(law := getattr(hyloop.devices, name), Block)
}


class DeviceSpec(Table):
    """A law and its parameters; those not given keep their defaults. ``hyloop laws`` lists them."""

    model_config = ConfigDict(extra="allow")

    law: Annotated[str, WithJsonSchema({"type": "string", "enum": sorted(LAWS)})]
    """Name of the law, such as "bouc_wen"."""
    draw: bool = False
    """Draw the parameters at random, for laws of virtual specimens; their spreads may then be given too."""
    initial: dict[str, Any] = Field(default_factory=dict)
    """Initial values of state variables."""

    @property
    def params(self) -> dict[str, float]:
        """Parameters given, in SI units."""
        return dict(self.__pydantic_extra__ or {})

    @model_validator(mode="before")
    @classmethod
    def _parameters(cls, given: Any) -> Any:
        """Look up the law and read every parameter in its unit and bounds."""
        if not isinstance(given, dict) or not isinstance(given.get("law"), str):
            return given
        law, draw = given["law"], given.get("draw") is True
        if law not in LAWS:
            refuse("law", UnknownName("law", law, LAWS))
        if draw and law not in SPECIMENS:
            refuse("draw", BadInput(f"'{law}' cannot be drawn at random; only {' and '.join(SPECIMENS)} can."))
        read: dict[str, Any] = {}
        for key, value in given.items():
            if key not in cls.model_fields:
                read[key] = _parameter(LAWS[law], key, value, SPECIMENS[law].spreads if draw else {})
        if isinstance(initial := given.get("initial", {}), dict):
            if initial and draw:
                refuse("initial", BadInput("a device that is drawn has its initial state drawn too; leave it out."))
            read["initial"] = {key: _state(LAWS[law], key, value) for key, value in initial.items()}
        return {**given, **read}


def _parameter(law: Block, key: str, value: Any, spreads: Mapping[str, str]) -> float:
    try:
        if key in spreads:
            return quantity(value, spreads[key])
        if key not in law.params:
            raise UnknownName(f"parameter of {law.name}", key, [*law.params, *spreads])
        spec = law.params[key]
        return spec.check(quantity(value, spec.unit), law.name)
    except BadInput as error:
        refuse(key, error)


def _state(law: Block, key: str, value: Any) -> float:
    try:
        if key not in law.state:
            raise UnknownName(f"state of {law.name}", key, law.state)
        return quantity(value, law.state[key])
    except BadInput as error:
        refuse(f"initial.{key}", error)
