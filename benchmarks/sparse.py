"""Full or sparse matrices in a step of plane frames of 12 to 192 degrees of freedom; `hyloop.loop.storage` needs it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.sparse import csr_array

from benchmarks.measure import interleaved
from hyloop import Loop, Site
from hyloop.devices import bouc_wen
from hyloop.integrators import mkr_alpha
from hyloop.loop import storage
from hyloop.structure import ElasticSection, Structure, plane_frame, rayleigh

__all__ = ["sparse"]

FRAMES = [(2, 1), (3, 2), (4, 2), (5, 2), (8, 2), (8, 3), (10, 3), (16, 3)]  # stories and bays
SECTION = ElasticSection(E=200e9, A=1e-2, Iz=2e-4)
STEPS, DT = 2000, 0.01


def frame(stories: int, bays: int) -> Structure:
    model = plane_frame([6.0] * bays, [3.5] * stories, SECTION, SECTION, masses=2e4)
    return model.structure(lambda s: rayleigh(s, 0.02)).dense()


def loop(structure: Structure) -> Loop:
    brace = Site("brace", np.eye(structure.n)[0], bouc_wen(k=1e6, d_y=2e-3))
    return Loop(structure, [brace], method=mkr_alpha(0.75), dt=DT)


def sparse() -> dict[str, Any]:
    """Time of a step with full matrices over that with sparse ones, and where a loop takes the full ones by itself."""
    motion, rows = 3.0 * np.sin(5.0 * DT * np.arange(STEPS)), []
    jobs: dict[str, Callable[[], Any]] = {}
    for stories, bays in FRAMES:
        full = frame(stories, bays)
        thin = replace(full, M=csr_array(full.M), K=csr_array(full.K), C=csr_array(full.C))
        taken = "sparse" if storage.suited(full, [], mkr_alpha(0.75)).is_sparse else "full"
        rows.append((full.n, taken))
        with patch.object(storage, "EACH", np.inf):  # as given
            made = {"full": loop(full), "sparse": loop(thin)}
        for kind, running in made.items():
            jobs[f"{full.n} {kind}"] = lambda running=running: running.run(motion, record=["brace.f"])
    times = interleaved(jobs, repeats=21, per_call=STEPS)
    best = {key: 1e6 * float(np.median(value)) for key, value in times.items()}
    n, taken = rows[-1]
    own = 1e6 * times[f"{n} {taken}"]
    peers = {}
    for size, kind in rows:
        full, thin = best[f"{size} full"], best[f"{size} sparse"]
        peers[f"full, {size} DOFs{' (taken)' * (kind == 'full')}"] = {"median": full, "ratio": full / thin}
    return {
        "name": f"sparse, {n} DOFs",
        "median": float(np.median(own)),
        "p99": float(np.quantile(own, 0.99)),
        "p999": float(np.quantile(own, 0.999)),
        "unit": "us",
        "peers": peers,
    }
