"""Pictures of a sweep: bands over one key, a map over two, a panel for each of many, boxes for each of some words."""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from hyloop.report.charts import COLORS, NEUTRAL, Drawing
from hyloop.report.sweep_result import Swept

__all__ = ["COLD_TO_HOT", "HIGHEST", "pictures"]

HIGHEST = 520  # px
_HEIGHT = 430
_PANELS = 6  # keys that are drawn, those on which the measure hangs most
_FEW = 40  # values of a key: more are points of a cloud
_BOXES = 24
_LONGEST = 26  # letters of a word below a box
_POINTS = 3000
_BINS, _IN_BIN = 12, 15  # of a trend: at most so many pieces, of at least so many runs
_BAND = (0.05, 0.95)
_GOLD = 0.6180339887498949  # steps of it spread points evenly
COLD_TO_HOT = ("#5b9bd5", "#c4c2ba", "#e07b45")  # so light that black numbers are read on them
_ON_COLORS = "#000"


def pictures(found: Swept, name: str) -> list[Drawing]:
    """Of one measure, the most telling one first; of a sweep over nothing that changes none."""
    numbers, words = found.numeric, [key for key in found.swept if key not in found.numeric]
    numbers = sorted(numbers, key=lambda key: -abs(np.nan_to_num(found.rank(name, key))))[:_PANELS]
    drawn = any(len(set(found.keys[key])) > _FEW for key in numbers)
    main: list[Drawing] = []
    if len(numbers) == 2 and not drawn:
        main.append(_map(found, name, numbers[0], numbers[1]))
    elif len(numbers) > 1:
        main.append(_panels(found, name, numbers))
    if len(numbers) == 1 or (numbers and not drawn):
        main += [_bands(found, name, key) for key in numbers[:_PANELS]]
    return [*main, *(_boxes(found, name, key) for key in words)]


def _layout(x: str, y: str, **more: Any) -> dict[str, Any]:
    return {
        "height": _HEIGHT,
        "margin": {"l": 70, "r": 16, "t": 46, "b": 56},
        "xaxis": {"title": {"text": escape(x), "standoff": 8}, "zeroline": False},
        "yaxis": {"title": {"text": escape(y)}, "zeroline": False},
        "showlegend": True,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "font": {"size": 12, "color": "#444"},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hovermode": "closest",
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "#999", "activecolor": "#666"},
        **more,
    }


def _scaled(found: Swept, key: str, name: str) -> tuple[np.ndarray, np.ndarray]:
    """A key and a measure as they are read, of all runs."""
    return found.shown(key)[0] * found.key(key), found.shown(name)[0] * found.measure(name)


def _lost(x: np.ndarray, y: np.ndarray, height: float) -> list[dict[str, Any]]:
    """Crosses where runs did not complete."""
    lost = ~np.isfinite(y)
    if not lost.any():
        return []
    at = np.unique(x[lost])
    marker = {"symbol": "x", "size": 9, "color": COLORS[5]}
    return [_points("did not complete", at, np.full(len(at), height), marker)]


def _points(name: str, x: np.ndarray, y: np.ndarray, marker: dict[str, Any]) -> dict[str, Any]:
    return {"type": "scatter", "mode": "markers", "name": name, "x": x.tolist(), "y": y.tolist(), "marker": marker}


def _bands(found: Swept, name: str, key: str) -> Drawing:
    """The response against one key, with the band of all else; points alone where a key has many values."""
    x, y = _scaled(found, key, name)
    good = np.isfinite(y)
    if len(set(x[good])) > _FEW:
        return _panels(found, name, [key])
    at = np.unique(x[good])
    low, middle, high = (
        np.array([np.quantile(y[good & (x == value)], part) for value in at]) for part in (_BAND[0], 0.5, _BAND[1])
    )
    traces: list[dict[str, Any]] = []
    others = [other for other in found.swept if other != key]
    if others:
        band = {"type": "scatter", "mode": "lines", "line": {"width": 0}, "fill": "toself", "hoverinfo": "skip"}
        outline = {"x": [*at.tolist(), *at[::-1].tolist()], "y": [*high.tolist(), *low[::-1].tolist()]}
        traces.append({**band, **outline, "name": "nine of ten runs", "fillcolor": f"{COLORS[0]}44"})
        some = _thinned(np.flatnonzero(good))
        traces.append(_points("run", x[some], y[some], {"size": 4, "color": NEUTRAL}))
    traces.append(
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": "median" if others else "run",
            "x": at.tolist(),
            "y": middle.tolist(),
            "line": {"width": 2, "color": COLORS[0]},
            "marker": {"size": 7, "color": COLORS[0]},
        }
    )
    traces += _lost(x, y, float(y[good].min(initial=0.0)))
    over = f" Band, points: over {_listed(found, others)}." if others else ""
    text = f"{name} against {found.names[key]}, rank correlation {found.rank_text(name, key)}."
    return Drawing(traces, _layout(found.label(key), found.label(name)), text, text + over)


