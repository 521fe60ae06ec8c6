"""MATLAB files: version 5 by SciPy, version 7.3, which is HDF5, by h5py."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hyloop.errors import BadInput
from hyloop.files.tables.table import Column, LabTable

__all__ = ["read_mat5", "read_mat73"]

_WIDEST = 256  # columns of a matrix; beyond it, it is no table of channels
_DEPTH = 2  # structs in structs: data.time, test.data.time


def read_mat5(path: Path) -> LabTable:
    """Vectors, matrices and fields of structs of a file up to version 7."""
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        content = loadmat(path, squeeze_me=False, struct_as_record=True, mat_dtype=False)
    except (MatReadError, ValueError, TypeError, NotImplementedError, OSError, KeyError, IndexError) as error:
        raise BadInput(
            f"{path} cannot be read as a MATLAB file: {error}. Save it again, or export it as CSV."
        ) from None
    variables = {key: value for key, value in content.items() if not key.startswith("__")}
    return _table(path, "MATLAB file, version 5", variables)


def read_mat73(path: Path) -> LabTable:
    """The same of a file of version 7.3."""
    import h5py

    try:
        with h5py.File(path, "r") as file:
            variables = {name: _load(file, item) for name, item in file.items() if not name.startswith("#")}
    except (OSError, KeyError, RuntimeError, ValueError) as error:
        raise BadInput(
            f"{path} cannot be read as a MATLAB file: {error}. Save it again, or export it as CSV."
        ) from None
    return _table(path, "MATLAB file, version 7.3", variables)


def _load(file: Any, item: Any, depth: int = 0) -> Any:
    """A variable as NumPy has it: MATLAB stores matrices the other way round."""
    import h5py

    if isinstance(item, h5py.Group):
        return {name: _load(file, part, depth + 1) for name, part in item.items()} if depth <= _DEPTH else {}
    kind = item.attrs.get("MATLAB_class", b"double")
    if item.attrs.get("MATLAB_empty", 0):
        return np.empty((0, 0))
    values = item[()]
    if kind == b"char":
        return np.array("".join(map(chr, np.asarray(values).T.ravel())))
    if kind == b"cell":
        return np.array([str(_load(file, file[link])) for link in np.asarray(values).ravel()], dtype=object)
    return np.asarray(values).T


def _table(path: Path, kind: str, variables: Mapping[str, Any]) -> LabTable:
    if {"time", "names", "units", "variables"} <= set(variables):
        return _own(path, kind, variables)
    columns, scalars = [], []
    for name, values in _named(variables, 0):
        array = np.squeeze(values)
        if array.ndim == 0:
            scalars.append(f"{name} = {float(array):g}")
        elif array.ndim == 1 and array.size > 1:
            columns.append(Column(name, "", array.astype(float), f"variable {name}"))
        elif array.ndim == 2 and array.shape[1] <= _WIDEST:
            columns += [
                Column(f"{name}(:,{j + 1})", "", array[:, j].astype(float), f"variable {name}, column {j + 1}")
                for j in range(array.shape[1])
            ]
    if not columns:
        raise BadInput(f"{path}: has no vector or matrix of numbers.")
    notes = [f"single numbers of the file: {', '.join(scalars[:12])}"] if scalars else []
    return LabTable(path, kind, tuple(columns), tuple(notes))


def _named(variables: Mapping[str, Any], depth: int, prefix: str = "") -> Iterator[tuple[str, np.ndarray]]:
    """Variables of real numbers, and the fields of structs by names such as ``data.time``."""
    for key, value in variables.items():
        if isinstance(value, Mapping):
            yield from _named(value, depth + 1, f"{prefix}{key}.") if depth < _DEPTH else ()
            continue
        array = np.asarray(value)
        if array.dtype.names and array.size == 1 and depth < _DEPTH:
            fields = {name: array.ravel()[0][name] for name in array.dtype.names}
            yield from _named(fields, depth + 1, f"{prefix}{key}.")
        elif array.dtype.kind in "fiub" and array.size:
            yield f"{prefix}{key}", array


def _own(path: Path, kind: str, variables: Mapping[str, Any]) -> LabTable:
    """What hyloop exported: names and units of the channels lie beside them."""
    names, units, stored = (
        [str(np.squeeze(cell)) for cell in np.asarray(variables[key]).ravel()]
        for key in ("names", "units", "variables")
    )
    columns = [Column("time", "s", np.ravel(variables["time"]).astype(float), "variable time")]
    for name, unit, variable in zip(names, units, stored, strict=True):
        if variable not in variables:
            raise BadInput(f"{path}: is an export of hyloop that lacks the variable {variable}. Export it again.")
        columns.append(Column(name, unit, np.ravel(variables[variable]).astype(float), f"variable {variable}"))
    return LabTable(path, f"{kind}, exported by hyloop", tuple(columns))
