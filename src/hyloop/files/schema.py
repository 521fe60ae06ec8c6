"""What an experiment file may say: typed tables, checked when the file is loaded.

Numbers are in SI units or texts with a unit (``"23 kN"``). Laws, methods, parameters and their units and bounds are
checked here too, so that a file that loads can be built, but for what depends on several tables at once.
"""

from inspect import signature
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, PrivateAttr, WithJsonSchema, model_validator

import hyloop.integrators
from hyloop.errors import BadInput, UnknownName
from hyloop.files.cluster import Cluster
from hyloop.files.controllers import ControllerSpec, command_at
from hyloop.files.design import Design
from hyloop.files.excitations import Excitation
from hyloop.files.fields import Quantity, Table, refuse
from hyloop.files.hearing import check_hearing
from hyloop.files.ida import Ida
from hyloop.files.interlock import Safety, check_interlocks
from hyloop.files.laws import DeviceSpec
from hyloop.files.limits import Limits
from hyloop.files.loads import LoadSpec
from hyloop.files.pace import Pace
from hyloop.files.recording import Recording
from hyloop.files.rehearsal import Rehearsal
from hyloop.files.sites import SiteSpec
from hyloop.files.structures import StructureSpec
from hyloop.files.sweep import Sweep
from hyloop.files.transfers import AxisSpec, TransferSpec
from hyloop.files.tune import Tune

__all__ = ["METHODS", "BlockSpec", "Experiment", "Integrator", "SiteSpec"]

METHODS = {name: getattr(hyloop.integrators, name) for name in hyloop.integrators.__all__ if name.islower()}


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
    """Of kr_alpha, mkr_alpha, generalized_alpha: spectral radius at infinite frequency; less damps high modes more."""
    gamma: Annotated[float, Quantity("-")] | None = None
    """Of Newmark's methods."""
    beta: Annotated[float, Quantity("-")] | None = None
    """Of Newmark's methods."""
    form: str | None = None
    """Of mkr_alpha: "plain" or "recast"."""

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


