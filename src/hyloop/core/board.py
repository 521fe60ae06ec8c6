"""A board: arrays that several processes see at once, in a file that lies in memory.

The loop writes, others read, and nobody waits for anybody. What is written in one number of 64 bits is seen whole or
not at all; a counter that is raised after its rows says how many of them are there.
"""

import json
import mmap
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hyloop.errors import BadInput

__all__ = ["Board"]

_MAGIC = b"hyloop board 1\n\0"
_ALIGNED = 64  # bytes, a line of the cache: two arrays never share one
_MEMORY = Path("/dev/shm")  # a disk in memory, where the system has one

Shapes = Mapping[str, tuple[Any, tuple[int, ...]]]


class Board:
    """Arrays by name, and a description that does not change; `make` one, or `open` that of another process.

    The file lies in a folder of its own, which nobody else may enter. It is there until `remove`, whoever dies.

    Attributes
    ----------
    path : Path
        The file.
    about : dict
        The description.
    """

    def __init__(self, path: Path, about: dict[str, Any], places: Mapping[str, Any], write: bool) -> None:
        self.path, self.about = path, about
        with open(path, "r+b" if write else "rb") as stream:
            kind = mmap.ACCESS_WRITE if write else mmap.ACCESS_READ
            self._map = mmap.mmap(stream.fileno(), 0, access=kind)
        self._arrays = {
            name: np.frombuffer(self._map, dtype, int(np.prod(shape)), offset).reshape(shape)
            for name, (dtype, shape, offset) in places.items()
        }

    @classmethod
    def make(cls, arrays: Shapes, about: Mapping[str, Any], folder: Path | None = None) -> "Board":
        """A new board of zeros; `about` is anything that can be written as JSON."""
        places, end = {}, 0
        for name, (dtype, shape) in arrays.items():
            places[name] = (np.dtype(dtype).str, list(shape), end)
            end += -(-np.dtype(dtype).itemsize * int(np.prod(shape)) // _ALIGNED) * _ALIGNED
        head = json.dumps({"arrays": places, "about": dict(about)}).encode()
        begin = -(-(len(_MAGIC) + 8 + len(head)) // _ALIGNED) * _ALIGNED
        home = folder or (_MEMORY if os.access(_MEMORY, os.W_OK) else None)
        path = Path(tempfile.mkdtemp(prefix="hyloop-", dir=home)) / "board"
        try:
            with open(path, "wb") as stream:
                stream.write(_MAGIC + len(head).to_bytes(8, "little") + head)
                # room is taken now: a disk that fills up later would end the process that writes into the map
                os.posix_fallocate(stream.fileno(), 0, begin + max(end, _ALIGNED))
            return cls.open(path, write=True)
        except BaseException:
            shutil.rmtree(path.parent)
            raise

    @classmethod
    def open(cls, path: Path, write: bool = False) -> "Board":
        """The board of another process."""
        with open(path, "rb") as stream:
            start = stream.read(len(_MAGIC) + 8)
            size = int.from_bytes(start[len(_MAGIC) :], "little")
            if start[: len(_MAGIC)] != _MAGIC or size > os.fstat(stream.fileno()).st_size:
                raise BadInput(f"{path} is not the board of a run of this version.")
            head = json.loads(stream.read(size))
        begin = -(-(len(_MAGIC) + 8 + size) // _ALIGNED) * _ALIGNED
        places = {name: (dtype, shape, begin + at) for name, (dtype, shape, at) in head["arrays"].items()}
        return cls(path, head["about"], places, write)

    def __getitem__(self, name: str) -> np.ndarray:
        return self._arrays[name]

    def remove(self) -> None:
        """Take the file away; who has it open keeps what is in it."""
        shutil.rmtree(self.path.parent, ignore_errors=True)
