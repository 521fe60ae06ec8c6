"""Virtual runs: one specimen in two tests, one heard and one predicted; made once and kept in a file."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np

from hyloop.core.writing import replacing
from hyloop.data.velocity import causal_velocity

from . import motions, specimens

DT = 1.0 / motions.RATE
KEPT = 4  # ticks between samples that are kept: a network takes a sample every EVERY ticks, a multiple of this
COUNTS, SEEDS = {"train": 4000, "validation": 120}, {"train": 901, "validation": 902}
COLUMNS = ("f1", "d1", "v1", "d", "v", "f")


class Run(NamedTuple):
    """What is heard (samples, 3: f, d, v), own motion (samples, 2: d, v), and the force to be predicted."""

    event: str
    heard: np.ndarray
    own: np.ndarray
    f: np.ndarray


def run_of(event: str, heard: np.ndarray, own: np.ndarray, f: np.ndarray) -> Run:
    """A run as long as what is predicted: after its end the heard device stands still and goes on being heard."""
    size = len(f)
    if len(heard) < size:
        heard = np.concatenate([heard, np.repeat(heard[-1:] * [1.0, 1.0, 0.0], size - len(heard), axis=0)])
    return Run(event, heard[:size].astype(np.float32), own.astype(np.float32), f.astype(np.float32))


def moved(device, d: np.ndarray) -> np.ndarray:
    """Force, deformation from the first sample on, and causal velocity (samples, 3), as they are measured."""
    v = np.diff(d, prepend=d[:1]) / DT
    signals = {"d": d, "v": v, "a": np.diff(v, prepend=0.0) / DT}
    read = device.drive(DT, **{key: signals[key] for key in device.block.inputs})
    return np.column_stack([read["f_m"], read["d_m"] - read["d_m"][0], causal_velocity(read["d_m"], DT)])


def virtual(rng: np.random.Generator, quakes) -> Run:
    """One run of a specimen drawn anew."""
    one, other = motions.pair(rng, quakes)
    device = specimens.draw(rng)
    heard, judged = moved(device, one), moved(specimens.again(rng, device), other)
    return run_of("virtual", heard, judged[:, 1:], judged[:, 0])


def make(source: Path, path: Path, progress: Callable[[float], None] = lambda _: None, counts=COUNTS) -> None:
    """Draw all runs of both sides and keep them."""
    with replacing(path) as temporary, h5py.File(temporary, "w") as file:
        for side, count in counts.items():
            quakes, rng = motions.earthquakes(source, side), np.random.default_rng(SEEDS[side])
            rows = []
            for k in range(count):
                run = virtual(rng, quakes)
                rows.append(np.column_stack([run.heard, run.own, run.f])[::KEPT])
                progress((k + 1) / count)
            group = file.create_group(side)
            group["values"], group["lengths"] = np.concatenate(rows), [len(row) for row in rows]
            group["events"] = [np.bytes_(event) for event in sorted({quake.event for quake in quakes})]


def load(path: Path, side: str) -> list[Run]:
    """Runs of a side, a sample every KEPT ticks."""
    with h5py.File(path) as file:
        group: Any = file[side]
        rows = np.split(group["values"][:], np.cumsum(group["lengths"][:])[:-1])
    return [Run("virtual", row[:, :3], row[:, 3:5], row[:, 5]) for row in rows]


def events(path: Path, side: str) -> list[str]:
    """Earthquakes that the motions of a side come from."""
    with h5py.File(path) as file:
        return [text.decode() for text in file[f"{side}/events"][:]]  # type: ignore[index]
