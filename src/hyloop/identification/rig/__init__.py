"""Identification of a rig: what an actuator makes of its command."""

from hyloop.identification.rig.model import Structure
from hyloop.identification.rig.result import Interval, Rig
from hyloop.identification.rig.rig import identify_rig
from hyloop.identification.rig.spectra import Response

__all__ = ["Interval", "Response", "Rig", "Structure", "identify_rig"]
