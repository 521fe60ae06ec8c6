"""hyloop: hybrid simulation of structures with device models that learn while the test runs."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hyloop.core import Block, Instance, Param, block, inplace_block
    from hyloop.errors import HyloopError
    from hyloop.loop import FreeBlock, Limits, Loop, Site, Snapshot, run_ensemble
    from hyloop.record import Recording
    from hyloop.structure import Structure, shear_frame
    from hyloop.study.api import identify, run

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
    "identify",
    "inplace_block",
    "run",
    "run_ensemble",
    "shear_frame",
]

# where each name lives; it is imported when it is first asked for, so that `hyloop --help` need not wait for compilers
_HOMES = {
    "core": ("Block", "Instance", "Param", "block", "inplace_block"),
    "errors": ("HyloopError",),
    "loop": ("FreeBlock", "Limits", "Loop", "Site", "Snapshot", "run_ensemble"),
    "record": ("Recording",),
    "structure": ("Structure", "shear_frame"),
    "study.api": ("identify", "run"),
}
_ROOMS = ("devices", "hazards", "integrators", "learn", "loop", "neural", "record", "report", "structure", "updating")
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"hyloop.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'hyloop' has no attribute '{name}'")
    value = globals()[name] = getattr(import_module(f"hyloop.{_HOME[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})
