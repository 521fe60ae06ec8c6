"""Identified rigs in an experiment: whether a run asked more of them than the record they were identified from."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from hyloop.files.rig_file import IdentifiedRig
from hyloop.files.schema import Experiment
from hyloop.files.transfers import RigSpec
from hyloop.loop import Loop
from hyloop.record import Recording

__all__ = ["RigRanges"]

MARGIN = 0.05  # of the largest command: two runs of one test differ by less than that, so it is no news
_SHARE = 0.01  # of the power of a command: less beyond the trusted band is no news either


class RigRanges:
    """Watches the commands of identified rigs, and says where they left the range of the record."""

    def __init__(self, experiment: Experiment, loop: Loop) -> None:
        self._rigs: dict[str, IdentifiedRig] = {}
        self.channels: dict[str, str] = {}
        self._seen: dict[str, list[np.ndarray]] = {}
        self._times: list[np.ndarray] = []
        for site in loop.sites:
            spec = experiment.sites[site.name].transfer.get("actuator") if site.name in experiment.sites else None
            if isinstance(spec, RigSpec):
                self._rigs[site.name] = spec.file
                self.channels[site.name] = site.given.get("compensator", {}).get("d", f"{site.name}.d")
                self._seen[site.name] = []

    def see(self, piece: Recording) -> None:
        """Take note of a piece of the run."""
        if self._rigs:
            self._times.append(np.array(piece.time))
        for name, channel in self.channels.items():
            self._seen[name].append(np.array(piece[channel]))

    def kept(self) -> dict[str, np.ndarray]:
        """All that was seen, for a run that goes on elsewhere: frequencies are those of the whole run."""
        parts = {"times": self._times, **{f"seen.{name}": seen for name, seen in self._seen.items()}}
        return {key: np.concatenate(part) for key, part in parts.items() if part}

    def take_back(self, kept: Mapping[str, np.ndarray]) -> None:
        """Go on from there."""
        if self._rigs:
            self._times = [kept["times"]]
        self._seen = {name: [kept[f"seen.{name}"]] for name in self._seen}

    def notes(self) -> list[str]:
        """One sentence for each rig that was asked more than is known of it."""
        notes = []
        for name, rig in self._rigs.items():
            time, command = np.concatenate(self._times), np.concatenate(self._seen[name])
            beyond = [*_too_large(rig, command), *_too_fast(rig, time, command)]
            if beyond:
                notes.append(
                    f"{name}: the rig was outside what is known of it from {Path(rig.path).name} ({'; '.join(beyond)})"
                )
        return notes


def _too_large(rig: IdentifiedRig, command: np.ndarray) -> list[str]:
    largest = float(np.max(np.abs(command), initial=0.0))
    if largest <= (1.0 + MARGIN) * rig.command:
        return []
    return [f"commands reached {1e3 * largest:.3g} mm, in the record {1e3 * rig.command:.3g} mm"]


def _too_fast(rig: IdentifiedRig, time: np.ndarray, command: np.ndarray) -> list[str]:
    """Share of the command's power above the trusted band; what lies below is slow, and the gain at rest holds."""
    if len(command) < 3 or not np.isfinite(command).all():
        return []
    f = np.fft.rfftfreq(len(command), float(np.median(np.diff(time))))
    power = np.abs(np.fft.rfft(command - command.mean())) ** 2
    share = float(power[f > rig.trusted[1]].sum() / power.sum()) if power.sum() > 0.0 else 0.0
    if share <= _SHARE:
        return []
    return [f"{100 * share:.2g} % of the command's power lies above {rig.trusted[1]:.3g} Hz, where its band ends"]
