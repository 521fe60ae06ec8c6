"""What the building goes through in one test, with its dampers or without: histories, peaks over the height, braces."""

from typing import Any

import numpy as np

from hyloop.buildings.tower import Tower
from hyloop.files.load import load_experiment
from hyloop.metrics.comfort import corner_accelerations
from hyloop.record import Recording
from hyloop.study.build import build

from .hybrid import HERE, MEASURED, excitation, with_specimen
from .specimens import COMPARED, START

LEVELS, BASEMENTS = Tower().levels, Tower().basements
DIRECTIONS = ("ux", "uz", "ry")
# frames of Fig. 1(b): 1 and 2 across the west and east ends, 3 and 4 along the north and the south row
FRAMES = {"BRBF 1": "N1S1", "BRBF 2": "N6S6", "BRBF 3": "N3N4", "BRBF 4": "S3S4"}  # by the apex of their braces
SHOWN = 8  # story whose braces are drawn, as in Fig. 16
LOOPS = {"BRBF 1": f"brace N1-N1S1-{SHOWN + BASEMENTS}", "BRBF 3": f"brace N3-N3N4-{SHOWN + BASEMENTS}"}
RATE = 32.0  # Hz, of the histories that are kept
RESIDUAL = 20.3  # s at the end over which a residual is a mean: three periods N-S, five E-W


def response(hazard: str, words: tuple[str, ...], damped: bool, seed: int = 0) -> dict[str, Any]:
    """Numbers and histories of one test with the specimen that resembles the paper's, or of the bare tower."""
    members = 'recording.members=["brace *.ductility", "' + '", "'.join(LOOPS.values()) + '"]'
    experiment = load_experiment(HERE / f"{hazard}.toml", [*words, members])
    experiment = experiment if damped else experiment.without_devices()
    ready = build(experiment)
    rows, loop, at = excitation(ready, hazard), ready.loop, MEASURED[hazard]
    channels = ["u.floor*", "a.floor*", "ground*", *loop.watched]
    if damped:
        loop = with_specimen(loop, hazard, COMPARED, seed, len(rows) * loop.dt)
        channels += [f"{at}.{key}" for key in ("d", "f", "actuator.d", "sensor.d", "sensor.f")]
        channels += [f"{at}.compensator.a{k}" for k in range(3)]
        channels += [f"{site.name}.{key}" for site in loop.sites if site.shares is None for key in START]
    found = loop.run(rows, record=channels)
    return _building(found, hazard) | _braces(found) | (_damper(found, at) if damped else {})


def _floor(found: Recording, symbol: str, dof: str) -> np.ndarray:
    """Rows of a floor quantity at all levels."""
    return np.column_stack([found[f"{symbol}.floor{level}.{dof}"] for level in range(1, LEVELS + 1)])


def _building(found: Recording, hazard: str) -> dict[str, Any]:
    every = max(round(1.0 / (RATE * (found.time[1] - found.time[0]))), 1)
    last = found.time > found.time[-1] - RESIDUAL
    heights = np.array(Tower().heights)
    result: dict[str, Any] = {"t": found.time[::every]}
    for dof in DIRECTIONS:
        u = _floor(found, "u", dof)
        result[f"roof {dof}"] = u[::every, -1]
        result[f"peak {dof}"] = np.abs(u).max(axis=0)
        result[f"residual {dof}"] = u[last].mean(axis=0)
        drift = np.diff(u, axis=1, prepend=0.0) / heights
        result[f"drift {dof}"] = np.abs(drift).max(axis=0)
        result[f"residual drift {dof}"] = np.abs(drift[last].mean(axis=0))
        a = _floor(found, "a", dof)
        ground = {"ux": "ground.x", "uz": "ground.z"}.get(dof)
        if ground in found.names:
            a = a + found[ground][:, None]
        result[f"acceleration {dof}"] = np.abs(a).max(axis=0)
    if hazard == "wind":
        (north, east), levels = Tower().plan, range(BASEMENTS + 1, LEVELS + 1)
        corners = [(x * north / 2, z * east / 2) for x in (-1, 1) for z in (-1, 1)]
        moved = [[found[f"a.floor{level}.{dof}"] for dof in DIRECTIONS] for level in levels]
        result["centre"] = np.array([np.hypot(x, z).max() for x, z, _ in moved])
        result["corner"] = np.array(
            [np.linalg.norm(corner_accelerations(x, z, turn, corners), axis=2).max() for x, z, turn in moved]
        )
    return result


def _braces(found: Recording) -> dict[str, Any]:
    """Peak ductility by frame and level, and loops of two braces."""
    names = [name for name in found.names if name.endswith(".ductility")]
    peaks = {name.removeprefix("brace ").removesuffix(".ductility"): float(np.abs(found[name]).max()) for name in names}
    result: dict[str, Any] = {"ductility": max(peaks.values()), "yielded": sum(peak > 1.0 for peak in peaks.values())}
    result["most"] = max(peaks, key=lambda name: peaks[name])
    for frame, apex in FRAMES.items():
        by_level = np.zeros(LEVELS)
        for name, peak in peaks.items():
            _, _, top = name.partition("-")
            node, _, level = top.rpartition("-")
            if node == apex:
                by_level[int(level) - 1] = max(by_level[int(level) - 1], peak)
        result[f"ductility {frame}"] = by_level
    for frame, name in LOOPS.items():
        result[f"loop {frame}"] = np.column_stack([found[f"{name}.elongation"], found[f"{name}.force"]])[::4]
    return result


def _damper(found: Recording, at: str) -> dict[str, Any]:
    """Signals of the measured damper and what the filter makes of them."""
    first = next(name.removesuffix(".alpha") for name in found.names if name.endswith(".alpha") and at not in name)
    result = {key: found[f"{at}.{key}"] for key in ("d", "actuator.d", "sensor.f")}
    result |= {f"a{k}": found[f"{at}.compensator.a{k}"] for k in range(3)}
    return result | {key: found[f"{first}.{key}"] / value for key, value in START.items()} | {"time": found.time}