class Experiment(Table):
    """One experiment: structure, devices at their sites, method, excitation and recording."""

    structure: StructureSpec
    integrator: Integrator
    excitation: Excitation | None = None
    """One ground motion."""
    excitations: dict[str, Excitation] = Field(default_factory=dict)
    """Or several ground motions at once, each with its direction; those along one axis add."""
    loads: dict[str, LoadSpec] = Field(default_factory=dict)
    """Load histories at degrees of freedom, with ground motions or alone."""
    title: str = ""
    """Heading of the report."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    """Source of everything random."""
    sites: dict[str, SiteSpec] = Field(default_factory=dict)
    blocks: dict[str, BlockSpec] = Field(default_factory=dict)
    couplings: dict[str, TransferSpec] = Field(default_factory=dict)
    """Blocks of transfer systems that several sites share, each by one of its axes."""
    controllers: dict[str, ControllerSpec] = Field(default_factory=dict)
    recording: Recording = Recording()
    limits: Limits = Limits()
    rehearsal: Rehearsal = Rehearsal()
    sweep: Sweep = Sweep()
    design: Design | None = None
    ida: Ida = Ida()
    pace: Pace = Pace()
    safety: Safety = Safety()
    cluster: Cluster | None = None
    tune: Tune | None = None
    _source: str = PrivateAttr("")
    _with_devices: "Experiment | None" = PrivateAttr(None)

    @property
    def source(self) -> str:
        """File it was loaded from; empty if it was not."""
        return self._source

    @property
    def with_devices(self) -> "Experiment":
        """The experiment that this one is without its devices; itself if it has them."""
        return self._with_devices or self

    @property
    def motions(self) -> dict[str, Excitation]:
        """Ground motions by name; the only one of `[excitation]` has none."""
        return self.excitations if self.excitation is None else {"": self.excitation}

    def without_devices(self) -> "Experiment":
        """The same structure under the same excitation, with nothing at its sites.

        Recorded are the ground and what is left of the channels; without derived ones that may be none: then all are.
        """
        channels = (*self.recording.channels, "ground*") if self.recording.derived else ("*",)
        left = self.recording.model_copy(update={"channels": channels})
        title = f"{self.title}, without devices" if self.title else ""
        gone: dict[str, Any] = {"sites": {}, "blocks": {}, "couplings": {}, "controllers": {}}
        bare = self.model_copy(update={**gone, "recording": left, "title": title})
        bare._source, bare._with_devices = self._source, self
        return bare

    def loaded_from(self, path: Path) -> Self:
        """The same, with the name of its file for messages and as default name of the recording."""
        file = self.recording.file or f"out/{path.stem}.h5"
        copy = self.model_copy(update={"recording": self.recording.model_copy(update={"file": file})})
        copy._source = str(path)
        return copy

    @model_validator(mode="after")
    def _excited(self) -> Self:
        if self.excitation is not None and self.excitations:
            advice = "give [excitation] for one ground motion, [excitations.NAME] for several."
            refuse("excitations", BadInput(f"there is an [excitation] too; {advice}"))
        if not self.motions and not self.loads:
            refuse("excitation", BadInput("is missing; every experiment needs an excitation, excitations or loads."))
        for name, spec in self.excitations.items():
            if spec.direction is None:
                refuse(f"excitations.{name}.direction", BadInput('is missing; say where to, as in direction = "x".'))
        return self

    @model_validator(mode="after")
    def _site_names(self) -> Self:
        for table in ("sites", "blocks", "couplings", "controllers", "excitations", "loads"):
            for name in getattr(self, table):
                if not all(part.isidentifier() for part in name.split(".")):
                    refuse(table, BadInput(f"name '{name}' must be letters, digits and underscores, as in 'damper1'."))
        return self

    @model_validator(mode="after")
    def _axes(self) -> Self:
        used = set()
        for name, site in self.sites.items():
            for role, spec in site.transfer.items():
                if not isinstance(spec, AxisSpec):
                    continue
                where = f"sites.{name}.transfer.{role}"
                if spec.coupled not in self.couplings:
                    refuse(f"{where}.coupled", UnknownName("coupling", spec.coupled, self.couplings))
                block = self.couplings[spec.coupled]
                if block.role not in (None, role) and role != "compensator":  # a plant may undo another
                    said = f"'{spec.coupled}' is for the role {block.role}, not {role}."
                    refuse(f"{where}.coupled", BadInput(f"{said} Write it as transfer.{block.role}."))
                used.add(spec.coupled)
        for name, block in self.couplings.items():
            if isinstance(block, AxisSpec):
                refuse(f"couplings.{name}", BadInput("an axis stands at a site; give the block itself, with a law."))
            if name not in used and self.sites:
                advice = f'transfer.actuator = {{ coupled = "{name}", axis = 1 }}'
                refuse(f"couplings.{name}", BadInput(f"stands at no site. Give its axes to sites: {advice}."))
        return self

    @model_validator(mode="after")
    def _commands(self) -> Self:
        """Every controller commands sites that are there, whose devices obey, and that no other commands."""
        taken: dict[str, str] = {}
        for name, spec in self.controllers.items():
            where = f"controllers.{name}"
            if name in self.sites or name in self.blocks:
                refuse(where, BadInput("a site or a block has this name too; give the controller another."))
            for site in spec.commands:
                key = f"{where}.{'site' if hasattr(spec, 'site') else 'sites'}"
                if site not in self.sites:
                    refuse(key, UnknownName("site", site, self.sites))
                if site in taken:
                    refuse(key, BadInput(f"'{site}' is commanded by '{taken[site]}' already; give it one controller."))
                taken[site] = name
                try:
                    command = command_at(self.sites[site].device)
                except BadInput as error:
                    refuse(key, error)
                try:
                    spec.level_at(command)
                except BadInput as error:
                    refuse(f"{where}.level", error)
        return self

    @model_validator(mode="after")
    def _interlocked(self) -> Self:
        check_interlocks(self.sites, self.integrator.dt / self.integrator.substeps, self.safety.within)
        return self

    @model_validator(mode="after")
    def _heard(self) -> Self:
        check_hearing(self.sites)
        return self

    @model_validator(mode="after")
    def _leaders(self) -> Self:
        for name, site in self.sites.items():
            fallback, twin = (getattr(site.trust, key, None) for key in ("fallback", "twin"))
            for where, follows in (
                ("follows", site.follows),
                ("trust.fallback.follows", getattr(fallback, "follows", None)),
                ("trust.twin.follows", getattr(twin, "follows", None)),
            ):
                if follows is not None:
                    self._check_leader(f"sites.{name}.{where}", follows)
            at = getattr(twin, "at", None)
            if at is not None and at not in self.sites:
                refuse(f"sites.{name}.trust.twin.at", UnknownName("site", at, self.sites))
        return self

    def _check_leader(self, where: str, follows: str) -> None:
        followed, leader = [key for key, other in self.sites.items() if other.model], self.sites.get(follows)
        if leader is None:
            refuse(where, UnknownName("site", follows, followed))
        if not leader.physical:
            refuse(where, BadInput(f"site '{follows}' is not physical, so nothing is measured there."))
        if leader.model is None:
            refuse(where, BadInput(f"site '{follows}' has no model; add a table sites.{follows}.model."))
