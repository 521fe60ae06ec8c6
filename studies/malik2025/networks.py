"""Networks that listen, and those that do not: what they hear, how it is scaled, and how they are trained.

A listening network hears force, deformation, velocity and both tensions of the measured device through a link that
comes late, and knows deformation and velocity of its own place and the age of what it hears: packets have time stamps.

It is trained on every EVERY-th sample and runs in phases (`hyloop.neural.resampled`): it answers in every tick. Then a
history has so many fewer samples to remember over, and a training that took half an hour takes some minutes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hyloop.learn.training.lanes import Stage
from hyloop.neural.architecture import Architecture
from hyloop.neural.card import Card, Signal

from .frame import DT
from .specimens import Run

HEARD = {"f1": ("N", 10e3), "d1": ("m", 10e-3), "v1": ("m/s", 0.1), "t1": ("N", 5e3), "t2": ("N", 5e3)}
OWN = {"d": ("m", 10e-3), "v": ("m/s", 0.1)}
AGE = {"age": ("s", 10 * DT)}
LEVEL = {"level": ("N", 10e3)}
FORCE = ("f", "N", 10e3)
TWO = {f"{key}_{n}": HEARD[name] for n in (1, 2) for name, key in zip(HEARD, ("f", "d", "v", "t1", "t2"), strict=True)}
# kinds that give sigma0 and sigma1 of a law: LuGre as in the paper, and its successor whose bristles hold a force, of
# which the network also gives the share that is held
PHYSICS = ("physics", "holding")
LISTENING = ("listening", *PHYSICS, "two")  # kinds that hear; the last hears two devices
EVERY = 16  # ticks in a sample of a network: 64 Hz
LATEST, JITTER = 20, 8  # ticks: delay of the link in training, and how much more single packets may take
NOMINAL = 18e3  # N, capacity of the law that a physics-based network guides
UNRELATED = 0.2  # share of the training histories that hear another motion of the same device


@dataclass(frozen=True)
class Recipe:
    """How long and in which windows a network is trained; nothing is chosen by validation, the last weights count."""

    lanes: int = 16
    updates: int = 500  # in an epoch
    stages: tuple[Stage, ...] = (Stage(30, 256), Stage(8, 512))
    rate: float = 6e-3
    warmup: int = 200
    final: float = 1e-5
    clip: float = 1.0

    @property
    def epochs(self) -> int:
        return sum(stage.epochs for stage in self.stages)


def signals(kind: str) -> dict[str, tuple[str, float]]:
    """Inputs of a kind of network with unit and scale."""
    return {
        "listening": HEARD | OWN | AGE,
        "physics": HEARD | OWN | AGE,
        "holding": HEARD | OWN | AGE,
        "two": TWO | OWN | AGE,
        "offline": OWN,
        "offline, told the level": OWN | LEVEL,
    }[kind]


def architecture(kind: str, outputs: int = 1, widths: tuple[int, int] = (16, 48)) -> Architecture:
    """16‖16-48-48 of the paper for what listens, three layers of 48 for what does not."""
    size, (narrow, wide) = len(signals(kind)), widths
    if kind in LISTENING:
        ears = size - len(OWN | AGE)
        pair = [("lstm", narrow, (0, ears)), ("lstm", narrow, (ears, size))]
        return Architecture(size, [pair, [("lstm", wide)], [("lstm", wide)], [("linear", outputs)]])
    return Architecture(size, [[("lstm", wide)], [("lstm", wide)], [("lstm", wide)], [("linear", outputs)]])


def arrivals(rng: np.random.Generator, samples: int, delay: int, jitter: int = 0) -> np.ndarray:
    """Which sample is the newest that has arrived in each tick.

    Negative numbers are samples of before the first tick, when the link was up and the device at rest.
    """
    before = delay + jitter
    sent = np.arange(-before, samples)
    late = delay + (rng.integers(0, jitter + 1, len(sent)) if jitter else 0)
    newest = np.full(samples + 2 * before, -before)
    np.maximum.at(newest, before + sent + late, sent)
    return np.maximum.accumulate(newest)[before : before + samples]


def inputs(
    kind: str, run: Run, newest: np.ndarray, heard: np.ndarray | None = None, ticks: slice = slice(None), dt: float = DT
) -> np.ndarray:
    """Scaled inputs of a network in some ticks of a run, given which sample has arrived in each tick of `dt`."""
    at = np.arange(len(newest))[ticks]
    columns = {key: run.own[at, k] for k, key in enumerate(OWN)}
    columns |= {"level": np.full(len(at), run.level)}
    if kind in LISTENING:
        source = what_is_heard(kind, run) if heard is None else heard
        span = round(EVERY * DT / dt)
        rows, before = source[np.maximum(newest[at], 0)], source[np.maximum(newest[at] - span, 0)]
        columns |= {key: rows[:, k] for k, key in enumerate(TWO if kind == "two" else HEARD)}
        for k, key in enumerate(("v_1", "v_2") if kind == "two" else ("v1",)):  # over one sample, as in the loop
            d = len(HEARD) * k + 1
            columns[key] = (rows[:, d] - before[:, d]) / (EVERY * DT)
        columns["age"] = (at - newest[at]) * dt
    return np.column_stack([columns[key] / scale for key, (_, scale) in signals(kind).items()]).astype(np.float32)


def what_is_heard(kind: str, run: Run, unrelated: bool = False) -> np.ndarray:
    """Signals of the device in the other story, or of an unrelated motion of it; who hears two has the other behind."""
    first, second = (run.unrelated, run.heard) if unrelated else (run.heard, run.unrelated)
    if kind != "two":
        return first
    return np.column_stack([going_on(first, len(run.f)), going_on(second, len(run.f))])


def going_on(heard: np.ndarray, size: int) -> np.ndarray:
    """The same for so many samples: a motion that has ended leaves the device at rest, which goes on being heard."""
    if len(heard) >= size:
        return heard[:size]
    still = heard[-1:] * [1, 1, 0, 1, 1]
    return np.concatenate([heard, np.repeat(still, size - len(heard), axis=0)])


def drawing(kind: str, runs: Sequence[Run], latest: int = LATEST, unrelated: float = UNRELATED):
    """``draw`` for training in lanes: a run, what is heard in it, and how late."""

    def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        run = runs[int(rng.integers(len(runs)))]
        heard = what_is_heard(kind, run, rng.random() < unrelated)
        size = min(len(run.f), len(heard))
        delay = int(rng.integers(0, latest + 1)) if latest else 0
        jitter = int(rng.integers(1, JITTER + 1)) if latest and rng.random() < 1 / 3 else 0
        newest = arrivals(rng, size, delay, jitter)
        ticks = slice(int(rng.integers(EVERY)), size, EVERY)
        columns = inputs(kind, run, newest, heard, ticks)
        if kind in PHYSICS:
            columns = np.column_stack([columns, np.full(len(columns), run.level / NOMINAL, np.float32)])
        return columns, (run.f[ticks, None] / FORCE[2]).astype(np.float32)

    return draw


def card(kind: str, runs: Sequence[Run], **about) -> Card:
    """Signals with scales as chosen, and their ranges in the training runs."""
    every = [inputs(kind, run, np.arange(len(run.f))) for run in runs]
    low = np.min([rows.min(axis=0) for rows in every], axis=0)
    high = np.max([rows.max(axis=0) for rows in every], axis=0)
    if kind in LISTENING:  # these rows are in time; in training they come late
        high[list(signals(kind)).index("age")] = (LATEST + JITTER) * DT / AGE["age"][1]
    given = tuple(
        Signal(name, unit, 0.0, 1.0 / scale, float(low[k] * scale), float(high[k] * scale))
        for k, (name, (unit, scale)) in enumerate(signals(kind).items())
    )
    name, unit, scale = FORCE
    forces = [run.f for run in runs]
    out = Signal(name, unit, 0.0, 1.0 / scale, float(min(f.min() for f in forces)), float(max(f.max() for f in forces)))
    return Card(given, (out,), dt=EVERY * DT, **about)
