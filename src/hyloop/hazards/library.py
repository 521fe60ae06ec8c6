"""Folders of records: where they are, what is in them, and one by its name."""

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path

from hyloop.data import DATA_SETS, data_folder
from hyloop.errors import BadInput, UnknownName
from hyloop.hazards.formats import COMPONENT_SUFFIX, read_record, record_components, record_name

__all__ = ["RecordInfo", "event_name", "find_record", "index_records"]

_ALWAYS = {".at2", ".v2", *(f".{name}{sensor}" for name in ("ew", "ns", "ud") for sensor in ("", "1", "2"))}
_PERHAPS = {".csv", ".txt", ".dat", ".asc", ".v2c", ".v1c"}  # a record if it can be read as one
# what tells the two components of a station apart at the end of a name: _1 and _2, 180 and 270, NS and EW, X and Y
_COMPONENT = re.compile(r"(?:[_-](?:h?[12]|[xyne]|ns|ew)|[_-]?\d{3})$", re.IGNORECASE)
# in a name of ESM, HI.ARS1..HNE.D.20190728.160908.C.ACC, the letter after band and instrument; Z is vertical
_STREAM = re.compile(r"(?P<station>.*\.[A-Z]{2})[A-Y0-9](?P<rest>\.D\..*)", re.IGNORECASE)


@dataclass(frozen=True)
class RecordInfo:
    """One record of a folder.

    Attributes
    ----------
    path : Path
        The file.
    name : str
        File name without its ending, unless this names the component, as in K-NET files.
    npts, dt, duration, pga : int, float, float, float
        Samples, step (s), duration (s) and peak (m/s2); zero where the file cannot be read.
    component : str
        The channel, where a file holds several; what `read_record` takes.
    pair : Path, optional
        The file of the other horizontal component.
    problem : str
        Why the file cannot be read; empty if it can.
    """

    path: Path
    name: str
    npts: int = 0
    dt: float = 0.0
    duration: float = 0.0
    pga: float = 0.0
    component: str = ""
    pair: Path | None = None
    problem: str = ""


def _folder(folder: str | Path | None) -> Path:
    found = data_folder() if folder is None else Path(folder)
    if found is None:
        raise BadInput("there is no folder of records. Set HYLOOP_DATA, give a folder, or use default_motion(seed).")
    if not found.is_dir():
        raise BadInput(f"{found}: there is no such folder of records.")
    return found


def _files(folder: Path) -> list[Path]:
    """Files that may be records; the published tests of devices that lie beside them are none."""
    found = (p for p in folder.rglob("*") if p.suffix.lower() in _ALWAYS | _PERHAPS and p.is_file())
    return sorted(p for p in found if p.relative_to(folder).parts[0] not in DATA_SETS)


def index_records(folder: str | Path | None = None) -> list[RecordInfo]:
    """Every record below a folder (by default `data_folder`), in order of path.

    A file whose ending is that of a record (AT2, V2, EW, ...) and that cannot be read is listed with its `problem`;
    another text file that is not a record is left out. A file with several channels is listed once for each. Two files
    of one folder whose names differ only in the component are each other's `pair`.
    """
    records: list[RecordInfo] = []
    for path in _files(_folder(folder)):
        try:
            for component in record_components(path) or [""]:
                motion = read_record(path, component=component or None)
                numbers = (len(motion), motion.dt, motion.duration, motion.pga)
                records.append(RecordInfo(path, record_name(path), *numbers, component))
        except BadInput as error:
            if path.suffix.lower() in _ALWAYS:
                records.append(RecordInfo(path, record_name(path), problem=str(error)))
    stations: dict[tuple[Path, str], list[Path]] = defaultdict(list)
    for record in records:
        station = _station(record.path)
        if station and not record.problem and not record.component:
            stations[record.path.parent, station.lower()].append(record.path)
    partner = {a: b for pair in stations.values() if len(pair) == 2 for a, b in (pair, pair[::-1])}
    return [replace(record, pair=partner.get(record.path)) for record in records]


def _station(path: Path) -> str | None:
    """What the two horizontal components of a station have in common in their names; None for other files."""
    if found := COMPONENT_SUFFIX.fullmatch(path.suffix):
        return None if found["direction"].upper() == "UD" else f"{path.stem}.{found['sensor']}"
    if found := _STREAM.fullmatch(path.stem):
        return f"{found['station']}?{found['rest']}"
    stem = _COMPONENT.sub("", path.stem)
    return stem if stem != path.stem else None


def event_name(path: Path) -> str:
    """What all components of a record have in common: the name of its file without what tells them apart."""
    return (_station(path) or path.stem).lower()


def _share(fragment: str, stem: str) -> float:
    """How much of a fragment a longer name contains, letter by letter in order."""
    blocks = SequenceMatcher(None, fragment.lower(), stem.lower(), autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) / max(len(fragment), 1)


def find_record(name: str, folder: str | Path | None = None) -> Path:
    """The file whose name (with or without ending, any case) is `name`, or the only one that contains it."""
    root = _folder(folder)
    files = _files(root)
    exact = [p for p in files if name.lower() in (p.stem.lower(), p.name.lower())]
    found = exact or [p for p in files if name.lower() in p.name.lower()]
    if not found:
        near = sorted({p.stem for p in files}, key=lambda stem: -_share(name, stem))[:5]
        raise UnknownName("record", name, near, f"{root}, the nearest {len(near)} of {len(files)} files shown")
    if len(found) > 1:
        shown = ", ".join(str(p.relative_to(root)) for p in found[:10]) + (", ..." if len(found) > 10 else "")
        raise BadInput(f"{root}: '{name}' fits {len(found)} records: {shown}. Give more of the name.")
    return found[0]
