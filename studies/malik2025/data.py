"""Histories of all sides of the split, made once and kept in files: motions, deformations, measured runs.

=================  ==========================================================================================
file               what it holds
=================  ==========================================================================================
motions.h5         ground accelerations of each side of the split
deformations.h5    deformations of both stories, for each side and capacity
KIND.h5            measured runs of one kind of specimen, likewise
=================  ==========================================================================================
"""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from hyloop.core.block import Instance
from hyloop.core.writing import replacing
from hyloop.data import data_folder
from hyloop.devices.brfd import draw_brfd

from .frame import LEVELS, STROKE, deformations
from .motions import Motion, plain, varied
from .specimens import CENTRED, WIDE, Run, measure

SIDES = ("train", "validation", "test")
AMPLITUDES, MIXTURES = 6, 5  # other amplitudes and mixtures of each of the 27 components: 972 runs at three capacities
SEEDS = {"variations": 777, "backlash": 778, "train": 301, "validation": 302, "test": 303}


def split() -> dict[str, dict[str, str]]:
    """Stations by side; synthetic ones where there are no records."""
    stations = tomllib.loads((Path(__file__).parent / "split.toml").read_text())
    if data_folder() is not None:
        return stations
    numbers = iter(range(100))
    return {side: {f"synthetic-{(k := next(numbers))}": f"synthetic {k}" for _ in stations[side]} for side in SIDES}


def motions(side: str) -> list[Motion]:
    """Motions of a side: all that is trained on, or the first components at the design level."""
    stations = split()[side]
    if side != "train":
        return plain(stations, (0,))
    return plain(stations) + varied(stations, SEEDS["variations"], AMPLITUDES, MIXTURES)


def make_motions(path: Path) -> None:
    """Scale and cut all motions, and keep them."""
    with replacing(path) as temporary, h5py.File(temporary, "w") as file:
        for side in SIDES:
            found = motions(side)
            _write(file.create_group(side), [m.a for m in found], [m.name for m in found], [m.event for m in found])


def load_motions(path: Path, side: str) -> list[Motion]:
    """Motions of one side."""
    with h5py.File(path) as file:
        group: Any = file[side]
        return [Motion(*each) for each in zip(*_texts(group), _read(group), strict=True)]


def make_deformations(source: Path, path: Path, progress: Callable[[float], None] = lambda _: None) -> None:
    """Run the frame under all motions at all capacities; keep the deformations that the stroke of the device allows."""
    shakes = {side: load_motions(source, side) for side in SIDES}
    work = {(side, level): len(shakes[side]) for side in SIDES for level in LEVELS}
    done, total = 0, sum(work.values())
    with replacing(path) as temporary, h5py.File(temporary, "w") as file:
        for (side, level), size in work.items():
            found = deformations(
                shakes[side],
                level,
                in_frames(side, level, size),
                progress=lambda part, d=done, s=size: progress((d + part * s) / total),
            )
            kept = [(m, d) for m, d in zip(shakes[side], found, strict=True) if np.abs(d).max() < STROKE]
            group = file.create_group(f"{side}/{level:.0f}")
            _write(group, [d for _, d in kept], [m.name for m, _ in kept], [m.event for m, _ in kept])
            done += size


def in_frames(side: str, level: float, size: int) -> list[Instance | None]:
    """What stands in the frame under each motion: in training every second time a drawn damper with backlash."""
    if side != "train":
        return [None] * size
    rng = np.random.default_rng([SEEDS["backlash"], round(level)])
    return [draw_brfd(rng, "gap-slip", level, centred=CENTRED, **WIDE) if k % 2 else None for k in range(size)]


def make_runs(source: Path, path: Path, kind: str, progress: Callable[[float], None] = lambda _: None) -> None:
    """Impose all deformations on drawn specimens and keep what is measured."""
    with h5py.File(source) as given, replacing(path) as temporary, h5py.File(temporary, "w") as file:
        for k, (side, level) in enumerate(cases := [(s, v) for s in SIDES for v in LEVELS]):
            group: Any = given[f"{side}/{level:.0f}"]
            names, events = _texts(group)
            runs = measure(kind, list(zip(names, events, strict=True)), _read(group), level, SEEDS[side])
            target = file.create_group(f"{side}/{level:.0f}")
            rows = [np.column_stack([run.heard, run.own, run.f]) for run in runs]
            _write(target, rows, names, events)
            _write(target.create_group("unrelated"), [run.unrelated for run in runs], names, events)
            progress((k + 1) / len(cases))


def load_runs(path: Path, side: str) -> list[Run]:
    """Measured runs of one side, all capacities."""
    found = []
    with h5py.File(path) as file:
        for level in LEVELS:
            group: Any = file[f"{side}/{level:.0f}"]
            names, events = _texts(group)
            for name, event, rows, other in zip(names, events, _read(group), _read(group["unrelated"]), strict=True):
                found.append(Run(name, event, level, rows[:, :5], rows[:, 5:7], rows[:, 7], other))
    return found


def _write(group: Any, histories: Any, names: Any, events: Any) -> None:
    group["values"] = np.concatenate(histories).astype(np.float32 if histories[0].dtype == np.float32 else float)
    group["lengths"] = [len(history) for history in histories]
    group["names"], group["events"] = [np.bytes_(name) for name in names], [np.bytes_(event) for event in events]


def _texts(group: Any) -> tuple[list[str], list[str]]:
    names, events = ([text.decode() for text in group[key][:]] for key in ("names", "events"))
    return names, events


def _read(group: Any) -> list[np.ndarray]:
    return np.split(group["values"][:], np.cumsum(group["lengths"][:])[:-1])
