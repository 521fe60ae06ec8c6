"""Where a run stands, kept beside its recording while it goes on, so that one that was killed goes on bit for bit.

It is the memory of the loop, and what those hold through whose hands the rows go, after the same row. It is written
once the rows until then are with the operating system, and whole or not at all.
"""

import hashlib
import json
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol
from zipfile import BadZipFile

import numpy as np
from llvmlite.binding import get_host_cpu_name

from hyloop.core import Table
from hyloop.core.plan import STEP
from hyloop.core.writing import replacing
from hyloop.errors import BadInput, HyloopWarning
from hyloop.loop import PacedRun
from hyloop.record import Recorder, Recording, resume_path
from hyloop.study.build import Built
from hyloop.study.tasks import library_digest

__all__ = ["AGAIN", "EVERY", "Keeper", "Point", "built_digest"]

EVERY = 1.0  # s of wall time from one time to the next
AGAIN = ("called off", "overrun", "taken over")  # reasons of `RunFailed` that a second try need not have
_SHARE = 50.0  # times as long as it takes: a large memory is kept less often
_FORMAT = "hyloop resume 1"
_ADDRESSES = ("address", "group_address")  # of a plan, other ones in every process
_DIFFERENT = {
    "library": "hyloop, or NumPy, SciPy or Numba, or the processor is another one than then",
    "text": "the experiment file has changed since",
    "overrides": "the changes (--set) are not those of then",
    "built": "what is built is another one than then: a motion, a network or another file that it names has changed",
}


class Watch(Protocol):
    """What rows pass through, and what remembers some of them."""

    def kept(self) -> Mapping[str, np.ndarray]: ...
    def take_back(self, kept: Mapping[str, np.ndarray]) -> None: ...


@dataclass(frozen=True, eq=False)
class Point:
    """Where a run stood when it was kept last.

    Attributes
    ----------
    about : dict
        Its origin, rows of the recording, step, and steps from which it has gone on already.
    arrays : dict of str to ndarray
        The memory of the loop, and what the parts hold.
    recording : Recording
        Its rows until then.
    """

    about: dict[str, Any]
    arrays: dict[str, np.ndarray]
    recording: Recording

    @classmethod
    def load(cls, path: Path) -> "Point":
        """That of a recording; refused where there is nothing to go on from."""
        where = resume_path(path)
        if not path.is_file():
            raise BadInput(f"{path}: no such recording, so there is nothing to go on with. Run it without --resume.")
        recording = Recording.load(path)
        if recording.complete:
            raise BadInput(f"{path} is complete; there is nothing left to run.")
        if recording.attributes.get("reason", AGAIN[0]) not in AGAIN:
            raise BadInput(
                f"{path}: the run did not break off, it stopped: {recording.fault}. It would stop there again. Change "
                "what is at fault, and run it without --resume."
            )
        if not where.is_file():
            raise BadInput(
                f"{path}: there is no {where.name} to go on from: the run was killed before it was kept for the first "
                "time, or the file was removed. Run it without --resume."
            )
        try:
            with open(where, "rb") as stream, np.load(stream, allow_pickle=False) as file:
                arrays = {key: file[key] for key in file.files}
            about = json.loads(str(arrays.pop("about")))
            if about["format"] != _FORMAT:
                raise ValueError("it comes from another version")
        except (OSError, KeyError, ValueError, EOFError, BadZipFile) as error:
            raise BadInput(f"{where} is not what a run keeps: {error}. Run it without --resume.") from error
        if len(recording) < about["rows"]:
            raise BadInput(
                f"{path} is shorter than the recording that {where.name} belongs to: it has {len(recording)} of "
                f"{about['rows']} rows. Put back the one that was there, or run it without --resume."
            )
        rows = slice(about["rows"])
        return cls(about, arrays, replace(recording, time=recording.time[rows], data=recording.data[rows]))

    @property
    def step(self) -> int:
        """Steps that were made."""
        return int(self.about["step"])

    def part(self, name: str) -> dict[str, np.ndarray]:
        """What one of the parts held."""
        return {key.removeprefix(f"{name}."): array for key, array in self.arrays.items() if key.startswith(f"{name}.")}


