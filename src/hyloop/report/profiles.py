"""Story profiles: peak drift, peak acceleration and drift at the end over the height, of one run or over many.

Several recordings under one label are drawn as their mean, in a band from the least to the greatest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hyloop.errors import BadInput
from hyloop.record import Recording
from hyloop.report.charts import Chart
from hyloop.report.display import Line, Panel
from hyloop.report.response import story_numbers

__all__ = ["DIRECTIONS", "Profile", "envelope_groups", "profile", "profile_chart", "profiles"]

DIRECTIONS = {"x": ("drift", "drift_ratio", "floors"), "z": ("drift_z", "drift_ratio_z", "across")}
_FEW = 3  # recordings that are drawn one by one
_WITHOUT = "without devices"
_KINDS = {  # what is drawn: factor and unit
    "drift": ("peak drift", 1e3, "mm"),
    "ratio": ("peak drift ratio", 100.0, "%"),
    "residual": ("drift at the end", 1e3, "mm"),
    "acceleration": ("peak acceleration", 1.0, "m/s²"),
}


@dataclass(frozen=True, eq=False)
class Profile:
    """What every story of a run went through, from the bottom up, along one direction; SI units.

    Attributes
    ----------
    drift : ndarray, (stories,)
        Largest absolute drift in m.
    ratio : ndarray, (stories,), or None
        The same over the height of the story.
    residual : ndarray, (stories,)
        Absolute drift in m in the last row.
    acceleration : ndarray, (stories,), or None
        Largest absolute acceleration of the floor above, in m/s2, that of the ground included.
    """

    drift: np.ndarray
    ratio: np.ndarray | None
    residual: np.ndarray
    acceleration: np.ndarray | None


def profile(recording: Recording, direction: str = "x") -> Profile | None:
    """The profile of a recording along x or z, from its derived channels; None where it has no drifts that way."""
    drift, ratio, floors = DIRECTIONS[direction]
    names, stories = set(recording.names), story_numbers(recording)
    if not stories or not {f"{drift}.{k}" for k in stories} <= names or not len(recording):
        return None
    known = (recording.attributes.get("building") or {}).get(floors) or []
    absolute = [f"a_abs.{name}" for name in known[: len(stories)]]
    ratios = [f"{ratio}.{k}" for k in stories]
    has_absolute = len(absolute) == len(stories) and set(absolute) <= names
    return Profile(
        np.array([_peak(recording[f"{drift}.{k}"]) for k in stories]),
        np.array([_peak(recording[name]) for name in ratios]) if set(ratios) <= names else None,
        np.array([_end(recording[f"{drift}.{k}"]) for k in stories]),
        np.array([_peak(recording[name]) for name in absolute]) if has_absolute else None,
    )


def profiles(groups: Mapping[str, Sequence[Recording]]) -> list[Panel]:
    """Panels of every quantity and direction; a line for each label, with a band where it has several recordings.

    Parameters
    ----------
    groups : mapping of label to recordings
        For instance ``{"with dampers": [a, b, c], "without": [d, e, f]}``. Within a label all buildings must have the
        same number of stories.
    """
    found: dict[str, dict[str, list[Profile]]] = {}
    for direction in DIRECTIONS:
        for label, recordings in groups.items():
            of = [p for recording in recordings if (p := profile(recording, direction)) is not None]
            if len({len(p.drift) for p in of}) > 1:
                counts = sorted({len(p.drift) for p in of})
                raise BadInput(
                    f"profiles: recordings of '{label}' have {counts} stories; give other buildings other labels."
                )
            if of:
                found.setdefault(direction, {})[label] = of
    panels = []
    for direction, by_label in found.items():
        for key, (title, factor, unit) in _kinds(found).items():
            lines: list[Line] = []
            for series, (label, of) in enumerate(by_label.items()):
                values = [factor * v for p in of if (v := getattr(p, key)) is not None]
                if values:
                    lines += _lines(np.array(values), label, series)
            if lines:
                shown = f"{title}, along {direction}" if len(found) > 1 else title
                panels.append(Panel(shown, f"{title} [{unit}]", "story", tuple(lines)))
    return panels


def _kinds(found: Mapping[str, Mapping[str, Sequence[Profile]]]) -> dict[str, tuple[str, float, str]]:
    """What is drawn; in two directions the drifts in mm give way to the ratios, for want of room."""
    ratios = all(p.ratio is not None for by_label in found.values() for of in by_label.values() for p in of)
    return {key: kind for key, kind in _KINDS.items() if key != "drift" or len(found) == 1 or not ratios}


def profile_chart(groups: Mapping[str, Sequence[Recording]]) -> Chart | None:
    """The panels of `profiles` as a chart for a page; None where no recording has stories."""
    panels = profiles(groups)
    if not panels:
        return None
    directions = 2 if any("along z" in panel.title for panel in panels) else 1
    caption = "Largest of each story, and what is left at the end."
    if any(len(recordings) > 1 for recordings in groups.values()):
        counts = ", ".join(f"{label}: {len(recordings)}" for label, recordings in groups.items())
        caption += f" Lines are means over recordings ({counts}), bands reach from the least to the greatest."
    alt = f"{', '.join(panel.title for panel in panels)} over the stories; {', '.join(groups)}."
    return Chart(panels, alt, caption, columns=-(-len(panels) // directions))


def envelope_groups(recordings: Mapping[str, Recording]) -> dict[str, list[Recording]]:
    """Recordings by label: few are labels of their own; of many, those without devices and the others."""
    if len(recordings) <= _FEW:
        return {name: [recording] for name, recording in recordings.items()}
    groups: dict[str, list[Recording]] = {}
    for name, recording in sorted(recordings.items(), key=lambda item: _is_bare(*item)):
        stories = len(story_numbers(recording))
        label = _WITHOUT if _is_bare(name, recording) else "with devices"
        groups.setdefault(f"{label}, {stories} stories", []).append(recording)
    short = {label: label.partition(",")[0] for label in groups}
    return groups if len(set(short.values())) < len(groups) else {short[label]: of for label, of in groups.items()}


def _is_bare(name: str, recording: Recording) -> bool:
    title = str(recording.attributes.get("title", ""))
    return name == _WITHOUT or name.endswith("-bare") or title.endswith(_WITHOUT)


def _lines(values: np.ndarray, label: str, series: int) -> list[Line]:
    """A line of stairs, and below it a band where there are several rows."""
    lines = []
    if len(values) > 1:
        low, story = _stairs(values.min(axis=0))
        high, _ = _stairs(values.max(axis=0))
        outline = np.append(low, high[::-1]), np.append(story, story[::-1])
        lines.append(Line(*outline, f"{label}, least to greatest", series, filled=True))
    return [*lines, Line(*_stairs(values.mean(axis=0)), label, series)]


def _stairs(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A value for each story as a line from zero that is upright over the height of the story."""
    story = np.arange(1, len(values) + 1)
    ends = np.column_stack([story - 0.5, story + 0.5]).ravel()
    return np.append(0.0, np.repeat(values, 2)), np.append(ends[:1], ends)


def _peak(values: np.ndarray) -> float:
    return float(np.abs(values[np.isfinite(values)]).max(initial=0.0))


def _end(values: np.ndarray) -> float:
    finite = values[np.isfinite(values)]
    return abs(float(finite[-1])) if len(finite) else 0.0
