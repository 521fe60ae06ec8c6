"""How a run on the clock has kept its time: in sentences, as histograms, and block by block."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hyloop.report.charts import COLORS, NEUTRAL, Drawing
from hyloop.report.display import Recordings
from hyloop.report.page import Section, Table

__all__ = ["pace_sections", "pace_sentences"]

_HEIGHT = 330  # px
_FIRST, _PER_DECADE = 0.1, 4  # µs: left edge of the histograms, and bins in a decade (`hyloop.study.pieces.BINS`)
_DONE = {
    "hold": ": models were not computed then, their forces held",
    "fall back": ": models were not computed then, and gave their force to their fallbacks or held it",
}
_KINDS = {"lateness": "begins late by", "work": "computes for"}


def pace_sentences(kept: Mapping[str, Any]) -> list[str]:
    """What a person wants to know of it first, and what the system refused."""
    tick, late, work = kept["tick"], kept.get("lateness", {}), kept.get("work", {})
    if not work:
        return ["on the clock: no tick was made"]
    share = 100 * work["99.9 %"] / tick
    computes = f"computes for {work['50 %']:.3g} µs (99.9 %: {work['99.9 %']:.3g} µs, {share:.2g} % of a tick)"
    begins = f"begins {late['99.9 %']:.3g} µs late or less in 99.9 % (at most {late['largest']:.4g} µs)"
    said = [f"on the clock: a tick every {tick:.5g} µs {computes} and {begins}; {_overruns(kept)}"]
    if step := kept.get("from step"):
        said.append(f"these are the ticks since step {step}, from which the run has gone on")
    return [*said, *(f"note: {text}" for text in kept.get("refused", ()))]


def _overruns(kept: Mapping[str, Any]) -> str:
    """How many ticks were too late, and what was done about them."""
    count, policy = kept["overruns"], kept["policy"]
    if count == 0:
        return "no tick was too late"
    said = f"{count} tick{'s were' if count > 1 else ' was'} too late"
    if policy == "extrapolate":
        along = kept["extrapolated"]
        return f"{said}: forces of models went on along a line in {along}, and were held in {count - along}"
    return said + _DONE.get(policy, "")


def pace_sections(recordings: Recordings) -> list[Section]:
    """A section for every recording that was made on the clock."""
    found = []
    for name, recording in recordings.items():
        kept = recording.attributes.get("paced")
        if not kept or "work" not in kept:
            continue
        rows = [[kind, *kept[key].values()] for key, kind in _KINDS.items()]
        tables = [
            Table("Every tick, µs", ["a tick", *kept["lateness"]], rows),
            Table("Where the time goes, µs in a tick", ["block", "mean", "longest"], _spent(kept)),
        ]
        title = "On the clock" if len(recordings) == 1 else f"On the clock: {name}"
        found.append(Section(title, pace_sentences(kept), charts=[_histogram(kept)], tables=tables))
    return found


def _spent(kept: Mapping[str, Any]) -> list[list[Any]]:
    """Rows that add up to the mean of a tick: the slowest blocks, all others, and what is no block."""
    rows = [[name, *times] for name, times in kept["blocks"].items()]
    if kept.get("other blocks"):
        rows.append(["all other blocks", kept["other blocks"], ""])
    return [*rows, ["structure, sites, recording", *kept["structure"]]] if "structure" in kept else rows


def _histogram(kept: Mapping[str, Any]) -> Drawing:
    """Ticks over their lateness and their computing time, both axes logarithmic, with the length of a tick."""
    traces: list[dict[str, Any]] = []
    for color, (key, kind) in zip(COLORS, _KINDS.items(), strict=False):
        counts = kept[f"{key}, histogram"]
        edges = _FIRST * 10.0 ** (np.arange(len(counts) + 1) / _PER_DECADE)
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "line": {"shape": "hvh", "width": 2, "color": color},
                "name": f"a tick {kind}",
                "x": np.sqrt(edges[1:] * edges[:-1]).tolist(),
                "y": [count or None for count in counts],
            }
        )
    most = max(max(kept[f"{key}, histogram"]) for key in _KINDS)
    traces.append(
        {
            "type": "scatter",
            "mode": "lines",
            "line": {"width": 2, "dash": "dot", "color": NEUTRAL},
            "name": "length of a tick",
            "x": [kept["tick"]] * 2,
            "y": [0.7, most],
        }
    )
    layout = {
        "height": _HEIGHT,
        "margin": {"l": 62, "r": 12, "t": 46, "b": 46},
        "xaxis": {"type": "log", "title": {"text": "µs"}},
        "yaxis": {"type": "log", "title": {"text": "ticks"}},
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
    }
    return Drawing(traces, layout, "Histogram of lateness and computing time of all ticks, with the length of a tick.")
