"""Curves of an incremental analysis with their quantiles, and fragilities with their bands, side by side."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hyloop.metrics.fragility import EXACT, FAILED
from hyloop.metrics.ida_curves import given_intensity, given_response
from hyloop.report.charts import COLORS, NEUTRAL, Drawing
from hyloop.report.fragility_result import GRAVITY, IN_G, FittedFragility
from hyloop.report.ida_result import IdaResult

__all__ = ["PARTS", "fragility_picture", "ida_picture", "intensities_of", "quantile_rows", "responses_of"]

PARTS = (0.16, 0.5, 0.84)  # quantiles that are usual
_FINE = 160  # points of a curve
_HEIGHT, _TALL = 440, 760  # px, side by side and one below the other
_BAND = "33"  # how opaque, as the last two digits of a colour
_FAINT = 0.35
_ROOM = 1.08  # of an axis, over what is drawn
_WIDE = 3.2  # standard deviations to either side of a median


def intensities_of(found: IdaResult) -> np.ndarray:
    """A fine axis up to the highest level at which any record stands."""
    return np.linspace(0.0, max(curve.points[0][-1] for curve in found.curves), _FINE)


def responses_of(found: IdaResult) -> np.ndarray:
    """A fine axis of responses."""
    return np.linspace(0.0, max(curve.points[1][-1] for curve in found.curves), _FINE)


def ida_picture(found: IdaResult, others: Sequence[FittedFragility] = ()) -> Drawing:
    """Both pictures; `others` are drawn dashed, in the colours of the same states."""
    fragilities = found.fragilities
    traces = [*_curves(found), *_fragilities(fragilities, "2"), *_dashed(others, "2")]
    top = _ROOM * max(curve.points[0][-1] for curve in found.curves) / GRAVITY
    _, unit = found.shown
    response = {"-": "largest drift ratio"}.get(found.unit, found.response)
    axes = {
        "xaxis": _axis(f"{response} [{unit}]", [0.0, 0.46], "y", rangemode="tozero"),
        "yaxis": _axis(f"{found.measure} [g]", [0.0, 1.0], "x", range=[0.0, top]),
        "xaxis2": _axis(f"{found.measure} [g]", [0.56, 1.0], "y2", range=[0.0, top]),
        "yaxis2": _axis("probability", [0.0, 1.0], "x2", range=[0.0, 1.0]),
    }
    low = {"xaxis": [0.0, 1.0], "yaxis": [0.58, 1.0], "xaxis2": [0.0, 1.0], "yaxis2": [0.0, 0.42]}
    narrow = {key: {**axis, "domain": low[key]} for key, axis in axes.items()}
    alt = f"{found.response} over {found.measure} of {len(found.records)} records, and fragilities with their bands."
    return Drawing(traces, _layout(_HEIGHT, axes), alt, "", _layout(_TALL, narrow))


def fragility_picture(
    fragilities: Sequence[FittedFragility], label: str, shown: tuple[float, str] = IN_G, counted: bool = False
) -> Drawing:
    """Fragilities alone; `counted` adds the part that failed at each level."""
    factor, unit = shown
    traces = _fragilities(fragilities, "", factor)
    for k, one in enumerate(fragilities if counted else ()):
        levels = np.unique(one.intensities)
        part = [float(np.mean(one.kinds[one.intensities == level] == FAILED)) for level in levels]
        marker = {"size": 8, "color": _color(k)}
        dots = _line(f"{one.told}, part of the runs", factor * levels, part, _color(k))
        traces.append(dots | {"mode": "markers", "marker": marker, "showlegend": False})
    axes = {
        "xaxis": _axis(f"{label} [{unit}]" if unit else label, [0.0, 1.0], "y", rangemode="tozero"),
        "yaxis": _axis("probability", [0.0, 1.0], "x", range=[0.0, 1.0]),
    }
    return Drawing(traces, _layout(_HEIGHT, axes), f"Fragilities over {label}, with their bands.")


def _axis(title: str, domain: list[float], anchor: str, **more: Any) -> dict[str, Any]:
    return {"title": {"text": title, "standoff": 8}, "domain": domain, "anchor": anchor, "zeroline": False, **more}


def _layout(height: int, axes: dict[str, Any]) -> dict[str, Any]:
    return {
        "height": height,
        "margin": {"l": 56, "r": 14, "t": 66, "b": 50},
        **axes,
        "showlegend": True,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "font": {"size": 12, "color": "#444"},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hovermode": "closest",
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "#999", "activecolor": "#666"},
    }


def _line(name: str, x: Any, y: Any, color: str, width: float = 2.0, /, **more: Any) -> dict[str, Any]:
    line = {"width": width, "color": color, **more.pop("line", {})}
    given = {"x": np.asarray(x, float).tolist(), "y": np.asarray(y, float).tolist()}
    return {"type": "scatter", "mode": "lines", "name": name, **given, "line": line, **more}


def _curves(found: IdaResult) -> list[dict[str, Any]]:
    """A faint line for each record, a mark where it collapses, and quantiles of the response at each intensity."""
    factor, _ = found.shown
    traces = []
    for k, curve in enumerate(found.curves):
        x, y = curve.points
        more = {"opacity": _FAINT, "legendgroup": "records", "showlegend": k == 0}
        traces.append(_line("records", factor * y, x / GRAVITY, NEUTRAL, 1.2, **more) | {"hovertext": curve.name})
    ends = [curve for curve in found.curves if curve.capacity[1] == EXACT]
    if ends:
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": "collapse",
                "x": [float(factor * curve.points[1][-1]) for curve in ends],
                "y": [curve.capacity[0] / GRAVITY for curve in ends],
                "text": [curve.name for curve in ends],
                "marker": {"size": 7, "symbol": "x-thin", "color": NEUTRAL, "line": {"width": 1.5, "color": NEUTRAL}},
            }
        )
    axis = intensities_of(found)
    for k, part in enumerate(PARTS):
        y = given_intensity(found.curves, axis, part)
        dash = {} if part == 0.5 else {"line": {"dash": "dash"}}
        traces.append(_line(f"{100 * part:g} %", factor * y, axis / GRAVITY, COLORS[k], 2.4, **dash))
    return traces


def _color(k: int) -> str:
    """Of a state; the first three belong to the quantiles of curves."""
    return COLORS[(k + len(PARTS)) % len(COLORS)]


def _fragilities(fragilities: Sequence[FittedFragility], suffix: str, factor: float = IN_G[0]) -> list[dict[str, Any]]:
    traces = []
    at: dict[str, Any] = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
    for k, one in enumerate(fragilities):
        if one.fit is None:
            continue
        x = one.fit.median * np.exp(np.linspace(-_WIDE, _WIDE, _FINE) * one.fit.beta)
        low, high = one.band(x)
        shape = {"fill": "toself", "fillcolor": f"{_color(k)}{_BAND}", "hoverinfo": "skip", "showlegend": False}
        around, ends = factor * np.concatenate([x, x[::-1]]), np.concatenate([low, high[::-1]])
        traces.append(_line(f"band of {one.told}", around, ends, _color(k), 0.0, **shape, **at))
        traces.append(_line(one.told, factor * x, one.fit.probability(x), _color(k), **at))
        if np.all(one.kinds == EXACT):
            known = np.sort(one.intensities)
            steps = (np.arange(len(known)) + 0.5) / len(known)
            dots = _line(f"records, {one.told}", factor * known, steps, _color(k), **at)
            marker = {"size": 5, "color": _color(k), "opacity": 0.7}
            traces.append(dots | {"mode": "markers", "marker": marker, "showlegend": False})
    return traces


def _dashed(others: Sequence[FittedFragility], suffix: str) -> list[dict[str, Any]]:
    traces = []
    for k, one in enumerate(others):
        if one.fit is not None:
            x = one.fit.median * np.exp(np.linspace(-_WIDE, _WIDE, _FINE) * one.fit.beta)
            more = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}", "line": {"dash": "dash"}}
            traces.append(_line(f"{one.told}, other", x / GRAVITY, one.fit.probability(x), _color(k), 1.6, **more))
    return traces


def quantile_rows(found: IdaResult, count: int = 9) -> list[list[Any]]:
    """Intensities in g at which so many quantiles reach a response, and responses at the same intensities."""
    factor, _ = found.shown
    responses = np.linspace(0.0, responses_of(found)[-1], count + 1)[1:]
    by = [given_response(found.curves, responses, part) / GRAVITY for part in PARTS]
    return [[f"{factor * y:.3g}", *(float(column[k]) for column in by)] for k, y in enumerate(responses)]
