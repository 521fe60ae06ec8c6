"""What is drawn where, decided from the names of the channels and from what a recording says of itself."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from hyloop.live.groups import Group, groups_of, telling
from hyloop.live.picture import Picture, picture_of
from hyloop.live.signals import Signals
from hyloop.report.display import readable

__all__ = ["History", "HistoryLine", "Loop", "LoopLine", "Panels", "Section", "panels_of"]

_MOST_LOOPS = 12  # that are drawn; more cannot be read
_MOST_LINES = 8  # of a chart
_MODEL = ("f", "innovation")  # channels of an updater that are drawn elsewhere


@dataclass(frozen=True)
class HistoryLine:
    """A signal over time; `series` is the number of its colour."""

    name: str
    signal: int
    series: int


@dataclass(frozen=True)
class History:
    """Signals of one unit over time, with a band between two of them, and levels that do not change, both if any."""

    title: str
    unit: str
    factor: float
    lines: list[HistoryLine]
    band: tuple[int, int] | None = None
    levels: list[float] = field(default_factory=list)
    kind: str = "history"


@dataclass(frozen=True)
class LoopLine:
    """A signal over another one."""

    name: str
    x: int
    y: int
    series: int


@dataclass(frozen=True)
class Loop:
    """Signals over others, with the unit and factor of either axis; `ideal` draws the line on which both are equal."""

    title: str
    x: tuple[str, str, float]
    y: tuple[str, str, float]
    lines: list[LoopLine]
    ideal: bool = False
    kind: str = "loop"


@dataclass(frozen=True)
class Section:
    """Charts that belong together."""

    title: str
    text: str
    charts: list[History | Loop]


@dataclass(frozen=True)
class Panels:
    """All there is to see of a run.

    Attributes
    ----------
    head : list of Loop
        What stands beside the picture on the first screen.
    sections : list of Section
    groups : list of Group
        All signals, to choose from; `shown` are the numbers of those that are drawn at first.
    drifts : list of (story, signal, height)
        Story drifts, with heights in m or 0 where they are not known.
    picture : Picture or None
        The structure, as it moves.
    trust : dict of site to signal
    trips : dict of site to signal
        Reason for which the interlock of a site has tripped, 0 while it has not.
    forces : dict of site to signal
    """

    head: list[Loop]
    sections: list[Section]
    groups: list[Group]
    shown: list[int]
    drifts: list[tuple[int, int, float]]
    picture: Picture | None
    trust: dict[str, int]
    trips: dict[str, int]
    forces: dict[str, int]

    def as_json(self, first: np.ndarray) -> dict[str, Any]:
        """For the page; `first` is the first row of all signals, at which the structure is at rest."""
        said: dict[str, Any] = {key: [asdict(item) for item in getattr(self, key)] for key in ("head", "groups")}
        said["sections"] = [asdict(section) for section in self.sections]
        picture = None if self.picture is None else self.picture.as_json(first)
        return said | {"shown": self.shown, "picture": picture}


def panels_of(signals: Signals, about: Mapping[str, Any]) -> Panels:
    """Everything that can be drawn of a run; adds to the signals what has to be computed for it."""
    building = about.get("building") or {}
    drifts = _drifts(signals, building)
    sites = _sites(signals, about)
    loops, told = _loops(signals, about, sites)
    picture = picture_of(signals, building, list(sites), {site: k for k, (site, _) in enumerate(loops)})
    charts = [loop for _, loop in loops]
    head = [charts[k] for k in sorted(range(len(charts)), key=lambda k: (-told[k], k))[:1]]
    sections = [
        Section("Hysteresis", "Force over deformation in the span that is shown.", list(charts[:_MOST_LOOPS])),
        Section("Models that are updated", "Grey: bounds of an estimate.", list(_updating(signals, about))),
        Section("Trust", "Grey: trust below which the fallback takes over.", list(_trust(signals, about))),
        Section("Interlock", "Trip: 0 while all is well.", list(_interlocks(signals))),
        Section(
            "Tracking of the actuators", "Wanted over achieved shall be a straight line.", _tracking(signals, about)
        ),
    ]
    return Panels(
        head,
        [section for section in sections if section.charts],
        groups_of(signals, about, list(sites)),
        telling(signals, about, list(sites)),
        drifts,
        picture,
        {site: signals[name] for site in about.get("trust", {}) if (name := f"{site}.trust") in signals},
        {name.removesuffix(_TRIP): signals[name] for name in signals.names if name.endswith(_TRIP)},
        {site: signals[f] for site, (_, f) in sites.items()},
    )


_TRIP = ".interlock.trip"


def _sites(signals: Signals, about: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Channels of deformation and force of every site that has both."""
    devices = (about.get("building") or {}).get("devices") or {}
    given = about.get("counts") or devices or _named(signals)
    found = {}
    for site in given:
        own = devices.get(site, {})
        d, f = (next((n for n in (own.get(k), f"{site}.{k}") if n and n in signals), None) for k in ("d", "f"))
        if d and f:
            found[site] = d, f
    return dict(sorted(found.items(), key=lambda item: signals[item[1][0]]))


