"""Files of trained networks that an experiment file names: each is read once, when the experiment is loaded."""

from collections.abc import Collection, Mapping
from typing import Annotated, Any

from pydantic import PlainValidator, ValidationInfo, WithJsonSchema

from hyloop.errors import BadInput
from hyloop.files.fields import refuse
from hyloop.neural import FrozenNetwork, load_network

__all__ = ["NetworkFile", "check_connected", "read_network"]


def read_network(given: Any, info: ValidationInfo) -> FrozenNetwork:
    """The network in a file. Tables that name one file share one network, where they are loaded together."""
    if isinstance(given, FrozenNetwork):
        return given
    if not isinstance(given, str):
        raise BadInput(f"got {given!r}, wanted the name of a file that `hyloop train` or `save` of a network wrote.")
    known = info.context.setdefault("networks", {}) if isinstance(info.context, dict) else {}
    if given not in known:
        known[given] = load_network(given)
    return known[given]


# what stands in the file is its name; what a table has is the network
NetworkFile = Annotated[
    FrozenNetwork,
    PlainValidator(read_network),
    WithJsonSchema(
        {
            "type": ["string", "array"],
            "items": {"type": "string"},
            "description": "File of a trained network, relative to the experiment file; of a site with trust a list.",
        }
    ),
]


def check_connected(
    network: FrozenNetwork, transfer: Mapping[str, str], wiring: Collection[str], hears: bool = False
) -> None:
    """Refuse a network as the device of a site where an input is missing or in another unit, or the force is.

    `transfer` are the signals with units that the transfer system of the site gives. What a site `hears` is connected,
    and looked at, when the experiment is built.
    """
    outputs = {signal.name: signal.unit for signal in network.card.outputs}
    if outputs.get("f") != "N":
        has = ", ".join(f"{key} in {unit}" for key, unit in outputs.items())
        refuse("device.network", BadInput(f"gives {has}; the device of a site must give its force, f in N."))
    given = {"d": "m", "v": "m/s", "a": "m/s2", **transfer}
    for key, unit in network.block.inputs.items():
        if key in wiring:
            continue
        if key not in given and hears:
            continue
        if key not in given:
            advice = (
                f'd, v and a come from the site; say whom it hears, as in hears = "damper1", or name a channel for it, '
                f'as in wiring = {{ {key} = "damper1.f" }}'
            )
            refuse("wiring", BadInput(f"input {key} of the network is not connected. {advice}."))
        if given[key] != unit:
            said = f"was trained with {key} in {unit}, the site gives {given[key]}"
            refuse("device.network", BadInput(f"{said}. Connect a channel in {unit} by wiring, or train in SI units."))
