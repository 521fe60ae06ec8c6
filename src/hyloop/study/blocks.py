"""Blocks of an experiment: what its tables of devices and transfer systems mean, with everything random drawn."""

from dataclasses import replace
from typing import Any

import numpy as np

from hyloop.core import Instance
from hyloop.devices.specimens import SPECIMENS
from hyloop.files.laws import DeviceSpec
from hyloop.files.schema import Experiment

__all__ = ["device_block", "transfer_block"]


def transfer_block(spec: Any, name: str, experiment: Experiment) -> Instance:
    """A block of a transfer system, at the rate of the controller."""
    made = device_block(spec, name, experiment.seed) if isinstance(spec, DeviceSpec) else spec.make()
    if isinstance(spec, DeviceSpec) and "seed" in made.params and "seed" not in spec.params:
        # every instrument has noise of its own; a seed that is given counts as it stands
        made = replace(made, params={**made.params, "seed": float(_stream(name, experiment.seed).integers(2**52))})
    made.check_fit(experiment.integrator.dt / experiment.integrator.substeps)
    return made


def device_block(spec: DeviceSpec, name: str, seed: int) -> Instance:
    """A device, drawn at random where the table says so."""
    if not spec.draw:
        return spec.make()
    return SPECIMENS[spec.name].draw(_stream(name, seed), **spec.params)


def _stream(name: str, seed: int) -> np.random.Generator:
    """Random numbers that hang on the name, so that adding a site changes no other."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=tuple(name.encode())))
