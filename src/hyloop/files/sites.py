"""Sites in experiment files: where a device acts, which one it is, and what stands between it and the structure."""

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from hyloop.core import Instance
from hyloop.devices import linearised
from hyloop.errors import BadInput
from hyloop.files.fields import Quantity, Table, refuse, word
from hyloop.files.hearing import Heard, LinkSpec
from hyloop.files.interlock import InterlockSpec
from hyloop.files.laws import DeviceSpec
from hyloop.files.limits import Force, Length
from hyloop.files.networks import NetworkFile, check_connected
from hyloop.files.transfers import AxisSpec, TransferSpec
from hyloop.files.trust import TrustSpec
from hyloop.files.updaters import ModelSpec

__all__ = ["Linearised", "SiteSpec"]

# tags of OpenSees nodes are numbers
End = Annotated[str, BeforeValidator(word)]


class Linearised(Table):
    """What a device is taken for: its first harmonic under a steady sine, or a stiffness and a damping."""

    amplitude: Annotated[float, Quantity("m", above=0.0)] | None = None
    """Of the sine."""
    frequency: Annotated[float, Quantity("Hz", above=0.0)] | None = None
    """Of the sine."""
    stiffness: Annotated[float, Quantity("N/m", low=0.0)] | None = None
    """Of one device. Where an updater may make a model stiffer than it is at the start, give the most it may become: a
    tangent stiffer than what the method counts with makes a step unstable."""
    damping: Annotated[float, Quantity("N s/m", low=0.0)] | None = None
    """Of one device."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        sine, numbers = (
            [getattr(self, key) for key in pair] for pair in (("amplitude", "frequency"), ("stiffness", "damping"))
        )
        if (
            any(value is not None for value in sine) == any(value is not None for value in numbers)
            or sine.count(None) == 1
        ):
            refuse("amplitude", BadInput("give amplitude and frequency of a sine, or stiffness and damping."))
        return self

    def numbers(self, device: Instance) -> tuple[float, float]:
        """Stiffness in N/m and damping in N s/m of a device."""
        if self.amplitude is not None and self.frequency is not None:
            return linearised(device, self.amplitude, self.frequency)
        return self.stiffness or 0.0, self.damping or 0.0


class SiteSpec(Table):
    """A place in the structure and the device there.

    Exactly one of `story`, `between` and `along` says where, and exactly one of `device` and `follows` says what.
    """

    device: DeviceSpec | None = None
    """The device there."""
    follows: str | None = None
    """Or: a physical site with a model; that model stands here, with the parameters its updater finds."""
    model: ModelSpec | None = None
    """Model of the physical device here and what keeps it true, for the sites that follow."""
    story: int | None = None
    """Story whose drift deforms the device; the first is 1."""
    between: Annotated[tuple[End, ...], Field(strict=False, min_length=1, max_length=2)] | None = None
    """Names of the degrees of freedom at its upper and lower end; one name alone: from there to the ground. Of a frame
    also two nodes: along the line between them. Tags of OpenSees nodes may be numbers."""
    along: Annotated[Any, Quantity("-", depth=1)] = None
    """Direction vector: deformation for a unit displacement of each degree of freedom."""
    factor: Annotated[float, Quantity("-")] = 1.0
    """Deformation of the device over that of the place, for instance the cosine of a brace."""
    count: Annotated[float, Quantity("-", above=0.0)] = 1.0
    """Number of equal devices in parallel."""
    linearised: Linearised | None = None
    """What a model-based method takes the device for, a spring and a dashpot; at a sine, of a physical device with a
    model it is that of the model. Without it, as the device is when untouched. It does not enter the force."""
    physical: bool = False
    """The measured specimen, or what stands for it; runs before the models."""
    transfer: dict[Literal["compensator", "actuator", "specimen", "sensor"], TransferSpec] = Field(default_factory=dict)
    """Transfer system by role; empty is ideal. [transfer.md](transfer.md) has the blocks."""
    interlock: InterlockSpec | None = None
    """What guards the rig of a physical site. [safety.md](safety.md)"""
    wiring: dict[str, str] = Field(default_factory=dict)
    """Inputs of the device that come from other channels."""
    hears: Heard | None = None
    """Physical site, or list of them, whose measured signals a network here hears; [networks.md](networks.md)."""
    link: LinkSpec | None = None
    """How late what it hears arrives; without it, in the same tick."""
    resample: Literal["hold", "line", "phases"] | None = None
    """Run a network that was trained at another rate. In a faster controller its force is held between its samples or
    goes on along a line, or as many of it as a sample has ticks run in turn (phases); in a slower one a tick is some of
    its samples."""
    max_d: Length | None = None
    """Deformation that stops the run."""
    max_f: Force | None = None
    """Force that stops the run."""
    trust: TrustSpec | None = None
    """Monitor beside a network or a model that follows: band, trust and fallback. [trust.md](trust.md)"""
    networks: Annotated[tuple[NetworkFile, ...], Field(strict=False)] = ()
    """Further networks beside that of the device: the force is the mean of all. Short: device = { network = [...] }."""

    @model_validator(mode="before")
    @classmethod
    def _several(cls, given: Any) -> Any:
        """A list of networks is the one of the device, and further ones."""
        device = given.get("device") if isinstance(given, dict) else None
        if not isinstance(device, dict) or not isinstance(names := device.get("network"), list):
            return given
        if not names or "networks" in given:
            refuse("device.network", BadInput("give the files of several networks in one list, and at least one."))
        return {**given, "device": {**device, "network": names[0]}, "networks": names[1:]}

    @model_validator(mode="after")
    def _trusted(self) -> Self:
        if self.trust is None:
            if self.networks:
                refuse("trust", BadInput("is missing; several networks at a site need a monitor of their spread."))
            return self
        if self.physical or self.transfer:
            refuse("trust", BadInput("is for a model, which is neither physical nor has a transfer system."))
        network = self.device.network if self.device is not None else None
        self.trust.check(network, len(self.networks), self.follows is not None)
        return self

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        given = [key for key in ("story", "between", "along") if getattr(self, key) is not None]
        if len(given) != 1:
            message = f"got {' and '.join(given) or 'no place'}; give exactly one of story, between and along."
            refuse(given[-1] if given else "story", BadInput(message))
        return self

    @model_validator(mode="after")
    def _one_device(self) -> Self:
        if self.device is None and self.follows is None:
            refuse("device", BadInput("is missing; give a device, or follows = a physical site that has a model."))
        if self.device is not None and self.follows is not None:
            refuse("follows", BadInput("a device is given too; give one of them."))
        if self.follows is not None and self.physical:
            refuse("physical", BadInput("a site that follows another is a model; leave it out."))
        if self.model is not None and not self.physical:
            refuse("model", BadInput("is kept true by what is measured, so the site must be physical = true."))
        if self.hears is not None and (self.physical or self.device is None):
            refuse("hears", BadInput("is for a device that is a model, not for a specimen or a site that follows."))
        if self.link is not None and self.hears is None:
            refuse("link", BadInput("carries what is heard, and nothing is; say hears = a physical site."))
        return self

    @model_validator(mode="after")
    def _roles(self) -> Self:
        for role, spec in self.transfer.items():
            if not isinstance(spec, AxisSpec) and spec.role not in (None, role):
                said = f"'{spec.law}' is for the role {spec.role}, not {role}. Write it as transfer.{spec.role}."
                refuse(f"transfer.{role}.law", BadInput(said))
            if role == "specimen" and not isinstance(spec, AxisSpec):
                said = (
                    "a specimen here is an axis of a coupled block; one with a single axis is the device of the site."
                )
                refuse("transfer.specimen", BadInput(said))
        return self

    @model_validator(mode="after")
    def _connected(self) -> Self:
        """A trained network says what it needs; whether channels exist and fit shows when the experiment is built."""
        if self.device is not None and self.device.network is not None:
            given = {key: unit for spec in self.transfer.values() for key, unit in spec.outputs.items()}
            check_connected(self.device.network, given, self.wiring, hears=self.hears is not None)
        return self
