"""What a run amounts to: peaks and ends of the derived channels, story by story and as a whole."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hyloop.record import Recording

__all__ = ["DeviceResponse", "Response", "StoryResponse", "respond"]


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
    """Peaks of one site, of one device, and the energy it has taken in J; None where the count is not known."""

    site: str
    deformation: float
    force: float
    energy: float
    count: float | None

    @property
    def energy_of_all(self) -> float | None:
        """Energy of all equal devices of the site."""
        return None if self.count is None else self.count * self.energy


@dataclass(frozen=True)
class Response:
    """Peaks of a run. Residual: drift at the end of the recording. Energies: at the end, in J."""

    stories: tuple[StoryResponse, ...]
    devices: tuple[DeviceResponse, ...]
    base_shear: float | None
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

    def as_dict(self) -> dict[str, Any]:
        """For a machine, in SI units."""
        return {
            "stories": [vars(story) for story in self.stories],
            "devices": [{**vars(device), "energy_of_all": device.energy_of_all} for device in self.devices],
            "peak_base_shear": self.base_shear,
            "peak_acceleration": self.acceleration,
            "energy": self.energies,
        }


def respond(recording: Recording) -> Response:
    """Peaks, residuals and energies of a recording; what its channels do not give is left out."""
    names = set(recording.names)
    floors = recording.attributes.get("building", {}).get("floors", [])
    stories = []
    for k in range(1, 1 + sum(name.startswith("drift.") for name in names)):
        drift = _finite(recording, f"drift.{k}")
        ratio = _peak(recording, f"drift_ratio.{k}") if f"drift_ratio.{k}" in names else None
        at = f"a_abs.{floors[k - 1]}" if k <= len(floors) else ""
        acceleration = _peak(recording, at) if at in names else None
        residual = float(drift[-1]) if len(drift) else 0.0
        stories.append(StoryResponse(k, float(np.abs(drift).max(initial=0.0)), ratio, residual, acceleration))
    shears = [_peak(recording, name) for name in recording.names if name.startswith("base_shear")]
    energies = {}
    for name in recording.names:
        if name.startswith("energy.") and len(values := _finite(recording, name)):
            energies[name.removeprefix("energy.")] = float(values[-1])
    return Response(tuple(stories), _devices(recording), max(shears, default=None), energies)


def _devices(recording: Recording) -> tuple[DeviceResponse, ...]:
    found, counts = [], recording.attributes.get("counts", {})
    for name in recording.names:
        site = name.removesuffix(".d")
        if name.endswith(".d") and f"{site}.f" in recording.names:
            loop = np.column_stack([recording[f"{site}.f"], recording[name]])
            with np.errstate(over="ignore", invalid="ignore"):  # of a run that diverged
                taken = float(np.trapezoid(*loop[np.isfinite(loop).all(axis=1)].T))
            peaks = _peak(recording, name), _peak(recording, f"{site}.f")
            found.append(DeviceResponse(site, *peaks, taken, counts.get(site)))
    return tuple(found)


def _finite(recording: Recording, channel: str) -> np.ndarray:
    values = recording[channel]
    return values[np.isfinite(values)]


def _peak(recording: Recording, channel: str) -> float:
    return float(np.abs(_finite(recording, channel)).max(initial=0.0))
