"""From sites and blocks with names to channels and connections."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hyloop.core import Block, Instance, Layout
from hyloop.core.tick import check_tick
from hyloop.errors import BadInput, BadShape, UnknownName
from hyloop.loop.chains import coupled_blocks, place_sites
from hyloop.loop.site import STOP, FreeBlock, Site
from hyloop.structure import Structure, Watched

__all__ = ["Connection", "Wiring", "check_ticks", "placed", "shared_advice", "wire"]

_ROTATIONS = ("rx", "ry", "rz")  # how names of rotations end, such as A1.rz


class Wiring(NamedTuple):
    """Everything about names and connections: what the kernel needs as indices."""

    layout: Layout
    instances: list[Instance]
    inputs: list[list[int]]
    outputs: list[list[int]]
    p_start: list[int]
    site_signal: list[list[int]]  # positions of d, v, a and the force of every site
    values: np.ndarray  # initial values of the bus
    response: int
    imbalance: int  # zero: no member of the structure has one
    watched: Sequence[Watched]
    first_watched: int  # their place on the bus
    shared: dict[str, str]  # parameter a site does not have for itself, and the channel that stands for it
    places: list[str]  # what the channels of every block begin with
    physical: int  # how many blocks, the first ones, belong to physical sites


class Connection(NamedTuple):
    """A block of a loop, and the channels of its inputs and outputs."""

    instance: Instance
    inputs: dict[str, str]
    outputs: dict[str, str]


def wire(
    structure: Structure, sites: Sequence[Site], blocks: Sequence[FreeBlock], watched: Sequence[Watched] = ()
) -> Wiring:
    """Name every channel, then connect every block."""
    layout, values, shared = Layout(), {}, _shared(sites, blocks)
    layout.add("t", "s")
    _add_excitation(layout, structure)
    response = len(layout)
    for symbol, rate in (("u", ""), ("v", "/s"), ("a", "/s2")):
        for name in structure.names:
            length = "rad" if name.rpartition(".")[2] in _ROTATIONS else "m"
            layout.add(f"{symbol}.{name}", length + rate)
    imbalance = len(layout) if any(group.imbalance >= 0 for group in structure.elements) else 0
    if imbalance:
        layout.add("imbalance", "-")
    first_watched = len(layout)
    for one in watched:
        layout.add(one.name, one.unit)

    if any("interlock" in site.transfer for site in sites):
        layout.add(STOP, "-")
    for site in sites:
        if len(site.along) != structure.n:
            raise BadShape(f"site {site.name}: along has {len(site.along)} entries, the structure {structure.n}.")
        for symbol, unit in (("d", "m"), ("v", "m/s"), ("a", "m/s2")):
            layout.add(f"{site.name}.{symbol}", unit)
        for role, instance in site.chain.items():
            own = role != "device" or site.shares is None
            for key, channel in site.renamed(role).items():
                if channel != STOP:
                    layout.add(channel, instance.block.outputs[key])
            _add_block(layout, values, site.prefix(role), instance, site.renamed(role), own)
    for coupled in coupled_blocks(sites):
        _add_block(layout, values, coupled.name, coupled.block, {}, True)
    for free in blocks:
        for key, channel in free.outputs.items():
            if channel in shared:
                raise BadInput(f"{free.name}: output {key} to {channel}: {shared_advice(channel, shared)}")
        _add_block(layout, values, free.name, free.block, free.outputs, free.shares is None)

    instances, inputs, outputs, p_start, places = [], [], [], [], []

    def place(prefix: str, instance: Instance, sources: dict[str, str], targets: dict[str, str]) -> None:
        law = instance.block
        instances.append(instance)
        places.append(prefix)
        inputs.append([layout[sources[key]] for key in law.inputs])
        outputs.append([layout[targets.get(key, f"{prefix}.{key}")] for key in law.outputs])
        first = f"{prefix}.{next(iter(law.params))}" if law.params else ""
        p_start.append(layout[shared.get(first, first)] if law.params else 0)

    place_sites([site for site in sites if site.physical], place)
    physical = len(instances)
    for free in blocks:
        place(free.name, free.block, dict(free.inputs), dict(free.outputs))
    place_sites([site for site in sites if not site.physical], place)
    signal = [[layout[c] for c in (f"{s.name}.d", f"{s.name}.v", f"{s.name}.a", s.feedback)] for s in sites]
    bus = np.zeros(len(layout))
    for name, value in values.items():
        bus[layout[name]] = value
    return Wiring(
        layout,
        instances,
        inputs,
        outputs,
        p_start,
        signal,
        bus,
        response,
        imbalance,
        tuple(watched),
        first_watched,
        shared,
        places,
        physical,
    )


def check_ticks(
    structure: Structure, sites: Sequence[Site], blocks: Sequence[FreeBlock], dt: float, substeps: int
) -> None:
    """Refuse blocks that cannot run at this rate, and trained ones that were trained at another."""
    for where, instance in placed(sites, blocks).items():
        law = instance.block
        instance.check_fit(dt / substeps, where)
        check_tick(
            law.name,
            law.tick,
            dt / substeps,
            where,
            "this loop runs its blocks",
            "Set dt and substeps so that dt/substeps is {} s",
        )
    for group in structure.elements:  # members of the structure are asked once in a step
        for law in group.keep:
            if isinstance(law, Block):
                check_tick(law.name, law.tick, dt, group.name, "this loop steps its structure", "Set dt to {} s")


def placed(sites: Sequence[Site], blocks: Sequence[FreeBlock]) -> dict[str, Instance]:
    """Every block of a loop, by what its channels begin with."""
    found = {site.prefix(role): instance for site in sites for role, instance in site.chain.items()}
    return found | {other.name: other.block for other in (*blocks, *coupled_blocks(sites))}


def shared_advice(channel: str, shared: dict[str, str]) -> str:
    """What to do instead of setting a parameter that a site shares."""
    site, leader = channel.rpartition(".")[0], shared[channel].rpartition(".")[0]
    return f"site {site} shares the parameters of {leader}; set {shared[channel]} instead."


def _shared(sites: Sequence[Site], blocks: Sequence[FreeBlock]) -> dict[str, str]:
    """Parameters that sites and blocks share; nothing is copied, both read the same slots of the bus."""
    named: dict[str, tuple[str, Instance, str | None]] = {
        site.name: ("site", site.device, site.shares) for site in sites
    } | {free.name: ("block", free.block, free.shares) for free in blocks}
    shared = {}
    for name, (kind, device, of) in named.items():
        if of is None:
            continue
        where, law = f"{kind} {name}: shares", device.block
        if of not in named or of == name:
            others = [other for other, (other_kind, _, _) in named.items() if other != name and other_kind == "site"]
            raise UnknownName("site", of, others, where=where)
        _, leader, above = named[of]
        if above is not None:
            raise BadInput(
                f"{where} = '{of}', which itself shares with '{above}'. Name a site that has parameters of its own."
            )
        if leader.block is not law:
            raise BadInput(
                f"{where} = '{of}': one device is {law.name}, the other {leader.block.name}. Only devices of one law "
                "can share parameters."
            )
        for key, value in device.params.items():
            if value != leader.params[key]:
                raise BadInput(
                    f"{where} = '{of}': {key} = {value:g} here and {leader.params[key]:g} there. Give both the same "
                    "parameters; those of the other site are used."
                )
            shared[f"{name}.{key}"] = f"{of}.{key}"
    return shared


def _add_excitation(layout: Layout, structure: Structure) -> None:
    directions = structure.influence.shape[1]
    for k, name in enumerate(structure.excitation_names):
        at_rotations = k >= directions and _rotates(structure, k - directions)
        layout.add(name, "m/s2" if k < directions else "N m" if at_rotations else "N")


def _rotates(structure: Structure, load: int) -> bool:
    """Whether a load is a moment: all it acts on turns."""
    acts = np.flatnonzero(structure.loads[:, load])
    return bool(len(acts)) and all(structure.names[int(k)].rpartition(".")[2] in _ROTATIONS for k in acts)


def _add_block(
    layout: Layout, values: dict, prefix: str, instance: Instance, redirected: Any, own_parameters: bool
) -> None:
    law = instance.block
    for key, unit in law.outputs.items():
        if key not in redirected:
            layout.add(f"{prefix}.{key}", unit)
    for key, spec in law.params.items() if own_parameters else ():
        layout.add(f"{prefix}.{key}", spec.unit)
        values[f"{prefix}.{key}"] = instance.params[key]
