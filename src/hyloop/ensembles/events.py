"""Events: what excites a structure in a run, as changes of the experiment file, and how two are told apart."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hyloop.errors import BadInput
from hyloop.files.excitations import Harmonic, Record, Sweep
from hyloop.files.load import experiment_of
from hyloop.files.tune import inline
from hyloop.hazards import event_name

__all__ = ["apart", "as_changes", "named"]

_OF_THE_RECORD = ("name", "file", "component", "fallback")  # not of the test
Changes = tuple[str, ...]
Given = str | Sequence[str]


def as_changes(given: Given, tables: dict[str, Any]) -> Changes:
    """An event as changes of a file: it is a list of them, one of them, or the name of a record.

    A record takes the place of the one of the file; what the file says of units, scale, peak and duration stays.
    """
    if not isinstance(given, str):
        return tuple(given)
    if "=" in given:
        return (given,)
    own = tables.get("excitation")
    if not isinstance(own, dict):
        raise BadInput(f"event '{given}': there is no [excitation] whose record it could be; write it as changes.")
    table = {"kind": "record", "name": given}
    kept = own if own.get("kind") == "record" else {"direction": own["direction"]} if "direction" in own else {}
    table |= {key: value for key, value in kept.items() if key not in ("kind", *_OF_THE_RECORD)}
    return (f"excitation={inline(table)}",)


def named(given: Given) -> str:
    """An event in a table."""
    return given if isinstance(given, str) else "; ".join(given)


def apart(
    tables: dict[str, Any], training: Sequence[Given], test: Sequence[Given], overrides: Changes, path: Path
) -> None:
    """Refuse an event that stands on both sides, however it is scaled, or twice on one, or whose record is missing."""
    for side, events in (("training", training), ("test", test)):
        if twice := [event for k, event in enumerate(events) if event in events[:k]]:
            raise BadInput(f"tune.{side}: {named(twice[0])} stands there twice. Leave one out.")
    seen: dict[str, Given] = {}
    for event in training:
        seen |= dict.fromkeys(_keys(tables, event, overrides, path), event)
    for event in test:
        for key in _keys(tables, event, overrides, path):
            if key in seen:
                raise BadInput(
                    f"tune.test: {named(event)} is the event that {named(seen[key])} of tune.training is ({key}). "
                    "What has been learned from cannot judge; give another event."
                )


def _keys(tables: dict[str, Any], event: Given, overrides: Changes, path: Path) -> list[str]:
    """What tells an event from others: records by their names, random motions by their seed."""
    experiment = experiment_of(tables, [*overrides, *as_changes(event, tables)], path)
    found = []
    for motion in experiment.motions.values():
        place = motion.find() if isinstance(motion, Record) else None
        if isinstance(motion, Record) and place is None and motion.fallback is not None:
            motion = motion.fallback
        if isinstance(motion, Record):
            if place is None:
                wanted = motion.file or motion.name
                raise BadInput(f"tune: the record '{wanted}' of an event is not on this machine. Set HYLOOP_DATA.")
            found.append(f"record {event_name(place)}")
        elif isinstance(motion, Harmonic | Sweep):
            found.append(motion.model_dump_json())
        else:
            found.append(f"{motion.kind} of seed {experiment.seed}")
    if not found:
        loads = ", ".join(load.model_dump_json() for load in experiment.loads.values())
        found.append(f"{loads} of seed {experiment.seed}")
    return found
