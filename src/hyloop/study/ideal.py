"""The same experiment with ideal rigs: specimens feel what the structure wants, forces are the true ones."""

from typing import Any

from hyloop.errors import BadInput
from hyloop.files.laws import DeviceSpec
from hyloop.files.schema import Experiment, SiteSpec
from hyloop.files.transfers import AxisSpec, PlainBlock

__all__ = ["without_rigs"]


def without_rigs(experiment: Experiment) -> Experiment:
    """The experiment without compensators, interlocks, actuators and sensors; specimens with several axes stay.

    Limits that stop a run are lifted, but for those that tell a run that has diverged: the answer is wanted to its end.
    """
    sites = {name: _ideal(name, site) for name, site in experiment.sites.items()}
    used = {block.coupled for s in sites.values() for block in s.transfer.values() if isinstance(block, AxisSpec)}
    couplings = {name: block for name, block in experiment.couplings.items() if name in used}
    limits = experiment.limits.model_copy(update={"max_d": None, "max_f": None, "max_drift": None})
    return experiment.model_copy(update={"sites": sites, "couplings": couplings, "limits": limits})


def _ideal(name: str, site: SiteSpec) -> SiteSpec:
    actuator = site.transfer.get("actuator")
    kept: dict[str, Any] = {role: block for role, block in site.transfer.items() if role == "specimen"}
    changes: dict[str, Any] = {"transfer": kept, "interlock": None, "max_d": None, "max_f": None}
    if site.device is not None and site.device.law == "handed_on" and not kept:
        # the specimen is inside the actuator: its spring takes the place of both
        if not isinstance(actuator, PlainBlock) or "k" not in actuator.block.params:
            raise BadInput(
                f"sites.{name}.device: it hands on a force of its actuator, which has no stiffness k, so that there is "
                "no specimen for an ideal rig. Give the device a law of its own."
            )
        k = actuator.make().params["k"]
        changes["device"] = DeviceSpec.model_validate({"law": "spring", "k": k})
    return site.model_copy(update=changes)
