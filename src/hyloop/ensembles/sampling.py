"""From the table of a sweep to its runs: the changes of the file for each, and the values they stand for."""

import itertools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from scipy.stats import qmc

from hyloop.errors import BadInput, UnknownName
from hyloop.files.sweep import DRAWN, MOST_RUNS, Choices, Range, Sweep
from hyloop.files.toml import parse_toml
from hyloop.files.units import in_si
from hyloop.hazards import RecordInfo, find_record, index_records

__all__ = ["RECORD", "Samples", "extremes", "sample"]

RECORD = "record"  # the column of the names of records
_STAYS = ("direction", "peak", "scale")  # of an excitation that a record takes the place of
_STAYS_OF_RECORDS = (*_STAYS, "start", "duration", "time_scale")
_SHOWN = 12  # values of a text key that are tried before the runs


@dataclass(frozen=True)
class Samples:
    """Runs in their order.

    Attributes
    ----------
    runs : tuple of tuple of str
        Changes of the file for each.
    keys : tuple of dict
        For each the values by key: numbers in SI units where all values of a key are quantities, else texts.
    units : dict
        SI units of keys that have one.
    """

    runs: tuple[tuple[str, ...], ...]
    keys: tuple[dict[str, Any], ...]
    units: dict[str, str]


def sample(spec: Sweep, tables: Mapping[str, Any]) -> Samples:
    """The runs of a sweep; equal tables give equal runs.

    Parameters
    ----------
    tables : mapping
        Of the experiment file; records take over what its excitation says.
    """
    values: dict[str, Choices | Range] = {}
    if spec.records is not None:
        values[RECORD] = tuple(_records(spec.records))
    values |= spec.keys
    if not values:
        raise BadInput(
            "nothing is swept. Give keys of the file and their values: a table [sweep.keys], or --grid and --range."
        )
    rows = _drawn(spec, values) if spec.kind in DRAWN else _combined(spec.kind, values)
    excitation = tables.get("excitation")
    if RECORD in values and spec.records is not None and not isinstance(excitation, dict):
        raise BadInput("sweep.records: takes the place of [excitation], and the file has none. Give it one.")
    shown = {name: _numbers(name, value) for name, value in values.items()}
    runs = tuple(
        tuple(
            _record_change(value, excitation) if isinstance(value, RecordInfo) else _change(name, value)
            for name, value in row.items()
        )
        for row in rows
    )
    keys = tuple({name: shown[name][0](value) for name, value in row.items()} for row in rows)
    return Samples(runs, keys, {name: unit for name, (_, unit) in shown.items() if unit})


def extremes(samples: Samples) -> list[tuple[str, ...]]:
    """Runs to be tried before any is run: the first and last, and those with the ends and the words of every key."""
    chosen = {0: None, len(samples.runs) - 1: None}
    for name in samples.keys[0]:
        column = [keys[name] for keys in samples.keys]
        if all(isinstance(value, int | float) for value in column):
            chosen |= {int(np.argmin(column)): None, int(np.argmax(column)): None}
        else:
            chosen |= {column.index(value): None for value in list(dict.fromkeys(column))[:_SHOWN]}
    return [samples.runs[k] for k in sorted(chosen)]


def _combined(kind: str, values: Mapping[str, Choices | Range]) -> list[dict[str, Any]]:
    """Every value with every other, the last key changing first; or lists side by side."""
    lists = [tuple(value) for value in values.values()]
    if kind == "list":
        if len({len(one) for one in lists}) > 1:
            shown = ", ".join(f"{name} has {len(one)}" for name, one in zip(values, lists, strict=True))
            raise BadInput(f"sweep: lists side by side are equally long, but {shown} values.")
        return [dict(zip(values, row, strict=True)) for row in zip(*lists, strict=True)]
    if (count := math.prod(len(one) for one in lists)) > MOST_RUNS:
        raise BadInput(f"sweep: the grid has {count} runs, allowed are {MOST_RUNS}. Draw some of them instead.")
    return [dict(zip(values, row, strict=True)) for row in itertools.product(*lists)]


