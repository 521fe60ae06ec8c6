"""Motions that virtual specimens are tested with: harmonics as the laboratory runs them, and earthquakes of a frame.

Earthquakes that the real tests were made of train nothing, not even on virtual specimens: what the frame did under
Duzce, Imperial Valley and Kocaeli is left out, and so are mixtures, whose second record may be one of them.
"""

from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np

from .shared import kept

RATE = 1024  # Hz
REAL_EVENTS = ("Duzce", "Imperial Valley", "Kocaeli")
SECONDS = 20.0  # of a test that are heard and judged
LONGEST_REST = 4.0  # s of stillness before an earthquake
FREQUENCY, AMPLITUDE = (0.1, 2.0), (10e-3, 41e-3)  # Hz, m
FASTEST = 0.3  # m/s: what the actuator reaches
PEAK = (4e-3, 40e-3)  # m, of earthquakes
RAMP, LEAST_CYCLES, MOST_CYCLES = (0.5, 3.0), 6, 12  # cycles


class Earthquake(NamedTuple):
    """Deformation history of one story under one motion."""

    event: str
    d: np.ndarray


def earthquakes(path: Path, side: str) -> list[Earthquake]:
    """Deformations of a side of the split of malik2025, without the events of the real tests."""
    found = []
    with h5py.File(path) as file:
        sides: Any = file[side]
        for group in sides.values():
            names, events = kept._texts(group)
            for name, event, d in zip(names, events, kept._read(group), strict=True):
                if not event.startswith(REAL_EVENTS) and "mixed" not in name:
                    found += [Earthquake(event, d[:, story].astype(np.float32)) for story in range(d.shape[1])]
    return found


def harmonic(rng: np.random.Generator, frequency: float | None = None) -> np.ndarray:
    """A sine that grows over some cycles, holds and dies away, as the laboratory drives it; 20 s at most."""
    f = np.exp(rng.uniform(*np.log(FREQUENCY))) if frequency is None else frequency
    amplitude = min(np.exp(rng.uniform(*np.log(AMPLITUDE))), FASTEST / (2 * np.pi * f)) * rng.choice([-1.0, 1.0])
    cycles, ramp = rng.integers(LEAST_CYCLES, MOST_CYCLES + 1), rng.uniform(*RAMP)
    n = np.arange(round(cycles / f * RATE)) * f / RATE  # cycles so far
    d = amplitude * np.clip(np.minimum(n, cycles - n) / ramp, 0.0, 1.0) * np.sin(2 * np.pi * n)
    return d[: round(SECONDS * RATE)]


def shaken(rng: np.random.Generator, quake: Earthquake, rest: float | None = None) -> np.ndarray:
    """An earthquake with a peak drawn anew, after some stillness (drawn if None); 20 s at most."""
    still = rng.uniform(0.0, LONGEST_REST) if rest is None else rest
    d = quake.d.astype(float) - quake.d[0]
    d /= np.abs(d).max()
    peak = min(np.exp(rng.uniform(*np.log(PEAK))), 1.5 * FASTEST / (np.abs(np.diff(d)).max() * RATE))
    return np.concatenate([np.zeros(round(still * RATE)), peak * d])[: round(SECONDS * RATE)]


def pair(rng: np.random.Generator, quakes: list[Earthquake]) -> tuple[np.ndarray, np.ndarray]:
    """A heard motion and one to be predicted: an earthquake at two levels, two earthquakes, harmonics, one of each."""
    kind, frequency = rng.random(), np.exp(rng.uniform(*np.log(FREQUENCY)))
    one, other = (quakes[int(rng.integers(len(quakes)))] for _ in range(2))
    rest = rng.uniform(0.0, LONGEST_REST)
    if kind < 0.15:  # both levels begin at the same time
        return shaken(rng, one, rest), shaken(rng, one, rest)
    if kind < 0.25:
        return shaken(rng, one), shaken(rng, other)
    if kind < 0.35:
        return shaken(rng, one), harmonic(rng)
    if kind < 0.5:
        return harmonic(rng), shaken(rng, other)
    return harmonic(rng, frequency), harmonic(rng, frequency if kind < 0.6 else None)
