"""Every error hyloop raises, in one tree.

::

    HyloopError
    ├── BadInput (also a ValueError)   refused before anything runs
    │   ├── UnknownName                a misspelt parameter, channel, site or law; names the nearest one
    │   ├── OutOfBounds                a parameter or setting outside its allowed range
    │   ├── BadShape                   an array of the wrong shape, asymmetric, or not finite
    │   └── UnstableStep               the time step exceeds the stability limit of the method
    ├── DownloadFailed                 a published file could not be had, or is not the published one
    └── RunFailed                      a run stopped: it diverged, or a limit was passed

Messages say where, what was given, what is allowed and what to do. Nothing raises from inside a time
step: kernels return status codes and `hyloop.loop.Loop` turns them into `RunFailed`.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

__all__ = [
    "BadInput",
    "BadShape",
    "DownloadFailed",
    "HyloopError",
    "HyloopWarning",
    "OutOfBounds",
    "RunFailed",
    "UnknownName",
    "UnstableStep",
]


class HyloopError(Exception):
    """Base class of all errors raised by hyloop."""


class HyloopWarning(UserWarning):
    """Something that a run goes on without; the command line shows it as a sentence."""


class BadInput(HyloopError, ValueError):
    """Something given by the user was refused before anything ran."""


class UnknownName(BadInput):
    """A name that does not exist; the message suggests the nearest one."""

    def __init__(self, kind: str, given: str, allowed: Iterable[str], where: str = "") -> None:
        names = sorted(allowed)
        near = _nearest(str(given), names)
        hint = f" Did you mean '{near}'?" if near else ""
        shown = ", ".join(names[:40]) + (", ..." if len(names) > 40 else "")
        prefix = f"{where}: " if where else ""
        super().__init__(f"{prefix}unknown {kind} '{given}'.{hint} Allowed: {shown or 'none'}.")


def _nearest(given: str, names: list[str]) -> str:
    """The same name in other letters, else one that is like it; of ``damper1.K`` the last part counts."""
    same = [name for name in names if name.lower() == given.lower()]
    beside = [name for name in names if "." in given and name.rpartition(".")[0] == given.rpartition(".")[0]]
    likely = same or get_close_matches(given, names, n=1, cutoff=0.5)
    if beside and not same:  # a long common beginning says nothing
        last = {name.rpartition(".")[2]: name for name in beside}
        likely = [last[key] for key in get_close_matches(given.rpartition(".")[2], last, n=1, cutoff=0.5)]
    return likely[0] if likely else ""


class OutOfBounds(BadInput):
    """A parameter or setting outside its allowed range."""


class BadShape(BadInput):
    """An array of the wrong shape, asymmetric where it must not be, or not finite."""


class UnstableStep(BadInput):
    """The time step exceeds the stability limit of a conditionally stable method."""


class DownloadFailed(HyloopError):
    """A published file could not be downloaded, or what came is not the published file."""


class RunFailed(HyloopError):
    """A run stopped early.

    Attributes
    ----------
    step : int
        Index of the step that failed (the first step is 1).
    reason : str
        ``"non-finite"``, ``"limit"``, ``"displacement"``, ``"energy"``, ``"drift"``, ``"imbalance"``,
        ``"not converged"``, ``"overrun"``, ``"called off"`` or ``"interlock"``.
    where : str
        The site, drift or degree of freedom concerned; empty where there is none.
    result : Recording
        What was recorded until then, the failing step included.
    """

    def __init__(self, message: str, step: int, reason: str, where: str, result: Any) -> None:
        super().__init__(message)
        self.step, self.reason, self.where, self.result = step, reason, where, result
