"""Moment and curvature of the sections that an experiment names, as channels beside those of the loop.

The members are taken through the displacements of the run again, piece by piece (`SectionFollower`): the numbers are
those of the run, and nothing is added to a step.
"""

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

import numpy as np

from hyloop.errors import BadInput
from hyloop.files.schema import Experiment
from hyloop.loop import Loop
from hyloop.record import Recording
from hyloop.structure.frames.section_history import SectionFollower

__all__ = ["SectionWatch", "joined"]

_ENDS = {"i": 0, "j": -1}
_CHANNELS = {"curvature": "1/m", "moment": "N m"}


class SectionWatch:
    """Follows sections through a run.

    Attributes
    ----------
    extra : list of str
        Displacements it needs that are not among the channels that are recorded.
    seconds : float
        Time it has taken, which is none of the loop.
    """

    def __init__(self, experiment: Experiment, loop: Loop, recorded: Sequence[str]) -> None:
        specs = experiment.recording.sections
        self._followers = {}
        for name, spec in specs.items():
            try:
                self._followers[name] = SectionFollower(loop.structure, spec.member, _ENDS[spec.end])
            except BadInput as error:
                error.args = (f"recording.sections.{name}: {error}",)
                raise
        for name in specs:
            taken = [f"{name}.{key}" for key in _CHANNELS if f"{name}.{key}" in loop.channels]
            if taken:
                raise BadInput(f"recording.sections.{name}: {taken[0]} is a channel of the loop; take another name.")
        if specs and experiment.recording.every == "tick" and loop.substeps > 1:
            raise BadInput('recording.sections: members move in steps; say recording.every = "step".')
        self._needed = [f"u.{name}" for name in loop.structure.names] if specs else []
        self.extra = [name for name in self._needed if name not in recorded]
        self.seconds = 0.0

    def columns(self, piece: Recording) -> dict[str, tuple[str, np.ndarray]]:
        """Unit and values by channel, for the next piece of the run, which has all displacements."""
        begin, found = perf_counter(), {}
        u = np.column_stack([piece[name] for name in self._needed]) if self._needed else np.zeros((0, 0))
        for name, follower in self._followers.items():
            felt = follower.follow(u) if len(piece.time) else None
            if felt is not None and felt.force.shape[1] != 2:  # in space a section bends about two axes
                raise BadInput(f"recording.sections.{name}: sections are shown for frames in the plane alone.")
            for key, unit in _CHANNELS.items():
                rows = np.zeros(0) if felt is None else (felt.deformation if key == "curvature" else felt.force)[:, 1]
                found[f"{name}.{key}"] = unit, rows
        self.seconds += perf_counter() - begin
        return found


def joined(piece: Recording, columns: dict[str, tuple[str, np.ndarray]]) -> Recording:
    """A piece with further channels behind its own."""
    if not columns:
        return piece
    return replace(
        piece,
        data=np.column_stack([piece.data, *(values for _, values in columns.values())]),
        names=(*piece.names, *columns),
        units=(*piece.units, *(unit for unit, _ in columns.values())),
    )
