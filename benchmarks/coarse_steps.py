"""Fibre members at coarse steps: how many runs go astray, and how large the error of the others is.

``python -m benchmarks.coarse_steps`` shakes four structures with every record of the data folder at one, two and three
times its strength, in steps of 1/64 to 1/1024 s, and compares the drift with that of a fine step; ``--opensees 6``
compares some of the runs with OpenSees as well (Newmark's average acceleration, Newton's method).
"""

import argparse
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import numpy as np
from rich.progress import track

from hyloop import Loop
from hyloop.data import data_folder
from hyloop.hazards import read_record
from hyloop.integrators import mkr_alpha
from hyloop.loop import run_ensemble
from hyloop.structure import Model, Steel, kent_park, plane_frame, rayleigh, rc_rectangle

ROOT = Path(__file__).resolve().parents[1]
STEPS = (64, 128, 256, 512, 1024)  # per second
FINE = 4096  # per second, what the others are compared with
FACTORS = (1.0, 2.0, 3.0)
SECONDS = 15.0
RATIO, RHO = 0.03, 0.75
ASTRAY = 0.5  # NRMSE beyond which a run has nothing to do with the fine one; a fault counts as astray too
COLLAPSED = 0.2  # drift ratio of the fine run from which on a run is not judged: the structure has fallen

SHELL, CORE = kent_park(27.5e6, 0.012, 414e6, 0.34, 0.1)
BARS = [(y, 3 * 6.45e-4) for y in (-0.17, 0.0, 0.17)]
SECTION = rc_rectangle(0.416, 0.457, 0.04, CORE, SHELL, BARS, Steel(414e6, 200e9, 0.01))
AXIAL = 0.15 * 27.5e6 * 0.416 * 0.457  # N


def cantilever(hinges: tuple[float, float] | None = None) -> Model:
    """A column of 2.5 m under an axial ratio of 0.15, which is the weight of its mass."""
    model = Model()
    model.node("A0", 0.0, 0.0)
    model.node("A1", 0.0, 2.5)
    model.support("A0", "fixed")
    model.fibre("column", "A0", "A1", SECTION, hinges=hinges)
    model.mass("A1", ux=AXIAL / 9.81, uy=AXIAL / 9.81)
    model.load("A1", uy=-AXIAL)
    return model


def frame(hinges: float | None = None) -> Model:
    """Three stories and two bays of the same section; fibres all along, as `plane_frame` makes them by default."""
    return plane_frame(
        [5.0, 5.0], [3.0] * 3, SECTION, SECTION, masses=4e4, gravity=4e5, column_hinges=hinges, beam_hinges=hinges
    )


STRUCTURES: dict[str, tuple[Callable[[], Model], str, float]] = {
    "cantilever": (cantilever, "A1.ux", 2.5),
    "cantilever, hinges": (lambda: cantilever((0.2, 0.2)), "A1.ux", 2.5),
    "frame": (frame, "A3.ux", 9.0),
    "frame, hinges": (lambda: frame(0.2), "A3.ux", 9.0),
}


def motions() -> dict[str, Callable[[float], np.ndarray]]:
    """Every record as a function of the step: its strong part, faded in."""
    folder = data_folder()
    if folder is None:
        raise SystemExit("no records: set HYLOOP_DATA to the folder that holds ground_motions.")
    found = {}
    for path in sorted((folder / "ground_motions").glob("*.AT2")):
        record = read_record(path)
        begin = record.time[np.argmax(np.abs(record.a) > 0.1 * record.pga)]
        seconds = min(SECONDS, record.duration - begin)

        def sampled(dt: float, record=record, begin=begin, seconds=seconds) -> np.ndarray:
            t = np.arange(round(seconds / dt) + 1) * dt
            return np.interp(begin + t, record.time, record.a) * np.minimum(t / 0.25, 1.0)

        found[path.stem] = sampled
    return found


def chosen(name: str) -> list[tuple[str, float]]:
    """Record and factor of every run of a structure: all records for a column, every third for a frame."""
    records = list(motions())[:: 3 if name.startswith("frame") else 1]
    return [(record, factor) for record in records for factor in FACTORS]


