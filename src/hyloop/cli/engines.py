"""Where runs are run, as the options of a command say."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from hyloop.cli.console import errors
from hyloop.ensembles.engines import Engine, LocalProcesses
from hyloop.errors import BadInput
from hyloop.files.cluster import Cluster
from hyloop.files.schema import Experiment

__all__ = ["Place", "engine_of"]


class Place(NamedTuple):
    """Values of the options that `hyloop.cli.commands.options` names so."""

    workers: int | None = None
    dask: str | None = None
    slurm: bool = False


@contextmanager
def engine_of(experiment: Experiment, place: Place) -> Iterator[Engine]:
    """Processes of this machine, the workers of a Dask scheduler, or jobs of SLURM; they end with the block.

    Parameters
    ----------
    experiment : Experiment
        Of the file: its table `[cluster]` says what a job may take.
    place : Place
    """
    workers, dask, slurm = place
    if dask is not None and slurm:
        raise BadInput("--dask and --slurm are two places; give one of them.")
    if workers is not None and (dask is not None or slurm):
        raise BadInput("--workers counts processes of this machine; on a cluster its own workers count. Leave it out.")
    if dask is None and not slurm:
        yield LocalProcesses(workers)
        return
    from hyloop.ensembles.cluster import DaskCluster, Slurm  # Dask takes half a second to import

    with DaskCluster(dask) if dask is not None else Slurm(_table(experiment)) as engine:
        _quieten()
        if slurm:
            errors.print("waiting for SLURM to start a job", highlight=False)
        yield engine


def _table(experiment: Experiment) -> Cluster:
    if experiment.cluster is None:
        table = '[cluster] with kind = "slurm" and memory = "4 GB"'
        raise BadInput(f"--slurm: the file has no table {table}, which says what a job may take. See docs/cluster.md.")
    return experiment.cluster


def _quieten() -> None:
    """What Dask says of workers that leave is no news: their runs go to others, and what fails is said in words."""
    for name in ("distributed", "distributed.client", "distributed.core", "distributed.scheduler", "distributed.nanny"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
