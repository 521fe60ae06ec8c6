"""How the time of a step grows with the model: elastic space frames, six degrees of freedom at every joint.

``python -m benchmarks.growth`` also prints the entries of the factor, its memory and the time until the loop is built.
"""

import argparse
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from benchmarks.measure import interleaved, report
from hyloop import Loop
from hyloop.integrators import mkr_alpha
from hyloop.structure import ElasticSection, Model, rayleigh

__all__ = ["growth"]

ROOT = Path(__file__).resolve().parents[1]
LARGEST = (12, 12, 23)
IN_PLAN = [(9, 9, 22), (4, 4, 6), (8, 8, 9), LARGEST]  # joints along x and z, stories: 10692, 576, 3456, 19872 DOFs
IN_HEIGHT = [(4, 4, 36), (4, 4, 111), (4, 4, 207)]  # 3456, 10656 and 19872 DOFs on the plan of the 576
SECTION = ElasticSection(E=200e9, A=2e-2, Iz=3e-4, Iy=2e-4, G=80e9, J=1e-5)
DT, NUMBERS, REPEATS = 0.01, 2e7, 15  # numbers of the factor read in one repeat, so that all take about as long


def space_frame(along_x: int, along_z: int, stories: int) -> Model:
    """Columns on a grid and beams along both of its directions in every floor, fixed at the ground."""
    model = Model(3)
    for x, y, z in np.ndindex(along_x, stories + 1, along_z):
        here = f"{x}-{y}-{z}"
        model.node(here, 6.0 * x, 3.5 * y, 6.0 * z)
        if y == 0:
            model.support(here, "fixed")
            continue
        model.mass(here, ux=2e4, uy=2e4, uz=2e4)
        model.elastic(f"column {here}", f"{x}-{y - 1}-{z}", here, SECTION)
        if x:
            model.elastic(f"beam x {here}", f"{x - 1}-{y}-{z}", here, SECTION)
        if z:
            model.elastic(f"beam z {here}", f"{x}-{y}-{z - 1}", here, SECTION)
    return model


def loop(size: tuple[int, int, int]) -> Loop:
    structure = space_frame(*size).structure(lambda s: rayleigh(s, 0.02))
    return Loop(structure, method=mkr_alpha(0.75), dt=DT)


def name(size: tuple[int, int, int]) -> str:
    return f"{6 * np.prod(size)} DOFs, {size[0]} x {size[1]} x {size[2]}"


def growth() -> dict[str, Any]:
    """Time of a step of 9 x 9 joints on 22 floors, and of smaller and larger frames; CPU time."""
    times, _ = measured()
    return report("growth, " + next(iter(times)), times) | {"memory_MB": _memory()}


def measured() -> tuple[dict[str, np.ndarray], list[list[str]]]:
    """Seconds per step of every frame, and what its loop is made of."""
    jobs: dict[str, Callable[[], Any]] = {}
    made = []
    for size in IN_PLAN + IN_HEIGHT:
        begin = process_time()
        running = loop(size)
        seconds = process_time() - begin
        factor = running._plan.matrices.bundle.L.bundle
        megabytes = (factor.L.nbytes + factor.row.nbytes + factor.head.nbytes) / 2**20
        made.append([name(size), str(len(factor.L)), f"{megabytes:.1f}", f"{seconds:.2f}"])
        jobs[name(size)] = _job(running, max(20, round(NUMBERS / len(factor.L))))
    return interleaved(jobs, REPEATS), made


def _job(running: Loop, steps: int) -> Callable[[], np.ndarray]:
    rows = np.random.default_rng(1).normal(size=(steps, 2))
    watched = [f"u.{running.structure.names[-6]}"]

    def job() -> np.ndarray:
        begin = process_time()  # a busy machine shall not count
        running.run(rows, record=watched)
        return np.array([(process_time() - begin) / steps])

    return job


def _memory() -> float:
    """Largest memory, in MB, of a process that builds the largest frame and shakes it."""
    command = [sys.executable, "-m", "benchmarks.growth", "--memory"]
    return float(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memory", action="store_true", help="print the peak memory of the largest frame, no more")
    if parser.parse_args().memory:
        _job(loop(LARGEST), 20)()
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    else:
        seconds, made = measured()
        print("frame | numbers of the factor | its MB | s to build | ms a step")
        for row in made:
            print(" | ".join([*row, f"{1e3 * np.median(seconds[row[0]]):.3f}"]))
        print(f"{_memory():.0f} MB at most with {name(LARGEST)}")
