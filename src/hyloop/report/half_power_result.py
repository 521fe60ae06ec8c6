"""What a half-power test has found."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hyloop.metrics.resonance import HalfPower, ResonanceFit
from hyloop.report.display import readable, short

__all__ = ["HalfPowerTest"]


@dataclass(frozen=True, eq=False)
class HalfPowerTest:
    """A resonance curve and the damping it gives.

    Attributes
    ----------
    title, source : str
        Of the experiment.
    at : dict of degree of freedom to amplitude of the load in N, at rotations in N m
    channel, unit : str
        What was looked at.
    frequency : ndarray, (points,)
        In Hz, rising.
    amplitude : ndarray of complex, (points,)
        Steady amplitude of the channel; its angle is the phase against the load.
    cycles : ndarray of int, (points,)
        Cycles of constant load that were run.
    change : ndarray, (points,)
        Part by which the amplitude still changed over the last cycles.
    band : HalfPower
        Of the amplitude of the channel.
    fit : ResonanceFit
        Of the displacement that belongs to it.
    by_phase : ndarray, (points,)
        Damping at the amplitude of each point (`hyloop.metrics.phase_damping`).
    order : int
        0 for a channel of displacements or forces, 1 of velocities, 2 of accelerations.
    expected : float
        Frequency of the mode in Hz, with the initial stiffness of the devices.
    peak : (channel, wanted, found), optional
        To what the load was scaled.
    notes : tuple of str
    """

    title: str
    source: str
    at: dict[str, float]
    channel: str
    unit: str
    frequency: np.ndarray
    amplitude: np.ndarray
    cycles: np.ndarray
    change: np.ndarray
    band: HalfPower
    fit: ResonanceFit
    by_phase: np.ndarray
    order: int
    expected: float
    peak: tuple[str, float, float] | None = None
    notes: tuple[str, ...] = field(default=())

    def fitted(self, frequencies: np.ndarray) -> np.ndarray:
        """Amplitude of the channel by the fit."""
        return np.abs(self.fit.at(frequencies) * (2j * np.pi * frequencies) ** self.order)

    @property
    def at_peak(self) -> float:
        """Damping at the largest amplitude, from the phase there."""
        return float(self.by_phase[int(np.argmax(np.abs(self.amplitude)))])

    def sentence(self) -> str:
        """The answer."""
        where = " and ".join(self.at)
        band = "is not told by the bandwidth" if np.isnan(self.band.damping) else f"{100 * self.band.damping:.3g} %"
        told = f"{band} by the bandwidth at half power" if np.isfinite(self.band.damping) else band
        return (
            f"The damping of the mode at {short(self.fit.frequency, 4)} Hz, loaded at {where}, is "
            f"{100 * self.fit.damping:.3g} % by the fit of its resonance curve and {told}."
        )

    def as_dict(self) -> dict[str, Any]:
        """For a machine."""

        def plain(value: float) -> float | None:
            return None if np.isnan(value) else float(value)

        return {
            "sentence": self.sentence(),
            "title": self.title,
            "at": self.at,
            "channel": self.channel,
            "unit": self.unit,
            "expected_frequency": plain(self.expected),
            "fit": {"frequency": self.fit.frequency, "damping": self.fit.damping, "error": self.fit.error},
            "damping_at_peak": plain(self.at_peak),
            "half_power": {key: plain(value) for key, value in self.band._asdict().items()},
            "peak": None if self.peak is None else dict(zip(("channel", "wanted", "found"), self.peak, strict=True)),
            "points": [
                {"frequency": float(f), "amplitude": float(abs(z)), "phase": float(np.angle(z)), "cycles": int(n)}
                for f, z, n in zip(self.frequency, self.amplitude, self.cycles, strict=True)
            ],
            "notes": list(self.notes),
        }

    @property
    def shown(self) -> tuple[float, str]:
        """Factor and unit in which the channel is read."""
        return readable(self.unit)
