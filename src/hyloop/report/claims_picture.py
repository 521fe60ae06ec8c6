"""Ours over the paper's number or our goal, claim by claim: dots on a logarithmic axis, told apart by look."""

import math
from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

from hyloop.report.cells import with_spread
from hyloop.report.charts import NEUTRAL, Drawing

__all__ = ["JudgedClaim", "draw_claims", "drawable"]


class JudgedClaim(NamedTuple):
    """A printed number, ours, and the verdict; `aim` is how they are compared, `remark` why they are not.

    `bar` is a goal of our own, which decides where no printed number does; `spread` the standard deviation of `seeds`.
    """

    claim: str
    source: str
    paper: float | None
    ours: float
    unit: str
    verdict: str
    aim: str
    tolerance: float
    headline: bool
    remark: str
    bar: float | None = None
    spread: float | None = None
    seeds: int | None = None

    @property
    def reference(self) -> float | None:
        """What ours stands beside: the paper's number, or our goal where that one decides."""
        return self.bar if self.whose == "goal" else self.paper

    @property
    def whose(self) -> str:
        """Whose number `reference` is: the paper's, or a goal of our own."""
        return "goal" if self.bar is not None and (self.paper is None or self.remark) else "paper"

    @property
    def value(self) -> str:
        """Ours as a table shows it."""
        return with_spread(self.ours, self.spread, self.seeds)


# green and red that colour-blind eyes tell apart, and a shape for each
_LOOK = {
    "beaten": ("#2a9d78", "star"),
    "met": ("#2a9d78", "circle"),
    "tie": ("#7a6bb0", "square-open"),
    "missed": ("#d5652a", "x"),
    "goal met": ("#2a9d78", "circle-open"),
    "goal missed": ("#d5652a", "x-open"),
    "not-comparable": (NEUTRAL, "diamond-open"),
}
_AIMS = {"lower": "↓", "higher": "↑", "equal": "=", "at most": "≤"}
_ROW, _NARROW_ROW = 17, 36  # px
_TOP, _BOTTOM = 30, 44  # px, for the legend and for the axis
_LETTERS, _NARROW_LETTERS = 46, 50  # of a name; bold ones are wider
_LEAST, _MOST = 2.0, 30.0  # factors at which the axis may end; what is further off stands at its end with its number


def drawable(claims: Sequence[JudgedClaim]) -> list[JudgedClaim]:
    """Claims that have two numbers."""
    return [c for c in claims if c.reference is not None and math.isfinite(c.ours)]


def draw_claims(claims: Sequence[JudgedClaim], caption: str) -> Drawing:
    """One row for each claim, the first on top; all must be `drawable`.

    Zeros and numbers of other sign have no place on a logarithmic axis: they stand at its left end, open.
    """
    factors = [_factor(c) for c in claims]
    off = [max(factor, 1.0 / factor) for factor in factors if factor]
    end = min(max([_LEAST, *off]), _MOST)
    rows = list(range(len(claims), 0, -1))
    traces = [_printed(claims, rows)]
    for verdict, (color, symbol) in _LOOK.items():
        of = [k for k, c in enumerate(claims) if c.verdict == verdict]
        within = [k for k in of if factors[k] and 1.0 / end <= (factors[k] or 0.0) <= end]
        beyond = [k for k in of if k not in within]
        ends = ["triangle-right-open" if (factors[k] or 0.0) > end else "triangle-left-open" for k in beyond]
        for kept, symbols in ((within, symbol), (beyond, ends)):
            if not of or (kept is beyond and not beyond):
                continue
            found = _dots([claims[k] for k in kept], [rows[k] for k in kept], end)
            look = {"color": color, "size": 10, "symbol": symbols, "line": {"width": 1.4, "color": color}}
            name = verdict.replace("-", " ")
            traces.append({**found, "name": name, "marker": look, "showlegend": kept is within, "legendgroup": name})
    counts = ", ".join(f"{sum(c.verdict == v for c in claims)} {v}" for v in _LOOK)
    alt = f"Ours over the paper's number or our goal for {len(claims)} claims: {counts}."
    ends = [-1.06 * math.log10(end), 1.06 * math.log10(end)]
    how = (
        "Ours over the paper's number, or over our own goal where that decides; grey: that number, with the tolerance "
        "asked for; thin lines: the spread of seeds. After a name: ↓ lower is better, ↑ higher is better, = equal is "
        "asked, ≤ at most."
    )
    apart = [c.claim for c, factor in zip(claims, factors, strict=True) if not factor]
    none = f" Without a ratio, at the left end: {'; '.join(apart)}." if apart else ""
    far = any(factor and max(factor, 1.0 / factor) > end for factor in factors)
    none += f" Open triangles: further off than a factor of {end:g}." if far else ""
    both = f"{how}{none} {caption}".strip()
    return Drawing(traces, _layout(claims, rows, ends), alt, both, narrow=_narrow(claims, rows, ends))


def _factor(claim: JudgedClaim) -> float | None:
    """Ours over what it is compared with; None where a logarithm has no such number."""
    ratio = claim.ours / claim.reference if claim.reference else 0.0
    return ratio if ratio > 0.0 else None


