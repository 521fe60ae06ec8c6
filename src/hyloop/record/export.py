"""Recordings for other programs: CSV, MATLAB and Parquet."""

import csv
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hyloop.core.writing import check_target
from hyloop.errors import BadInput, UnknownName
from hyloop.record.layout import attributes_json

if TYPE_CHECKING:
    from hyloop.record.recording import Recording

__all__ = ["EXPORTS", "check_export", "matlab_names"]

_MATLAB_LENGTH = 63  # namelengthmax of MATLAB
_MATLAB_RESERVED = frozenset(
    {
        "break",
        "case",
        "catch",
        "classdef",
        "continue",
        "else",
        "elseif",
        "end",
        "for",
        "function",
        "global",
        "if",
        "otherwise",
        "parfor",
        "persistent",
        "return",
        "spmd",
        "switch",
        "try",
        "while",
    }
)


def matlab_names(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Different, valid MATLAB variable names: ``damper1.f`` becomes ``damper1_f``."""
    used, result = set(taken), []
    for name in names:
        base = re.sub(r"[^A-Za-z0-9_]", "_", name)
        if not base[:1].isalpha() or base in _MATLAB_RESERVED:
            base = f"x{base}"
        base, number = base[:_MATLAB_LENGTH], 2
        variable = base
        while variable in used:
            variable, number = f"{base[: _MATLAB_LENGTH - 1 - len(str(number))]}_{number}", number + 1
        used.add(variable)
        result.append(variable)
    return result


def _csv(path: Path, recording: "Recording") -> None:
    """Comma-separated, units in brackets in the header; every number reads back to the last bit."""
    with open(path, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        channels = zip(recording.names, recording.units, strict=True)
        writer.writerow(["time [s]", *(f"{name} [{unit}]" for name, unit in channels)])
        for time, row in zip(recording.time.tolist(), recording.data, strict=True):
            writer.writerow([time, *row.tolist()])


def _mat(path: Path, recording: "Recording") -> None:
    """One column vector for each channel, and cell arrays `names`, `units` and `variables` that belong together."""
    general = {
        "time": recording.time,
        "names": np.array(recording.names, dtype=object),
        "units": np.array(recording.units, dtype=object),
        "provenance": attributes_json(recording.attributes),
    }
    variables = matlab_names(recording.names, [*general, "variables"])
    histories = dict(zip(variables, recording.data.T, strict=True))
    content = {**general, "variables": np.array(variables, dtype=object), **histories}
    from scipy.io import savemat  # here: a tenth of a second that a run does not need

    with open(path, "wb") as stream:
        savemat(stream, content, oned_as="column", long_field_names=True)


def _parquet(path: Path, recording: "Recording") -> None:
    """One column for each channel; the unit is in the metadata of the column, the provenance in that of the table."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise BadInput("export to .parquet needs pyarrow: install it, or export to .csv or .mat.") from error
    names, units = ("time", *recording.names), ("s", *recording.units)
    fields = [pyarrow.field(n, pyarrow.float64(), metadata={"unit": u}) for n, u in zip(names, units, strict=True)]
    schema = pyarrow.schema(fields, metadata={"provenance": attributes_json(recording.attributes)})
    columns = [np.ascontiguousarray(column) for column in (recording.time, *recording.data.T)]
    pyarrow.parquet.write_table(pyarrow.Table.from_arrays(columns, schema=schema), path)


EXPORTS: dict[str, Callable[[Path, Any], None]] = {".csv": _csv, ".mat": _mat, ".parquet": _parquet}


def check_export(path: Path) -> None:
    """Refuse a suffix for which there is no format, and a place that cannot be written to."""
    if path.suffix.lower() not in EXPORTS:
        raise UnknownName("suffix", path.suffix, EXPORTS, where=f"export to {path}")
    check_target(path)
