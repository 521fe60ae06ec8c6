"""Recordings as tables of other libraries."""

from typing import TYPE_CHECKING, Any

from hyloop.errors import BadInput
from hyloop.record.layout import attributes_json

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
    if "time" in recording.names:
        raise BadInput("to_xarray: a channel is called 'time', as the axis is. Leave it out with select().")
    columns = zip(recording.names, recording.units, recording.data.T, strict=True)
    return xarray.Dataset(
        {name: ("time", values, {"units": unit}) for name, unit, values in columns},
        coords={"time": ("time", recording.time, {"units": "s"})},
        attrs={"provenance": attributes_json(recording.attributes)},
    )


def _library(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError as error:
        raise BadInput(f"this needs {name}, which is not installed: pip install 'hyloop[tables]'.") from error
