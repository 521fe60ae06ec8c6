"""What an experiment file may say: typed tables, checked when the file is loaded.

Numbers are in SI units or texts with a unit (``"23 kN"``). Laws, methods, parameters and their units and bounds are
checked here too, so that a file that loads can be built, but for what depends on several tables at once.
"""

from inspect import signature
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, PrivateAttr, WithJsonSchema, model_validator

import hyloop.devices
import hyloop.integrators
from hyloop.core import Block
from hyloop.errors import BadInput, UnknownName
from hyloop.study.excitations import Excitation
from hyloop.study.fields import Quantity, Table, refuse
from hyloop.study.structures import StructureSpec
from hyloop.study.units import quantity

__all__ = ["DRAWN", "LAWS", "METHODS", "BlockSpec", "DeviceSpec", "Experiment", "Integrator", "Limits", "Recording",
           "SiteSpec"]  # fmt: skip

LAWS: dict[str, Block] = {
    name: law for name in hyloop.devices.__all__ if isinstance(law := getattr(hyloop.devices, name), Block)
}
METHODS = {name: getattr(hyloop.integrators, name) for name in hyloop.integrators.__all__ if name.islower()}
# laws that can be drawn at random, by the name `draw_brfd` has for them, and the units of the spreads
DRAWN = {"brfd_gap_slip": "gap-slip", "brfd_stick_slip": "stick-slip"}
_SPREADS = {"level": "N", "friction": "-", "gap": "m", "stiffness": "-", "drift": "-", "centred": "m"}

Force = Annotated[float, Quantity("N", above=0.0)]
Length = Annotated[float, Quantity("m", above=0.0)]


class DeviceSpec(Table):
    """A law and its parameters; those not given keep their defaults. ``hyloop laws`` lists them."""

    model_config = ConfigDict(extra="allow")

    law: Annotated[str, WithJsonSchema({"type": "string", "enum": sorted(LAWS)})]
    """Name of the law, such as "bouc_wen"."""
    draw: bool = False
    """Draw the parameters at random (banded dampers only); level, friction, gap, ... are then those of `draw_brfd`."""
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
        if draw and law not in DRAWN:
            refuse("draw", BadInput(f"'{law}' cannot be drawn at random; only {' and '.join(DRAWN)} can."))
        read: dict[str, Any] = {}
        for key, value in given.items():
            if key not in cls.model_fields:
                read[key] = _parameter(LAWS[law], key, value, _SPREADS if draw else {})
        if isinstance(initial := given.get("initial", {}), dict):
            if initial and draw:
                refuse("initial", BadInput("a device that is drawn has its initial state drawn too; leave it out."))
            read["initial"] = {key: _state(LAWS[law], key, value) for key, value in initial.items()}
        return {**given, **read}


def _parameter(law: Block, key: str, value: Any, spreads: dict[str, str]) -> float:
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


class SiteSpec(Table):
    """A place in the structure and the device there; exactly one of `story`, `between` and `along` says where."""

    device: DeviceSpec
    story: int | None = None
    """Story whose drift deforms the device; the first is 1."""
    between: Annotated[tuple[str, ...], Field(strict=False, min_length=1, max_length=2)] | None = None
    """Names of the degrees of freedom at its upper and lower end; one name alone: from there to the ground."""
    along: Annotated[Any, Quantity("-", depth=1)] = None
    """Direction vector: deformation for a unit displacement of each degree of freedom."""
    factor: Annotated[float, Quantity("-")] = 1.0
    """Deformation of the device over that of the place, for instance the cosine of a brace."""
    count: Annotated[float, Quantity("-", above=0.0)] = 1.0
    """Number of equal devices in parallel."""
    physical: bool = False
    """The measured specimen, or what stands for it; runs before the models."""
    transfer: dict[Literal["compensator", "actuator", "sensor"], DeviceSpec] = Field(default_factory=dict)
    """Transfer system; empty is ideal."""
    wiring: dict[str, str] = Field(default_factory=dict)
    """Inputs of the device that come from other channels."""
    max_d: Length | None = None
    """Deformation that stops the run."""
    max_f: Force | None = None
    """Force that stops the run."""

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        given = [key for key in ("story", "between", "along") if getattr(self, key) is not None]
        if len(given) != 1:
            message = f"got {' and '.join(given) or 'no place'}; give exactly one of story, between and along."
            refuse(given[-1] if given else "story", BadInput(message))
        return self


