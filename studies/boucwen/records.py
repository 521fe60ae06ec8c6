"""Records of the benchmark, and own estimation records: multisines of its kind, simulated by the engine with its noise.

Everything a model sees is the force, at a tick finer than the sampling of the benchmark: the force is band-limited, so
that its samples say what it is between them.
"""

from typing import NamedTuple

import numpy as np
from scipy.signal import resample, resample_poly

from hyloop.data import bouc_wen as benchmark
from hyloop.devices import bouc_wen
from hyloop.integrators import central_difference
from hyloop.loop import Loop, Site
from hyloop.structure import Structure

RATE, PERIOD = 750, 8192  # Hz, samples of a multisine
LOW, HIGH, RMS = 5.0, 150.0, 50.0  # Hz, Hz, N
NOISE = 8e-6  # m rms
FINE = 40  # steps of a simulation in a sample: 30 kHz, twice what the benchmark was made with
RUN_IN = 2048  # samples before those that count: transients fall to 1/1000 in them
# published, for own records, the engine and the page: no model is told
MASS, DAMPING, STIFFNESS = 2.0, 10.0, 5e4  # kg, N s/m, N/m
ALPHA, BETA_GAMMA, BETA_DELTA, NU = 5e4, 800.0, -1100.0, 1.0  # N/m, 1/m, 1/m, -
OWN_SEED = 16  # of the first own record


class Seen(NamedTuple):
    """A record at the sampling of the benchmark: force in N, displacement in m; periodic, or from rest."""

    name: str
    u: np.ndarray
    y: np.ndarray
    periodic: bool = True


def published(name) -> Seen:
    """A record of the benchmark; of equal periods their mean, in which noise is smaller."""
    record = benchmark.tests(name)[name]
    u, y = (each.reshape(record.periods, -1).mean(axis=0) for each in (record.u, record.y))
    return Seen(name, u, y, periodic="sinesweep" not in name)


def tests() -> list[Seen]:
    """The official tests that are in the data folder."""
    return [published(name) for name in benchmark.tests("test_*")]


def own(count, first=OWN_SEED) -> list[Seen]:
    """One steady period each of own multisines, with noise."""
    return [_own(first + k) for k in range(count)]


def _own(seed) -> Seen:
    rng = np.random.default_rng(seed)
    fine = multisine(rng)
    before = FINE * RUN_IN
    y = simulated(np.concatenate([fine[-before:], fine]))[before::FINE]
    return Seen(f"own {seed}", fine[::FINE], y + NOISE * rng.normal(size=PERIOD))


def multisine(rng, fine=FINE) -> np.ndarray:
    """One period: equal amplitudes from 5 to 150 Hz, random phases."""
    lines = np.arange(int(np.ceil(LOW * PERIOD / RATE)), int(np.ceil(HIGH * PERIOD / RATE)) + 1)
    spectrum = np.zeros(fine * PERIOD // 2 + 1, dtype=complex)
    spectrum[lines] = np.exp(2j * np.pi * rng.uniform(size=len(lines)))
    u = np.fft.irfft(spectrum)
    return RMS * u / np.sqrt(np.mean(u**2))


def simulated(u, rate=RATE * FINE) -> np.ndarray:
    """Displacement by the engine with the published parameters, from rest, a force at every step."""
    structure = Structure(M=[[MASS]], K=[[STIFFNESS]], C=[[DAMPING]])
    d_y = 1e-3  # m, any: z of the law is the force over ALPHA d_y
    device = bouc_wen(k=ALPHA, alpha=0.0, d_y=d_y, beta=BETA_GAMMA * d_y, gamma=BETA_DELTA * d_y, n=NU)
    loop = Loop(structure, [Site("element", [1.0], device)], method=central_difference(), dt=1.0 / rate)
    return loop.run(-u / MASS, record=["u.1"])["u.1"][: len(u)]


def ticks(seen, factor) -> tuple[np.ndarray, int]:
    """Force at every tick, `factor` of them in a sample, and how many samples of it are run-in."""
    if not seen.periodic:
        return resample_poly(seen.u, factor, 1, window=("kaiser", 14.0)), 0
    u = resample(seen.u, factor * len(seen.u))
    return np.concatenate([u[-factor * RUN_IN :], u]), RUN_IN
