"""`Recording`: the channels of a run, whole in memory; what `Loop.run` returns and what a file holds."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np

from hyloop.core.writing import replacing
from hyloop.errors import BadInput, BadShape, UnknownName
from hyloop.record.export import EXPORTS, check_export
from hyloop.record.layout import SUFFIXES, RecordingFile, check_channels, dataset, open_for_reading

__all__ = ["ChannelSummary", "Recording"]


class ChannelSummary(NamedTuple):
    """One line of a channel table."""

    name: str
    unit: str
    min: float
    max: float
    rms: float


@dataclass(frozen=True, eq=False, repr=False)
class Recording:
    """Channels of a run; ``recording["damper1.f"]`` is the history of one.

    ``u.NAME``, ``v.NAME`` and ``a.NAME`` are displacement, velocity and acceleration of a degree of freedom *relative
    to the ground*. Runs of files, and of loops with ``derived=True``, also have ``a_abs.NAME``, the absolute
    acceleration, ``drift.1`` and ``drift_ratio.1`` of every story, ``base_shear`` and ``energy.*``
    (`hyloop.loop.derived`). The ground acceleration is ``ground``; where it has several directions they are
    ``ground.x`` and ``base_shear.x``, ... Loads are ``load.NAME``. ``damper1.d`` and ``damper1.f`` are deformation and
    force of *one* device; a site with ``count`` devices puts count · f on the structure, and dissipates count times the
    energy of one. ``imbalance`` is the largest strain by which a fibre section is out of balance with its member.

    It can be saved and loaded, exported (`export`), drawn (`plot`, `hysteresis`, `animate`), turned into tables of
    other libraries (`to_pandas`, `to_xarray`) and shown on a page (`hyloop.report.write_report`).

    Attributes
    ----------
    time : ndarray, (rows,)
        Time in s.
    data : ndarray, (rows, channels)
        All histories.
    names, units : tuple of str
        Names and units of the columns.
    attributes : dict
        Where it comes from: method, step, number of devices at each site, parameters among the channels, and of a file
        what was given to the `Recorder`, and its outcome.
    complete : bool
        False for a recording that is still written, was killed, or was ended by an error.
    dropped : int
        Rows left out because the disk did not keep up with a live run.
    path : Path, optional
        The file it was read from.
    """

    time: np.ndarray
    data: np.ndarray
    names: tuple[str, ...]
    units: tuple[str, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    complete: bool = True
    dropped: int = 0
    path: Path | None = None

    def __post_init__(self) -> None:
        for key, kind in (("names", tuple), ("units", tuple), ("time", np.asarray), ("data", np.asarray)):
            object.__setattr__(self, key, kind(getattr(self, key)))
        check_channels(self.names, self.units)
        if np.shape(self.data) != (len(self.time), len(self.names)):
            raise BadShape(
                f"recording: data must be {len(self.time)} rows by {len(self.names)} channels, got "
                f"{np.shape(self.data)}."
            )

    @classmethod
    def load(cls, path: str | PathLike) -> "Recording":
        """Read a recording: finished, killed, or still written by this or another process."""
        if not Path(path).is_file():
            raise BadInput(f"{path}: no such file. Give the path of a recording, such as out/run.h5.")
        if Path(path).suffix.lower() not in SUFFIXES and not h5py.is_hdf5(path):
            raise BadInput(
                f"{path} is not a recording: that is an HDF5 file (.h5), which `hyloop run` writes from an experiment "
                "file. Give the path of one, such as out/run.h5."
            )
        try:
            with open_for_reading(Path(path)) as file:
                return cls(*_read(file), path=Path(path))
        except BadInput:
            raise
        except (OSError, KeyError, RuntimeError, TypeError, ValueError) as error:  # what h5py and broken text raise
            raise BadInput(
                f"{path} cannot be read as a recording: {error}. It is damaged or not a hyloop recording; "
                "copy it again from where it was recorded."
            ) from error

    def save(self, path: str | PathLike, *, overwrite: bool = False) -> None:
        """Write as a file that `load` reads back the same."""
        if np.isnan(self.time).any():
            raise BadInput(f"{path}: a time is not a number; a file has rows up to there only. Leave such rows out.")
        file = RecordingFile.create(Path(path), self.names, self.units, self.attributes, overwrite)
        try:
            file.append(np.asarray(self.time), np.asarray(self.data))
            file.finish(self.complete, self.dropped)
        finally:
            file.close()

    def export(self, path: str | PathLike) -> None:
        """Write for other programs, by suffix: ``.csv``, ``.mat`` (MATLAB) or ``.parquet`` (needs pyarrow)."""
        target = Path(path)
        check_export(target)
        try:
            with replacing(target) as part:
                EXPORTS[target.suffix.lower()](part, self)
        except OSError as error:
            raise BadInput(f"cannot write {target}: {error}. Give a folder that can be written to.") from error

    def followed_by(self, other: "Recording") -> "Recording":
        """With the rows of another recording of the same channels behind its own."""
        rows = np.append(self.time, other.time), np.vstack([self.data, other.data])
        return replace(self, time=rows[0], data=rows[1])

    @property
    def fault(self) -> str:
        """Why the run stopped early; empty if it did not."""
        return str(self.attributes.get("fault", ""))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the results must know, such as which excitation was used."""
        return tuple(self.attributes.get("notes", ()))

    def select(self, *patterns: str) -> "Recording":
        """The channels that match, in the order they have here; ``*`` and ``?`` match as in a shell."""
        if not patterns:
            raise BadInput("select() selects nothing. Name at least one channel, as in select('u.*').")
        found = []
        for pattern in patterns:
            matches = [k for k, name in enumerate(self.names) if fnmatchcase(name, pattern)]
            if not matches:
                raise UnknownName("channel", pattern, self.names)
            found += matches
        kept = sorted(set(found))
        names, units = (tuple(texts[k] for k in kept) for texts in (self.names, self.units))
        return replace(self, data=self.data[:, kept], names=names, units=units)

    def to_pandas(self) -> Any:
        """A pandas DataFrame over the time in s; units and provenance are in its `attrs`."""
        from hyloop.record.tables import pandas_frame

        return pandas_frame(self)

    def to_xarray(self) -> Any:
        """An xarray Dataset over the time, with the unit of every channel in its `attrs`."""
        from hyloop.record.tables import xarray_dataset

        return xarray_dataset(self)

    def plot(self, *patterns: str) -> Any:
        """A Matplotlib figure of the channels that match (at most 40), a panel for each unit."""
        from hyloop.record.plot import plot_recording

        return plot_recording(self.select(*(patterns or ("*",))))

    def hysteresis(self, *sites: str) -> Any:
        """A Matplotlib figure of force over deformation of the sites named, or of all of them."""
        from hyloop.record.plot import plot_hysteresis

        return plot_hysteresis(self, sites)

    def animate(self, against: "Recording | None" = None) -> Any:
        """The building in motion with the loops of its devices, for a notebook; ``.save("page.html")`` writes it.

        `against` is drawn in grey behind it, for instance the same building without its dampers.
        """
        from hyloop.report.notebook import animate

        return animate(self, against)

    def __repr__(self) -> str:
        rows = f"{len(self)} rows to {self.time[-1]:g} s" if len(self) else "no rows"
        state = "complete" if self.complete else self.fault or "not complete"
        return f"Recording: {len(self.names)} channels, {rows}, {state}"

    def _repr_html_(self) -> str:
        from hyloop.report.notebook import summary_html

        return summary_html(self)

    def table(self) -> list[ChannelSummary]:
        """Name, unit, least and greatest value and root mean square of every channel (NaN if there are no rows)."""
        if len(self) == 0:
            return [ChannelSummary(n, u, np.nan, np.nan, np.nan) for n, u in zip(self.names, self.units, strict=True)]
        with np.errstate(over="ignore", invalid="ignore"):  # a run that went astray still has a table
            columns = self.data.min(axis=0), self.data.max(axis=0), np.sqrt(np.mean(self.data**2, axis=0))
        rows = zip(self.names, self.units, *(column.tolist() for column in columns), strict=True)
        return [ChannelSummary(*row) for row in rows]

    def __getitem__(self, channel: str) -> np.ndarray:
        if not isinstance(channel, str):
            raise BadInput(f"a recording is asked for a channel by name, as in ['{self.names[0]}'], not {channel!r}.")
        if channel not in self.names:
            raise UnknownName("channel", channel, self.names)
        return self.data[:, self.names.index(channel)]

    def __len__(self) -> int:
        return len(self.time)


def _read(file: h5py.File) -> tuple[Any, ...]:
    provenance: Any = file.attrs["provenance"]
    marks: dict[str, Any] = dict(dataset(file, "time").attrs)  # before the rows: what is complete grows no more
    time = np.asarray(file["time"])
    unwritten = np.isnan(time)
    rows = int(np.argmax(unwritten)) if unwritten.any() else len(time)
    # opened after the times were read, so it has their rows
    data = dataset(file, "data")[:rows]
    names, units = (tuple(text.decode() for text in np.asarray(file[key]).tolist()) for key in ("names", "units"))
    attributes = json.loads(provenance) | json.loads(marks["outcome"])
    return time[:rows], data, names, units, attributes, bool(marks["complete"]), int(marks["dropped"])
