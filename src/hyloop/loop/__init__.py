"""The loop: sites, runs, live steps, snapshots and ensembles."""

from hyloop.loop.coupled import Axis, Coupled
from hyloop.loop.derived import Derived
from hyloop.loop.ensemble import run_ensemble
from hyloop.loop.limits import Drift, Limits
from hyloop.loop.loop import Loop
from hyloop.loop.observed import observed, unobserved
from hyloop.loop.paced import PacedRun, Timing
from hyloop.loop.realtime import Pacing
from hyloop.loop.site import FreeBlock, Guard, Site
from hyloop.loop.snapshot import Snapshot

__all__ = [
    "Axis",
    "Coupled",
    "Derived",
    "Drift",
    "FreeBlock",
    "Guard",
    "Limits",
    "Loop",
    "PacedRun",
    "Pacing",
    "Site",
    "Snapshot",
    "Timing",
    "observed",
    "run_ensemble",
    "unobserved",
]
