"""Snapshots of the state of a loop."""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from hyloop.core.writing import replacing
from hyloop.errors import BadInput

__all__ = ["Snapshot"]


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
        """Write to an ``.npz`` file, whole or not at all; a name without the suffix gets it."""
        target = Path(path) if str(path).endswith(".npz") else Path(f"{path}.npz")
        names, texts = np.array(self.names), np.array(self.texts)
        with replacing(target) as part, open(part, "wb") as stream:
            np.savez(stream, memory=self.memory, names=names, texts=texts, numbers=self.numbers)

    @classmethod
    def load(cls, path: str | PathLike) -> "Snapshot":
        """Read from an ``.npz`` file."""
        try:
            with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as file:
                names, texts = (tuple(str(text) for text in file[key]) for key in ("names", "texts"))
                return cls(file["memory"], names, texts, file["numbers"])
        except (KeyError, ValueError, EOFError, BadZipFile) as error:
            raise BadInput(f"{path} is not a snapshot: {error}") from error
