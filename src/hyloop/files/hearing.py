"""Sites that hear what is measured at others: which, by which names, and over what link."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from hyloop.errors import BadInput, UnknownName
from hyloop.files.fields import Quantity, Table, refuse

if TYPE_CHECKING:
    from hyloop.files.schema import SiteSpec

__all__ = ["AGE", "Heard", "LinkSpec", "check_hearing", "heard_signal"]

AGE = "age"  # input of a network that is told how old what it hears is, in s
_NUMBERED = re.compile(r"(\w+)_([1-9][0-9]*)")
_SHORT = {"f1": "f", "d1": "d", "v1": "v"}  # where one device is heard; its other signals keep their names

Heard = Annotated[
    tuple[str, ...],
    BeforeValidator(lambda given: (given,) if isinstance(given, str) else given),
    Field(strict=False, min_length=1),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]


class LinkSpec(Table):
    """The way from the laboratory to what listens: one packet in each tick, late, and some of them lost."""

    delay: Annotated[float, Quantity("s", low=0.0)] = 0.0
    """Mean time from sending to arrival; a packet is used from the first tick after its arrival on."""
    jitter: Annotated[float, Quantity("s", low=0.0)] = 0.0
    """Half width of its uniform spread, at most the delay. The newest packet that has arrived counts."""
    loss: Annotated[float, Quantity("-", low=0.0, high=0.9)] = 0.0
    """Share of the packets that never arrive."""
    stamped: bool = False
    """Packets carry the time of their sending, so that a network with the input age is told how old they are."""
    seed: Annotated[int, Field(ge=0, le=2**52)] | None = None
    """Of jitter and loss; by default made of the seed of the experiment and the name of the site."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.jitter > self.delay:
            said = f"{self.jitter:g} s is more than the delay of {self.delay:g} s: packets would arrive before they are"
            refuse("jitter", BadInput(f"{said} sent. Give at most the delay."))
        return self


def heard_signal(name: str, devices: int) -> tuple[int, str]:
    """Which of the devices heard, counted from 0, and which of its signals an input of a network is.

    ``t2_1`` is signal t2 of the first, whatever their number. Where one device is heard, ``f1``, ``d1`` and ``v1`` are
    its force, deformation and velocity, and any other name is that of its signal.
    """
    found = _NUMBERED.fullmatch(name)
    if found is not None and int(found[2]) <= devices:
        return int(found[2]) - 1, found[1]
    if found is not None:
        raise BadInput(f"input {name} of the network is of device {found[2]}, but hears names {devices}.")
    if devices == 1:
        return 0, _SHORT.get(name, name)
    signal = _SHORT.get(name, name)
    raise BadInput(
        f"input {name} of the network does not say which of the {devices} devices heard it is of. Train it with the "
        f"name {signal}_1, {signal}_2, ..., counted in the order of hears, or name its channel in wiring."
    )


def check_hearing(sites: Mapping[str, "SiteSpec"]) -> None:
    """Refuse sites that hear what is not there, or not measured."""
    for name, site in sites.items():
        if site.hears is None:
            continue
        where = f"sites.{name}.hears"
        for heard in site.hears:
            if heard not in sites or heard == name:
                refuse(where, UnknownName("site", heard, [key for key in sites if sites[key].physical]))
            if not sites[heard].physical:
                refuse(where, BadInput(f"site '{heard}' is not physical, so nothing is measured there."))
        if len(set(site.hears)) < len(site.hears):
            refuse(where, BadInput(f"names a site twice: {', '.join(site.hears)}. Name each once."))
