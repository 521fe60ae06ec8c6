"""What the operating system can do for a loop on the clock, asked for piece by piece; what it refuses is said."""

import ctypes
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass

from hyloop.errors import OutOfBounds, UnknownName

__all__ = ["POLICIES", "Pacing", "lock_memory", "prepare_thread", "unlock_memory"]

POLICIES = ("go on", "hold", "extrapolate", "fall back", "stop")

_TIMER_SLACK = 29  # PR_SET_TIMERSLACK
_CURRENT, _FUTURE = 1, 2  # MCL_CURRENT, MCL_FUTURE


@dataclass(frozen=True)
class Pacing:
    """How a loop keeps its time.

    Parameters
    ----------
    spin : float
        s before the time of a tick from which on the clock is watched without a pause; longer than a wake-up takes.
    allowed : float
        Part of a tick that a tick may begin late before it counts as an overrun.
    overrun : {"go on", "hold", "extrapolate", "fall back", "stop"}
        What a tick that begins later than allowed does. Ticks are made at once until none is late, and physical sites
        are always advanced; the rest is computed as well ("go on"), or keeps its outputs as they are ("hold"), or does
        so while the forces of modelled sites go on along the line through the last two ticks that were computed
        ("extrapolate"), or gives the force of models that have one to their fallback ("fall back"; others are held).
        "stop" ends the run.
    extrapolate_for : float
        s for which forces go on along their line at most; then they are held.
    priority : int
        Real-time priority (SCHED_FIFO, 1 to 99) of the thread of the loop; 0: the usual one.
    core : int, optional
        Processor core for the thread of the loop.
    """

    spin: float = 100e-6
    allowed: float = 0.5
    overrun: str = "go on"
    extrapolate_for: float = 5e-3
    priority: int = 80
    core: int | None = None

    def __post_init__(self) -> None:
        if not 0.0 <= self.spin <= 1.0:
            raise OutOfBounds(f"spin = {self.spin!r} must lie between 0 and 1 s; 100e-6 is usual.")
        if not 0.0 < self.allowed < float("inf"):
            raise OutOfBounds(f"allowed = {self.allowed!r} must be a positive part of a tick, such as 0.5.")
        if self.overrun not in POLICIES:
            raise UnknownName("policy", self.overrun, POLICIES, where="overrun")
        if not 0.0 < self.extrapolate_for < float("inf"):
            raise OutOfBounds(f"extrapolate_for = {self.extrapolate_for!r} must be a positive time in s, such as 5e-3.")
        if self.priority not in range(100):
            raise OutOfBounds(f"priority = {self.priority!r} must be a whole number from 0 (usual) to 99.")
        if self.core is not None and self.core not in range(os.cpu_count() or 1):
            raise OutOfBounds(f"core = {self.core!r}: this machine has the cores 0 to {(os.cpu_count() or 1) - 1}.")


def lock_memory() -> list[str]:
    """Keep all memory of this process in place, now and later; what is refused, in words."""
    if sys.platform != "linux":
        return ["memory is not locked: this system has no way that hyloop knows"]
    import resource

    library = ctypes.CDLL(None, use_errno=True)
    # under a limit, locking all that comes would one day refuse memory to who asks for some
    unlimited = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0] == resource.RLIM_INFINITY
    if library.mlockall(_CURRENT | _FUTURE if unlimited or os.geteuid() == 0 else _CURRENT) == 0:
        return []
    reason = os.strerror(ctypes.get_errno())
    return [f"memory is not locked ({reason}); a tick may wait for a page. Raise memlock in limits.conf"]


def unlock_memory() -> None:
    """Let memory go again."""
    if sys.platform == "linux":
        ctypes.CDLL(None).munlockall()


def prepare_thread(pacing: Pacing) -> list[str]:
    """Prepare the thread that calls this; the priority comes last, so that nothing else runs with it."""
    steps: list[tuple[str, Callable[[], None]]] = [("timers stay coarse", _fine_timers)]
    if pacing.core is not None:
        core = pacing.core
        steps.append((f"the loop is not kept on core {core}", lambda: os.sched_setaffinity(0, {core})))
    if pacing.priority:
        steps.append(("the loop has no real-time priority", lambda: _first_in_first_out(pacing.priority)))
    refused = []
    for what, step in steps:
        try:
            step()
        except (OSError, AttributeError) as error:
            refused.append(f"{what} ({getattr(error, 'strerror', None) or error}); `hyloop doctor` says what to do")
    return refused


def _fine_timers() -> None:
    """Wake-ups of this thread within 1 ns of their time, as far as the system can, instead of 50 µs."""
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(_TIMER_SLACK, ctypes.c_ulong(1), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _first_in_first_out(priority: int) -> None:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