def _drawn(spec: Sweep, values: Mapping[str, Choices | Range]) -> list[dict[str, Any]]:
    """Points that fill the ranges; a choice is drawn like a range that is cut into equal pieces."""
    if spec.kind == "sobol":
        # the same points as `random(runs)`, which warns where that is not a power of two
        points = qmc.Sobol(len(values), rng=spec.seed).random_base2((spec.runs - 1).bit_length())[: spec.runs]
    else:
        points = qmc.LatinHypercube(len(values), rng=spec.seed).random(spec.runs)
    columns = {name: _spread(value, points[:, k]) for k, (name, value) in enumerate(values.items())}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _spread(values: Choices | Range, part: np.ndarray) -> list[Any]:
    if not isinstance(values, Range):
        return [values[min(int(p * len(values)), len(values) - 1)] for p in part]
    low, high, _, log, whole = values
    if whole:
        first, last = (low, high + 1.0) if not log else (math.log(low), math.log(high + 1.0))
        found = first + part * (last - first)
        return [int(n) for n in np.clip(np.floor(np.exp(found) if log else found), low, high)]
    found = np.exp(math.log(low) + part * (math.log(high) - math.log(low))) if log else low + part * (high - low)
    return np.clip(found, low, high).tolist()


def _change(name: str, value: Any) -> str:
    """A change of the file as text, such as ``sites.damper1.device.f_y=20 kN``; it is read back as it was."""
    if isinstance(value, str):
        try:  # a word that TOML reads as something else needs quotes
            quoted = "value" in parse_toml(f"value = {value}")
        except ValueError:
            quoted = value != value.strip()
        return f"{name}={json.dumps(value, ensure_ascii=False) if quoted else value}"
    return f"{name}={_toml(value)}"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f'"{key}" = {_toml(part)}' for key, part in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _numbers(name: str, values: Choices | Range) -> tuple[Any, str]:
    """How values of a key are shown in the table, and in which unit."""
    if isinstance(values, Range):
        return (lambda value: value), values.unit
    if isinstance(values[0], RecordInfo):
        return _label, ""
    known = [in_si(value) for value in values]
    units = {one[1] for one in known if one}
    if None in known or len(units) > 1:
        return (lambda value: value if isinstance(value, str) else _toml(value)), ""
    if all(isinstance(value, int) for value in values):
        return (lambda value: value), ""
    table = {str(value): one[0] for value, one in zip(values, known, strict=True) if one}
    return (lambda value: table[str(value)]), units.pop()


def _records(given: Sequence[str] | int | str) -> list[RecordInfo]:
    """Records of the data folder that can be read: these names, this pattern, or so many."""
    there = [record for record in index_records() if not record.problem]
    if isinstance(given, int):
        if given > len(there):
            raise BadInput(f"sweep.records: {given} are wanted, and the data folder has {len(there)} that can be read.")
        return there[:given]
    if isinstance(given, str) and any(sign in given for sign in "*?["):
        found = [record for record in there if fnmatchcase(record.name.lower(), given.lower())]
        if not found:
            raise BadInput(f"sweep.records: no record of the data folder fits '{given}'; `hyloop records` lists them.")
        return found
    chosen = []
    for name in [given] if isinstance(given, str) else given:
        exact = [record for record in there if name in (record.name, _label(record))]
        if not exact:
            raise UnknownName("record", name, [_label(record) for record in there], where="sweep.records")
        chosen += exact
    if twice := [record for k, record in enumerate(chosen) if record in chosen[:k]]:
        raise BadInput(f"sweep.records: {_label(twice[0])} stands there twice; name every record once.")
    return chosen


def _label(record: RecordInfo) -> str:
    return f"{record.name} {record.component}" if record.component else record.name


def _record_change(record: RecordInfo, excitation: Any) -> str:
    """The excitation as a record, with what stays of the one of the file."""
    stays = _STAYS_OF_RECORDS if excitation.get("kind") == "record" else _STAYS
    table: dict[str, Any] = {"kind": "record"}
    try:
        only = find_record(record.name) == record.path
    except BadInput:  # several folders have one of this name
        only = False
    table |= {"name": record.name} if only else {"file": str(record.path)}
    table |= {"component": record.component} if record.component else {}
    table |= {key: excitation[key] for key in stays if key in excitation}
    return f"excitation={_toml(table)}"
