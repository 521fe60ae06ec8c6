"""Controllers of devices that obey a command: blocks that hear what is measured and overwrite the command."""

from hyloop.control.clipped import clipped_optimal
from hyloop.control.lqg import Lqg, Weights, design_lqg
from hyloop.control.passive import passive_off, passive_on
from hyloop.control.skyhook import skyhook

__all__ = ["Lqg", "Weights", "clipped_optimal", "design_lqg", "passive_off", "passive_on", "skyhook"]
