"""Devices in experiment files: a law by its name, an identified law or a trained network by its file."""

from collections.abc import Collection, Mapping
from typing import Annotated, Any

from pydantic import ConfigDict, Field, ValidationInfo, WithJsonSchema, model_validator

from hyloop.core import Block, Instance
from hyloop.devices import LAWS
from hyloop.devices.specimens import SPECIMENS
from hyloop.errors import BadInput, UnknownName
from hyloop.files.fields import Table, refuse
from hyloop.files.law_file import IdentifiedLaw, LawFile, read_law
from hyloop.files.networks import NetworkFile, read_network
from hyloop.files.units import parse_unit, quantity
from hyloop.transfer import handed_on
from hyloop.transfer.saturation import UNLIMITED

__all__ = ["LAWS", "DeviceSpec", "device_text", "law_named", "parameters_text"]


class DeviceSpec(Table):
    """A law, an identified law or a trained network, and its parameters; those not given keep their defaults.

    Those of an identified law have the values of its file. ``hyloop laws`` lists laws and their parameters; a network
    has ``stiffness`` and ``damping``, which are declared to the integration method and do not enter the force.
    """

    model_config = ConfigDict(extra="allow", arbitrary_types_allowed=True)

    law: Annotated[str | None, WithJsonSchema({"type": "string", "enum": sorted([*LAWS, "handed_on"])})] = None
    """Name of the law, such as "bouc_wen"."""
    file: LawFile | None = None
    """Or: file of an identified law (``hyloop identify --save``), relative to the experiment file."""
    network: NetworkFile | None = None
    """Or: file of a trained network, relative to the experiment file."""
    draw: bool | str = False
    """Draw the parameters at random, for laws of virtual specimens; their spreads may then be given too. The name of a
    site makes a second device of the make drawn there, whose friction differs by up to `mismatch`."""
    initial: dict[str, Any] = Field(default_factory=dict)
    """Initial values of state variables."""

    @classmethod
    def laws(cls) -> Mapping[str, Block]:
        """Laws that may stand here, by name; one hands on a force that another block of the site makes."""
        return {**LAWS, "handed_on": handed_on}

    @classmethod
    def names(cls) -> Collection[str]:
        """Names that a message offers."""
        return list(cls.laws())

    @property
    def params(self) -> dict[str, float]:
        """Parameters given here or in the file of the law, in SI units."""
        return {**(self.file.params if self.file else {}), **(self.__pydantic_extra__ or {})}

    @property
    def block(self) -> Block:
        """The law, or the block of the network."""
        return self.network.block if self.network else self.laws()[self.name]

    @property
    def name(self) -> str:
        """Name of the law; empty for a network."""
        return self.file.name if self.file else self.law or ""

    def make(self) -> Instance:
        """The device with its parameters; one that is drawn is made when the experiment is built."""
        given: dict[str, Any] = {"initial": self.initial, **self.params}
        return self.network.device(**given) if self.network else self.block(**given)

    @model_validator(mode="before")
    @classmethod
    def _parameters(cls, given: Any, info: ValidationInfo) -> Any:
        """Look up the law or the network and read every parameter in its unit and bounds."""
        if not isinstance(given, dict):
            return given
        named = [key for key in ("law", "file", "network") if key in given]
        if "follows" in given and "follows" in cls.model_fields:  # the law is that of another table
            own = DeviceSpec.model_fields
            for key in given:
                if key in own or key not in cls.model_fields:
                    refuse(key, BadInput("the model is that of the site that is followed; leave it out."))
            return given
        if len(named) != 1:
            said = (
                f"a {named[0]} is given too; give one of them"
                if named
                else "is missing; give a law, a file or a network"
            )
            refuse(named[-1] if named else "law", BadInput(f"{said}."))
        name = given.get("law")
        if named != ["law"]:
            try:
                reader = read_law(given["file"]) if named == ["file"] else read_network(given["network"], info)
                block, given = reader.block, {**given, named[0]: reader}
                name = reader.name if isinstance(reader, IdentifiedLaw) else None
            except BadInput as error:
                refuse(named[0], error)
        elif not isinstance(given["law"], str):
            return given
        elif given["law"] not in cls.laws():
            refuse("law", UnknownName("law", given["law"], cls.names()))
        else:
            block = cls.laws()[given["law"]]
        draw = given.get("draw") is True or isinstance(given.get("draw"), str)
        if draw and name not in SPECIMENS:
            refuse("draw", BadInput(f"'{block.name}' cannot be drawn at random; only {' and '.join(SPECIMENS)} can."))
        read: dict[str, Any] = {}
        second = draw and given["draw"] is not True
        spreads = {} if not draw else SPECIMENS[str(name)].differs if second else SPECIMENS[str(name)].spreads
        for key, value in given.items():
            if key not in cls.model_fields:
                if second and key not in spreads:
                    like = f"it is as the one of {given['draw']}"
                    refuse(key, BadInput(f"{like}; beside {' and '.join(spreads)} nothing can be given."))
                read[key] = _parameter(block, key, value, spreads)
        if isinstance(initial := given.get("initial", {}), dict):
            if initial and draw:
                refuse("initial", BadInput("a device that is drawn has its initial state drawn too; leave it out."))
            read["initial"] = {key: _state(block, key, value) for key, value in initial.items()}
        return {**given, **read}


def device_text(name: str) -> str:
    """A law as it stands in a file, with the default of every parameter in its unit."""
    return f"device = {{ {parameters_text(name, LAWS[name])} }}"


def parameters_text(name: str, block: Block) -> str:
    """The name of a law and its parameters as they stand in a file; limits that are infinite are left out."""
    words = [f'law = "{name}"']
    for key, param in block.params.items():
        if param.default >= UNLIMITED:
            continue
        try:
            with_unit = parse_unit(param.unit).dimension != parse_unit("-").dimension
        except BadInput:  # a power that depends on a parameter: plain numbers only
            with_unit = False
        short = f"{param.default:g}" if float(f"{param.default:g}") == param.default else repr(param.default)
        words.append(f'{key} = "{short} {param.unit}"' if with_unit else f"{key} = {short}")
    return ", ".join(words)


def law_named(device: Any) -> Block | None:
    """The law that the table of a device names, before it is checked; None where it names none that exists."""
    if not isinstance(device, dict):
        return None
    if "file" in device:
        try:
            return read_law(device["file"]).block
        except BadInput:
            return None
    return LAWS.get(str(device.get("law")))


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