class BlockSpec(Table):
    """A block that belongs to no site, such as an updater."""

    block: DeviceSpec
    inputs: dict[str, str] = Field(default_factory=dict)
    """Channel for each input."""
    outputs: dict[str, str] = Field(default_factory=dict)
    """Channels that outputs overwrite."""


class Integrator(Table):
    """Integration method and step."""

    method: Annotated[str, WithJsonSchema({"type": "string", "enum": sorted(METHODS)})]
    """Name of the method, such as "mkr_alpha"."""
    dt: Annotated[float, Quantity("s", above=0.0)]
    """Step of the structure."""
    substeps: Annotated[int, Field(ge=1, le=10_000)] = 1
    """Controller ticks in a step."""
    rho_inf: Annotated[float, Quantity("-", low=0.0, high=1.0)] | None = None
    gamma: Annotated[float, Quantity("-")] | None = None
    beta: Annotated[float, Quantity("-")] | None = None
    form: str | None = None

    @property
    def options(self) -> dict[str, Any]:
        """Options given, for the function that makes the method."""
        given = {key: getattr(self, key) for key in ("rho_inf", "gamma", "beta", "form")}
        return {key: value for key, value in given.items() if value is not None}

    @model_validator(mode="after")
    def _method(self) -> Self:
        if self.method not in METHODS:
            refuse("method", UnknownName("method", self.method, METHODS))
        allowed = signature(METHODS[self.method]).parameters
        for key in self.options:
            if key not in allowed:
                refuse(key, UnknownName(f"option of {self.method}", key, allowed))
        try:
            METHODS[self.method](**self.options)
        except BadInput as error:
            refuse(next(reversed(self.options)), error)
        return self


class Recording(Table):
    """What is written, and where."""

    file: str | None = None
    """Recording to write; default out/<name of the experiment file>.h5."""
    channels: Annotated[tuple[str, ...], Field(strict=False, min_length=1)] = ("*",)
    """Channels to record; * and ? match as in a shell."""
    every: Literal["step", "tick"] = "step"
    """Record at every step or at every controller tick."""


class Limits(Table):
    """Limits of every site that has none of its own; passing one stops the run."""

    max_d: Length | None = None
    max_f: Force | None = None


class Experiment(Table):
    """One experiment: structure, devices at their sites, method, excitation and recording."""

    structure: StructureSpec
    integrator: Integrator
    excitation: Excitation
    title: str = ""
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    """Source of everything random."""
    sites: dict[str, SiteSpec] = Field(default_factory=dict)
    blocks: dict[str, BlockSpec] = Field(default_factory=dict)
    recording: Recording = Recording()
    limits: Limits = Limits()
    _source: str = PrivateAttr("")

    @property
    def source(self) -> str:
        """File it was loaded from; empty if it was not."""
        return self._source

    def loaded_from(self, path: Path) -> Self:
        """The same, with the name of its file for messages and as default name of the recording."""
        file = self.recording.file or f"out/{path.stem}.h5"
        copy = self.model_copy(update={"recording": self.recording.model_copy(update={"file": file})})
        copy._source = str(path)
        return copy

    @model_validator(mode="after")
    def _site_names(self) -> Self:
        for table in ("sites", "blocks"):
            for name in getattr(self, table):
                if not all(part.isidentifier() for part in name.split(".")):
                    refuse(table, BadInput(f"name '{name}' must be letters, digits and underscores, as in 'damper1'."))
        return self
