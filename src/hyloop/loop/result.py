"""What comes out of a run: recorded channels, and snapshots of the state."""

from dataclasses import dataclass
from os import PathLike
from zipfile import BadZipFile

import numpy as np

from hyloop.errors import BadInput, UnknownName

__all__ = ["Result", "Snapshot"]


@dataclass(frozen=True, eq=False)
class Result:
    """Recorded channels of a run; ``result["damper1.f"]`` is the history of one.

    ``u.NAME``, ``v.NAME`` and ``a.NAME`` are displacement, velocity and acceleration of a degree of freedom *relative
    to the ground*; the absolute acceleration is ``a.NAME`` plus the ground's along that degree of freedom (``ground``,
    times `Structure.influence`). ``damper1.d`` and ``damper1.f`` are deformation and force of *one* device; a site with
    ``count`` devices puts count · f on the structure, and dissipates count times the energy of one. ``imbalance`` is
    the largest strain by which a fibre section is out of balance with its member.

    Attributes
    ----------
    time : ndarray, (rows,)
        Time in s.
    data : ndarray, (rows, channels)
        All histories.
    names, units : tuple of str
        Names and units of the columns.
    fault : str
        Why the run stopped early; empty if it did not.
    """

    time: np.ndarray
    data: np.ndarray
    names: tuple[str, ...]
    units: tuple[str, ...]
    fault: str = ""

    def __getitem__(self, channel: str) -> np.ndarray:
        if channel not in self.names:
            raise UnknownName("channel", channel, self.names)
        return self.data[:, self.names.index(channel)]

    def __len__(self) -> int:
        return len(self.time)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The whole state of a loop, as one vector, and what kind of loop it was.

    Attributes
    ----------
    memory : ndarray
        Everything that changes in a run.
    names : tuple of str
        Channels of the loop.
    texts : tuple of str
        What must be the same where it is restored: the method, then the law of every block.
    numbers : ndarray
        And these to round-off: step, substeps, and sums over mass, stiffness, damping, loads and sites.
    """

    memory: np.ndarray
    names: tuple[str, ...]
    texts: tuple[str, ...]
    numbers: np.ndarray

    def save(self, path: str | PathLike) -> None:
        """Write to an ``.npz`` file."""
        np.savez(path, memory=self.memory, names=np.array(self.names), texts=np.array(self.texts), numbers=self.numbers)

    @classmethod
    def load(cls, path: str | PathLike) -> "Snapshot":
        """Read from an ``.npz`` file."""
        try:
            with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as file:
                names, texts = (tuple(str(text) for text in file[key]) for key in ("names", "texts"))
                return cls(file["memory"], names, texts, file["numbers"])
        except (KeyError, ValueError, EOFError, BadZipFile) as error:
            raise BadInput(f"{path} is not a snapshot: {error}") from error
