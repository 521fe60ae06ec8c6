"""Clusters in experiment files: what a job of SLURM may take."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from hyloop.errors import BadInput
from hyloop.files.fields import Quantity, Table

__all__ = ["Cluster"]

_MEMORY = re.compile(r"\d+(\.\d+)?\s*([KMGT]i?)?B", re.IGNORECASE)
_RESERVE = 120.0  # s before the end of a job, when its workers hand back what they have


def _memory(text: str) -> str:
    if not _MEMORY.fullmatch(text.strip()):
        raise BadInput(f"got '{text}'; wanted a memory such as '4 GB'.")
    return text


class Cluster(Table):
    """Jobs of SLURM in which `--slurm` runs what is handed out; [cluster.md](cluster.md) has the whole way."""

    kind: Literal["slurm"]
    jobs: Annotated[int, Field(ge=1, le=10_000)] = 1
    """Number of jobs; one that ends is replaced while there is something to do."""
    cores: Annotated[int, Field(ge=1, le=1024)] = 1
    """Of a job; a process with one thread runs on each."""
    memory: Annotated[str, AfterValidator(_memory)]
    """Of a job, such as "4 GB"."""
    walltime: Annotated[float, Quantity("s", low=60.0)] = 3600.0
    """Longest time of a job; the workers leave two minutes earlier, and what they have goes to others."""
    partition: str | None = None
    """Partition of SLURM; default: its own."""
    account: str | None = None
    """Account that pays."""
    interface: str | None = None
    """Network that joins the machines, such as "ib0"; default: that of the host name."""
    setup: list[str] = Field(default_factory=list)
    """Lines of the job script before the workers start, such as "module load python"."""
    directives: list[str] = Field(default_factory=list)
    """Further lines for `#SBATCH`, such as "--constraint=haswell"."""
    python: str | None = None
    """Python on the nodes; default: the one that hands out."""

    @property
    def clock(self) -> str:
        """Walltime as SLURM writes it."""
        minutes, seconds = divmod(round(self.walltime), 60)
        return f"{minutes // 60:02d}:{minutes % 60:02d}:{seconds:02d}"

    @property
    def lifetime(self) -> float:
        """After how many seconds workers leave by themselves; zero for a job too short for that."""
        return max(self.walltime - _RESERVE, 0.0)