class Keeper:
    """Writes where a run stands, time and again, and brings one back.

    Parameters
    ----------
    built : Built
    path : Path
        The recording.
    names : sequence of str
        Its channels.
    attributes : mapping
        What it says of the experiment.
    parts : mapping of str to Watch
        What rows pass through.
    every : float, optional
        Wall time in s from one time to the next, 0: after every piece; None: nothing is kept.
    """

    def __init__(
        self,
        built: Built,
        path: Path,
        names: Sequence[str],
        attributes: Mapping[str, Any],
        parts: Mapping[str, Watch],
        every: float | None,
    ) -> None:
        self._loop, self._path, self._file, self._parts = built.loop, path, resume_path(path), parts
        self._origin = cache(lambda: _origin(built, names, attributes))
        self._every, self._resumed = np.inf if every is None else every, []
        self._next, self._fails = perf_counter() + self._every, False

    def go_on(self, point: Point) -> dict[str, Any]:
        """Bring loop and parts back; refused where this is not what it was. Returns what the recording says of it."""
        for key, words in _DIFFERENT.items():
            if point.about["origin"][key] != self._origin()[key]:
                raise BadInput(f"{self._path} cannot be gone on with: {words}. Bring it back, or run without --resume.")
        self._loop.restore(replace(self._loop.snapshot(), memory=point.arrays["memory"]))
        for name, part in self._parts.items():
            part.take_back(point.part(name))
        self._resumed = [*point.about["resumed"], point.step]
        return {"created": point.recording.attributes["created"], "resumed": self._resumed}

    def look(self, recorder: Recorder, clock: PacedRun | None) -> None:
        """Keep where the run stands, if it is time, and the loop or its clock has it; all rows until then are taken."""
        if clock is None:
            memory = self._loop.snapshot().memory if perf_counter() >= self._next else None
        else:
            memory = clock.kept
        if memory is not None:
            begin = perf_counter()
            self._write(memory, recorder)
            end = perf_counter()
            self._next = end + (max(self._every, _SHARE * (end - begin)) if self._every else 0.0)

    def _write(self, memory: np.ndarray, recorder: Recorder) -> None:
        """A disk that is full, or gone, costs no run: it is said once."""
        recorder.flush()
        step = int(memory[STEP])  # the clock stands first in it
        about = {"format": _FORMAT, "origin": self._origin(), "resumed": self._resumed}
        arrays = {"about": np.array(json.dumps({**about, "step": step, "rows": recorder.rows})), "memory": memory}
        arrays |= {f"{name}.{key}": array for name, part in self._parts.items() for key, array in part.kept().items()}
        try:
            with replacing(self._file) as part, open(part, "wb") as stream:
                np.savez(stream, **arrays)  # pyright: ignore[reportArgumentType]
        except OSError as error:
            if not self._fails:
                self._fails = True
                text = f"{self._file}: cannot be written ({error.strerror}); the run goes on, and could be gone on with"
                warnings.warn(f"{text} only from before.", HyloopWarning, stacklevel=2)

    def forget(self) -> None:
        """Remove what was kept: there is nothing to go on from."""
        with suppress(OSError):  # it is of no use beside a recording that is complete, and refused
            self._file.unlink()


def _origin(built: Built, channels: Sequence[str], attributes: Mapping[str, Any]) -> dict[str, Any]:
    """What the numbers of a recording hang on, as digests: this library, the text, its changes, and what became of it.

    What is built holds the contents of all files that the text names. Its numbers are compared to the last bit.
    """
    text = str(attributes.get("experiment_text", ""))
    return {
        "library": f"{library_digest()} {get_host_cpu_name()}",
        "text": hashlib.sha256(text.encode()).hexdigest(),
        "overrides": list(attributes.get("overrides", ())),
        "built": built_digest(built, channels),
    }


def built_digest(built: Built, channels: Sequence[str]) -> str:
    """Digest of a loop, its initial state, its excitation, and what of it is recorded, to the last bit."""
    loop, plan = built.loop, built.loop.parts.plan
    digest = hashlib.blake2b(digest_size=16)
    for key, value in plan._asdict().items():
        if key not in _ADDRESSES:
            _enter(digest, value)
    _enter(digest, loop.parts.initial.memory)
    _enter(digest, np.ascontiguousarray(built.excitation))
    laws = [connection.instance.block.name for connection in loop.connections.values()]
    recording = built.experiment.recording
    digest.update(repr([list(loop.channels), laws, list(channels), recording.every, recording.derived]).encode())
    return digest.hexdigest()


def _enter(digest: Any, value: Any) -> None:
    """Enter numbers, arrays, and tables of them."""
    if isinstance(value, Table):
        value = value.bundle
    if isinstance(value, tuple):
        for item in value:
            _enter(digest, item)
    elif isinstance(value, np.ndarray):
        digest.update(f"{value.dtype}{value.shape}".encode() + value.tobytes())
    else:
        digest.update(repr(value).encode())
