"""Blocks of an experiment: what its tables of devices and transfer systems mean, with everything random drawn."""

from dataclasses import replace
from typing import Any

import numpy as np

from hyloop.core import Instance
from hyloop.devices.specimens import SPECIMENS
from hyloop.errors import UnknownName
from hyloop.files.laws import DeviceSpec
from hyloop.files.schema import Experiment
from hyloop.files.transfer import Made

__all__ = ["device_block", "named_seed", "transfer_block"]


def transfer_block(spec: Any, name: str, experiment: Experiment) -> Instance:
    """A block of a transfer system, at the rate of the controller."""
    dt, substeps = experiment.integrator.dt / experiment.integrator.substeps, experiment.integrator.substeps
    if isinstance(spec, DeviceSpec):
        made = device_block(spec, name, experiment)
    else:
        made = spec.at(dt, substeps) if isinstance(spec, Made) else spec.make()
    if isinstance(spec, DeviceSpec) and "seed" in made.params and "seed" not in spec.params:
        # every instrument has noise of its own; a seed that is given counts as it stands
        made = replace(made, params={**made.params, "seed": float(named_seed(name, experiment.seed))})
    made.check_fit(dt)
    return made


def device_block(spec: DeviceSpec, name: str, experiment: Experiment) -> Instance:
    """A device, drawn at random where the table says so, or a second one of the make that was drawn at a site."""
    if not spec.draw:
        return spec.make()
    specimen, rng = SPECIMENS[spec.name], _stream(name, experiment.seed)
    if spec.draw is True:
        return specimen.draw(rng, **spec.params)
    first = experiment.sites.get(spec.draw)
    if first is None or first.device is None or first.device.draw is not True or first.device.name != spec.name:
        drawn = [key for key, site in experiment.sites.items() if site.device is not None and site.device.draw is True]
        raise UnknownName(f"site where a {spec.name} is drawn", spec.draw, drawn, where="draw")
    return specimen.sibling(rng, device_block(first.device, spec.draw, experiment), **spec.params)


def named_seed(name: str, seed: int) -> int:
    """A seed for what a block draws while it runs."""
    return int(_stream(name, seed).integers(2**52))


def _stream(name: str, seed: int) -> np.random.Generator:
    """Random numbers that hang on the name, so that adding a site changes no other."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=tuple(name.encode())))
