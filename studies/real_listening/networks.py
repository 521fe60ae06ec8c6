"""A network that hears one test and predicts another: what it is given, and how histories are drawn for it.

It hears force, deformation and velocity of the measured device, and knows deformation and velocity of its own place and
the force there at the first sample, as every law does that it is compared with. Deformations count from the first
sample; tensions are not heard, as several tests lack them. It takes a sample every EVERY ticks and runs in phases, so
that it answers in every tick.
"""

from collections.abc import Sequence

import numpy as np

from hyloop.neural.architecture import Architecture
from hyloop.neural.card import Card, Signal

from .runs import DT, KEPT, Run

HEARD = {"f1": ("N", 10e3), "d1": ("m", 10e-3), "v1": ("m/s", 0.1)}
OWN = {"d": ("m", 10e-3), "v": ("m/s", 0.1), "f0": ("N", 1e3)}
FORCE = ("f", "N", 10e3)
LISTENING, OFFLINE = "listening", "offline"
EVERY = 16  # ticks in a sample: 64 Hz
NOISE = (
    5e-4,
    5e-2,
)  # of the range of the heard force, log-uniform: added to it in training, for chatter no specimen has
LEAST_RANGE = 3e3  # N: errors count over the range of the force, but not over less than this


def signals(kind: str) -> dict[str, tuple[str, float]]:
    """Inputs of a network with unit and scale."""
    return {LISTENING: HEARD | OWN, OFFLINE: OWN}[kind]


def architecture(kind: str, widths: tuple[int, int] = (16, 48)) -> Architecture:
    """16‖16-48-48 for what listens, three layers of 48 for what does not."""
    size, (narrow, wide) = len(signals(kind)), widths
    last = [[("lstm", wide)], [("lstm", wide)], [("linear", 1)]]
    if kind == OFFLINE:
        return Architecture(size, [[("lstm", wide)], *last])
    branches = [("lstm", narrow, (0, len(HEARD))), ("lstm", narrow, (len(HEARD), size))]
    return Architecture(size, [branches, *last])


def inputs(kind: str, heard: np.ndarray, own: np.ndarray, f0: float) -> np.ndarray:
    """Inputs in their units (samples, inputs)."""
    mine = np.column_stack([own, np.full(len(own), f0)])
    return mine if kind == OFFLINE else np.column_stack([heard, mine])


def scales(kind: str) -> np.ndarray:
    """What inputs are divided by."""
    return np.array([scale for _, scale in signals(kind).values()])


def drawing(kind: str, runs: Sequence[Run], every: int = EVERY // KEPT):
    """``draw`` for training in lanes: a run, its sign, a phase, noise; the last input is the weight of the run."""

    def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        run = runs[int(rng.integers(len(runs)))]
        sign, rows = rng.choice([-1.0, 1.0]), slice(int(rng.integers(every)), None, every)
        heard, own, f = run.heard[rows].astype(float), run.own[rows], run.f[rows]
        noise = np.exp(rng.uniform(*np.log(NOISE))) * np.ptp(run.heard[:, 0])
        heard[:, 0] += noise * rng.standard_normal(len(heard))
        given = sign * inputs(kind, heard, own, run.f[0]) / scales(kind)
        weight = (FORCE[2] / max(np.ptp(run.f), LEAST_RANGE)) ** 2
        columns = np.column_stack([given, np.full(len(given), weight)])
        return columns.astype(np.float32), (sign * f[:, None] / FORCE[2]).astype(np.float32)

    return draw


def card(kind: str, runs: Sequence[Run], **about) -> Card:
    """Signals with scales as chosen, and their ranges in the training runs, which are as often mirrored."""
    size = np.max([np.abs(inputs(kind, run.heard, run.own, run.f[0])).max(axis=0) for run in runs], axis=0)
    given = tuple(
        Signal(name, unit, 0.0, 1.0 / scale, -float(most), float(most))
        for (name, (unit, scale)), most in zip(signals(kind).items(), size, strict=True)
    )
    most = float(max(np.abs(run.f).max() for run in runs))
    return Card(given, (Signal(FORCE[0], FORCE[1], 0.0, 1.0 / FORCE[2], -most, most),), dt=EVERY * DT, **about)
