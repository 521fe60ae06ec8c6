"""Reading a record: which format it has, in which unit, and the motion it makes."""

import re
from pathlib import Path

import numpy as np

from hyloop.errors import BadInput
from hyloop.hazards.checks import positive
from hyloop.hazards.formats.columns import read_columns
from hyloop.hazards.formats.cosmos import cosmos_sections, is_cosmos, read_cosmos
from hyloop.hazards.formats.csmip import csmip_sections, is_csmip, read_csmip
from hyloop.hazards.formats.esm import is_esm, read_esm
from hyloop.hazards.formats.knet import is_knet, read_knet
from hyloop.hazards.formats.peer import is_peer, read_peer
from hyloop.hazards.formats.text import Line
from hyloop.hazards.motion import GroundMotion
from hyloop.hazards.units import acceleration_unit

__all__ = ["COMPONENT_SUFFIX", "read_record", "record_components", "record_format", "record_name"]

COMPONENT_SUFFIX = re.compile(r"\.(?P<direction>EW|NS|UD)(?P<sensor>[12]?)", re.IGNORECASE)
"""Endings of K-NET and KiK-net files, which name the component; sensor 1 is in the borehole, 2 on the ground."""

_HEAD = 80  # lines that are not empty, more than any header has
_HEADERS = {"COSMOS": is_cosmos, "CSMIP": is_csmip, "ESM": is_esm, "K-NET": is_knet, "PEER": is_peer}
_SEVERAL = {"COSMOS": (cosmos_sections, read_cosmos), "CSMIP": (csmip_sections, read_csmip)}
_ONE = {"ESM": read_esm, "K-NET": read_knet, "PEER": read_peer}


def read_record(
    path: str | Path, unit: str | None = None, dt: float | None = None, component: str | None = None
) -> GroundMotion:
    """Read a ground acceleration from a file.

    The format is recognised by the header, whatever the file is called:

    ======================  =======================================================================================
    PEER (AT2)              old header ``4000  0.0100  NPTS, DT`` or new ``NPTS= 4000, DT= .0100 SEC``; in g unless it
                            says otherwise
    COSMOS V1.20            sections of several quantities and channels; the acceleration is taken
    CSMIP, USGS (V2)        the same in the older form
    ESM, ITACA (ASC)        ``KEY: VALUE`` lines, one value to a line
    K-NET, KiK-net          counts; the mean of the record is removed, as NIED does
    any other text          one column (acceleration, `dt` needed) or two (time in s, acceleration), separated by
                            comma, semicolon, tab or blanks; a heading and lines starting with # or % may stand above
    ======================  =======================================================================================

    Parameters
    ----------
    path : path
        The file.
    unit : str, optional
        Unit of the acceleration: g, m/s2, cm/s2, mm/s2, gal, in/s2 or ft/s2. It wins over what the file says, and it is
        needed where the file says nothing.
    dt : float, optional
        Step in s, where the file has none. Where it has one, both must agree.
    component : str, optional
        Channel or direction, such as "1", "360" or "Up", where a file holds several.

    Raises
    ------
    BadInput
        Missing or empty file, no unit or step, a value that is not a finite number, a count that differs from the
        header, a quantity other than acceleration, uneven times; the message names the file and the line.
    """
    path = Path(path)
    if not path.is_file():
        raise BadInput(f"{path}: there is no such file; give the path of a record (.AT2, .V2, .ASC, .EW, .csv, .txt).")
    if dt is not None:
        dt = positive(str(path), "dt", dt)
    lines = _lines(path)
    form = _format(path, lines[:_HEAD])
    if component is not None and form not in _SEVERAL:
        raise BadInput(f"{path}: holds one component; component= is for files with several channels. Leave it out.")
    if form in _SEVERAL:
        found = _SEVERAL[form][1](path, lines, component)
    else:
        found = _ONE[form](path, lines) if form else read_columns(path, lines, dt)
    given = unit or found.unit
    if given is None:
        raise BadInput(f"{path}: the unit of acceleration is not in the file. Give unit='g', 'm/s2', 'cm/s2', ...")
    name, factor = acceleration_unit(given, str(path))
    if dt is not None and not np.isclose(dt, found.dt, rtol=1e-3):
        raise BadInput(
            f"{path}: dt = {dt:g} s was given but the file says {found.dt:g} s. Leave dt out; to compress time for a "
            "model use GroundMotion.in_model_time."
        )
    meta = {"file": path.name, "unit": name, "format": found.format, **found.about}
    return GroundMotion(found.a * factor, found.dt, record_name(path), meta)


def record_name(path: Path) -> str:
    """Name of a record: that of its file, without its ending unless this names the component."""
    return path.name if COMPONENT_SUFFIX.fullmatch(path.suffix) else path.stem


def record_components(path: str | Path) -> list[str]:
    """Channels of a file that holds several, as `read_record` takes them; none for a file with one."""
    path = Path(path)
    lines = _lines(path)
    form = _format(path, lines[:_HEAD])
    sections = _SEVERAL[form][0](path, lines) if form in _SEVERAL else []
    channels = [section.names[0] for section in sections if section.quantity == "acceleration"]
    return channels if len(channels) > 1 else []


def record_format(path: str | Path) -> str:
    """Name of the format that the header of a file has; empty for bare columns and anything else."""
    path = Path(path)
    return _format(path, _lines(path)[:_HEAD])


def _lines(path: Path) -> list[Line]:
    """Lines with their numbers, without empty ones; blanks at the beginning count in some formats."""
    text = path.read_text("utf-8-sig", errors="replace")
    lines = [(k, line.rstrip()) for k, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not lines:
        raise BadInput(f"{path}: the file is empty.")
    return lines


def _format(path: Path, head: list[Line]) -> str:
    """Name of the format by the first lines of a file; empty for bare columns."""
    for name, recognised in _HEADERS.items():
        if recognised(head):
            return name
    return "PEER" if path.suffix.lower() == ".at2" else ""
