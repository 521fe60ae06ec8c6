"""Models that were watched while a test ran: force and band, trust, fallback, and what the band was worth."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.signal import lfilter

from hyloop.metrics import nrmse
from hyloop.record import Recording
from hyloop.report.charts import Chart
from hyloop.report.display import Line, Panel, Recordings, history_panels, readable, rows_to_draw, short
from hyloop.report.page import Answer, Section, Table

__all__ = ["Watched", "trust_answer", "trust_sections", "trust_sentence", "watched"]

_POINTS = 1200  # of one line; the rows of three lines are drawn together
_MOST = 6  # sites that are drawn
_NEEDED = {"f": "f", "f_low": "low", "f_high": "high", "trust": "trust", "fallback": "fallback"}


@dataclass(frozen=True, eq=False)
class Watched:
    """A site with a monitor, from the first tick on.

    Attributes
    ----------
    site : str
        Its name.
    about : mapping
        What the recording says of the monitor: `coverage`, `capacity`, `limit`, and the channel of the `truth`, if any.
    t, f, low, high, trust, fallback : ndarray
        Time in s, force and band in N, trust, share of the fallback.
    truth : ndarray, optional
        True force in N, where the recording has it.
    measured : float, optional
        Share of the ticks in motion in which the band of a model that follows held the force at the measured site.
    """

    site: str
    about: dict[str, Any]
    t: np.ndarray
    f: np.ndarray
    low: np.ndarray
    high: np.ndarray
    trust: np.ndarray
    fallback: np.ndarray
    truth: np.ndarray | None
    measured: float | None

    @property
    def covered(self) -> float | None:
        """Share of the samples in which the truth lies in the band, while the model alone had the force."""
        if self.truth is None:
            return None
        own = self.fallback == 0.0
        return float(np.mean(((self.low <= self.truth) & (self.truth <= self.high))[own])) if own.any() else None

    @property
    def error(self) -> float | None:
        """Root mean square error over the range of the true force."""
        return nrmse(self.truth, self.f) if self.truth is not None and np.ptp(self.truth) > 0.0 else None

    @property
    def half_width(self) -> float:
        """Mean half width of the band in N."""
        return float(np.mean(0.5 * (self.high - self.low)))

    @property
    def replaced(self) -> float:
        """Time in s in which the fallback had a share in the force."""
        step = float(np.median(np.diff(self.t))) if len(self.t) > 1 else 0.0
        return float(np.count_nonzero(self.fallback)) * step


def watched(recording: Recording) -> list[Watched]:
    """Every site whose monitor is described in ``attributes["trust"]`` and recorded."""
    found = []
    for site, about in recording.attributes.get("trust", {}).items():
        if any(f"{site}.{key}" not in recording.names for key in _NEEDED) or len(recording.time) < 3:
            continue
        signals = {name: recording[f"{site}.{key}"][1:] for key, name in _NEEDED.items()}  # row 0 is before any tick
        truth = recording[about["truth"]][1:] if about.get("truth") in recording.names else None
        measured = _at_the_measured_site(recording, site, about)
        found.append(Watched(site, about, recording.time[1:], **signals, truth=truth, measured=measured))
    return found


def _at_the_measured_site(recording: Recording, site: str, about: dict[str, Any]) -> float | None:
    """Share of the ticks in motion in which the band held the measured force; None where not every tick is recorded."""
    band, channels = about.get("band"), (about.get("heard"), about.get("twin"), f"{site}.q")
    tick = recording.attributes.get("dt", 0.0) / recording.attributes.get("substeps", 1)
    if band is None or any(name not in recording.names for name in channels):
        return None
    if not np.isclose(np.median(np.diff(recording.time)), tick, rtol=1e-6):
        return None
    heard, twin, q = (recording[str(name)][1:] for name in channels)
    residual, fade = np.abs(heard - twin), np.exp(-tick / about["window"])
    squares = lfilter([1.0 - fade], [1.0, -fade], residual**2)
    score = band["floor"] + band["twin"] * np.sqrt(np.concatenate([[0.0], squares[:-1]]))
    held = residual <= np.concatenate([[band["q"]], q[:-1]]) * score
    moving = (np.abs(heard) > band["floor"]) | (np.abs(twin) > band["floor"])
    return float(np.mean(held[moving])) if moving.any() else None


def trust_answer(recording: Recording) -> Answer | None:
    """The head of a page about a model of which the true force is known; None where there is none."""
    for one in watched(recording):
        name = f"{one.site}.d"
        if one.error is None or one.covered is None or name not in recording.names:
            continue
        error = f"{short(100.0 * one.error)} %"
        wanted, held = (f"{short(100.0 * share)} %" for share in (one.about["coverage"], one.covered))
        numbers = [
            (error, f"root mean square error of {one.site} over the range of the true force"),
            (held, f"of the true force lies in the band made for {wanted}"),
            (f"{one.trust.min():.2f}", f"least trust; below {one.about['limit']:g} the fallback takes over"),
        ]
        said = f"The model at {one.site} answers within {error} of the true force"
        said += (
            " and is trusted all the time."
            if one.replaced == 0.0
            else f"; its fallback helps for {short(one.replaced)} s."
        )
        panels = [_loop(one, recording[name][1:]), *history_panels({one.site: recording}, _POINTS)[:1], _band(one, "")]
        alt = f"Loop of {one.site} and of the true device on top of each other, motion of the top, force with its band."
        caption = (
            f"Left: what the model answers at {one.site} and what the device would have given. Right: force and band."
        )
        return Answer(said, numbers, Chart(panels, alt, caption, columns=3, row_height=300))
    return None


def _loop(one: Watched, d: np.ndarray) -> Panel:
    """Force over deformation, of the model and of the device."""
    (wide, length), (factor, unit) = readable("m"), readable("N")
    lines = []
    for series, (name, f) in enumerate((("truth", one.truth), ("model", one.f))):
        if f is not None:
            rows = rows_to_draw(_POINTS, d, f)
            lines.append(Line(wide * d[rows], factor * f[rows], name, 1 - series))
    return Panel(one.site, f"deformation [{length}]", f"force [{unit}]", tuple(lines))


def trust_sections(recordings: Recordings) -> list[Section]:
    """What to show of monitors: one section with a chart for each site of each recording, and a table."""
    charts, rows, said = [], [], []
    for name, recording in recordings.items():
        for one in watched(recording):
            of = f", {name}" if len(recordings) > 1 else ""
            said.append(trust_sentence(one, of))
            rows.append([f"{one.site}{of}", *_numbers(one)])
            if len(charts) < _MOST:
                charts.append(_chart(one, of))
    if not rows:
        return []
    columns = [
        "site",
        "wanted in the band [%]",
        "truth in the band [%]",
        "at the measured site [%]",
        "mean half width [kN]",
        "least trust",
        "with the fallback [s]",
        "peak force [kN]",
        "capacity [kN]",
    ]
    return [Section("Trust", said, charts, [Table("Monitors", columns, rows)])]


def _numbers(one: Watched) -> list[float | None]:
    shares = [one.about["coverage"], one.covered, one.measured]
    peak = float(np.abs(one.f[np.isfinite(one.f)]).max(initial=0.0))
    return [
        *(None if share is None else 100.0 * share for share in shares),
        1e-3 * one.half_width,
        float(one.trust.min()),
        one.replaced,
        1e-3 * peak,
        1e-3 * one.about["capacity"],
    ]


def trust_sentence(one: Watched, of: str = "") -> str:
    """How near the model was, what its band was worth, and how long the fallback helped."""
    wanted = f"{100 * one.about['coverage']:.3g} %"
    text = f"{one.site}{of}: "
    if one.error is not None:
        text += f"{short(100.0 * one.error)} % off the true force (NRMSE); "
    text += f"the band for {wanted} is {short(1e-3 * one.half_width)} kN wide to either side on average"
    if one.covered is not None:
        text += f" and holds {100 * one.covered:.3g} % of the true force while the model has it"
    if one.measured is not None:
        text += f"; at the measured site, where it learns, it held {100 * one.measured:.3g} % of the ticks in motion"
    if one.replaced > 0.0:
        who = f" ({one.about['fallback']})" if "fallback" in one.about else ""
        return f"{text}. The fallback{who} had a share in the force for {short(one.replaced)} s."
    return f"{text}. The model was trusted all the time."


def _band(one: Watched, of: str) -> Panel:
    """Force, band and truth over time."""
    factor, unit = readable("N")
    rows = np.unique(np.concatenate([rows_to_draw(_POINTS, signal) for signal in (one.f, one.low, one.high)]))
    t, low, high = one.t[rows], factor * one.low[rows], factor * one.high[rows]
    band = Line(
        np.concatenate([t, t[::-1]]),
        np.concatenate([high, low[::-1]]),
        f"band for {100 * one.about['coverage']:.3g} %",
        2,
        filled=True,
    )
    force = [band, Line(t, factor * one.f[rows], "force", 0)]
    if one.truth is not None:
        drawn = rows_to_draw(_POINTS, one.truth)
        force.append(Line(one.t[drawn], factor * one.truth[drawn], "truth", 1))
    return Panel(f"{one.site}{of}: force and band", "time [s]", f"force [{unit}]", tuple(force))


def _chart(one: Watched, of: str) -> Chart:
    """Force and band above, trust and the share of the fallback below, over one time axis."""
    shares = [Line(one.t[[0, -1]], np.full(2, one.about["limit"]), "limit", None)]
    for name, signal, series in (("trust", one.trust, 4), ("share of the fallback", one.fallback, 3)):
        drawn = rows_to_draw(_POINTS, signal)
        shares.append(Line(one.t[drawn], signal[drawn], name, series))
    title = f"{one.site}{of}"
    panels = [_band(one, of), Panel(f"{title}: trust and fallback", "time [s]", "share", tuple(shares))]
    alt = f"Force of {title} with its band over time; below, trust and the share of the fallback."
    caption = "Grey: trust below which the fallback takes over. Drag across a panel to zoom; double-click to go back."
    return Chart(panels, alt, caption, row_height=200, common_x=True)
