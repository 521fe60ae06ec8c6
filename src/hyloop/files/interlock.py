"""Interlocks in experiment files: what is watched at a physical site, and where its rig goes if something is wrong."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import model_validator

from hyloop.core import Instance
from hyloop.errors import BadInput
from hyloop.files.fields import Quantity, Table, refuse
from hyloop.transfer.interlock import interlock, settings_fit

if TYPE_CHECKING:
    from hyloop.files.schema import SiteSpec

__all__ = ["InterlockSpec", "Safety", "check_interlocks"]

_NOISE = 4.0  # standard deviations: force noise that stays within them does so for a tenth of a second
_JUMP = 8.0  # likewise, of the difference of two samples in a whole test

Rate = Annotated[float, Quantity("m/s", above=0.0)]
Length = Annotated[float, Quantity("m", above=0.0)]
Force = Annotated[float, Quantity("N", above=0.0)]
Time = Annotated[float, Quantity("s", above=0.0)]


def _key(error: BadInput) -> str:
    """The key with which a refusal begins."""
    return next((key for key in InterlockSpec.model_fields if str(error).startswith(f"{key} ")), "max_rate")


class InterlockSpec(Table):
    """What a rig is guarded by; what is not said is not watched. [safety.md](safety.md) explains it."""

    max_rate: Rate
    """Rate that the command never exceeds, neither in the test nor on the way to the safe state. A faster one trips."""
    safe_state: Literal["hold", "zero displacement", "zero force"]
    """Where the rig goes: it stays, goes back to the deformation at rest, or unloads the specimen."""
    ramp: Rate | None = None
    """Rate of the way to the safe state; default: `max_rate`."""
    max_d: Length | None = None
    """Largest deformation, commanded and measured."""
    max_v: Rate | None = None
    """Largest velocity of the command."""
    max_a: Annotated[float, Quantity("m/s2", above=0.0)] | None = None
    """Largest acceleration of the command."""
    smoothing: Annotated[float, Quantity("s", low=0.0)] | None = None
    """Time over which the acceleration is taken; default 10 ms. Between two steps the command moves on a line."""
    max_f: Force | None = None
    """Largest measured force."""
    max_error: Length | None = None
    """Largest difference between command and measured deformation; a valve that is stuck or full shows there."""
    error_for: Annotated[float, Quantity("s", low=0.0)] | None = None
    """How long it may be larger; default: no time."""
    jump_d: Rate | None = None
    """Largest rate of the measured deformation from one tick to the next; more is a spike."""
    jump_f: Annotated[float, Quantity("N/s", above=0.0)] | None = None
    """Largest rate of the measured force from one tick to the next."""
    frozen_d: Time | None = None
    """How long the measured deformation may be exactly the same while the command moves."""
    frozen_f: Time | None = None
    """How long the measured force may be so."""
    frozen_path: Length | None = None
    """How far the command has to move meanwhile for that to count."""
    max_added: Annotated[float, Quantity("-", above=0.0)] | None = None
    """Largest part of the work on the specimen that may have come from the actuator, by moving late ("20 %")."""
    window: Time | None = None
    """Time over which that is taken; default 2 s, some periods of the structure."""
    least_work: Annotated[float, Quantity("J", above=0.0)] | None = None
    """Work on the specimen below which that part is small: some times what it stores in a weak motion."""
    max_age: Time | None = None
    """Largest age of what a link brings."""
    tolerance: Force | None = None
    """Of the safe state "zero force": force that counts as none."""

    def make(self) -> Instance:
        """The block."""
        given = {key: getattr(self, key) for key in type(self).model_fields}
        return interlock(**{key: value for key, value in given.items() if value is not None})

    @model_validator(mode="after")
    def _possible(self) -> Self:
        for key, needed in (
            ("smoothing", "max_a"),
            ("error_for", "max_error"),
            ("window", "max_added"),
            ("least_work", "max_added"),
        ):
            if getattr(self, key) is not None and getattr(self, needed) is None:
                refuse(key, BadInput(f"is for {needed}, which is not given; give both, or leave it out."))
        if self.frozen_path is not None and self.frozen_d is None and self.frozen_f is None:
            refuse("frozen_path", BadInput("is for frozen_d and frozen_f; give one of them, or leave it out."))
        if self.ramp is not None and self.safe_state == "hold":
            refuse("ramp", BadInput("leads to another place, and the rig is held where it is; leave it out."))
        if self.tolerance is not None and self.safe_state != "zero force":
            refuse("tolerance", BadInput('is for safe_state = "zero force"; leave it out.'))
        try:
            self.make()
        except BadInput as error:
            refuse(_key(error), error)
        return self


class Safety(Table):
    """What happens when an interlock trips, or a run with interlocks fails or is stopped."""

    within: Annotated[float, Quantity("s", above=0.0, high=600.0)] = 10.0
    """How long the rigs may take to their safe state; then the run ends, and says which one has not settled."""
    watchdog: Annotated[float, Quantity("s", low=0.0, high=60.0)] = 1.0
    """In a run on the clock: how long no tick may begin (at least two ticks) until another process brings the rigs to
    their safe state. It does so at once when the loop has died. 0: there is no such process."""


def check_interlocks(sites: Mapping[str, "SiteSpec"], tick: float, within: float) -> None:
    """Refuse what cannot be at a site: no rig, limits that noise passes by itself, a way that takes too long."""
    for name, site in sites.items():
        if site.interlock is None:
            continue
        where, spec = f"sites.{name}.interlock", site.interlock
        if not site.physical or "actuator" not in site.transfer:
            refuse(where, BadInput("is for a physical site with an actuator; give it transfer.actuator."))
        if spec.max_age is not None and not any("age" in block.outputs for block in site.transfer.values()):
            said = "nothing at this site tells how old its measurement is; a sensor of the law 'link' does."
            refuse(f"{where}.max_age", BadInput(said))
        try:
            settings_fit(tick, **spec.make().params)
        except BadInput as error:
            refuse(f"{where}.{_key(error)}", error)
        ramp = spec.ramp or spec.max_rate
        if spec.max_d is not None and spec.safe_state == "zero displacement" and spec.max_d / ramp > within:
            said = f"from max_d back to rest takes {spec.max_d / ramp:.3g} s, and safety.within is {within:g} s"
            refuse(f"{where}.ramp", BadInput(f"{said}. Raise one of them."))
        _check_noise(where, site, tick)


def _check_noise(where: str, site: "SiteSpec", tick: float) -> None:
    """Refuse limits that the noise of a sensor passes by itself."""
    sensor, spec = site.transfer.get("sensor"), site.interlock
    if getattr(sensor, "law", None) != "sensor" or sensor is None:
        return
    noise = sensor.make().params
    for key, of, unit, least in (
        ("tolerance", "noise_f", "N", _NOISE),
        ("max_error", "noise_d", "m", _NOISE),
        ("jump_d", "noise_d", "m/s", _JUMP / tick),
        ("jump_f", "noise_f", "N/s", _JUMP / tick),
    ):
        value, least = getattr(spec, key), least * noise[of]
        if value is not None and value < least:
            said = f"the {of} of the sensor alone passes {value:g} {unit}; give at least {least:.3g} {unit}."
            refuse(f"{where}.{key}", BadInput(said))
