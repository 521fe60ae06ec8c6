"""Monitors of an experiment: the sites with their guards, and the blocks that run beside the models."""

from collections.abc import Sequence
from typing import Any

from hyloop.errors import BadInput
from hyloop.files.schema import Experiment
from hyloop.files.trust import FallbackSpec
from hyloop.loop import FreeBlock, Loop, Site
from hyloop.study.following import followed_model, listening_cutoff
from hyloop.transfer.kinematics import CUTOFF
from hyloop.trust import Beside, trusted

__all__ = ["check_channels", "described_trust", "fallback_notes", "monitored"]


def monitored(
    experiment: Experiment, name: str, sites: Sequence[Site]
) -> tuple[list[Site], list[FreeBlock], list[FreeBlock]]:
    """The sites, one of them with its monitor, and blocks that stand before all updaters and behind all blocks."""
    spec, named = experiment.sites[name], {site.name: site for site in sites}
    trust = spec.trust
    if trust is None:
        return list(sites), [], []
    network = spec.device.network if spec.device is not None else None
    twin, at = None, trust.twin.place if trust.twin is not None else spec.follows
    if at is not None:
        cutoff = listening_cutoff(experiment, at)
        if trust.twin is not None:
            twin = _beside(experiment, trust.twin, f"{name}.twin", cutoff)
        else:  # the model itself, with the parameters it has here
            law, shares = followed_model(experiment, at, f"{name}.twin")
            twin = Beside(law, shares=shares, cutoff=cutoff)
    made = trusted(
        named[name],
        trust.make_band(network),
        trust.watch,
        networks=[] if network is None else [network, *spec.networks],
        fallback=None if trust.fallback is None else _beside(experiment, trust.fallback, f"{name}.backup"),
        twin=twin,
        at=None if at is None else named[at],
        scaled=spec.follows is not None,
        resample=spec.resample,
    )
    sites = [made.site if site.name == name else site for site in sites]
    if spec.follows is not None or getattr(trust.twin, "follows", None) is not None:
        return sites, made.twin, made.blocks
    return sites, [], [*made.twin, *made.blocks]


def _beside(experiment: Experiment, spec: FallbackSpec, name: str, cutoff: float = CUTOFF) -> Beside:
    wiring = getattr(spec, "wiring", {})
    if spec.follows is None:
        return Beside(spec.make(), wiring, cutoff=cutoff)
    law, shares = followed_model(experiment, spec.follows, name)
    return Beside(law, wiring, shares, cutoff)


def check_channels(experiment: Experiment, loop: Loop) -> None:
    """Refuse what runs beside a model and reads a channel in another unit, and a truth that is no force."""
    names = {f"{name}.{role}": name for name in experiment.sites for role in ("twin", "backup")}
    for block in loop.blocks:
        if block.name not in names:
            continue
        for key, channel in block.inputs.items():
            wanted, found = block.block.block.inputs[key], loop.channels[channel]
            if found != wanted:
                raise BadInput(
                    f"sites.{names[block.name]}.trust: {block.name} needs {key} in {wanted}, but channel {channel} is "
                    f"in {found}. Connect a channel in {wanted}."
                )
    for name, spec in experiment.sites.items():
        truth = getattr(spec.trust, "truth", None)
        if truth is not None and loop.channels.get(truth) != "N":
            raise BadInput(f"sites.{name}.trust.truth: '{truth}' is no channel in N.")


def described_trust(experiment: Experiment, sites: Sequence[Site]) -> dict[str, dict[str, Any]]:
    """What a recording keeps of every monitor, so that its page can say what the band was worth."""
    found, named = {}, {site.name: site for site in sites}
    for name, spec in experiment.sites.items():
        if spec.trust is None or name not in named:
            continue
        network = spec.device.network if spec.device is not None else None
        band = spec.trust.make_band(network)
        found[name] = {"coverage": band.coverage, "capacity": spec.trust.capacity, "limit": spec.trust.limit}
        if spec.follows is not None:
            found[name] |= {"heard": named[spec.follows].measured["f"], "twin": f"{name}.twin.f"}
            found[name] |= {"band": band.as_json(), "window": spec.trust.window}
        if spec.trust.truth is not None:
            found[name]["truth"] = spec.trust.truth
        if spec.trust.fallback is not None:
            fallback = spec.trust.fallback
            found[name]["fallback"] = f"model of {fallback.follows}" if fallback.follows else fallback.name or "network"
    return found


def fallback_notes(loop: Loop) -> list[str]:
    """What to know of models that were not trusted all the time, now that a run is over."""
    notes = []
    for channel in loop.channels:
        name, _, output = channel.rpartition(".")
        if output == "fallback_ticks" and (ticks := int(loop[channel])):
            share = 100.0 * ticks * loop.dt / loop.substeps / max(loop["t"], loop.dt)
            notes.append(
                f"{name}: in {ticks} controller ticks ({share:.2g} %) the model was not trusted and its fallback had a "
                "share in the force"
            )
    return notes
