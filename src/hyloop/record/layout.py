"""How a recording lies in its HDF5 file.

::

    /data    (rows, channels) float64, chunked, extensible
    /time    (rows,) float64 in s; fill value NaN; attributes bytes, complete, dropped, outcome (JSON)
    /names   (channels,) strings
    /units   (channels,) strings
    attributes of the file: format, version, provenance (JSON)

A file can be killed at any moment and must open afterwards. Four things see to that:

- It is made under another name and only then takes its own, already open for *single writer, multiple readers*
  (SWMR), so a file of that name can always be opened by a SWMR reader.
- In SWMR mode HDF5 writes what is pointed to before the pointer.
- Rows of ``/data`` are on the file before their times are, so a row counts once its time is there.
- Nothing is created in SWMR mode; what is known only later overwrites attributes of fixed size.

HDF5 reads zeros, or waits for ever, where a SWMR file was cut short (by a copy that failed, say). So the length it must
have at least is kept in ``bytes`` and checked first. All strings have a fixed length, because the heap in which HDF5
keeps others has no checksum, and a damaged one can make it wait for ever too.

The file keeps to HDF5 1.10, the first version with SWMR, so that MATLAB and older tools can read it.

References
----------
The HDF Group, "Introduction to Single-Writer/Multiple-Reader (SWMR)", HDF5 documentation.
"""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import sleep
from typing import Any

import h5py
import numpy as np

from hyloop.core.writing import replacing
from hyloop.errors import BadInput, BadShape

__all__ = [
    "RecordingFile",
    "attributes_json",
    "check_channels",
    "check_name",
    "dataset",
    "open_for_reading",
    "outcome_json",
]

FORMAT, VERSION = "hyloop-recording", 1
_SUFFIXES = (".h5", ".hdf5")
_LIBVER = ("v110", "v110")
_CHUNK_BYTES = 2**18  # a chunk is rewritten at every flush until it is full, so it should be small
_OUTCOME_BYTES = 4096
# h5py keeps the interpreter locked while it works; a pause between its calls lets a loop in another thread go on
_BREATH = 1e-4  # s