def drifts(name: str, rate: int, cases: list[tuple[str, float]]) -> list[np.ndarray]:
    """Roof displacement of every case, as far as it came."""
    make, roof, _ = STRUCTURES[name]
    loop = Loop(make().structure(lambda s: rayleigh(s, RATIO)), method=mkr_alpha(RHO), dt=1 / rate)
    records = motions()
    jobs = [(loop.copy(), factor * records[record](1 / rate)) for record, factor in cases]
    return [result[f"u.{roof}"] for result in run_ensemble(jobs, record=[f"u.{roof}"])]


def error(fine: np.ndarray, coarse: np.ndarray, ratio: int) -> float:
    """NRMSE over the common samples; infinite where the coarse run stopped early or is not finite."""
    truth = fine[::ratio]
    if len(coarse) < len(truth) or not np.isfinite(coarse).all():
        return np.inf
    return float(np.sqrt(np.mean((coarse[: len(truth)] - truth) ** 2)) / np.ptp(truth))


def campaign(name: str) -> None:
    """Print runs astray and errors for every step."""
    cases, height, fine_rate = chosen(name), STRUCTURES[name][2], FINE // 2 if name.startswith("frame") else FINE
    fine = drifts(name, fine_rate, cases)
    judged = [k for k, h in enumerate(fine) if np.isfinite(h).all() and np.abs(h - h[0]).max() < COLLAPSED * height]
    for rate in track(STEPS, description=name, transient=True):
        coarse = drifts(name, rate, cases)
        errors = np.array([error(fine[k], coarse[k], fine_rate // rate) for k in judged])
        fair = 100 * errors[errors < ASTRAY]
        print(
            f"{name:20s} 1/{rate:<5d} {len(errors):5d} {len(errors) - len(fair):7d} {np.median(fair):12.3f}% "
            f"{np.quantile(fair, 0.9):7.3f}% {fair.max():7.3f}%",
            flush=True,
        )


def against_opensees(name: str, count: int, rate: int = 1024) -> None:
    """Print the errors of some runs against OpenSees at 1/1024 s: Newmark's average acceleration, Newton's method."""
    sys.path.insert(0, str(ROOT / "tests"))
    peer = import_module("oracles.opensees_moment_frame").OpenSeesMomentFrame
    make, roof, height = STRUCTURES[name]
    first, second = make().structure().modes().omega[:2]
    damping = 2 * RATIO * first * second / (first + second), 2 * RATIO / (first + second)
    cases = chosen(name)
    cases = cases[:: max(1, len(cases) // count)][:count]
    coarse = {step: drifts(name, step, cases) for step in STEPS}
    for k, (record, factor) in enumerate(cases):
        ground = factor * motions()[record](1 / rate)
        model = peer(make())
        model.gravity()
        model.shake(ground, 1 / rate, *damping)
        theirs = np.full(len(ground), np.nan)
        theirs[0] = model.displacement(roof)
        for step in range(1, len(ground)):
            if model.ops.analyze(1, 1 / rate) != 0:
                break
            theirs[step] = model.displacement(roof)
        label = f"{name}, {record} x {factor:g}:"
        if np.isnan(theirs).any():
            reached = np.count_nonzero(np.isfinite(theirs)) / rate
            print(f"{label} OpenSees stops at {reached:.2f} s, drift {np.nanmax(np.abs(theirs)) / height:.1%}")
            continue
        errors = (f"1/{step} {100 * error(theirs, runs[k], rate // step):.3f}%" for step, runs in coarse.items())
        print(f"{label} drift {np.abs(theirs).max() / height:.1%}; NRMSE at {', '.join(errors)}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--structures", nargs="*", default=list(STRUCTURES), choices=list(STRUCTURES))
    parser.add_argument("--opensees", type=int, default=0, metavar="N", help="compare N runs with OpenSees instead")
    given = parser.parse_args()
    if not given.opensees:
        print("structure               step  runs  astray  NRMSE median     90 %    worst")
    for structure in given.structures:
        if given.opensees:
            against_opensees(structure, given.opensees)
        else:
            campaign(structure)