def _named(signals: Signals) -> list[str]:
    return [n.removesuffix(".d") for n in signals.names if n.endswith(".d") and f"{n.removesuffix('d')}f" in signals]


def _drifts(signals: Signals, building: Mapping[str, Any]) -> list[tuple[int, int, float]]:
    """Drift of every story, as it is recorded, or of the floors that bound it."""
    heights = list(building.get("heights") or [])
    floors = [f"u.{floor}" for floor in building.get("floors") or []]
    found = []
    for k, floor in enumerate(floors):
        name = f"drift.{k + 1}"
        if name in signals:
            signal = signals[name]
        elif floor in signals and (k == 0 or floors[k - 1] in signals):
            signal = signals[floor] if k == 0 else signals.difference(name, floor, floors[k - 1])
        else:
            continue
        found.append((k + 1, signal, float(heights[k]) if k < len(heights) else 0.0))
    return found


def _axis(signals: Signals, number: int, word: str) -> tuple[str, str, float]:
    factor, unit = readable(signals.units[number])
    return word, unit, factor


def _loop(signals: Signals, title: str, lines: list[tuple[str, str, str]], series: int) -> Loop:
    """The first line has the colour of the site in the picture."""
    drawn = [LoopLine(name, signals[x], signals[y], series + k) for k, (name, x, y) in enumerate(lines)]
    return Loop(title, _axis(signals, drawn[0].x, "deformation"), _axis(signals, drawn[0].y, "force"), drawn)


def _loops(
    signals: Signals, about: Mapping[str, Any], sites: Mapping[str, tuple[str, str]]
) -> tuple[list[tuple[str, Loop]], list[int]]:
    """A chart for every site, models and measured devices on top of each other, and how telling each is."""
    loops, told = [], []
    for site, (d, f) in sites.items():
        model, truth = about.get("models", {}).get(site), about.get("trust", {}).get(site, {}).get("truth")
        lines = [(site, d, f)]
        if model:
            heard = [
                name if (name := model["inputs"].get(key)) in signals else own for key, own in (("d", d), ("f", f))
            ]
            lines = [("measured", heard[0], heard[1])]
            if updated := _updated(signals, site, heard[1]):
                lines.append(("model", heard[0], updated))
        elif truth in signals:
            lines = [("model", d, f), ("truth", d, truth)]
        loops.append((site, _loop(signals, site, lines, len(loops))))
        told.append(2 * len(lines) + (site in about.get("transfer", {})))
    return loops, told


def _updated(signals: Signals, site: str, measured: str) -> str | None:
    """Channel of the force of the updated model; before it has seen the force of the tick, where that is known."""
    name, innovation = f"{site}.model.f", f"{site}.model.innovation"
    if innovation not in signals:
        return name if name in signals else None
    ahead = f"{site}, model"
    signals.difference(ahead, measured, innovation)
    return ahead


def _history(signals: Signals, title: str, lines: Mapping[str, str], **more: Any) -> History:
    """Some channels of one unit, by the names they have in the legend."""
    numbers = [signals[channel] for channel in lines.values()]
    factor, unit = readable(signals.units[numbers[0]])
    drawn = [HistoryLine(name, number, k) for k, (name, number) in enumerate(zip(lines, numbers, strict=True))]
    return History(title, unit, factor, drawn, **more)


