"""A modelled site with its monitor: the guard in its chain, and the blocks that run beside the model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from hyloop.core import Instance
from hyloop.errors import BadInput
from hyloop.loop import FreeBlock, Guard, Site
from hyloop.neural import FrozenNetwork
from hyloop.neural.resampled import resampled
from hyloop.transfer.kinematics import CUTOFF, kinematics
from hyloop.trust.guard import OUTPUTS, guard
from hyloop.trust.settings import Band, Watch

__all__ = ["Beside", "Trusted", "trusted"]

_MOTION = ("d", "v", "a")


@dataclass(frozen=True, eq=False)
class Beside:
    """A model that runs beside the one at a site: its fallback, or a twin at the measured site.

    Parameters
    ----------
    device : Instance
        A law or a network that gives ``f``.
    wiring : mapping of input to channel
        Inputs that come from elsewhere; d, v and a are those of the site, of a twin those measured (v and a made of the
        measured deformation where no instrument gives them).
    shares : str, optional
        Site or block whose parameters it reads: one that an updater keeps true.
    cutoff : float, optional
        In Hz, of velocity and acceleration that are made of the measured deformation (`hyloop.transfer.kinematics`).
    """

    device: Instance
    wiring: Mapping[str, str] = field(default_factory=dict)
    shares: str | None = None
    cutoff: float = CUTOFF


class Trusted(NamedTuple):
    """A site with its guard, and blocks for the loop.

    `twin` must stand before the updater of the model, where there is one: the band is judged by a force that the model
    has not yet learned from. `blocks` stand behind all others.
    """

    site: Site
    twin: list[FreeBlock]
    blocks: list[FreeBlock]


def trusted(
    site: Site,
    band: Band,
    watch: Watch,
    *,
    networks: Sequence[FrozenNetwork] = (),
    fallback: Beside | Instance | None = None,
    twin: Beside | Instance | None = None,
    at: Site | None = None,
    scaled: bool = False,
    resample: str | None = None,
) -> Trusted:
    """Put a monitor beside the model at a site, with a fallback that takes over where the model is not trusted.

    The site then has the channels ``f`` (what the structure feels), ``f_model``, ``f_low``, ``f_high``, ``trust``,
    ``fallback`` (share of the fallback in the force), ``spread``, ``score`` and ``q``. Without a fallback the force is
    that of the model, whatever it is. What runs beside it hears the motion of the site and what is measured at `at`.

    Parameters
    ----------
    site : Site
        A site with a modelled device and no transfer system.
    band, watch
        How the band is made; what is watched.
    networks : sequence of FrozenNetwork
        The network at the site, first, and others of the same inputs: the force is the mean of all. The ranges of their
        cards are watched, of each input the part that all have in common.
    fallback : Beside or Instance, optional
        Runs in every tick, so that its state is warm.
    twin : Beside or Instance, optional
        A model that does not hear the force it is compared with, driven by what is measured at the site `at`.
    at : Site
        Physical site that the twin stands at.
    scaled : bool
        Whether the residual of the twin counts as much more or less here as the force is larger or smaller than there
        (running root mean squares, within a factor of 3): for a model that follows the device measured there.
    resample : str, optional
        How the device of the site was `hyloop.neural.resampled.resampled`; the other networks then are likewise.
    """
    where = f"site {site.name}: trust"
    if site.physical or site.transfer or site.guard is not None:
        raise BadInput(f"{where} is for a modelled site without transfer system, and one monitor.")
    if (twin is None) != (at is None):
        raise BadInput(f"{where}: a twin needs the site it stands at, and that site a twin.")
    if twin is None and band.twin > 0.0:
        raise BadInput(f"{where}: the band counts the residual of a twin, but there is none. Give a twin, or twin = 0.")
    if band.spread > 0.0 and len(networks) < 2:
        raise BadInput(f"{where}: the band counts the spread of networks, but there is one model. Leave spread out.")
    if band.range > 0.0 and not networks:
        raise BadInput(f"{where}: the band counts the distance from a training range, but there is no network.")
    motion = {key: f"{site.name}.{key}" for key in _MOTION} | dict(site.wiring)
    devices = [n.device() if resample is None else resampled(n.device(), resample) for n in networks]
    others = [_free(f"{site.name}.network{k}", Beside(one), motion) for k, one in enumerate(devices[1:], 2)]
    backup = [] if fallback is None else [_free(f"{site.name}.backup", _beside(fallback), motion, "fallback")]
    ranges = _ranges(site, networks, resample)
    wiring = {f"member{k}": f"{free.name}.f" for k, free in enumerate(others, 2)}
    block = guard(
        band, watch, members=list(wiring), ranges=ranges, backup=bool(backup), twin=twin is not None, scaled=scaled
    )
    wiring |= {key: channel for key, channel in site.wiring.items() if key in ranges}
    if backup:
        wiring["backup"] = f"{backup[0].name}.f"
    watched: list[FreeBlock] = []
    if twin is not None and at is not None:
        watched = _watched(site, at, _beside(twin))
        wiring |= {"twin": f"{site.name}.twin.f", "heard": at.measured["f"]}
    return Trusted(replace(site, guard=Guard(block, wiring)), watched, [*others, *backup])


def _beside(given: Beside | Instance) -> Beside:
    return given if isinstance(given, Beside) else Beside(given)


def _free(name: str, beside: Beside, motion: Mapping[str, str], role: str = "model") -> FreeBlock:
    law, known = beside.device.block, {**motion, **beside.wiring}
    if law.outputs.get("f") != "N":
        raise BadInput(f"{name}: {law.name} gives no force f in N.")
    missing = [key for key in law.inputs if key not in known]
    if missing:
        raise BadInput(
            f"{name}: input {', '.join(missing)} of {law.name} is not connected; known are {', '.join(known)}. Name a "
            "channel for it in wiring."
        )
    inputs = {key: known[key] for key in law.inputs}
    return FreeBlock(name, beside.device, inputs, shares=beside.shares, role=role)


def _watched(site: Site, at: Site, twin: Beside) -> list[FreeBlock]:
    """The twin at the measured site, and before it what makes a velocity there, where it needs one."""
    if not at.physical:
        raise BadInput(
            f"site {site.name}: trust: nothing is measured at '{at.name}'; a twin stands at a physical site."
        )
    measured = {key: channel for key, channel in at.measured.items() if key != "f"} | dict(twin.wiring)
    needed = [key for key in ("v", "a") if key in twin.device.block.inputs and key not in measured]
    derived = {key: f"{site.name}.twin_motion.{key}" for key in needed}
    found = [_free(f"{site.name}.twin", twin, {**measured, **derived})]
    if needed:
        motion = kinematics(cutoff=twin.cutoff)
        found.insert(0, FreeBlock(f"{site.name}.twin_motion", motion, {"d": measured["d"]}, role="ear"))
    return found


def _ranges(site: Site, networks: Sequence[FrozenNetwork], resample: str | None) -> dict[str, tuple[str, float, float]]:
    """Inputs of the networks, each with its unit and the part of its range in training that all have in common."""
    if not networks:
        return {}
    own, there = networks[0].block, site.device.block
    if own is not there if resample is None else (own.name, own.inputs) != (there.name, there.inputs):
        raise BadInput(f"site {site.name}: trust: the first of the networks must be the device of the site.")
    first = networks[0].card.inputs
    for network in networks[1:]:
        if [(s.name, s.unit) for s in network.card.inputs] != [(s.name, s.unit) for s in first]:
            names = " and ".join(", ".join(s.name for s in n.card.inputs) for n in (networks[0], network))
            raise BadInput(
                f"site {site.name}: networks of one site must have the same inputs, in one order; got {names}."
            )
    found = {}
    for k, signal in enumerate(first):
        if signal.name in OUTPUTS or signal.name in ("backup", "twin", "heard", "late"):
            raise BadInput(
                f"site {site.name}: trust: '{signal.name}' is a signal of the monitor; name the input otherwise."
            )
        low, high = (max(n.card.inputs[k].low for n in networks), min(n.card.inputs[k].high for n in networks))
        if not low <= high:
            raise BadInput(
                f"site {site.name}: the networks were trained with {signal.name} in ranges that do not meet."
            )
        found[signal.name] = (signal.unit, low, high)
    return found
