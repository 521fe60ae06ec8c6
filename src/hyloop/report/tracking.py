"""How actuators followed in a run: wanted over achieved displacement, delay and amplitude over time, errors."""

from dataclasses import dataclass

import numpy as np

from hyloop.errors import BadInput
from hyloop.metrics import Tracking, tracking
from hyloop.record import Recording
from hyloop.report.charts import Chart
from hyloop.report.display import Line, Panel, Recordings, readable, rows_to_draw
from hyloop.report.interlocks import until_trip
from hyloop.report.page import Section, Table

__all__ = ["Tracked", "tracked", "tracking_sections"]

_POINTS = 1200  # of one line
_MOST_SITES = 6  # that are drawn
_EXPLAINED = (
    "The first panel shall be a straight line: a loop is a delay, another slope an error of amplitude. Gain and "
    "delay are those of the frequency evaluation index in a moving window, and are left out where little was wanted. "
    "The area of the loop grows while the actuator is late and falls while it leads."
)


@dataclass(frozen=True, eq=False)
class Tracked:
    """One site of one recording: what the structure wanted there, and what was done.

    Attributes
    ----------
    site, shown : str
        Name of the site, and what the displacement is: ``"achieved"``, or ``"measured"`` as its sensor shows it.
    time, wanted, done : ndarray
        In s and m, without the row before the first tick.
    numbers : Tracking
    """

    site: str
    shown: str
    time: np.ndarray
    wanted: np.ndarray
    done: np.ndarray
    numbers: Tracking


def tracked(recording: Recording) -> list[Tracked]:
    """Sites with an actuator, in the order of the channels; sites at which nothing moved are left out."""
    found, recording = [], until_trip(recording)
    for site, channels in _channels(recording).items():
        for shown, channel in channels.items():
            time, x, y = recording.time[1:], recording[f"{site}.d"][1:], recording[channel][1:]
            if not (np.isfinite(x).all() and np.isfinite(y).all()):
                continue
            try:
                numbers = tracking(x, y, float(np.median(np.diff(time))))
            except BadInput:  # a site that did not move, or a run of a few steps
                continue
            found.append(Tracked(site, shown, time, x, y, numbers))
    return found


def _channels(recording: Recording) -> dict[str, dict[str, str]]:
    """Channels of the achieved and of the measured displacement of every site that has an actuator."""
    names = set(recording.names)
    given = recording.attributes.get("transfer")
    if given is None:  # of a recording that does not say what its channels are
        sites = [name.removesuffix(".actuator.d") for name in recording.names if name.endswith(".actuator.d")]
        given = {site: {"achieved": f"{site}.actuator.d", "measured": f"{site}.sensor.d"} for site in sites}
    found = {}
    for site, channels in given.items():
        there = {
            shown: channels[shown] for shown in ("achieved", "measured") if channels.get(shown, f"{site}.d") in names
        }
        if f"{site}.d" in names and there and there.get("achieved") != f"{site}.d":
            same = there.get("measured") in (there.get("achieved"), f"{site}.d")
            found[site] = {key: name for key, name in there.items() if not (key == "measured" and same)}
    return found


def tracking_sections(recordings: Recordings) -> list[Section]:
    """A section about the actuators; none where no site has one."""
    every = {name: tracked(recording) for name, recording in recordings.items()}
    sites = list(dict.fromkeys(one.site for found in every.values() for one in found))
    if not sites:
        return []
    rows = []
    for name, found in every.items():
        for one in found:
            n = one.numbers
            numbers = [100 * n.nrmse, 100 * n.nrms, 100 * n.peak, 1e3 * n.delay, 100 * (n.gain - 1.0), n.frequency]
            rows.append([one.site, name, one.shown, *map(float, numbers)])
    columns = [
        "site",
        "recording",
        "displacement",
        "RMS error over range [%]",
        "RMS error over standard deviation [%]",
        "greatest error over peak [%]",
        "delay [ms]",
        "amplitude error [%]",
        "mean frequency [Hz]",
    ]
    charts = [_chart(site, every) for site in sites[:_MOST_SITES]]
    more = f"The first {_MOST_SITES} of {len(sites)} sites are drawn." if len(sites) > _MOST_SITES else ""
    text = [_sentence(one) for found in every.values() for one in found[:1]] if len(every) == 1 else []
    table = Table("Wanted against achieved displacement", columns, rows, folded=len(rows) > 12)
    return [Section("Tracking of the actuators", [*text, more], charts=charts, tables=[table])]


def _sentence(one: Tracked) -> str:
    n = one.numbers
    when = f"{abs(1e3 * n.delay):.3g} ms {'late' if n.delay >= 0.0 else 'early'}"
    return (
        f"The actuator at {one.site} is {when} at {n.frequency:.2g} Hz, the mean frequency of what was wanted, and "
        f"reaches {100 * n.gain:.4g} % of its amplitude; the error is {100 * n.nrmse:.2g} % of the range."
    )


def _chart(site: str, every: dict[str, list[Tracked]]) -> Chart:
    shown = [
        (series, name if len(every) > 1 else one.shown, one)
        for series, (name, one) in enumerate(
            (name, one)
            for name, found in every.items()
            for one in found
            if one.site == site and (len(every) == 1 or one.shown == "achieved")
        )
    ]
    widen, length = readable("m")
    reach = widen * max(float(np.max(np.abs(one.wanted))) for _, _, one in shown)
    ideal = Line(np.array([-reach, reach]), np.array([-reach, reach]), "ideal", None)
    panels = [
        Panel(
            f"{site}: wanted over achieved",
            f"achieved displacement [{length}]",
            f"wanted displacement [{length}]",
            (ideal, *(_path(one, name, series, widen) for series, name, one in shown)),
        )
    ]
    for title, label, pick in (
        ("delay", "delay [ms]", lambda n: 1e3 * n.delays),
        ("amplitude error", "amplitude error [%]", lambda n: 100.0 * (n.gains - 1.0)),
        ("area of the loop", f"area [{length}²]", lambda n: widen**2 * n.indicator),
    ):
        lines = [part for series, name, one in shown for part in _pieces(one.time, pick(one.numbers), name, series)]
        panels.append(Panel(title, "time [s]", label, tuple(lines)))
    alt = f"Wanted over achieved displacement of {site}, and delay, amplitude error and area of the loop over time."
    return Chart(panels, alt, _EXPLAINED, columns=2, row_height=250)


def _path(one: Tracked, name: str, series: int, widen: float) -> Line:
    rows = rows_to_draw(_POINTS, one.done, one.wanted)
    return Line(widen * one.done[rows], widen * one.wanted[rows], name, series)


def _pieces(time: np.ndarray, values: np.ndarray, name: str, series: int) -> list[Line]:
    """A line for every stretch in which there is a value, so that none bridges a gap."""
    told = np.flatnonzero(np.isfinite(values))
    if len(told) == 0:
        return []
    stretches = np.split(told, np.flatnonzero(np.diff(told) > 1) + 1)
    points = max(_POINTS // len(stretches), 16)
    lines = []
    for stretch in stretches:
        rows = stretch[rows_to_draw(points, values[stretch])]
        lines.append(Line(time[rows], values[rows], name, series))
    return lines
