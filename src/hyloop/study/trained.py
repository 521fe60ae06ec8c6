"""Trained networks in an experiment: what they are connected to, their rate, and the ticks outside their training."""

from hyloop.core.tick import check_tick, same_tick
from hyloop.errors import BadInput
from hyloop.files.schema import Experiment, Integrator, SiteSpec
from hyloop.loop import Loop
from hyloop.neural.resampled import own_tick

__all__ = ["check_networks", "check_rate", "outside_notes"]


def check_rate(site: SiteSpec, integrator: Integrator) -> None:
    """Refuse a network that was trained at another rate than that of the controller, unless it shall be resampled."""
    if site.device is not None and site.device.network is not None and site.resample is None:
        block = site.device.network.block
        check_tick(
            block.name,
            block.tick,
            integrator.dt / integrator.substeps,
            runs="the controller of this experiment ticks",
            remedy="Write integrator.dt and integrator.substeps so that dt/substeps is {} s, "
            'or resample = "hold" at the site',
        )


def check_networks(experiment: Experiment, loop: Loop) -> None:
    """Refuse wiring to channels in another unit than that of the training."""
    for name, site in experiment.sites.items():
        if site.device is None or site.device.network is None:
            continue
        wiring = next(one.wiring for one in loop.sites if one.name == name)  # with what it hears
        for key, channel in wiring.items():
            wanted, found = site.device.block.inputs[key], loop.channels[channel]
            if found != wanted:
                raise BadInput(
                    f"sites.{name}.wiring.{key}: channel {channel} is in {found}, but the network was trained with "
                    f"{key} in {wanted}. Connect a channel in {wanted}."
                )


def outside_notes(loop: Loop) -> list[str]:
    """What to know of networks that met inputs beyond the range of their training, now that a run is over."""
    notes, found = [], loop.connections
    for channel in loop.channels:
        name, _, output = channel.rpartition(".")
        if output == "outside" and (ticks := int(loop[channel])):
            tick = loop.dt / loop.substeps
            own = (own_tick(found[name].instance) if name in found else None) or tick
            share = 100.0 * ticks * own / max(loop["t"], loop.dt)
            what = "controller ticks" if same_tick(own, tick) else "of its samples"
            notes.append(
                f"{name}: in {ticks} {what} ({share:.2g} %) an input was outside the training range "
                "of the network; what it answers there it has never learned"
            )
    return notes