def _by_unit(signals: Signals, title: str, channels: list[str]) -> list[History]:
    """Charts of channels that may have different units."""
    units: dict[str, list[str]] = {}
    for channel in channels:
        units.setdefault(signals.units[signals[channel]], []).append(channel)
    found = []
    for same in units.values():
        for k in range(0, len(same), _MOST_LINES):
            piece = same[k : k + _MOST_LINES]
            found.append(_history(signals, title, {name.rpartition(".")[2]: name for name in piece}))
    return found


def _updating(signals: Signals, about: Mapping[str, Any]) -> list[History]:
    """Estimates with their bounds; whatever else an updater puts out, such as scales."""
    found = []
    for channel, bounds in about.get("estimates", {}).items():
        if channel in signals:
            factor = readable(signals.units[signals[channel]])[0]
            levels = [factor * float(bound) for bound in bounds]
            found.append(_history(signals, channel, {channel: channel}, levels=levels))
    for site in about.get("models", {}):
        own = [name for name in signals.names if name.startswith(f"{site}.model.")]
        own = [
            name for name in own if name not in about.get("estimates", {}) and name not in about.get("parameters", ())
        ]
        found += _by_unit(signals, f"{site}.model", [name for name in own if name.rpartition(".")[2] not in _MODEL])
        if (name := f"{site}.model.innovation") in signals:
            found.append(_history(signals, f"{site}: what the model was off by", {"innovation": name}))
    return found


def _trust(signals: Signals, about: Mapping[str, Any]) -> list[History]:
    found = []
    for site, said in about.get("trust", {}).items():
        force, low, high = (f"{site}.{key}" for key in ("f", "f_low", "f_high"))
        if all(name in signals for name in (force, low, high)):
            truth = said.get("truth")
            lines = {"force": force} | ({"truth": truth} if truth in signals else {})
            band = signals[low], signals[high]
            title = f"{site}: force and band for {100 * said['coverage']:.3g} %"
            found.append(_history(signals, title, lines, band=band))
        shares = {"trust": f"{site}.trust", "share of the fallback": f"{site}.fallback"}
        shares = {key: name for key, name in shares.items() if name in signals}
        if shares:
            levels = [float(said["limit"])] if "limit" in said else []
            found.append(_history(signals, f"{site}: trust and fallback", shares, levels=levels))
    return found


def _interlocks(signals: Signals) -> list[History]:
    found = []
    for name in signals.names:
        if name.endswith(_TRIP):
            site = name.removesuffix(_TRIP)
            states = {key: f"{site}.interlock.{key}" for key in ("trip", "settled")}
            found.append(_history(signals, f"{site}: trip", {k: n for k, n in states.items() if n in signals}))
            if (indicator := f"{site}.interlock.indicator") in signals:
                found.append(_history(signals, f"{site}: stability indicator", {"indicator": indicator}))
    return found


def _tracking(signals: Signals, about: Mapping[str, Any]) -> list[History | Loop]:
    found: list[History | Loop] = []
    for site, channels in (about.get("transfer") or {}).items():
        command = f"{site}.d"
        done = {key: name for key in ("achieved", "measured") if (name := channels.get(key)) in signals}
        done = {key: name for key, name in done.items() if name != command}
        if command not in signals or not done:
            continue
        shown, name = next(iter(done.items()))
        line = LoopLine(shown, signals[name], signals[command], 0)
        found.append(
            Loop(
                f"{site}: wanted over {shown}",
                _axis(signals, line.x, f"{shown} displacement"),
                _axis(signals, line.y, "wanted displacement"),
                [line],
                ideal=True,
            )
        )
        found.append(_history(signals, f"{site}: displacement", {"wanted": command, **done}))
        error = f"{site}, wanted less {shown}"
        signals.difference(error, command, name)
        found.append(_history(signals, f"{site}: wanted less {shown}", {"error": error}))
        fixed = about.get("parameters", ())
        own = [
            n for n in signals.names if n.startswith(f"{site}.compensator.") and n not in fixed and not n.endswith(".d")
        ]
        found += _by_unit(signals, f"{site}.compensator", own)
    return found
