"""Recordings as tables of other libraries."""

import json
from typing import TYPE_CHECKING, Any

from hyloop.errors import BadInput

if TYPE_CHECKING:
    from hyloop.record.recording import Recording

__all__ = ["pandas_frame", "xarray_dataset"]


def pandas_frame(recording: "Recording") -> Any:
    """A column for each channel over the time in s."""
    pandas = _library("pandas")
    index = pandas.Index(recording.time, name="time")
    frame = pandas.DataFrame(recording.data, index=index, columns=list(recording.names))
    units = dict(zip(recording.names, recording.units, strict=True))
    frame.attrs = {"units": {"time": "s"} | units, "attributes": dict(recording.attributes)}
    return frame


def xarray_dataset(recording: "Recording") -> Any:
    """A variable for each channel over the time in s; the provenance is one attribute, as JSON, as netCDF wants it."""
    xarray = _library("xarray")
    columns = zip(recording.names, recording.units, recording.data.T, strict=True)
    return xarray.Dataset(
        {name: ("time", values, {"units": unit}) for name, unit, values in columns},
        coords={"time": ("time", recording.time, {"units": "s"})},
        attrs={"provenance": json.dumps(dict(recording.attributes))},
    )


def _library(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError as error:
        raise BadInput(f"this needs {name}, which is not installed: pip install 'hyloop[tables]'.") from error
