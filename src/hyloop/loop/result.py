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
    """The whole state of a loop, as one vector."""

    memory: np.ndarray
    names: tuple[str, ...]

    def save(self, path: str | PathLike) -> None:
        """Write to an ``.npz`` file."""
        np.savez(path, memory=self.memory, names=np.array(self.names))

    @classmethod
    def load(cls, path: str | PathLike) -> "Snapshot":
        """Read from an ``.npz`` file."""
        try:
            with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as file:
                return cls(file["memory"], tuple(str(name) for name in file["names"]))
        except (KeyError, ValueError, EOFError, BadZipFile) as error:
            raise BadInput(f"{path} is not a snapshot: {error}") from error