def _dots(claims: Sequence[JudgedClaim], rows: Sequence[int], end: float) -> dict[str, Any]:
    """Where claims stand, those beyond the axis at its end; none is one that cannot be seen, for the legend."""
    factors = [_factor(c) or 1.0 / end for c in claims]
    # no line where a dot stands at the end of the axis, not at its number
    within = [1.0 / end <= factor <= end for factor in factors]
    spreads = [abs((c.spread or 0.0) / (c.reference or 1.0)) * inside for c, inside in zip(claims, within, strict=True)]
    spreads = [spread if math.isfinite(spread) else 0.0 for spread in spreads]
    return {
        "error_x": {"type": "data", "array": spreads, "thickness": 1, "width": 0},
        "type": "scatter",
        "mode": "markers",
        "x": [min(max(factor, 1.0 / end), end) for factor in factors] or [None],
        "y": list(rows) or [None],
        "text": [_told(c) for c in claims],
        "hovertemplate": "%{text}<extra></extra>",
        "cliponaxis": False,
    }


def _printed(claims: Sequence[JudgedClaim], rows: Sequence[int]) -> dict[str, Any]:
    """The numbers to compare with, all at one, each as wide as its tolerance."""
    widths = [c.tolerance if c.verdict != "not-comparable" else 0.0 for c in claims]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "paper or goal",
        "x": [1.0] * len(claims),
        "y": list(rows),
        "hoverinfo": "skip",
        "marker": {"symbol": "line-ns", "size": 11, "line": {"width": 2, "color": NEUTRAL}},
        "error_x": {"type": "data", "array": widths, "thickness": 5, "width": 0, "color": "rgba(132,134,140,0.45)"},
    }


def _told(claim: JudgedClaim) -> str:
    return escape(
        f"{claim.claim}: {claim.whose} {claim.reference:.4g}, ours {claim.value} {claim.unit}, {claim.verdict}"
    )


def _name(claim: JudgedClaim, letters: int) -> str:
    most = letters - (5 if claim.headline else 0)
    text = claim.claim if len(claim.claim) <= most else claim.claim[: most - 1].rstrip() + "…"
    text = f"{escape(text)} {_AIMS[claim.aim]}"
    return f"<b>{text}</b>" if claim.headline else text


def _pair(claim: JudgedClaim) -> str:
    unit = "" if claim.unit == "-" else f" {escape(claim.unit)}"
    return f"{claim.reference:.4g} → {claim.ours:.3g}{unit}"


def _layout(claims: Sequence[JudgedClaim], rows: Sequence[int], ends: list[float]) -> dict[str, Any]:
    """Names to the left, numbers to the right."""
    layout = _common(claims, ends, _ROW)
    layout["margin"] = {"l": 300, "r": 140, "t": _TOP, "b": _BOTTOM}
    names = [_name(c, _LETTERS) for c in claims]
    layout["yaxis"] |= {"tickvals": list(rows), "ticktext": names, "tickfont": {"size": 11}}
    layout["annotations"] = [
        {**_RIGHT, "text": _pair(c), "x": 1.0, "y": row, "xshift": 138} for c, row in zip(claims, rows, strict=True)
    ]
    layout["annotations"].append(
        {**_RIGHT, "text": "paper or goal → ours", "x": 1.0, "y": 1.0, "yref": "paper", "yshift": 12, "xshift": 138}
    )
    return layout


def _narrow(claims: Sequence[JudgedClaim], rows: Sequence[int], ends: list[float]) -> dict[str, Any]:
    """Names and numbers above each row."""
    layout = _common(claims, ends, _NARROW_ROW)
    layout["margin"] = {"l": 4, "r": 4, "t": _TOP + 34, "b": _BOTTOM}
    layout["yaxis"]["showticklabels"] = False
    left = {**_RIGHT, "xanchor": "left", "x": 0.0}
    layout["annotations"] = [
        part
        for c, row in zip(claims, rows, strict=True)
        for part in (
            {**left, "text": _name(c, _NARROW_LETTERS - len(_pair(c))), "y": row, "yshift": 15},
            {**_RIGHT, "text": _pair(c), "x": 1.0, "y": row, "yshift": 15},
        )
    ]
    return layout


_RIGHT = {
    "xref": "paper",
    "yref": "y",
    "xanchor": "right",
    "yanchor": "middle",
    "showarrow": False,
    "font": {"size": 11},
}


def _common(claims: Sequence[JudgedClaim], ends: list[float], row: int) -> dict[str, Any]:
    inner = row * len(claims)
    decades = math.floor(ends[1])
    ticks = [0.1, 0.2, 0.5, 1, 2, 5, 10] if decades < 2 else [10.0**k for k in range(-decades, decades + 1)]
    ticks = [tick for tick in ticks if ends[0] <= math.log10(tick) <= ends[1]]
    return {
        "height": inner + _TOP + _BOTTOM + (34 if row == _NARROW_ROW else 0),
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"size": 12, "color": "#444"},
        "hovermode": "closest",
        "dragmode": False,
        "legend": {"orientation": "h", "x": 0, "y": 1 + 6 / inner, "yanchor": "bottom"},
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "#999", "activecolor": "#666"},
        "xaxis": {
            "type": "log",
            "range": ends,
            "tickvals": ticks,
            "ticktext": [f"{tick:g}" for tick in ticks],
            "zeroline": False,
            "title": {"text": "ours / paper or goal", "standoff": 6, "font": {"size": 11}},
        },
        "yaxis": {"range": [0.4, len(claims) + 0.6], "zeroline": False, "fixedrange": True},
    }
