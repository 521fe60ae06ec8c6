"""The 40-story tower with 1080 braces, in hyloop and in OpenSees: time of a step, memory, and agreement.

``python -m benchmarks.tower --verify`` shakes the tower until braces yield and compares the response with OpenSees
(Newmark's average acceleration, Newton's method) for a few time steps; minutes, nearly all of them in OpenSees.
"""

import argparse
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from time import perf_counter_ns, process_time_ns
from typing import Any

import numpy as np

from benchmarks import frame8
from benchmarks.measure import interleaved, report
from hyloop import Loop
from hyloop.buildings.tower import Tower
from hyloop.buildings.tower import tower as forty_stories
from hyloop.data import data_folder
from hyloop.hazards import read_record
from hyloop.integrators import mkr_alpha
from hyloop.metrics import nrmse
from hyloop.structure import modal_and_stiffness
from hyloop.structure.frames.assembly import numbering
from hyloop.structure.frames.members import Brace
from hyloop.structure.frames.model import Model

__all__ = ["history", "opensees", "tower"]

ROOT = Path(__file__).resolve().parents[1]
RATIO, MODES, RHO = 0.02, 30, 0.75
DT, LIVE_DT = 1 / 256, 11 / 1024  # s, of the comparison, and of the times: that of the tall building's tests
RECORD, SCALE = "superstition-hills-el-centro-imp-co", 1.7  # the parameter set's earthquake
PEERS: dict[str, tuple[Any, ...]] = {  # solver and algorithm
    "UmfPack, Newton": ("UmfPack", "Newton"),
    "SuperLU, modified Newton, initial factors kept": ("SparseGEN", "ModifiedNewton", "-FactorOnce", "-initial"),
    "SuperLU, two iterations, initial factors kept": (
        "SparseGEN", "ExpressNewton", 2, 1.0, "-initialTangent", "-factorOnce",
    ),
}  # fmt: skip
STEPS = 70  # of OpenSees, 0.75 s: braces yield in the second half, which is timed
STRONG = 8.0  # m/s2, amplitude of the sine used for times: braces yield from the first half second on


def loop(model: Model, dt: float = DT, condense: Any = None) -> Loop:
    structure = model.structure(lambda s: modal_and_stiffness(s, RATIO, MODES), condense=condense)
    return Loop(structure, method=mkr_alpha(RHO), dt=dt)


def sine(steps: int) -> np.ndarray:
    t = np.arange(steps) * LIVE_DT
    return STRONG * np.column_stack([np.sin(2 * np.pi * t), np.sin(2 * np.pi * 1.3 * t)])


