"""Identified laws in an experiment: how far a run went beyond the tests they were fitted to."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from hyloop.files.law_file import SIGNALS, IdentifiedLaw, shown_quantity
from hyloop.files.schema import Experiment
from hyloop.loop import Loop, Site
from hyloop.record import Recording
from hyloop.study.rigs import RigRanges

__all__ = ["LawRanges", "without"]

MARGIN = 0.05  # of the width of a range: two runs of one test differ by less than that, so it is no news
_DIGITS = 3


class LawRanges:
    """Watches the devices whose law was identified, and says where they left the ranges of its tests.

    Between two steps a site moves on a straight line, so that the rows of the steps hold what it reached.

    Attributes
    ----------
    extra : list of str
        Channels it needs that are not among those that are recorded.
    """

    def __init__(self, experiment: Experiment, loop: Loop, recorded: Sequence[str]) -> None:
        self._laws = {site.name: law for site in loop.sites if (law := _identified(experiment, site.name)) is not None}
        sites = {site.name: site for site in loop.sites}
        self._channels = {
            (name, key): _read_by_device(sites[name], key) for name, law in self._laws.items() for key in law.ranges
        }
        self._reached = {place: (np.inf, -np.inf) for place in self._channels}
        self._rigs = RigRanges(experiment, loop)
        self.extra = sorted({*self._channels.values(), *self._rigs.channels.values()} - set(recorded))

    def see(self, piece: Recording) -> None:
        """Take note of a piece of the run."""
        self._rigs.see(piece)
        for place, channel in self._channels.items():
            low, high = self._reached[place]
            signal = piece[channel]
            self._reached[place] = (float(signal.min(initial=low)), float(signal.max(initial=high)))

    def kept(self) -> dict[str, np.ndarray]:
        """What was reached, for a run that goes on elsewhere."""
        return {"reached": np.array(list(self._reached.values())).reshape(-1, 2), **self._rigs.kept()}

    def take_back(self, kept: Mapping[str, np.ndarray]) -> None:
        """Go on from there."""
        for place, (low, high) in zip(self._reached, kept["reached"], strict=True):
            self._reached[place] = (float(low), float(high))
        self._rigs.take_back(kept)

    def without_extra(self, piece: Recording) -> Recording:
        """The piece without the channels that were recorded for this only."""
        return without(piece, self.extra)

    def notes(self) -> list[str]:
        """One sentence for each site that went beyond the tests of its law, or of its rig."""
        notes = self._rigs.notes()
        for name, law in self._laws.items():
            beyond = [
                f"{key} ran from {_span(self._reached[name, key], key)}, in the tests from {_span(tested, key)}"
                for key, tested in law.ranges.items()
                if _leaves(tested, self._reached[name, key])
            ]
            if beyond:
                notes.append(
                    f"{name}: the device was outside the range of the tests behind {Path(law.path).name} "
                    f"({'; '.join(beyond)}); what the law answers there was never measured"
                )
        return notes


def without(piece: Recording, extra: Sequence[str]) -> Recording:
    """The piece without some channels."""
    if not extra:
        return piece
    gone = set(extra)
    kept = [k for k, name in enumerate(piece.names) if name not in gone]
    names, units = (tuple(texts[k] for k in kept) for texts in (piece.names, piece.units))
    return replace(piece, data=piece.data[:, kept], names=names, units=units)


def _identified(experiment: Experiment, name: str) -> IdentifiedLaw | None:
    """The law from a file at a site, or of the model that stands there."""
    site = experiment.sites[name]
    device = site.device
    if site.follows is not None:
        device = getattr(experiment.sites[site.follows].model, "device", None)
    return None if device is None else device.file


def _read_by_device(site: Site, key: str) -> str:
    """Channel of a signal as the device has it, behind its transfer system."""
    return site.wiring.get(key, f"{site.name}.f") if key == "f" else site.felt(key)


def _leaves(tested: tuple[float, float], reached: tuple[float, float]) -> bool:
    room = MARGIN * (tested[1] - tested[0])
    return reached[0] < tested[0] - room or reached[1] > tested[1] + room


def _span(ends: tuple[float, float], key: str) -> str:
    return " to ".join(str(shown_quantity(end, SIGNALS[key], _DIGITS)) for end in ends)
