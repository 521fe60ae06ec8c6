"""Incremental dynamic analysis of the two-story RC frame with four slipping dampers in each story.

``hyloop bench ida`` runs 20 records at up to 10 levels each on all cores, from the file to the fragility, and tells the
wall time (a fresh folder, compiled code in the cache). On a subset, two records at four levels, a worker of hyloop runs
beside OpenSees (Newmark's average acceleration, Newton's method), one after the other on one core: with the same
step of 1/1024 s, and with one four times as long, as in coarse practice. The points of the curves, largest drift
ratio of any story over Sa(T1), are compared as well: they agree where no difference is larger than AGREES.
"""

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks import frame8
from benchmarks.measure import interleaved, report
from benchmarks.moment_frame import COUNT, HARDENING, SLIP, STIFFNESS, coefficients, damped, peer
from hyloop.buildings.moment_frame import moment_frame as two_stories
from hyloop.ensembles.engines import LocalProcesses
from hyloop.ensembles.ida import analyse, unscaled_intensity
from hyloop.ensembles.measures import parse_measure
from hyloop.ensembles.record_sets import choose_records, excited_by
from hyloop.ensembles.work import Batch, work
from hyloop.files.load import load_experiment, read_experiment
from hyloop.hazards import G
from hyloop.study.build import build

__all__ = ["ida"]

FILE = Path(__file__).resolve().parents[1] / "experiments" / "rc_frame.toml"
RECORDS, LEVELS = 20, 10
COMPARED = ("friuli-tolmezzo_1", "northridge-beverly-hills-mulholland_2")
AT = (0.3, 0.8, 1.5, 2.5)  # g, levels of the subset: elastic, slipping, bars yielding, some 2 % of drift
SECONDS = 15.0  # of the records of the subset, at full scale
COARSE = 4  # times the step
AGREES = 0.01  # of the largest drift ratio
HEIGHT = 1.83  # m, of a story
REPEATS = 3
_DAMPER = f'law = "bilinear", k = {STIFFNESS}, alpha = {HARDENING}, f_y = {SLIP}'
CHANGES = [
    *(f"sites.damper{s}={{ story = {s}, count = {COUNT}, device = {{ {_DAMPER} }} }}" for s in (1, 2)),
    'excitation={ kind = "record", name = "friuli-tolmezzo_1", time_scale = 0.7071067811865476 }',
    'recording.channels=["ground"]',
    f"ida={{ records = {RECORDS}, levels = {LEVELS}, first = '0.3 g', step = '0.5 g', growth = '0.2 g' }}",
    'ida.states={ slight = "0.5 %", moderate = "1 %", severe = "2 %" }',
]


def ida() -> dict[str, Any]:
    """The whole analysis on all cores, and a run of the subset beside OpenSees."""
    runs = subset()
    jobs: dict[str, Callable[[], Any]] = {"hyloop": lambda: ours(runs)}
    if frame8.opensees():
        jobs["OpenSees Newmark, Newton, same step"] = lambda: theirs(runs, 1)
        jobs[f"OpenSees, {COARSE} times the step"] = lambda: theirs(runs, COARSE)
    found = report("ida", interleaved(jobs, REPEATS, per_call=len(runs)), unit="s")
    found["whole"] = whole()
    if frame8.opensees():
        found["agreement"] = agreement(runs)
    return found


def whole() -> dict[str, Any]:
    """The analysis of all records, from the file to the fragility, into a folder that is removed."""
    begin = perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        result = analyse(FILE, Path(folder) / "ida", CHANGES, LocalProcesses())
        seconds = perf_counter() - begin
    at = result.at_collapse
    return {
        "seconds": seconds,
        "cores": os.cpu_count(),
        "records": len(result.records),
        "runs": result.runs,
        "fewest_levels": min(len(record.levels) for record in result.records),
        "median_g": None if at.fit is None else at.fit.median / G,
        "dispersion": None if at.fit is None else at.fit.beta,
    }


def subset() -> list[tuple[str, ...]]:
    """Changes of the file for each run."""
    changes = [change for change in CHANGES if not change.startswith("ida")]
    changes = [*changes, f"excitation.duration={SECONDS}"]
    experiment = load_experiment(FILE, changes)
    period = build(experiment).periods(1)[0]
    runs = []
    for record in choose_records(COMPARED, FILE.parent):
        unit = unscaled_intensity(experiment, record, experiment.ida, period)
        runs += [(*changes, excited_by(experiment, record, level * G / unit)) for level in AT]
    return runs


def ours(runs: list[tuple[str, ...]]) -> list[float]:
    """Largest drift ratios, by what a worker does."""
    batch = Batch(
        json.dumps(read_experiment(FILE), default=str),
        str(FILE),
        (parse_measure("drift", "peak drift_ratio.*"),),
        tuple((str(k), run) for k, run in enumerate(runs)),
    )
    return [row.values["drift"] for row in work(batch).rows]


def theirs(runs: list[tuple[str, ...]], coarser: int) -> list[float]:
    """The same by OpenSees, with a step so many times as long."""
    a = coefficients(two_stories().structure())
    found = []
    for run in runs:
        experiment = load_experiment(FILE, run)
        integrator = experiment.integrator
        integrator = integrator.model_copy(update={"dt": coarser * integrator.dt})
        ground = build(experiment.model_copy(update={"integrator": integrator})).excitation[:, 0]
        model = peer(damped())
        model.shake(ground, integrator.dt, *a)
        largest = 0.0
        for _ in range(len(ground) - 1):
            model.step()
            first, second = (model.displacement(f"M{s}.ux") for s in (1, 2))
            largest = max(largest, abs(first), abs(second - first))
        found.append(largest / HEIGHT)
    return found


def agreement(runs: list[tuple[str, ...]]) -> dict[str, Any]:
    """Drift ratios of both at the points of the subset, and how far they are apart."""
    mine, same, coarse = (np.array(found) for found in (ours(runs), theirs(runs, 1), theirs(runs, COARSE)))
    off = np.abs(mine / same - 1.0)
    return {
        "levels_g": list(AT),
        "hyloop": mine.tolist(),
        "opensees": same.tolist(),
        "largest_difference": float(off.max()),
        "agrees": bool(off.max() <= AGREES),
        "largest_difference_of_the_longer_step": float(np.abs(coarse / same - 1.0).max()),
    }


if __name__ == "__main__":
    print(json.dumps(ida(), indent=2))