def _map(found: Swept, name: str, first: str, second: str) -> Drawing:
    """Medians over two keys as colours and numbers, crosses where no run completed."""
    x, z = _scaled(found, first, name)
    y, _ = _scaled(found, second, name)
    across, up = np.unique(x), np.unique(y)
    cells = np.full((len(up), len(across)), np.nan)
    tried = np.zeros(cells.shape, bool)
    for j, i in {(int(a), int(b)) for a, b in zip(np.searchsorted(up, y), np.searchsorted(across, x), strict=True)}:
        here = z[(y == up[j]) & (x == across[i])]
        tried[j, i] = True
        if np.isfinite(here).any():
            cells[j, i] = np.nanmedian(here)
    shown = [[f"{value:.3g}" if np.isfinite(value) else "" for value in row] for row in cells]
    texts = [f"{value:.4g}" for value in across], [f"{value:.4g}" for value in up]
    unit = found.shown(name)[1]
    heat = {
        "type": "heatmap",
        "x": texts[0],
        "y": texts[1],
        "z": cells.tolist(),
        "text": shown,
        "texttemplate": "%{text}" if cells.size <= 150 else "",
        "textfont": {"color": _ON_COLORS},
        "colorscale": [[0.5 * k, color] for k, color in enumerate(COLD_TO_HOT)],
        "colorbar": {"title": {"text": escape(unit)}, "thickness": 12},
        "hovertemplate": "%{x}, %{y}: %{text}<extra></extra>",
        "xgap": 1,
        "ygap": 1,
    }
    traces: list[dict[str, Any]] = [heat]
    if len(lost := np.argwhere(tried & ~np.isfinite(cells))):
        marker = {"symbol": "x", "size": 9, "color": COLORS[5]}
        cross = {"type": "scatter", "mode": "markers", "name": "did not complete", "marker": marker}
        traces.append({**cross, "x": [texts[0][i] for _, i in lost], "y": [texts[1][j] for j, _ in lost]})
    layout = _layout(found.label(first), found.label(second), showlegend=len(traces) > 1)
    layout["xaxis"]["type"] = layout["yaxis"]["type"] = "category"
    others = [key for key in found.swept if key not in (first, second)]
    over = f", median over {_listed(found, others)}" if others else ""
    text = f"{found.label(name)} over {found.names[first]} and {found.names[second]}{over}."
    return Drawing(traces, layout, text, text)


def _panels(found: Swept, name: str, keys: Sequence[str]) -> Drawing:
    """A panel for each key: all runs as points, and their median and band in pieces with equally many."""
    columns, gap = min(len(keys), 3), 0.07
    layout, narrow = (_panel_layout(found, name, keys, n, gap) for n in (columns, 1))
    traces: list[dict[str, Any]] = []
    for k, key in enumerate(keys):
        x, y = _scaled(found, key, name)
        axes = {"xaxis": f"x{k + 1 if k else ''}", "yaxis": f"y{k + 1 if k else ''}", "showlegend": k == 0}
        good = np.flatnonzero(np.isfinite(y))
        some = _thinned(good)
        traces.append({**_points("run", x[some], y[some], {"size": 4, "color": NEUTRAL}), **axes})
        at, (low, middle, high) = _trend(x[good], y[good])
        line = {"type": "scatter", "mode": "lines", **axes}
        edge = {"width": 1, "color": COLORS[0], "dash": "dot"}
        traces.append({**line, "name": "median", "x": at, "y": middle, "line": {"width": 3, "color": COLORS[0]}})
        traces.append({**line, "name": "nine of ten runs", "x": at, "y": low, "line": edge})
        traces.append({**line, "name": "nine of ten runs", "x": at, "y": high, "line": edge, "showlegend": False})
        traces += [{**one, **axes} for one in _lost(x, y, float(y[good].min(initial=0.0)))]
    told = ", ".join(f"{found.names[key]} {found.rank_text(name, key)}" for key in keys)
    text = f"{name} against every key. Rank correlations: {told}."
    return Drawing(traces, layout, text, text, narrow)


