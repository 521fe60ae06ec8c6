"""Comfort of occupants in wind: accelerations of floors in the middle and at the corners, against a criterion."""

from hyloop.errors import BadInput
from hyloop.metrics.comfort import CRITERIA, HEADINGS, comfort
from hyloop.record import Recording
from hyloop.report.display import Recordings
from hyloop.report.page import Section, Table

__all__ = ["comfort_sections"]

_DOFS = ("ux", "uz", "ry")


def comfort_sections(recordings: Recordings) -> list[Section]:
    """A section for the recordings that say how comfort is judged (``attributes["comfort"]``), of what they have."""
    said, tables = [], []
    for name, recording in recordings.items():
        about = recording.attributes.get("comfort")
        floors = [] if about is None else _recorded(recording, about["floors"])
        if about is None or not floors:
            continue
        rule = CRITERIA[about["criterion"]]
        try:
            rows = comfort(
                recording,
                floors,
                *about["plan"],
                frequency=about["frequency"],
                criterion=rule.name,
                master=tuple(about["master"]),
            )
        except BadInput as error:  # the building sways at a frequency of which the criterion says nothing
            said.append(f"{name}: {error}")
            continue
        worst = max(rows, key=lambda row: row.ratio)
        verdict = "is met everywhere" if worst.holds else f"is not met by {sum(not row.holds for row in rows)} floors"
        said.append(
            f"{name}: the largest resultant acceleration is {max(row.corner_peak for row in rows):.3g} milli-g, at a "
            f"corner. {rule.name} ({rule.measure}, {rule.use}, for wind of {_years(rule.years)}) {verdict}; the worst, "
            f"{worst.floor}, has {worst.ratio:.2f} of the limit at {about['frequency']:.3g} Hz."
        )
        tables.append(Table(f"Comfort, {name}, in milli-g", HEADINGS, [row.row() for row in reversed(rows)]))
    return [Section("Comfort", said, tables=tables)] if said else []


def _recorded(recording: Recording, floors: list[str]) -> list[str]:
    names = set(recording.names)
    return [floor for floor in floors if {f"a.{floor}.{dof}" for dof in _DOFS} <= names]


def _years(number: float) -> str:
    return "1 year" if number == 1.0 else f"{number:g} years"
