"""What a run amounts to: peaks and ends of the derived channels, story by story and as a whole."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hyloop.record import Recording
from hyloop.report.display import site_names

__all__ = ["DeviceResponse", "Response", "StoryResponse", "device_channels", "respond", "story_numbers"]


@dataclass(frozen=True)
class StoryResponse:
    """Peaks of one story, SI units; None where a channel is not there."""

    story: int
    drift: float
    drift_ratio: float | None
    residual: float
    acceleration: float | None


@dataclass(frozen=True)
class DeviceResponse:
    """Peaks of one device of a site, and the energy it has taken in J; None where it is not known."""

    site: str
    deformation: float
    force: float
    energy: float | None
    count: float | None

    @property
    def energy_of_all(self) -> float | None:
        """Energy of all equal devices of the site."""
        return None if self.count is None or self.energy is None else self.count * self.energy


@dataclass(frozen=True)
class Response:
    """Peaks of a run. Residual: drift at the end of the recording. Energies: at the end, in J."""

    stories: tuple[StoryResponse, ...]
    devices: tuple[DeviceResponse, ...]
    base_shears: dict[str, float]
    energies: dict[str, float]

    @property
    def worst(self) -> StoryResponse | None:
        """The story with the largest drift ratio, or the largest drift where heights are not known."""
        if not self.stories:
            return None
        return max(self.stories, key=lambda s: s.drift if s.drift_ratio is None else s.drift_ratio)

    @property
    def acceleration(self) -> float | None:
        """Largest absolute acceleration of a floor."""
        return max((s.acceleration for s in self.stories if s.acceleration is not None), default=None)

    @property
    def share(self) -> float | None:
        """Part of the energy put in that the devices have taken."""
        put_in = self.energies.get("input", 0.0)
        return self.energies["devices"] / put_in if put_in > 0.0 and self.devices else None

    @property
    def base_shear(self) -> float | None:
        """The largest of all directions, N."""
        return max(self.base_shears.values(), default=None)

    def as_dict(self) -> dict[str, Any]:
        """For a machine, in SI units."""
        return {
            "stories": [vars(story) for story in self.stories],
            "devices": [{**vars(device), "energy_of_all": device.energy_of_all} for device in self.devices],
            "peak_base_shear": self.base_shear,
            "peak_base_shears": self.base_shears,
            "peak_acceleration": self.acceleration,
            "energy": self.energies,
        }


def story_numbers(recording: Recording) -> list[int]:
    """Stories whose drift is recorded, from the first on without a gap."""
    numbers = {int(name[6:]) for name in recording.names if name.startswith("drift.") and name[6:].isdigit()}
    return [k for k in sorted(numbers) if set(range(1, k)) <= numbers]


def respond(recording: Recording) -> Response:
    """Peaks, residuals and energies of a recording; what its channels do not give is left out."""
    names = set(recording.names)
    floors = (recording.attributes.get("building") or {}).get("floors") or []
    stories = []
    for k in story_numbers(recording):
        drift = _finite(recording, f"drift.{k}")
        ratio = _peak(recording, f"drift_ratio.{k}") if f"drift_ratio.{k}" in names else None
        at = f"a_abs.{floors[k - 1]}" if k <= len(floors) else ""
        acceleration = _peak(recording, at) if at in names else None
        residual = float(drift[-1]) if len(drift) else 0.0
        stories.append(StoryResponse(k, float(np.abs(drift).max(initial=0.0)), ratio, residual, acceleration))
    parts = ((name, *name.partition(".")) for name in recording.names)
    shears = {direction: _peak(recording, name) for name, word, _, direction in parts if word == "base_shear"}
    energies = {}
    for name in recording.names:
        if name.startswith("energy.") and len(values := _finite(recording, name)):
            energies[name.removeprefix("energy.")] = float(values[-1])
    return Response(tuple(stories), _devices(recording), shears, energies)


def device_channels(recording: Recording, site: str) -> tuple[str, str] | None:
    """Deformation and force of a device itself, behind its transfer system; None where they are not recorded."""
    own = ((recording.attributes.get("building") or {}).get("devices") or {}).get(site) or {}
    names = own.get("d", f"{site}.d"), own.get("f", f"{site}.f")
    return names if set(names) <= set(recording.names) else None


def _devices(recording: Recording) -> tuple[DeviceResponse, ...]:
    """Peaks of what each device itself does, behind its transfer system."""
    found, counts = [], recording.attributes.get("counts") or {}
    own = (recording.attributes.get("building") or {}).get("devices") or {}
    for site in site_names({"": recording}):
        channels = own.get(site) or {}
        d, f = channels.get("d", f"{site}.d"), channels.get("f", f"{site}.f")
        known = d in recording.names  # behind an actuator the deformation is another than that of the site
        loop = np.column_stack([recording[f], recording[d if known else f"{site}.d"]])
        with np.errstate(over="ignore", invalid="ignore"):  # of a run that diverged
            taken = float(np.trapezoid(*loop[np.isfinite(loop).all(axis=1)].T)) if known else None
        peaks = _peak(recording, d if known else f"{site}.d"), _peak(recording, f)
        found.append(DeviceResponse(site, *peaks, taken, counts.get(site)))
    return tuple(found)


def _finite(recording: Recording, channel: str) -> np.ndarray:
    values = recording[channel]
    return values[np.isfinite(values)]


def _peak(recording: Recording, channel: str) -> float:
    return float(np.abs(_finite(recording, channel)).max(initial=0.0))