def _panel_layout(found: Swept, name: str, keys: Sequence[str], columns: int, gap: float) -> dict[str, Any]:
    rows = -(-len(keys) // columns)
    inner = 330 if rows == 1 else 190 * rows
    layout = _layout("", "", height=inner + 46 + 56)
    width = (1.0 - gap * (columns - 1)) / columns
    high = 1.0 - 70.0 / inner * (rows - 1) if rows > 1 else 1.0
    for k, key in enumerate(keys):
        row, column = divmod(k, columns)
        number = f"{k + 1 if k else ''}"
        top = 1.0 - row * (high / rows + 70.0 / inner)
        left = column * (width + gap)
        layout[f"xaxis{number}"] = {
            "domain": [left, min(left + width, 1.0)],
            "anchor": f"y{number}",
            "title": {"text": escape(found.label(key)), "standoff": 4, "font": {"size": 11}},
            "nticks": 5,
            "zeroline": False,
        }
        layout[f"yaxis{number}"] = {
            "domain": [max(top - high / rows, 0.0), top],
            "anchor": f"x{number}",
            "nticks": 5,
            "zeroline": False,
            "title": {"text": escape(found.label(name)) if column == 0 else "", "font": {"size": 11}},
        }
    return layout


def _trend(x: np.ndarray, y: np.ndarray) -> tuple[list[float], list[list[float]]]:
    """Quantiles of y in pieces of x with equally many runs, at their medians."""
    order = np.argsort(x, kind="stable")
    pieces = [piece for piece in np.array_split(order, min(_BINS, max(len(x) // _IN_BIN, 1))) if len(piece)]
    at = [float(np.median(x[piece])) for piece in pieces]
    return at, [[float(np.quantile(y[piece], part)) for piece in pieces] for part in (_BAND[0], 0.5, _BAND[1])]


def _boxes(found: Swept, name: str, key: str) -> Drawing:
    """A box and points for each of the words of a key."""
    y = found.shown(name)[0] * found.measure(name)
    words = [str(word) for word in found.keys[key]]
    kinds = list(dict.fromkeys(words))
    traces: list[dict[str, Any]] = []
    for kind in kinds[:_BOXES]:
        here = np.array([word == kind for word in words]) & np.isfinite(y)
        lost = sum(word == kind for word in words) - int(here.sum())
        traces.append(
            {
                "type": "box",
                "name": escape(f"{_short(kind)}{f' ({lost} failed)' if lost else ''}"),
                "y": y[_thinned(np.flatnonzero(here))].tolist(),
                "boxpoints": "all",
                "jitter": 0.5,
                "pointpos": 0,
                "marker": {"size": 4, "color": COLORS[0]},
                "line": {"width": 1.5},
            }
        )
    more = f" The first {_BOXES} of {len(kinds)}." if len(kinds) > _BOXES else ""
    text = f"{name} for each {found.names[key]}: quartiles, and every run.{more}"
    layout = _layout("", found.label(name), showlegend=False)
    layout["xaxis"]["automargin"] = True
    return Drawing(traces, layout, text, text)


def _short(word: str) -> str:
    """The ends of a long word: names of records differ in their last letters."""
    return word if len(word) <= _LONGEST else f"{word[: _LONGEST // 2]}…{word[-_LONGEST // 2 :]}"


def _listed(found: Swept, keys: Sequence[str]) -> str:
    return ", ".join(found.names[key] for key in keys)


def _thinned(rows: np.ndarray) -> np.ndarray:
    """So many rows that can be drawn, the same ones every time."""
    if len(rows) <= _POINTS:
        return rows
    chosen = np.argsort((np.arange(len(rows)) * _GOLD) % 1.0)[:_POINTS]
    return rows[np.sort(chosen)]
