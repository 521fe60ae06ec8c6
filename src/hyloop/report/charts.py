"""Panels as interactive charts: the plain data that plotly.js draws, without its Python objects."""

import base64
import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from hyloop.report.display import Line, Panel

__all__ = ["COLORS", "NEUTRAL", "Chart", "Drawing", "chart_spec", "line_look"]

# told apart with colour-blind eyes and legible on white and on dark grey
COLORS = ("#2f7cc1", "#d5652a", "#2a9d78", "#a06cc4", "#b8942a", "#d1567f", "#5a8f3c")
NEUTRAL = "#84868c"  # of what all recordings have in common
_AREA = "55"  # how opaque an area is, as the last two digits of its colour

_MARGIN = {"l": 62, "r": 12, "t": 46, "b": 46}  # px; above the titles there is room for the tools of plotly.js
_LEGEND = 30  # px
_DECADES = [float(f"{m}e{k}") for k in range(-2, 4) for m in (1, 2, 5)]  # where logarithmic axes are labelled
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
_SINGLE_MAX = 1e37  # numbers below it fit in single precision
_DOUBLE_MAX = float(np.finfo(float).max)


@dataclass(frozen=True)
class Chart:
    """Panels in a grid, or stacked over a common time axis.

    Parameters
    ----------
    panels : sequence of Panel
        What is drawn, row by row.
    alt : str
        What the chart shows, for those who cannot see it.
    caption : str
        Text below the chart.
    columns : int
        Panels in a row.
    row_height : int
        Height of a panel in px.
    common_x : bool
        One horizontal axis for all panels: zooming one zooms all, and a range slider lies below the last.
    log_x : bool
        Logarithmic horizontal axis.
    """

    panels: Sequence[Panel]
    alt: str
    caption: str = ""
    columns: int = 1
    row_height: int = 240
    common_x: bool = False
    log_x: bool = False


@dataclass(frozen=True)
class Drawing:
    """Traces and layout, with its height, as plotly.js wants them, for what panels cannot show."""

    data: Sequence[dict[str, Any]]
    layout: dict[str, Any]
    alt: str
    caption: str = ""
    narrow: dict[str, Any] | None = None  # layout for small screens


def chart_spec(chart: Chart | Drawing) -> dict[str, Any]:
    """Traces and layout of a chart, ready for JSON; `narrow` is a layout with one panel in a row, for small screens."""
    if isinstance(chart, Drawing):
        shown = {
            "data": list(chart.data),
            "layout": _with_font(chart.layout),
            "narrow": _with_font(chart.narrow) if chart.narrow else None,
        }
        return _without_infinities(shown)
    columns = max(1, min(chart.columns, len(chart.panels)))
    traces, layout = _arranged(chart, columns)
    return {"data": traces, "layout": layout, "narrow": _arranged(chart, 1)[1] if columns > 1 else None}


def _without_infinities(value: Any) -> Any:
    """The same with None, a gap in a line, for numbers that are not finite: JSON has none."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _without_infinities(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_infinities(part) for part in value]
    return value


def _with_font(layout: dict[str, Any]) -> dict[str, Any]:
    return {**layout, "font": {"family": _FONT, **layout.get("font", {})}}


def _arranged(chart: Chart, columns: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Traces and layout with so many panels in a row."""
    gap = 30 if chart.common_x else 62  # px, room for a title, and for tick labels and axis title where they are
    rows = -(-len(chart.panels) // columns)
    inner = rows * chart.row_height + (rows - 1) * gap
    series = {line.series for panel in chart.panels for line in panel.lines}
    legend = _LEGEND if len(series - {None}) > 1 else 0
    margin = {**_MARGIN, "t": _MARGIN["t"] + legend}
    layout = _layout(inner, margin, legend)
    traces: list[dict[str, Any]] = []
    named: set[str] = set()
    for i, panel in enumerate(chart.panels):
        row, column = divmod(i, columns)
        suffix = "" if i == 0 else str(i + 1)
        width, space = (1.0 - 0.075 * (columns - 1)) / columns, 0.075
        left, top = column * (width + space), 1.0 - row * (chart.row_height + gap) / inner
        x_domain = [left, min(left + width, 1.0)]
        y_domain = [max(top - chart.row_height / inner, 0.0), top]
        layout[f"xaxis{suffix}"] = _x_axis(chart, i, columns, suffix, x_domain, inner)
        layout[f"yaxis{suffix}"] = {
            "domain": y_domain,
            "anchor": f"x{suffix}",
            "nticks": 6,
            "zeroline": True,
            "autorangeoptions": {"include": _frame([line.y for line in panel.lines])},
        }
        layout["annotations"].append(_title(panel.title, left, top))
        if _first_of_its_kind(chart, i, columns):
            layout["annotations"].append(_y_title(panel.y_label, left, sum(y_domain) / 2))
        for line in panel.lines:
            traces.append(_trace(line, suffix, line.series is not None and line.name not in named))
            named.add(line.name)
    return traces, layout


def _layout(inner: int, margin: dict[str, int], legend: int) -> dict[str, Any]:
    """What all panels have in common."""
    return {
        "height": inner + margin["t"] + margin["b"],
        "margin": margin,
        "font": {"family": _FONT, "size": 12, "color": "#444"},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "showlegend": legend > 0,
        "hovermode": "closest",
        "dragmode": "zoom",
        "annotations": [],
        "legend": {"orientation": "h", "x": 0, "xanchor": "left", "y": 1 + 24 / inner, "yanchor": "bottom"},
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "#999", "activecolor": "#666", "orientation": "h"},
    }


