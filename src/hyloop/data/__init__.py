"""Measured data that anyone can get: where they lie, how they are downloaded, and one reader for each set."""

from hyloop.data.catalogue import DATA_SETS, DataSet, Download, data_set
from hyloop.data.download import fetch
from hyloop.data.folders import data_folder
from hyloop.data.sources import SOURCES, Columns, Source, source_tests

__all__ = [
    "DATA_SETS",
    "SOURCES",
    "Columns",
    "DataSet",
    "Download",
    "Source",
    "data_folder",
    "data_set",
    "fetch",
    "source_tests",
]
