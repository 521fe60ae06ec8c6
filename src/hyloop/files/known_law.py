"""The law that is known of a device before today's session: a law file, or the one device of an experiment."""

from pathlib import Path
from typing import NamedTuple

from hyloop.core import Instance
from hyloop.errors import BadInput, UnknownName
from hyloop.files.law_file import KIND, read_law
from hyloop.files.laws import DeviceSpec
from hyloop.files.load import load_experiment
from hyloop.files.toml import read_toml

__all__ = ["KnownLaw", "read_known_law"]


class KnownLaw(NamedTuple):
    """A law with its parameters, its name in the catalogue, and the file that says so."""

    name: str
    law: Instance
    file: Path


def read_known_law(file: str, site: str | None = None) -> KnownLaw:
    """Read a law file, or the device of an experiment file: that of `site` where there are several.

    Of a physical site with a model it is the model: the specimen in the laboratory has no parameters to be read.
    """
    path = Path(file)
    if read_toml(path, " of the law").get("kind") == KIND:
        found = read_law(file)
        return KnownLaw(found.name, found.block(**found.params), path)
    sites = load_experiment(path).sites
    # models that are networks have no device of their own
    devices = {name: getattr(one.model, "device", None) or one.device for name, one in sites.items()}
    devices = {name: device for name, device in devices.items() if device is not None}
    if site is not None and site in devices:
        devices = {site: devices[site]}
    elif len(devices) > 1:
        raise BadInput(f"{file}: has devices at {', '.join(devices)}; which one was tested? Name it with --site.")
    if not devices:
        raise BadInput(f"{file}: has no device. Name a law file (`hyloop identify --save`), or an experiment with one.")
    if site is not None and site in sites and site not in devices:
        raise UnknownName("site with a device of its own", site, devices, where=file)
    name, device = next(iter(devices.items()))
    return KnownLaw(device.name, _made(file, name, device), path)


def _made(file: str, site: str, device: DeviceSpec) -> Instance:
    if device.network is not None:
        raise BadInput(
            f"{file}: the device at {site} is a network, which has no few numbers that a session changes. Calibrate a "
            "law, or train the network again with the new test."
        )
    if device.draw:
        raise BadInput(
            f"{file}: the device at {site} is drawn at random, so there is no value to begin with. Give its "
            "parameters, or save a law with `hyloop identify --save`."
        )
    return device.make()
