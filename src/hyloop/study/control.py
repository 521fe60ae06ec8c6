"""Controllers of an experiment: the sites with their commands, and the blocks that give them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hyloop.control import clipped_optimal, passive_off, passive_on, skyhook
from hyloop.devices.commands import COMMANDS, command_of
from hyloop.errors import BadInput
from hyloop.files.controllers import ClippedOptimal, PassiveOff, PassiveOn, Skyhook
from hyloop.files.schema import Experiment
from hyloop.loop import FreeBlock, Site
from hyloop.structure import Structure

__all__ = ["controlled", "described_controllers"]

_SHARE = 0.25  # of the controller rate, the largest cut-off: nearer to half of it differences are noise alone


def controlled(
    experiment: Experiment, name: str, structure: Structure, sites: Sequence[Site]
) -> tuple[list[Site], list[FreeBlock]]:
    """The sites under one controller, and its blocks. A commanded device begins at no command."""
    spec, integrator = experiment.controllers[name], experiment.integrator
    own = {key: next(site for site in sites if site.name == key) for key in spec.commands}
    levels = {key: spec.level_at(command_of(site.device)) for key, site in own.items()}
    level, site = next(iter(levels.values())), next(iter(own.values()))
    seed = int(np.random.SeedSequence(experiment.seed, spawn_key=tuple(name.encode())).generate_state(1)[0])
    begun = {key: passive_off(one) for key, one in own.items()}
    blocks: list[FreeBlock] = []
    if isinstance(spec, PassiveOn):
        begun = {site.name: passive_on(site, level)}
    elif isinstance(spec, Skyhook):
        most = _SHARE * integrator.substeps / integrator.dt
        if spec.cutoff > most:
            raise BadInput(
                f"cutoff: {spec.cutoff:g} Hz is more than a quarter of the controller rate; at most {most:g}."
            )
        options = {key: getattr(spec, key) for key in ("at", "full", "lowest", "cutoff", "noise")}
        blocks = skyhook(name, structure, site, level=level, seed=seed, **options)
    elif isinstance(spec, ClippedOptimal):
        # what obeys a command is soft but for a moment, so that its initial stiffness would mislead
        rest = [s for s in sites if s.name not in own and s.device.block.name not in COMMANDS]
        keys = ("drift", "acceleration", "force", "measured", "ground", "noise", "noise_d", "full")
        options = {key: getattr(spec, key) for key in keys}
        steps = {"dt": integrator.dt, "substeps": integrator.substeps}
        blocks = clipped_optimal(
            name, structure, list(own.values()), others=rest, level=level, seed=seed, **steps, **options
        )
    else:
        assert isinstance(spec, PassiveOff)
    return [begun.get(site.name, site) for site in sites], blocks


def described_controllers(experiment: Experiment, sites: Sequence[Site]) -> dict[str, Any]:
    """What a recording keeps of its controllers: kind, and of every site the channel and the largest command."""
    found = {}
    for name, spec in experiment.controllers.items():
        commands = {site.name: command_of(site.device) for site in sites if site.name in spec.commands}
        found[name] = {
            "kind": spec.kind,
            "sites": {key: {"command": f"{key}.{c.param}", "most": c.most} for key, c in commands.items()},
        }
    return found
