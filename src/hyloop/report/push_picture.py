"""The frame that was pushed, with what has yielded coloured by when."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from hyloop.report.charts import NEUTRAL, Drawing
from hyloop.structure import Model, Pushover
from hyloop.structure.frames.members import LeanOn

__all__ = ["draw_hinges"]

_GROUPS = 6  # colours
_PALETTE = (
    "#fde725",
    "#f9a242",
    "#ed6925",
    "#cf4446",
    "#8b2f8f",
    "#31246d",
)  # early to late, legible on white and grey
_FAINT = "rgba(132,134,140,0.45)"
_HEIGHT = 500  # px
_ASIDE, _BELOW = 0.35, 0.18  # how a space frame is drawn: z goes aside and up by these parts
_BAY = 1.5  # width of a frame that is known by its floors alone, in story heights
_USUAL = 3.5  # m, story height that is not known


def draw_hinges(curve: Pushover, building: Mapping[str, Any], model: Model | None = None) -> Drawing | None:
    """Draw the members in grey, and what has yielded in the colour of the drift at which it did.

    Parameters
    ----------
    building : mapping
        Floors, heights and sites (`hyloop.loop.building`).
    model : Model, optional
        Nodes and members; without them a frame is drawn from its floors.

    Returns
    -------
    Drawing or None
        None for a building of which nothing is known.
    """
    places, members, sites = _wires(building, model)
    if not members:
        return None
    ends = {**({} if model is None else {m.name: (m.i, m.j) for m in model.members.values()}), **sites}
    when, label = _drifts(curve)
    bounds = np.linspace(0.0, max(float(np.max(when, initial=0.0)), 1e-12), _GROUPS + 1)
    traces = [_lines([(places[i], places[j]) for i, j in members], "does not yield", _FAINT, 1.5)]
    for k in range(_GROUPS):
        chosen = [h for h, at in zip(curve.hinges, when, strict=True) if _in(at, bounds, k)]
        name = f"{bounds[k]:.3g} to {bounds[k + 1]:.3g} {label}"
        whole = [h for h in chosen if np.isnan(h.place) and h.member in ends]
        pieces = [tuple(places[node] for node in ends[h.member]) for h in whole]
        points, texts = [], []
        for h in chosen:
            if h.member in ends and not np.isnan(h.place):
                (x0, y0), (x1, y1) = (places[node] for node in ends[h.member])
                along = 0.06 + 0.88 * h.place  # beside the node, so that hinges of several members can be told apart
                points.append((x0 + along * (x1 - x0), y0 + along * (y1 - y0)))
                texts.append(_words(curve, h))
        if pieces:
            text = [_words(curve, h) for h in whole]
            traces.append({**_lines(pieces, name, _PALETTE[k], 4.0, text), "legendgroup": name})
        if points:
            x, y = (list(map(float, column)) for column in zip(*points, strict=True))
            marker = {"size": 11, "color": _PALETTE[k], "line": {"width": 1, "color": NEUTRAL}}
            about = {"text": texts, "hoverinfo": "text", "legendgroup": name, "showlegend": not pieces}
            traces.append(
                {"type": "scatter", "mode": "markers", "name": name, "x": x, "y": y, "marker": marker} | about
            )
    axis = {"showgrid": False, "zeroline": False, "showticklabels": False}
    layout = {
        "height": _HEIGHT,
        "margin": {"l": 12, "r": 12, "t": 40, "b": 12},
        "xaxis": axis,
        "yaxis": {**axis, "scaleanchor": "x"},
        "showlegend": True,
        "legend": {"x": 1.01, "y": 1.0, "yanchor": "top", "title": {"text": "yields at a drift of"}},
        "font": {"size": 12, "color": NEUTRAL},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hovermode": "closest",
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "#999", "activecolor": "#666"},
    }
    narrow = {**layout, "legend": {"orientation": "h", "x": 0, "y": -0.02, "yanchor": "top"}}
    alt = f"The frame with {len(curve.hinges)} sections, braces and devices that have yielded."
    caption = "Coloured by the drift of the control displacement at which it yields; names appear under the pointer."
    return Drawing(traces, layout, alt, caption, narrow=narrow)


def _wires(building: Mapping[str, Any], model: Model | None) -> tuple[dict, list, dict[str, tuple[str, str]]]:
    """Places in the drawing, pairs of nodes, and the ends of sites."""
    sites: dict[str, tuple[str, str]] = {}
    if model is not None:
        places = {name: _flat(at) for name, at in model.nodes.items()}
        for site, where in building.get("sites", {}).items():
            between = where.get("nodes", ())
            if len(between) == 2 and set(between) <= set(places):
                sites[site] = (between[0], between[1])
        return places, [(m.i, m.j) for m in model.members.values() if not isinstance(m, LeanOn)], sites
    count = len(building.get("floors", ()))
    heights = building.get("heights") or [_USUAL] * count
    levels = np.concatenate([[0.0], np.cumsum(heights)]) if count else np.zeros(1)
    width = _BAY * float(np.mean(heights)) if count else 1.0
    places = {f"{side} {k}": (x, float(y)) for k, y in enumerate(levels) for side, x in (("l", 0.0), ("r", width))}
    members = [[f"{side} {a}", f"{side} {b}"] for a, b in pairwise(range(count + 1)) for side in "lr"]
    members += [[f"l {k}", f"r {k}"] for k in range(1, count + 1)]
    for k, (site, where) in enumerate(building.get("sites", {}).items()):
        if story := where.get("story"):
            sites[site] = (f"l {story - 1}", f"r {story}") if k % 2 == 0 else (f"r {story - 1}", f"l {story}")
    return places, members, sites


def _flat(at: np.ndarray) -> tuple[float, float]:
    """A point of the plane; of space as seen from the side and above."""
    x, y = float(at[0]), float(at[1])
    return (x, y) if len(at) == 2 else (x + _ASIDE * float(at[2]), y + _BELOW * float(at[2]))


def _lines(pieces: Sequence, name: str, color: str, width: float, texts: Sequence[str] = ()) -> dict[str, Any]:
    x = [value for (a, b) in pieces for value in (a[0], b[0], None)]
    y = [value for (a, b) in pieces for value in (a[1], b[1], None)]
    line = {"type": "scatter", "mode": "lines", "name": name, "x": x, "y": y, "line": {"width": width, "color": color}}
    if not texts:
        return {**line, "hoverinfo": "skip"}
    return {**line, "text": [word for text in texts for word in (text, text, "")], "hoverinfo": "text"}


def _drifts(curve: Pushover) -> tuple[np.ndarray, str]:
    """When each hinge yields, and the unit."""
    at = np.abs(curve.displacement[[h.row for h in curve.hinges]]) if curve.hinges else np.zeros(0)
    return (100.0 * at / curve.height, "%") if curve.height > 0.0 else (1e3 * at, "mm")


def _in(at: float, bounds: np.ndarray, k: int) -> bool:
    return bounds[k] <= at < bounds[k + 1] or (k == _GROUPS - 1 and at >= bounds[k + 1])


def _words(curve: Pushover, hinge: Any) -> str:
    where = "" if np.isnan(hinge.place) else f", at {hinge.place:.0%} of its length"
    at = abs(float(curve.displacement[hinge.row]))
    drift = f"{at / curve.height:.2%}" if curve.height > 0.0 else f"{1e3 * at:.3g} mm"
    return f"{hinge.member}{where}: yields at {drift}, ductility {hinge.ductility:.2g}"
