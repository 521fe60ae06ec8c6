"""What is drawn where, decided from the names of the channels and from what a recording says of itself."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from hyloop.live.charts import Loop, Section
from hyloop.live.groups import Group, groups_of, telling
from hyloop.live.picture import Picture, picture_of
from hyloop.live.sections import TRIP, interlock_charts, site_loops, tracking_charts, trust_charts, updating_charts
from hyloop.live.signals import Signals

__all__ = ["Panels", "panels_of"]

_MOST_LOOPS = 12  # that are drawn; more cannot be read


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
    loops, told = site_loops(signals, about, sites)
    picture = picture_of(signals, building, list(sites), {site: k for k, (site, _) in enumerate(loops)})
    charts = [loop for _, loop in loops]
    head = [charts[k] for k in sorted(range(len(charts)), key=lambda k: (-told[k], k))[:1]]
    sections = [
        Section("Hysteresis", "Force over deformation in the span that is shown.", list(charts[:_MOST_LOOPS])),
        Section("Models that are updated", "Grey: bounds of an estimate.", list(updating_charts(signals, about))),
        Section("Trust", "Grey: trust below which the fallback takes over.", list(trust_charts(signals, about))),
        Section("Interlock", "Trip: 0 while all is well.", list(interlock_charts(signals))),
        Section(
            "Tracking of the actuators",
            "Wanted over achieved shall be a straight line.",
            tracking_charts(signals, about),
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
        {name.removesuffix(TRIP): signals[name] for name in signals.names if name.endswith(TRIP)},
        {site: signals[f] for site, (_, f) in sites.items()},
    )


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