_PAPER = {"xref": "paper", "yref": "paper", "showarrow": False}


def _title(text: str, left: float, top: float) -> dict[str, Any]:
    return {"text": f"<b>{escape(text)}</b>", "x": left, "y": top, "xanchor": "left", "yanchor": "bottom", **_PAPER}


def _y_title(text: str, left: float, middle: float) -> dict[str, Any]:
    """An annotation, because titles of axes move with the width of the tick labels."""
    place = {"x": left, "y": middle, "xanchor": "center", "yanchor": "middle", "xshift": -50, "textangle": -90}
    return {"text": escape(text), "font": {"size": 11}, **place, **_PAPER}


def _x_axis(chart: Chart, i: int, columns: int, suffix: str, domain: list[float], inner: int) -> dict[str, Any]:
    panel, lowest = chart.panels[i], i + columns >= len(chart.panels)
    axis: dict[str, Any] = {"domain": domain, "anchor": f"y{suffix}", "nticks": 6, "zeroline": not chart.log_x}
    if lowest:
        axis["title"] = {"text": escape(panel.x_label), "standoff": 8, "font": {"size": 11}}
    if chart.log_x:
        axis |= {"type": "log", "nticks": None, "tickvals": _DECADES}
    elif not panel.x_label.startswith("time"):
        axis["autorangeoptions"] = {"include": _frame([line.x for line in panel.lines])}
    if chart.common_x:
        # all axes follow the lowest, which carries the slider
        axis |= {"nticks": 10, "zeroline": False, "showticklabels": lowest}
        if lowest:
            axis["rangeslider"] = {"visible": True, "thickness": 30 / inner}
        else:
            axis["matches"] = f"x{len(chart.panels)}"
    return axis


def _frame(values: Sequence[np.ndarray]) -> list[float]:
    """Ends of an axis, a little beyond the data."""
    numbers = np.concatenate([np.zeros(0), *values])
    numbers = numbers[np.isfinite(numbers)]
    if len(numbers) == 0:
        return []
    low, high = float(numbers.min()), float(numbers.max())
    room = 0.04 * high - 0.04 * low  # the span itself may be too large for a number
    return [max(low - room, -_DOUBLE_MAX), min(high + room, _DOUBLE_MAX)]


def _first_of_its_kind(chart: Chart, i: int, columns: int) -> bool:
    """Whether the vertical axis needs a title: the panel to the left does not carry the same."""
    return i % columns == 0 or chart.panels[i - 1].y_label != chart.panels[i].y_label


def _trace(line: Line, suffix: str, in_legend: bool) -> dict[str, Any]:
    color, width = line_look(line.series)
    rows = np.isfinite(line.x) & np.isfinite(line.y)  # a change of units can pass the largest number there is
    area = {"fill": "toself", "fillcolor": f"{color}{_AREA}", "hoverinfo": "skip"} if line.filled else {}
    return {
        "type": "scatter",
        "mode": "lines",
        "name": escape(line.name),
        "legendgroup": escape(line.name),
        "showlegend": in_legend,
        "xaxis": f"x{suffix}",
        "yaxis": f"y{suffix}",
        "line": {"width": 0.0 if line.filled else 1.5 * width, "color": color},
        "x": _numbers(line.x[rows]),
        "y": _numbers(line.y[rows]),
        **area,
    }


def line_look(series: int | None) -> tuple[str, float]:
    """Colour and relative width; later recordings lie on top and are thinner, so that those below can be seen."""
    if series is None:
        return NEUTRAL, 0.8
    return COLORS[series % len(COLORS)], max(1.0 - 0.2 * series, 0.5)


def _numbers(values: np.ndarray) -> dict[str, str]:
    """Single precision is finer than any screen and half the size; a run that diverged needs double."""
    dtype = "f4" if len(values) == 0 or np.abs(values).max() < _SINGLE_MAX else "f8"
    return {"dtype": dtype, "bdata": base64.b64encode(np.asarray(values, f"<{dtype}").tobytes()).decode("ascii")}
