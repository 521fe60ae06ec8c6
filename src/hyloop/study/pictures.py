"""The picture of a frame in space, recorded beside a run: slowly, and from displacements the run has anyway."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from math import ceil
from pathlib import Path
from secrets import token_hex
from typing import Any, cast

import numpy as np

from hyloop.errors import BadInput, HyloopError
from hyloop.record import Recorder, Recording, picture_path
from hyloop.structure import Model
from hyloop.structure.frames.picture import FramePicture
from hyloop.study.build import Built

__all__ = ["PictureWatch"]

RATE = 25.0  # frames in a second: as films have, and enough for the eye
MOST = 1500  # frames: of a long run there are fewer in a second


class PictureWatch:
    """Takes every row of a run, and writes some of them as frames of a picture.

    Ductilities are the largest over all rows, whatever is left out between two frames. The last row of a run is the
    last frame, which may come a part of a frame late.

    Attributes
    ----------
    extra : list of str
        Displacements it needs that are not among the channels that are recorded.
    """

    def __init__(self, built: Built, recorded: Sequence[str], per_step: int) -> None:
        self.extra: list[str] = []
        self._picture: FramePicture | None = None
        if not built.experiment.recording.picture:
            return
        self._picture = FramePicture(cast(Model, built.model), built.loop.structure)  # which `build` has seen to
        dt = built.loop.dt / per_step
        count = (len(built.excitation) - 1) * per_step
        self._stride = max(ceil(max(1.0 / RATE, count * dt / MOST) / dt - 1e-9), 1)
        self._step, self._frames = self._stride * dt, 2 + count // self._stride
        self._needed = [f"u.{name}" for name in built.loop.structure.names]
        self.extra = sorted(set(self._needed) - set(recorded))
        self._about = self._picture.about | {"sites": _ends(built)}
        self._token = token_hex(8)
        self._columns: np.ndarray | None = None
        self._seen, self._pending, self._last = 0, [], np.zeros((0, len(self._picture.names)))
        self._recorder: Recorder | None = None
        self._written = 0  # frames

    @property
    def attributes(self) -> dict[str, str]:
        """What the recording says of its picture."""
        return {} if self._picture is None else {"picture": self._token}

    @property
    def numbers(self) -> int:
        """How many numbers will be written at most."""
        return 0 if self._picture is None else self._frames * (1 + len(self._picture.names))

    def see(self, piece: Recording) -> None:
        """Take the next piece of the run, which has all displacements."""
        if self._picture is None or len(piece) == 0:
            return
        if self._columns is None:
            place = {name: k for k, name in enumerate(piece.names)}
            self._columns = np.array([place[name] for name in self._needed])
        values = self._picture.rows(piece.data[:, self._columns])
        chosen = values[(-self._seen) % self._stride :: self._stride]
        self._seen += len(values)
        self._last = values[-1:] if (self._seen - 1) % self._stride else values[:0]
        if len(chosen):
            self._pending.append(chosen)
        self._flush()

    def kept(self) -> dict[str, np.ndarray]:
        """Where the picture stands, for a run that goes on elsewhere; its frames are in the file by now."""
        if self._picture is None or self._recorder is None:
            return {}
        self._recorder.flush()
        counts, token = np.array([self._seen, self._written]), np.array(self._token)
        return {"counts": counts, "token": token, "last": self._last, "reached": self._picture.reached}

    def take_back(self, kept: Mapping[str, np.ndarray]) -> None:
        """Go on from there."""
        if self._picture is not None:
            self._seen, self._written = (int(count) for count in kept["counts"])
            self._last, self._picture.reached = kept["last"], kept["reached"]
            self._token, self._pending = str(kept["token"]), []

    @contextmanager
    def recording(self, path: Path, attributes: dict[str, Any], overwrite: bool) -> Iterator[None]:
        """Write frames while the run goes on, into the file beside `path`."""
        if self._picture is None:
            yield
            return
        about = {"title": attributes.get("title", ""), "picture_of": self._token, "frame": self._about}
        where, names, units = picture_path(path), self._picture.names, self._picture.units
        settings: dict[str, Any] = {"overwrite": overwrite, "begin": self._earlier(where)}
        with Recorder(where, names, units, self._step, about, **settings) as self._recorder:
            self._flush()
            try:
                yield
            except BaseException:
                with suppress(HyloopError):  # an error that ended the run matters more than one of its picture
                    self._recorder.write(self._last)
                raise
            self._recorder.write(self._last)

    def _earlier(self, where: Path) -> np.ndarray | None:
        """Frames that are there before the first one is written: of a run that goes on."""
        if not self._written:
            return None
        earlier = Recording.load(where)
        if earlier.attributes.get("picture_of") != self._token or len(earlier) < self._written:
            raise BadInput(f"{where} is not the picture that the run has made until then. Run it without --resume.")
        return earlier.data[: self._written]

    def _flush(self) -> None:
        if self._recorder is not None:
            for rows in self._pending:
                self._recorder.write(rows)
                self._written += len(rows)
            self._pending = []


def _ends(built: Built) -> dict[str, list[str]]:
    """Nodes between which each device is drawn; those of a story between its floors."""
    floors = [name.rpartition(".")[0] for name in built.building["floors"]]
    found = {}
    for name, where in built.building["sites"].items():
        if nodes := where.get("nodes"):
            found[name] = nodes
        elif story := where.get("story"):
            found[name] = floors[max(story - 2, 0) : story]
    return found