class RecordingFile:
    """A recording open for appending; `create` makes one."""

    def __init__(self, file: h5py.File) -> None:
        self._file, self._data, self._time = file, dataset(file, "data"), dataset(file, "time")
        self._rows = 0

    @classmethod
    def create(
        cls, path: Path, names: Sequence[str], units: Sequence[str], attributes: Mapping[str, Any], overwrite: bool
    ) -> "RecordingFile":
        """Make the file with no rows in it; refuses to overwrite unless told to."""
        check_name(path)
        provenance = attributes_json(attributes)
        if path.exists() and not overwrite:
            raise BadInput(f"{path} exists. Give another name, or overwrite=True to replace it.")
        channels = len(names)
        rows = int(np.clip(_CHUNK_BYTES // (8 * channels), 16, 8192))
        try:
            with replacing(path) as part:
                with h5py.File(part, "w", libver=_LIBVER) as file:
                    file.create_dataset("data", (0, channels), "f8", maxshape=(None, channels), chunks=(rows, channels))
                    file.create_dataset("time", (0,), "f8", maxshape=(None,), chunks=(rows,), fillvalue=np.nan)
                    file.create_dataset("names", data=_fixed(names))
                    file.create_dataset("units", data=_fixed(units))
                    file.attrs["format"], file.attrs["version"] = _fixed(FORMAT), VERSION
                    file.attrs["provenance"] = _fixed(provenance)
                    later = dataset(file, "time").attrs
                    later["bytes"], later["dropped"], later["complete"] = np.int64(0), np.int64(0), np.uint8(0)
                    later["outcome"] = _fixed("{}", _OUTCOME_BYTES)
                return cls(_open_swmr(part))
        except OSError as error:
            raise BadInput(f"cannot create {path}: {error}. Give a folder that can be written to.") from error

    def append(self, time: np.ndarray, data: np.ndarray) -> None:
        """Add rows and hand them to the operating system, times last."""
        begin, self._rows = self._rows, self._rows + len(time)
        for target, values in ((self._data, data), (self._time, time)):
            target.resize(self._rows, axis=0)
            sleep(_BREATH)
            target[begin:] = values
            sleep(_BREATH)
            target.flush()
            sleep(_BREATH)
        self._time.attrs.modify("bytes", np.int64(os.fstat(self._file.id.get_vfd_handle()).st_size))
        self._time.flush()

    def finish(self, complete: bool, dropped: int = 0, outcome: str = "{}") -> None:
        """Write what is known only at the end."""
        marks = self._time.attrs
        marks.modify("outcome", _fixed(outcome, _OUTCOME_BYTES))
        marks.modify("dropped", np.int64(dropped))
        marks.modify("complete", np.uint8(complete))

    def close(self) -> None:
        self._file.close()


def open_for_reading(path: Path) -> h5py.File:
    """Open a recording that is finished, killed or still written; `BadInput` if it is something else or cut short."""
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        if "already open" not in str(error):  # the mark of a writer that lives or was killed
            raise
        file = h5py.File(path, "r", swmr=True)
    try:
        marks: dict[str, Any] = dict(file.attrs)
        if marks.get("format") != FORMAT.encode():
            raise BadInput(f"{path} is an HDF5 file, but not a hyloop recording. Give a file that a run has recorded.")
        if marks["version"] > VERSION:
            raise BadInput(
                f"{path} has format version {marks['version']}, hyloop reads up to {VERSION}. Update hyloop."
            )
        length: Any = dataset(file, "time").attrs["bytes"]
        size, least = path.stat().st_size, int(length)
        if size < least:
            raise BadInput(
                f"{path} is cut short: it has {size} of {least} bytes. Copy it again from where it was recorded."
            )
    except BaseException:
        file.close()
        raise
    return file


def check_name(path: Path) -> None:
    """Refuse a name that promises another kind of file."""
    if path.suffix.lower() not in _SUFFIXES:
        raise BadInput(
            f"{path}: a recording is an HDF5 file; give a name that ends in .h5. For CSV, MATLAB or "
            f"Parquet: hyloop export {path.stem}.h5 {path.stem}.csv, once it is recorded."
        )


def check_channels(names: Sequence[str], units: Sequence[str]) -> None:
    """Names must be different and have a unit each."""
    if isinstance(names, str) or isinstance(units, str) or not len(names):
        raise BadShape(f"names and units must be lists of strings with at least one channel, got {names!r}, {units!r}.")
    if len(names) != len(units):
        raise BadShape(f"{len(names)} names but {len(units)} units; give one unit for each channel ('-' for none).")
    twice = sorted({name for name in names if list(names).count(name) > 1})
    if twice:
        raise BadShape(f"channel names must differ; given more than once: {', '.join(twice)}.")


def attributes_json(values: Mapping[str, Any], what: str = "attributes", limit: int | None = None) -> str:
    """JSON text of a mapping; arrays, NumPy numbers and paths become lists, numbers and strings."""
    try:
        text = json.dumps(dict(values), default=_plain, allow_nan=False, sort_keys=True)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{what}: {error}. Give finite numbers, strings, lists and dictionaries of them.") from error
    if limit is not None and len(text.encode()) > limit:
        raise BadInput(f"{what}: {len(text.encode())} bytes of JSON, at most {limit} fit. Give less.")
    return text


def outcome_json(values: Mapping[str, Any]) -> str:
    """JSON text that fits the place kept for it."""
    return attributes_json(values, "outcome", _OUTCOME_BYTES)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"{type(value).__name__} cannot be kept as JSON")


def _fixed(text: str | Sequence[str], length: int | None = None) -> np.ndarray:
    """Strings of one length in bytes, marked as UTF-8."""
    encoded = np.char.encode(np.asarray(text, dtype=str), "utf-8")
    return encoded.astype(h5py.string_dtype("utf-8", length or max(encoded.itemsize, 1)))


def dataset(file: h5py.File, name: str) -> h5py.Dataset:
    """A dataset of a recording by its name."""
    found = file[name]
    if not isinstance(found, h5py.Dataset):
        raise KeyError(f"/{name} is not a dataset")
    return found


def _open_swmr(path: Path) -> h5py.File:
    """Open straight into SWMR mode; `File.swmr_mode` would leave a moment in which a kill locks readers out."""
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_libver_bounds(h5py.h5f.LIBVER_V110, h5py.h5f.LIBVER_V110)
    return h5py.File(h5py.h5f.open(os.fsencode(path), h5py.h5f.ACC_RDWR | h5py.h5f.ACC_SWMR_WRITE, access))
