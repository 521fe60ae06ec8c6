"""hyloop: hybrid simulation of structures with device models that learn while the test runs."""

from hyloop.core import Block, Instance, Param, block, inplace_block
from hyloop.errors import HyloopError
from hyloop.loop import FreeBlock, Limits, Loop, Site, Snapshot, run_ensemble
from hyloop.record import Recording
from hyloop.structure import Structure, shear_frame

__version__ = "0.1.0"

__all__ = [
    "Block",
    "FreeBlock",
    "HyloopError",
    "Instance",
    "Limits",
    "Loop",
    "Param",
    "Recording",
    "Site",
    "Snapshot",
    "Structure",
    "block",
    "inplace_block",
    "run_ensemble",
    "shear_frame",
]
