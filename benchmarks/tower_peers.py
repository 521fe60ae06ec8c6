"""OpenSees' fastest settings for the 40-story tower: solvers and algorithms, each from rest until braces yield.

``python -m benchmarks.tower_peers`` prints time of a step and difference at the roof from Newton's method. What keeps
the factors of the initial stiffness over all steps is spelled ``-FactorOnce`` with `ModifiedNewton`.
Left out: SparseSYM solves this model wrongly, BandSPD and ProfileSPD take longer than those below, Mumps and other
numberings as long, and KRAlphaExplicit makes full matrices: its first step was not done after minutes.
"""

from time import process_time
from typing import Any

import numpy as np

from benchmarks import frame8
from benchmarks.tower import LIVE_DT, STEPS, forty_stories, history, loop, opensees, sine

__all__ = ["SETTINGS", "peers"]

_KEPT = ("-initialTangent", "-factorOnce")
# solver, then algorithm; the last ones make so many iterations and do not look whether they converged
SETTINGS: dict[str, tuple[Any, ...]] = {
    "UmfPack, Newton": ("UmfPack", "Newton"),
    "SuperLU, Newton": ("SparseGEN", "Newton"),
    "SuperLU, modified Newton, initial stiffness": ("SparseGEN", "ModifiedNewton", "-initial"),
    "SuperLU, modified Newton, initial factors kept": ("SparseGEN", "ModifiedNewton", "-FactorOnce", "-initial"),
    "UmfPack, modified Newton, initial factors kept": ("UmfPack", "ModifiedNewton", "-FactorOnce", "-initial"),
    "SuperLU, Krylov-Newton, initial stiffness": (
        "SparseGEN", "KrylovNewton", "-iterate", "initial", "-increment", "initial",
    ),
    "SuperLU, 4 iterations with initial factors": ("SparseGEN", "ExpressNewton", 4, 1.0, *_KEPT),
    "SuperLU, 2 iterations with initial factors": ("SparseGEN", "ExpressNewton", 2, 1.0, *_KEPT),
    "SuperLU, 1 iteration with initial factors": ("SparseGEN", "ExpressNewton", 1, 1.0, *_KEPT),
}  # fmt: skip


def peers() -> None:
    """Print the table."""
    if not frame8.opensees():
        raise SystemExit("openseespy is not installed.")
    model, rows = forty_stories(), sine(STEPS + 1)
    print("setting | ms a step, yielding | iterations | difference at the roof, % of the peak")
    running = loop(model, LIVE_DT)
    ours = running.run(rows, record=[f"u.floor44.{direction}" for direction in ("ux", "uz")]).data[1:]
    shaken, truth = opensees(model, rows, LIVE_DT), np.zeros(0)
    for name, setting in SETTINGS.items():
        seconds, iterations, roof = history(shaken, setting)
        truth = truth if len(truth) else roof
        tested = f"{iterations[STEPS // 2 :].mean():.1f}" if iterations.any() else "not tested"
        _line(f"OpenSees {name}", seconds, tested, roof, truth)
    seconds = np.zeros(STEPS)
    running.start(rows[0])
    for k, row in enumerate(rows[1:]):
        begin = process_time()
        running.step(row)
        seconds[k] = process_time() - begin
    _line("hyloop", seconds, "none", ours, truth)


def _line(name: str, seconds: np.ndarray, iterations: str, roof: np.ndarray, truth: np.ndarray) -> None:
    difference = 100 * np.abs(roof - truth).max() / np.abs(truth).max()
    print(f"{name} | {1e3 * np.median(seconds[STEPS // 2 :]):.3g} | {iterations} | {difference:.4f}", flush=True)


if __name__ == "__main__":
    peers()
