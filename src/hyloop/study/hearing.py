"""Sites that hear measured devices: their inputs connected by names, over the link the file describes."""

from collections.abc import Sequence
from dataclasses import replace

from hyloop.core import Instance
from hyloop.errors import BadInput
from hyloop.files.hearing import AGE, heard_signal
from hyloop.files.schema import Experiment
from hyloop.loop import FreeBlock, Loop, Site, observed, unobserved
from hyloop.study.blocks import named_seed
from hyloop.transfer import difference, link

__all__ = ["check_no_leak", "learns", "listening"]

_LEARNING = ("hyloop.neural.", "hyloop.updating.", "hyloop.transfer.compensators.")  # where blocks learn or filter


def listening(experiment: Experiment, name: str, sites: Sequence[Site]) -> tuple[Site, list[FreeBlock]]:
    """A site with its heard inputs connected, and the blocks they come from, in the order they run.

    Velocities heard are differences of the measured deformation, whatever else there is: a network knows these from
    its training. They are made in the laboratory, before the link, over one sampling interval of the network where it
    runs slower than the controller.
    """
    spec = experiment.sites[name]
    named = {site.name: site for site in sites}
    site = named[name]
    if not spec.hears:
        return site, []
    law, heard = site.device.block, [named[key] for key in spec.hears]
    own = {"d", "v", "a", *spec.wiring, *(key for role, keys in site.given.items() if role != "device" for key in keys)}
    wanted = [key for key in law.inputs if key not in own]
    if not any(key != AGE for key in wanted):
        raise BadInput(
            f"hears: the inputs of the device are {', '.join(law.inputs)}, and none of them is heard. Leave hears out."
        )
    span = _span(experiment, name)
    sources, blocks = {}, []
    for key in wanted:
        if key == AGE:
            continue
        number, signal = heard_signal(key, len(heard))
        leader, shown = heard[number], observed(heard[number])
        if signal == "v":
            ear = f"{leader.name}.heard" if span == 1 else f"{leader.name}.heard{span}"
            blocks.append(FreeBlock(ear, difference(span=float(span)), {"d": shown["d"]}, role="ear"))
            sources[key] = f"{ear}.v"
        elif signal in shown:
            sources[key] = shown[signal]
        else:
            raise BadInput(
                f"hears: input {key} of the device is the signal {signal} of {leader.name}, which no instrument shows "
                f"there. Measured are {', '.join(shown)}, and v follows from d; or name a channel in wiring."
            )
    if AGE in wanted and spec.link is not None and not spec.link.stamped:
        raise BadInput(
            "link.stamped: the network wants the age of what it hears. Say stamped = true, if packets have it."
        )
    if spec.link is not None or AGE in wanted:
        settings = {} if spec.link is None else {key: getattr(spec.link, key) for key in ("delay", "jitter", "loss")}
        seed = None if spec.link is None else spec.link.seed
        seed = named_seed(f"{name}.link", experiment.seed) if seed is None else seed
        way = link({key: law.inputs[key] for key in sources})(seed=float(seed), **settings)
        way.check_fit(experiment.integrator.dt / experiment.integrator.substeps, "link")
        blocks.append(FreeBlock(f"{name}.link", way, sources, role="ear"))
        sources = {key: f"{name}.link.{key}" for key in wanted}
    return replace(site, wiring={**site.wiring, **sources}), blocks


def _span(experiment: Experiment, name: str) -> int:
    """Controller ticks in a sample of the network at a site; 1 where it takes one in every tick, or more."""
    network, integrator = experiment.sites[name].device, experiment.integrator
    tick = network.block.tick if network is not None else None
    return 1 if tick is None else max(1, round(tick * integrator.substeps / integrator.dt))


def learns(instance: Instance) -> bool:
    """Whether a block learns or filters: a trained network, an updater, a compensator."""
    return instance.block.function.__module__.startswith(_LEARNING)


def check_no_leak(loop: Loop) -> None:
    """Refuse a loop in which what learns or filters is fed with more than a test could know."""
    for place, key, channel in unobserved(loop, learns):
        raise BadInput(
            f"{place}: input {key} is connected to {channel}, which no instrument of a test shows. What learns or "
            "filters may hear measured signals of physical sites and commands (d, v, a of any site), and what is made "
            'of them; hears = "damper1" at a site connects the measured ones by name.'
        )
