"""A sweep of 500 runs by processes of this machine and by a Dask cluster of as many workers, in turns.

``RUNS`` and ``REPEATS`` from the surroundings make it shorter: ``HYLOOP_BENCH_RUNS=100 hyloop bench cluster``.
"""

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.measure import interleaved, report
from hyloop.ensembles import Campaign, Plan, Row
from hyloop.ensembles.cluster import DaskCluster
from hyloop.ensembles.engines import Engine, LocalProcesses
from hyloop.ensembles.standing import standing
from hyloop.errors import HyloopError

__all__ = ["cluster"]

FILE = Path("experiments/friction_frame.toml")
RUNS = int(os.environ.get("HYLOOP_BENCH_RUNS", "500"))
REPEATS = 3
WORKERS = 2


def cluster() -> dict[str, Any]:
    """Seconds for the sweep: the workers of Dask are there, as those of the first peer; the second starts them."""
    from distributed import LocalCluster

    runs = [(f"sites.damper1.device.level={5e3 + 40.0 * k:g}",) for k in range(RUNS)]
    rows: dict[str, list[Row]] = {}

    def sweep(name: str, engine: Engine) -> None:
        with TemporaryDirectory() as folder, Campaign.opened(Plan(FILE), Path(folder) / "sweep", engine) as campaign:
            campaign.try_first(runs[0])
            rows[name] = campaign.run(runs)

    there: Any = LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=":0")
    with there, DaskCluster(there.scheduler_address) as engine, standing(LocalProcesses(WORKERS)) as processes:
        times = interleaved(
            {
                "Dask": lambda: sweep("Dask", engine),
                "local processes": lambda: sweep("local processes", processes),
                "local processes, started anew": lambda: sweep("anew", LocalProcesses(WORKERS)),
            },
            REPEATS,
        )
    if not rows["Dask"] == rows["local processes"] == rows["anew"]:
        raise HyloopError("the rows of Dask are not those of local processes.")
    return report("cluster", times, unit="s")
