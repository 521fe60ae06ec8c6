"""Histories to learn from, and splits that keep an event on one side."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from hyloop.core.tick import same_tick
from hyloop.errors import BadInput, BadShape, UnknownName

__all__ = ["History", "Split", "leave_one_out", "split"]


@dataclass(frozen=True, eq=False)
class History:
    """One recorded test: what the model hears and what it must say.

    Attributes
    ----------
    name : str
        Of the test.
    event : str
        What caused it, such as an earthquake; tests of one event are never split.
    dt : float
        Sampling interval in s.
    inputs : ndarray, (samples, inputs)
    target : ndarray, (samples, outputs)
    """

    name: str
    event: str
    dt: float
    inputs: np.ndarray
    target: np.ndarray

    def __post_init__(self) -> None:
        for what, values in (("inputs", self.inputs), ("target", self.target)):
            if np.ndim(values) != 2 or 0 in np.shape(values):
                raise BadShape(f"history '{self.name}': {what} must be samples by channels, got {np.shape(values)}.")
            if not np.isfinite(values).all():
                row, column = (int(i) for i in np.argwhere(~np.isfinite(values))[0])
                raise BadInput(
                    f"history '{self.name}': {what} is {values[row, column]} at sample {row}, channel "
                    f"{column}. Repair or cut the record."
                )
        if len(self.inputs) != len(self.target):
            raise BadShape(
                f"history '{self.name}': {len(self.inputs)} samples of inputs and {len(self.target)} of the target."
            )
        if not self.dt > 0.0:
            raise BadInput(f"history '{self.name}': dt = {self.dt} must be above 0.")

    def __len__(self) -> int:
        return len(self.inputs)


@dataclass(frozen=True, eq=False)
class Split:
    """Histories to train on, to stop training by, and to be judged on; all sampled at one rate."""

    train: tuple[History, ...]
    validation: tuple[History, ...]
    test: tuple[History, ...] = ()

    def __post_init__(self) -> None:
        everything = (*self.train, *self.validation, *self.test)
        for history in everything[1:]:
            if not same_tick(history.dt, (first := everything[0]).dt):
                raise BadInput(
                    f"split: '{first.name}' has dt = {first.dt:g} s and '{history.name}' {history.dt:g} s. "
                    "Resample one of them."
                )


def split(
    histories: Sequence[History], validation: Sequence[str] = (), test: Sequence[str] = (), least: int = 2
) -> Split:
    """Split histories by their events.

    Parameters
    ----------
    histories : sequence of History
    validation, test : sequence of str
        Events, in which ``*`` stands for any letters; all others are trained on.
    least : int
        Shortest history allowed, in samples; for truncated training the length of a window.

    Raises
    ------
    BadInput
        For an event that is on two sides or does not exist, the same record under two names on two sides, nothing left
        to train on, histories of different steps or channels, and histories that are too short.
    """
    _alike(histories, least)
    events = dict.fromkeys(history.event for history in histories)
    sides: dict[str, str] = {}
    for side, patterns in (("validation", validation), ("test", test)):
        for pattern in patterns:
            found = [event for event in events if fnmatchcase(event, pattern)]
            if not found:
                raise UnknownName("event", pattern, events, where=f"split, {side}")
            for event in found:
                if sides.setdefault(event, side) != side:
                    raise BadInput(f"split: event '{event}' is for validation and for test. Give it to one of them.")
    parts = {
        side: tuple(history for history in histories if sides.get(history.event, "train") == side)
        for side in ("train", "validation", "test")
    }
    if not parts["train"]:
        raise BadInput(f"split: all events ({', '.join(events)}) are set aside, none is left to train on.")
    _no_copies(parts)
    return Split(**parts)


def leave_one_out(histories: Sequence[History], validation: Sequence[str] = (), least: int = 2) -> Iterator[Split]:
    """Splits with each event as test in turn; those for validation are not tested."""
    kept = dict.fromkeys(e for h in histories if not any(fnmatchcase(e := h.event, p) for p in validation))
    if len(kept) < 2:
        raise BadInput(f"leave_one_out: needs at least two events to train on and to leave out, got {', '.join(kept)}.")
    for event in kept:
        yield split(histories, validation, [event], least)


def _alike(histories: Sequence[History], least: int) -> None:
    if not histories:
        raise BadInput("split: there are no histories.")
    first = histories[0]
    names: set[str] = set()
    for history in histories:
        if history.name in names:
            raise BadInput(f"split: two histories are called '{history.name}'. Name each once.")
        names.add(history.name)
        if len(history) < least:
            raise BadInput(
                f"split: history '{history.name}' has {len(history)} samples, at least {least} are needed. "
                "Leave it out or shorten the window."
            )
        for what in ("inputs", "target"):
            mine, theirs = getattr(history, what).shape[1], getattr(first, what).shape[1]
            if mine != theirs:
                raise BadShape(f"split: '{first.name}' has {theirs} {what} and '{history.name}' {mine}.")


def _no_copies(parts: dict[str, tuple[History, ...]]) -> None:
    """The same record under two names would be learned on one side and judged on the other."""
    seen: dict[str, tuple[str, str]] = {}
    for side, histories in parts.items():
        for history in histories:
            digest = hashlib.sha256(np.ascontiguousarray(history.target, dtype=float).data).hexdigest()
            other, name = seen.setdefault(digest, (side, history.name))
            if other != side:
                raise BadInput(
                    f"split: '{name}' ({other}) and '{history.name}' ({side}) are the same record. Give "
                    "both to one side."
                )
