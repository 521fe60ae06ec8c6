"""Sets of records: chosen from the data folder by name, pattern or number, and used as the file's own excitation is."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from hyloop.errors import BadInput, UnknownName
from hyloop.files.excitations import Record, ground_motion
from hyloop.files.schema import Experiment
from hyloop.hazards import GroundMotion, RecordInfo, index_records

__all__ = ["ChosenRecord", "choose_records", "excited_by", "motion_of"]

_OF_A_FILE = ("file", "name", "component", "unit", "dt", "t", "decimal", "scale", "peak", "fallback")
_PATTERN = "*?["


@dataclass(frozen=True)
class ChosenRecord:
    """A record of a set.

    Attributes
    ----------
    name : str
        What it is called in tables.
    table : dict
        How an `[excitation]` names it.
    overrides : tuple of str
        What else differs in the runs of this record, such as a seed.
    """

    name: str
    table: dict[str, str]
    overrides: tuple[str, ...] = field(default=())


def choose_records(wanted: int | Sequence[str], beside: Path) -> list[ChosenRecord]:
    """The records of a set, each once.

    Parameters
    ----------
    wanted : int or sequence of str
        How many, the first component of each station before any second; or names, patterns with * and ?, and files.
    beside : Path
        Folder to which names of files are relative, if they are not to that in which one works.
    """
    if isinstance(wanted, int):
        return _first(wanted)
    chosen: dict[str, ChosenRecord] = {}
    known: list[RecordInfo] | None = None
    for name in wanted:
        path = next((path for path in (beside / name, Path(name)) if path.is_file()), None)
        if path is not None:
            chosen.setdefault(path.stem, ChosenRecord(path.stem, {"file": str(path)}))
            continue
        known = index_records() if known is None else known
        for info in _matching(name, known):
            chosen.setdefault(_label(info), _chosen(info, known))
    return list(chosen.values())


def _first(count: int) -> list[ChosenRecord]:
    known = index_records()
    usable = [info for info in known if not info.problem]
    # of equal names, such as a copy of a record beside a published test, the first
    usable = list({_label(info): info for info in reversed(usable)}.values())[::-1]
    second = {info.pair for k, info in enumerate(usable) if info.pair not in {one.path for one in usable[:k]}}
    ordered = [info for info in usable if info.path not in second] + [i for i in usable if i.path in second]
    if count > len(ordered):
        raise BadInput(
            f"ida.records: {count} records are asked for, the data folder has {len(ordered)}. Ask for fewer."
        )
    return [_chosen(info, known) for info in ordered[:count]]


def _label(info: RecordInfo) -> str:
    return f"{info.name}.{info.component}" if info.component else info.name


def _matching(name: str, known: Sequence[RecordInfo]) -> list[RecordInfo]:
    if any(mark in name for mark in _PATTERN):
        found = [info for info in known if fnmatchcase(_label(info).lower(), name.lower()) and not info.problem]
        if not found:
            raise BadInput(
                f"ida.records: no record of the data folder fits '{name}', so that the set is empty. "
                "hyloop records lists what there is."
            )
        return found
    found = [info for info in known if name.lower() in (_label(info).lower(), info.path.name.lower())]
    if not found:
        raise UnknownName("record", name, [_label(info) for info in known], where="ida.records")
    if found[0].problem:
        raise BadInput(f"ida.records: '{name}' cannot be read: {found[0].problem}")
    return found[:1]


def _chosen(info: RecordInfo, known: Sequence[RecordInfo]) -> ChosenRecord:
    """By its name, so that other machines find it in their folder; by its file where two have the name."""
    twice = sum(other.path.stem.lower() == info.path.stem.lower() for other in known) > 1 and not info.component
    table = {"file": str(info.path)} if twice else {"name": info.path.name}
    return ChosenRecord(_label(info), table | ({"component": info.component} if info.component else {}))


def excited_by(experiment: Experiment, record: ChosenRecord, scale: float) -> str:
    """The change of a file that puts a record in the place of its own, used in the same way but for its scale."""
    values = _table(experiment, record) | {"scale": scale}
    return "excitation={" + ", ".join(f"{key} = {_word(value)}" for key, value in values.items()) + "}"


def motion_of(experiment: Experiment, record: ChosenRecord) -> GroundMotion:
    """The motion as the integrator gets it, not scaled."""
    spec = Record.model_validate(_table(experiment, record))
    try:
        return ground_motion(spec, experiment.integrator.dt, experiment.seed)[0]
    except BadInput as error:
        error.args = (f"record {record.name}: {error}",)
        raise


def _table(experiment: Experiment, record: ChosenRecord) -> dict[str, Any]:
    own = experiment.excitation
    if not isinstance(own, Record):
        there = "[excitations] has several motions" if experiment.excitations else "it has none"
        if own is not None:
            there = f'its kind is "{own.kind}"'
        raise BadInput(
            f'an incremental analysis puts records in the place of an [excitation] of kind = "record"; {there}. '
            'Give one, as in --set \'excitation={kind="record", name="friuli-tolmezzo_1"}\'.'
        )
    given = own.model_dump(exclude_defaults=True, exclude=set(_OF_A_FILE))
    return {"kind": "record", **given, **record.table}


def _word(value: Any) -> str:
    return repr(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False)
