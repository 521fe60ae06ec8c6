"""Monitors in experiment files: what a model at a site is trusted with, its band of error, and its fallback."""

from dataclasses import asdict, fields
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from hyloop.errors import BadInput
from hyloop.files.fields import Quantity, Table, refuse
from hyloop.files.laws import DeviceSpec
from hyloop.neural import FrozenNetwork
from hyloop.trust import Band, Watch
from hyloop.trust.settings import GAIN, MOST_MARGIN

__all__ = ["BandSpec", "FallbackSpec", "TrustSpec", "TwinSpec"]

_Share = Annotated[float, Quantity("-", above=0.0, high=1.0)]
_Weight = Annotated[float, Quantity("-", low=0.0)]
_Force = Annotated[float, Quantity("N", above=0.0)]
_Time = Annotated[float, Quantity("s", above=0.0)]


class BandSpec(Table):
    """Band of half width q score, score = floor + force |f| + spread s + range D + twin R; see [trust.md](trust.md)."""

    coverage: Annotated[float, Quantity("-", above=0.0, high=0.9999)]
    """Share of the ticks in which the true force shall lie in the band."""
    floor: _Force
    """Score where nothing else speaks."""
    q: Annotated[float, Quantity("-", above=0.0)] | None = None
    """Half width over score: of a network as it was calibrated, of a model that follows as it begins (1.6449)."""
    force: _Weight = 0.0
    """Weight of the size of the force of the model."""
    spread: _Weight = 0.0
    """Weight of the standard deviation s of several networks."""
    range: Annotated[float, Quantity("N", low=0.0)] = 0.0
    """Weight of the distance D beyond the training range, in widths of the range."""
    twin: _Weight | None = None
    """Weight of the running root mean square R of the residual of the twin; 1 for a model that follows, else 0."""
    gain: Annotated[float, Quantity("1/s", above=0.0)] | None = None
    """How fast q follows the misses at the measured site, for a model that follows; 2 if not said."""


class FallbackSpec(DeviceSpec):
    """What takes over where the model is not trusted: a law, a network, or the model of a measured device."""

    follows: str | None = None
    """Or: a physical site with a model; that model, with the parameters its updater finds."""


class TwinSpec(FallbackSpec):
    """A model that does not hear the force: driven by the motion at a physical site, and compared with it there."""

    at: str | None = None
    """Physical site where it is compared; with `follows` that site."""
    wiring: dict[str, str] = Field(default_factory=dict)
    """Inputs that come from other channels; d is measured, and v and a are made of it where they are not."""

    @property
    def place(self) -> str:
        """Site where it is compared."""
        return self.follows or self.at or ""

    @model_validator(mode="after")
    def _one_site(self) -> Self:
        if (self.at is None) == (self.follows is None):
            refuse("at", BadInput("name the physical site it is compared at; with follows it is that site already."))
        return self


class TrustSpec(Table):
    """A monitor beside a network or a model that follows; [trust.md](trust.md) explains it."""

    capacity: _Force
    """Largest force of the device; with a fallback no force beyond (1 + margin) capacity acts on the structure."""
    band: BandSpec | None = None
    """Band of error; that on the card of the network if not said."""
    fallback: FallbackSpec | None = None
    """What takes over; without one the force is that of the model, whatever it is."""
    twin: TwinSpec | None = None
    """Model whose residual at the measured site enters the band of a network; a model that follows is its own twin."""
    truth: str | None = None
    """Channel with the true force, in N, where the file has one: for the report, and for nothing else."""
    margin: Annotated[float, Quantity("-", above=0.0, high=MOST_MARGIN)] = Watch.margin
    """Share of the capacity by which the force of the model may pass it before trust is zero."""
    widest: _Force | None = None
    """Half width of the band at which trust is zero; default: half the capacity."""
    far: Annotated[float, Quantity("-", above=0.0)] = Watch.far
    """Distance beyond the training range, in its widths, at which trust is zero."""
    apart: _Force | None = None
    """Running root mean square difference from the fallback at which trust is zero; default: half the capacity."""
    limit: _Share = Watch.limit
    """Trust below which the fallback takes over."""
    back: _Share = Watch.back
    """Trust from which on the model may come back."""
    calm: Annotated[float, Quantity("s", low=0.0)] = Watch.calm
    """How long trust must have been there before it comes back."""
    blend: _Time = Watch.blend
    """Time from one force to the other, at least."""
    slew: Annotated[float, Quantity("N/s", above=0.0)] | None = None
    """Largest rate at which the handover changes the force; default: 2 capacity / blend."""
    window: _Time = Watch.window
    """Time constant of running root mean squares."""
    fallback_half: _Force | None = None
    """Half width of the band while the fallback has the force; default: the capacity."""

    @property
    def watch(self) -> Watch:
        """What is watched."""
        return Watch(**{entry.name: getattr(self, entry.name) for entry in fields(Watch)})

    def make_band(self, network: FrozenNetwork | None) -> Band:
        """The band of a network, or of a model that follows."""
        if self.band is None:
            on_card = None if network is None else network.card.about.get("band")
            if on_card is None:
                said = "the card of the network has none" if network else "a model that follows has none by itself"
                raise BadInput(f"is missing, and {said}. Give coverage and floor, and for a network the q calibrated.")
            if not isinstance(on_card, dict):
                raise BadInput(f"the card of the network has {on_card!r} for a band; give one here.")
            return Band.from_json(on_card)
        given: dict[str, Any] = {key: value for key, value in self.band.model_dump().items() if value is not None}
        if network is None:
            given = {"gain": GAIN, "twin": 1.0} | given
        elif self.band.gain is not None:
            raise BadInput("gain is for a model that follows; the q of a network is calibrated before the test.")
        elif self.band.q is None:
            raise BadInput("q is missing; hyloop.metrics.calibrate finds it from runs that were not trained on.")
        return Band(**given)

    @model_validator(mode="after")
    def _possible(self) -> Self:
        try:
            asdict(self.watch)
        except BadInput as error:
            refuse("back", error)
        return self

    def check(self, network: FrozenNetwork | None, further: int, follows: bool) -> None:
        """Refuse what does not go with the device of the site."""
        if network is None and not follows:
            refuse("trust", BadInput("is for a network, or for a model that follows a measured device."))
        if follows and self.twin is not None:
            refuse("trust.twin", BadInput("a model that follows is compared with the force it follows; leave it out."))
        try:
            band = self.make_band(network)
        except BadInput as error:
            refuse("trust.band", error)
        if network is not None and (band.twin > 0.0) and self.twin is None:
            refuse("trust.twin", BadInput("is missing: the band counts its residual. Give one, or band.twin = 0."))
        if band.spread > 0.0 and not further:
            refuse("trust.band.spread", BadInput("needs several networks: device = { network = [...] }."))
        if band.range > 0.0 and network is None:
            refuse("trust.band.range", BadInput("is for networks, which have a training range."))
