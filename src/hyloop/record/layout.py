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

Nor may HDF5 meet a full disk: a write that fails leaves it in a state in which closing the file, or the end of the
program, is a segmentation fault. So room on the disk is reserved before rows are handed to HDF5, with what it needs to
close the file; where there is none, the rows are refused and the file is closed as it is. If a write fails all the
same (a disk that was pulled out), HDF5 is given an empty file under the same handle to finish with, and the true one
stays as it was.

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
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from time import sleep
from typing import Any

import h5py
import numpy as np

from hyloop.core.holding import holding
from hyloop.core.writing import replacing
from hyloop.errors import BadInput, BadShape
from hyloop.record.room import release, reserve

__all__ = [
    "SUFFIXES",
    "RecordingFile",
    "attributes_json",
    "check_channels",
    "check_name",
    "dataset",
    "open_for_reading",
    "outcome_json",
]

FORMAT, VERSION = "hyloop-recording", 1
SUFFIXES = (".h5", ".hdf5")
_LIBVER = ("v110", "v110")
_CHUNK_BYTES = 2**18  # a chunk is rewritten at every flush until it is full, so it should be small
_OUTCOME_BYTES = 8192
# h5py keeps the interpreter locked while it works; a pause between its calls lets a loop in another thread go on
_BREATH = 1e-4  # s
_SPARE = 2**16  # bytes for indices and attributes
_AHEAD = 2**18  # bytes reserved at a time


class RecordingFile:
    """A recording open for appending; `create` makes one."""

    def __init__(self, file: h5py.File, chunk: int, held: ExitStack) -> None:
        self._file, self._data, self._time = file, dataset(file, "data"), dataset(file, "time")
        self._rows, self._chunk, self._held = 0, chunk, held
        self._handle, self._reserved = os.dup(file.id.get_vfd_handle()), 0  # bytes from the beginning of the file

    @classmethod
    def create(
        cls,
        path: Path,
        names: Sequence[str],
        units: Sequence[str],
        attributes: Mapping[str, Any],
        overwrite: bool,
        begin: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> "RecordingFile":
        """Make the file; refuses to overwrite unless told to, and while another process records.

        It has no rows, or times and data of those it shall `begin` with: they are in it before it takes its name.
        """
        check_name(path)
        provenance = attributes_json(attributes)
        if path.exists() and not overwrite:
            raise BadInput(f"{path} exists. Give another name, or overwrite=True to replace it.")
        channels = len(names)
        rows = int(np.clip(_CHUNK_BYTES // (8 * channels), 16, 8192))
        try:
            with ExitStack() as held, replacing(path) as part:
                held.enter_context(holding(path, "another run is recording into it"))
                with open(part, "wb") as empty:  # HDF5 must not be the first to find that there is no room
                    reserve(empty.fileno(), 0, 2 * _SPARE + len(provenance) + 8 * (channels + 1) * 2 * rows)
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
                made = cls(_open_swmr(part), rows, held.pop_all())
                try:
                    if begin is not None:
                        made.append(*begin)
                except BaseException:
                    made.close()
                    raise
                return made
        except OSError as error:
            raise BadInput(f"cannot create {path}: {error}. Give a folder that can be written to.") from error

    def append(self, time: np.ndarray, data: np.ndarray) -> None:
        """Add rows and hand them to the operating system, times last; `NoRoom`, and nothing added, if there is none."""
        self._make_room(len(time))
        try:
            self._append(time, data)
        except BaseException:
            _divert(self._file.id.get_vfd_handle())
            raise

    def _append(self, time: np.ndarray, data: np.ndarray) -> None:
        begin, self._rows = self._rows, self._rows + len(time)
        for target, values in ((self._data, data), (self._time, time)):
            target.resize(self._rows, axis=0)
            sleep(_BREATH)
            target[begin:] = values
            sleep(_BREATH)
            target.flush()
            sleep(_BREATH)
        self._time.attrs.modify("bytes", np.int64(os.fstat(self._handle).st_size))
        self._time.flush()

    def _make_room(self, rows: int) -> None:
        """Reserve what these rows can need, and what closing the file can."""
        row = 8 * (self._data.shape[1] + 1)
        end = self._file.id.get_filesize() + row * (rows + 2 * self._chunk) + _SPARE
        if end > self._reserved:
            reserve(self._handle, self._reserved, end + _AHEAD)
            self._reserved = end + _AHEAD

    def finish(self, complete: bool, dropped: int = 0, outcome: str = "{}") -> None:
        """Write what is known only at the end."""
        marks = self._time.attrs
        marks.modify("outcome", _fixed(outcome, _OUTCOME_BYTES))
        marks.modify("dropped", np.int64(dropped))
        marks.modify("complete", np.uint8(complete))

    def close(self) -> None:
        with self._held:
            try:
                self._file.close()
                release(self._handle)
            finally:
                os.close(self._handle)


def _divert(handle: int) -> None:
    """Put an empty file of the same length, which vanishes when it is closed, in the place of an open one."""
    with suppress(OSError), tempfile.TemporaryFile(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as sink:
        os.ftruncate(sink.fileno(), os.fstat(handle).st_size)
        os.dup2(sink.fileno(), handle)


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
    if path.suffix.lower() not in SUFFIXES:
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
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
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