def tower() -> dict[str, Any]:
    """One step of the tower with yielding braces: 4020 degrees of freedom, 1436 condensed, and OpenSees on the 4020.

    OpenSees with Newton's method, with the fastest setting that converges, and with two iterations in every step,
    converged or not: 0.09 % off at the roof where hyloop is 0.04 % off (`benchmarks.tower_peers`).
    """
    model, rows = forty_stories(), sine(501)
    jobs: dict[str, Callable[[], Any]] = {
        "hyloop": _live(loop(model, LIVE_DT), rows),
        "hyloop, condensed": _live(loop(model, LIVE_DT, condense=Tower().retained), rows),
    }
    times = interleaved(jobs, repeats=20)
    if frame8.opensees():
        peer = opensees(model, rows, LIVE_DT)
        for name, setting in PEERS.items():
            times[f"OpenSees {name}"] = history(peer, setting)[0][STEPS // 2 :]
    return report("tower", times) | {"memory_MB": _memory()}


def history(shaken: Any, setting: tuple[Any, ...], steps: int = STEPS) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """OpenSees from rest with a setting: CPU time in s and iterations of every step, and the motion of the roof.

    From rest, because ``-FactorOnce`` keeps the stiffness of its first step, whatever that is.
    """
    ops, roof = shaken.ops, shaken.tags["floor44"]
    ops.reset()
    ops.setTime(0.0)
    shaken.use(*setting)
    seconds, iterations, moved = np.zeros(steps), np.zeros(steps), np.zeros((steps, 2))
    for k in range(steps):
        seconds[k] = _timed([shaken.step], process_time_ns)[0]  # its long steps are always interrupted
        iterations[k] = ops.testIter()
        moved[k] = [ops.nodeDisp(roof, direction) for direction in (1, 3)]
    return seconds, iterations, moved


def _live(running: Loop, rows: np.ndarray) -> Callable[[], np.ndarray]:
    """A whole history from rest, one step at a time."""

    def job() -> np.ndarray:
        running.start(rows[0])
        return _timed([lambda row=row: running.step(row) for row in rows[1:]])

    return job


def _timed(steps: list[Callable[[], Any]], clock: Callable[[], int] = perf_counter_ns) -> np.ndarray:
    times = np.empty(len(steps))
    for k, step in enumerate(steps):
        begin = clock()
        step()
        times[k] = clock() - begin
    return times * 1e-9


def _memory() -> float:
    """Largest memory, in MB, of a process that builds the tower and shakes it."""
    command = [sys.executable, "-m", "benchmarks.tower", "--memory"]
    return float(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)


def _shake_and_show_memory() -> None:
    loop(forty_stories(), LIVE_DT).run(sine(500), record=["u.floor*"])
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def opensees(model: Model, ground: np.ndarray, dt: float) -> Any:
    """The same model in OpenSees; its builder lies among the oracles of the tests."""
    sys.path.insert(0, str(ROOT / "tests"))
    shaken = import_module("oracles.opensees_seismic").Shaken
    frame8.opensees().logFile(os.devnull, "-noEcho")  # it has a line to say about each leaning column
    return shaken(model, RATIO, MODES, ground, dt, system="UmfPack")


# agreement


def earthquake(seconds: float, skip: float, dt: float) -> np.ndarray:
    """Both components of the record from `skip` on, faded in over a quarter of a second."""
    folder = data_folder()
    if folder is None:
        raise SystemExit("no records: set HYLOOP_DATA to the folder that holds ground_motions.")
    t = np.arange(round(seconds / dt) + 1) * dt
    motions = [read_record(folder / "ground_motions" / f"{RECORD}_{k}.AT2") for k in (1, 2)]
    return SCALE * np.column_stack([np.interp(skip + t, m.time, m.a) * np.minimum(t / 0.25, 1.0) for m in motions])


def ductility(model: Model, u: np.ndarray) -> np.ndarray:
    """Largest elongation over that at yield of every brace, from all displacements (steps, n)."""
    moved = (numbering(model).T @ u.T).reshape(len(model.nodes), len(model.dofs), -1)
    place = {node: k for k, node in enumerate(model.nodes)}
    braces = [member for member in model.members.values() if isinstance(member, Brace)]
    elongation = [b.rows[0] @ np.concatenate([moved[place[b.i]], moved[place[b.j]]]) for b in braces]
    at_yield = np.array([b.material.fy / b.material.E * b.length for b in braces])
    return np.abs(elongation).max(axis=1) / at_yield


def verify(seconds: float, skip: float, step: float) -> None:
    """Roof displacement and story drift against OpenSees at one step, ours at three."""
    model = forty_stories()
    levels = range(1, Tower().levels + 1)
    floors = [f"floor{level}.{dof}" for level in levels for dof in ("ux", "uz")]
    ours = {}
    for dt in (2 * step, step, step / 2):
        result = loop(model, dt).run(earthquake(seconds, skip, dt), record=["u.*"])
        stride = max(1, round(2 * step / dt))
        ours[dt] = np.column_stack([result[f"u.{name}"] for name in floors])[::stride]
        if dt == step:
            reached = ductility(model, np.column_stack([result[f"u.{name}"] for name in numbering(model).names]))
            print(f"ductility {reached.max():.2f}; {np.sum(reached > 1)} of {len(reached)} braces yield", flush=True)
    ground = earthquake(seconds, skip, step)
    print(f"OpenSees makes {len(ground) - 1} steps of about 0.4 s each", flush=True)
    truth = opensees(model, ground, step).run(floors, len(ground) - 1, every=2)
    for dt, history in ours.items():
        roof = [nrmse(a, b) for a, b in zip(truth[:, -2:].T, history[:, -2:].T, strict=True)]
        drift = [nrmse(a, b) for a, b in zip(_drift(truth).T, _drift(history).T, strict=True)]
        print(
            f"1/{1 / dt:g} s: NRMSE roof {100 * max(roof):.3f} %, drift mean {100 * np.mean(drift):.3f} %, largest "
            f"{100 * max(drift):.3f} % ({floors[int(np.argmax(drift))]}); OpenSees at 1/{1 / step:g} s"
        )
    print(f"peak roof displacement {np.abs(truth[:, -2:]).max(axis=0).round(4).tolist()} m")


def _drift(history: np.ndarray) -> np.ndarray:
    by_level = history.reshape(len(history), -1, 2)
    return np.diff(by_level, axis=1, prepend=0.0).reshape(len(history), -1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--verify", action="store_true", help="compare the response with OpenSees")
    parser.add_argument("--seconds", type=float, default=5.0, help="of shaking")
    parser.add_argument("--skip", type=float, default=10.0, help="seconds of the record left out before them")
    parser.add_argument("--step", type=float, default=DT, help="of OpenSees; ours are its double, itself and its half")
    parser.add_argument("--memory", action="store_true", help="print the peak memory of this process in MB, no more")
    given = parser.parse_args()
    if given.memory:
        _shake_and_show_memory()
    elif given.verify:
        verify(given.seconds, given.skip, given.step)
    else:
        print(tower())
