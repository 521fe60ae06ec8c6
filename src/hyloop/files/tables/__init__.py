"""Files as laboratories have them: one reader for each kind, one result, a `LabTable`."""

from pathlib import Path

from hyloop.data import SOURCES
from hyloop.errors import BadInput
from hyloop.files.tables.matlab import read_mat5, read_mat73
from hyloop.files.tables.others import read_parquet, read_recording, read_tdms
from hyloop.files.tables.sampling import Sampling, sampling
from hyloop.files.tables.table import Column, LabTable, is_time, suggested
from hyloop.files.tables.text import read_text

__all__ = ["Column", "LabTable", "Sampling", "is_recording", "is_time", "read_table", "sampling", "suggested"]

# what files of a kind begin with; anything else is text
_HDF = b"\x89HDF\r\n\x1a\n"
_BEGINNINGS = {
    b"MATLAB 5.0": read_mat5,
    b"MATLAB 7.3": read_mat73,
    _HDF: read_recording,
    b"TDSm": read_tdms,
    b"PAR1": read_parquet,
}


def is_recording(path: str | Path) -> bool:
    """Whether a file is a recording of hyloop, which knows its times and units."""
    with open(path, "rb") as stream:
        return _BEGINNINGS.get(stream.read(len(_HDF))) is read_recording


def read_table(path: str | Path, decimal: str | None = None) -> LabTable:
    """Read a file of measurements, of whatever kind it is.

    Text with columns (.csv, .txt, .tsv, .dat, .asc, .lvm, ...), MATLAB files of versions 4 to 7.3, TDMS files, Parquet
    files and recordings of hyloop; what a file is shows its beginning, not its name.

    Parameters
    ----------
    path : str or Path
    decimal : {"comma", "point"}, optional
        Decimal sign of a text that does not tell.
    """
    path = Path(path)
    if not path.is_file():
        sources = ", ".join(f"{name}:TEST" for name in SOURCES)
        raise BadInput(
            f"{path}: no such file. Give a file of measurements (CSV, other text, .mat, .tdms, .parquet, a recording) "
            f"or a published test ({sources})."
        )
    try:
        with open(path, "rb") as stream:
            head = stream.read(16)
        if head.startswith(b"PK\x03\x04") or head.startswith(b"\xd0\xcf\x11\xe0"):
            raise BadInput(f"{path}: is a workbook of a spreadsheet program. Save the sheet as CSV there.")
        if not head:
            raise BadInput(f"{path}: is empty; there is no header with rows of numbers.")
        for beginning, reader in _BEGINNINGS.items():
            if head.startswith(beginning):
                return reader(path)
        by_name = {".mat": read_mat5, ".h5": read_recording}.get(path.suffix.lower())
        return by_name(path) if by_name else read_text(path, decimal)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror}).") from None
