"""A picture of a model: members by kind, supports, floors and mode shapes, as data that plotly.js draws."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from hyloop.report.charts import COLORS, NEUTRAL, Drawing
from hyloop.report.model_summary import KINDS, ModelSummary
from hyloop.structure.frames.members import Elastic, Fibre, LeanOn, Member
from hyloop.structure.frames.model import Model

__all__ = ["draw_model", "lines", "trace"]

_SHAPES = 3  # modes drawn
_SCALE = 0.08  # largest displacement of a mode shape, of the size of the model
_CURVED = 400  # members; with more of them their ends alone are drawn
_POINTS = np.linspace(0.0, 1.0, 9)  # along a curved member
_HEIGHT = 500  # px; with the answer above it the picture stands on the first screen
_SIZE = 2.0  # diagonal of a space frame in units of plotly.js; fills the height
_NAMES = 60  # nodes of a plane model whose names fit into the picture
_FLOOR = "rgba(184,148,42,0.45)"
_FAINT = "rgba(132,134,140,0.25)"

Trace = dict[str, Any]


def draw_model(model: Model, summary: ModelSummary) -> Drawing:
    """Draw a model; buttons show its first mode shapes."""
    still = [*_floors(model), *_members(model), *_rigid_ends(model), _nodes(model), *_supports(model)]
    shapes = [_shape(model, summary, k) for k in range(min(_SHAPES, len(summary.periods)))]
    labels = ["at rest", *(f"mode {k + 1}: {summary.periods[k]:.3g} s" for k in range(len(shapes)))]
    last = list(range(len(still), len(still) + len(shapes)))
    buttons = [
        {"label": label, "method": "restyle", "args": [{"visible": [k == j + 1 for j in range(len(shapes))]}, last]}
        for k, label in enumerate(labels)
    ]
    layout: dict[str, Any] = {
        "height": _HEIGHT,
        "margin": {"l": 50, "r": 10, "t": 60, "b": 40},
        "showlegend": True,
        "font": {"size": 12, "color": NEUTRAL},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hovermode": "closest",
        "legend": {"x": 1.01, "y": 1.0, "yanchor": "top"},
        "updatemenus": [
            {
                "type": "buttons",
                "direction": "right",
                "x": 0,
                "xanchor": "left",
                "y": 1.02,
                "yanchor": "bottom",
                "showactive": True,
                "buttons": buttons,
                "bgcolor": "rgba(0,0,0,0)",
                "bordercolor": _FAINT,
                "pad": {"t": 0, "b": 0},
            }
        ],
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "#999", "activecolor": "#666"},
        **_axes(model),
    }
    kinds = ", ".join(f"{count} {name}" for name, count in summary.counts.items())
    how = "Drag to turn; the tools above the picture zoom and move. " if model.dimensions == 3 else ""
    caption = f"{how}The buttons show mode shapes, not to scale. Names appear under the pointer."
    return Drawing([*still, *shapes], layout, f"Drawing of the model: {kinds}.", caption)


def _axes(model: Model) -> dict[str, Any]:
    if model.dimensions == 2:
        line = {"gridcolor": _FAINT, "zeroline": False}
        return {
            "xaxis": {**line, "title": {"text": "x [m]"}},
            "yaxis": {**line, "title": {"text": "y [m]"}, "scaleanchor": "x"},
        }
    plain = {
        "showbackground": False,
        "gridcolor": _FAINT,
        "zerolinecolor": _FAINT,
        "color": NEUTRAL,
        "showspikes": False,
    }
    axes = {
        f"{shown}axis": {**plain, "title": {"text": f"{name} [m]"}} for shown, name in zip("xyz", "zxy", strict=True)
    }
    camera = {"eye": {"x": 1.2, "y": 0.85, "z": 0.45}, "projection": {"type": "orthographic"}}
    spans = np.ptp(np.array(list(model.nodes.values())), axis=0)
    x, y, z = (_SIZE * spans / np.linalg.norm(spans)).clip(min=0.01).tolist()
    return {
        "scene": {
            **axes,
            "aspectmode": "manual",
            "aspectratio": {"x": z, "y": x, "z": y},
            "camera": camera,
            "dragmode": "turntable",
        }
    }


def trace(model: Model, points: np.ndarray, name: str, mode: str, **look: Any) -> Trace:
    """A trace through points; a row of NaN is a gap. In space the axes are turned so that y points up on the screen."""
    values = [[None if np.isnan(v) else round(float(v), 5) for v in column] for column in points.T]
    if model.dimensions == 2:
        return {"type": "scatter", "mode": mode, "name": name, "x": values[0], "y": values[1], **look}
    x, y, z = values
    return {"type": "scatter3d", "mode": mode, "name": name, "x": z, "y": x, "z": y, **look}


def lines(pieces: list[np.ndarray]) -> np.ndarray:
    """Polylines one after another with gaps between them."""
    gap = np.full((1, pieces[0].shape[1]), np.nan)
    return np.concatenate([row for piece in pieces for row in (piece, gap)])


def _ends(model: Model, member: Member) -> np.ndarray:
    """The two ends of the flexible part."""
    ends = np.array([model.nodes[member.i], model.nodes[member.j]])
    return ends + np.array(member.offsets) if isinstance(member, (Elastic, Fibre)) else ends


def _members(model: Model) -> Iterator[Trace]:
    for (kind, name), color in zip(KINDS.items(), COLORS, strict=False):
        chosen = [member for member in model.members.values() if type(member) is kind]
        if chosen:
            text = [word for member in chosen for word in (member.name, member.name, "")]
            width = 3 if model.dimensions == 2 else 4 if len(model.members) <= _CURVED else 2
            look = (
                {"width": width, "color": NEUTRAL, "dash": "dot"}
                if kind is LeanOn
                else {"width": width, "color": color}
            )
            yield trace(
                model, lines([_ends(model, m) for m in chosen]), name, "lines", line=look, text=text, hoverinfo="text"
            )


def _rigid_ends(model: Model) -> Iterator[Trace]:
    pieces = [
        np.array([model.nodes[node], end])
        for member in model.members.values()
        if isinstance(member, (Elastic, Fibre))
        for node, end in zip((member.i, member.j), _ends(model, member), strict=True)
        if np.linalg.norm(end - model.nodes[node]) > 0.0
    ]
    if pieces:
        yield trace(model, lines(pieces), "rigid end", "lines", line={"width": 7, "color": NEUTRAL}, hoverinfo="skip")


def _nodes(model: Model) -> Trace:
    names, plane = [name for name in model.nodes if name not in model.floors], model.dimensions == 2
    size = (5 if plane else 3) if len(names) < _CURVED else (3 if plane else 1.5)
    points = np.array([model.nodes[name] for name in names])
    places = [_place(model, name) for name in names]
    look = {"marker": {"size": size, "color": NEUTRAL}, "hovertext": places, "hoverinfo": "text"}
    if plane and len(names) <= _NAMES:
        look |= {"text": names, "textposition": "top right", "textfont": {"size": 11, "color": NEUTRAL}}
    return trace(model, points, "node", "markers+text" if "text" in look else "markers", **look)


def _supports(model: Model) -> Iterator[Trace]:
    held: dict[str, set[str]] = {}
    for name in model.held:
        node, dof = name.split(".")
        held.setdefault(node, set()).add(dof)
    fixed = [node for node, dofs in held.items() if dofs == set(model.dofs)]
    free_to_turn = [node for node in held if node not in fixed]
    plane = model.dimensions == 2
    hinge = "triangle-up" if plane else "diamond-open"
    for name, nodes, symbol in (("fixed support", fixed, "square"), ("other support", free_to_turn, hinge)):
        if nodes:
            text = [
                f"{_place(model, node)}, held: {', '.join(d for d in model.dofs if d in held[node])}" for node in nodes
            ]
            marker = {"size": 13 if plane else 5, "color": "#5d6167", "symbol": symbol}
            yield trace(
                model,
                np.array([model.nodes[node] for node in nodes]),
                name,
                "markers",
                marker=marker,
                text=text,
                hoverinfo="text",
            )


def _floors(model: Model) -> Iterator[Trace]:
    if not model.floors:
        return
    outlines = [_outline(np.array([model.nodes[node] for node in floor.nodes])) for floor in model.floors.values()]
    if model.dimensions == 2:
        yield trace(
            model, lines(outlines), "rigid floor", "lines", line={"width": 8, "color": _FLOOR}, hoverinfo="skip"
        )
    else:
        yield _surface(outlines)
    masters = np.array([floor.master for floor in model.floors.values()])
    yield trace(
        model,
        masters,
        "floor, at its centre of mass",
        "markers",
        hoverinfo="text",
        marker={"size": 9 if model.dimensions == 2 else 4, "symbol": "diamond", "color": "#b8942a"},
        text=[f"{_place(model, name)}, {model.masses.get(f'{name}.ux', 0.0) / 1e3:.4g} t" for name in model.floors],
    )


def _surface(outlines: list[np.ndarray]) -> Trace:
    """Floors in space, each as a fan of triangles."""
    fans, first = [], 0
    for outline in outlines:
        count = len(outline) - 1  # the last point is the first again
        fans += [(first, first + k, first + k + 1) for k in range(1, count - 1)]
        first += len(outline)
    x, y, z = np.round(np.concatenate(outlines), 5).T.tolist()
    i, j, k = (list(corner) for corner in zip(*fans, strict=True)) if fans else ([], [], [])
    return {
        "type": "mesh3d",
        "x": z,
        "y": x,
        "z": y,
        "i": i,
        "j": j,
        "k": k,
        "color": "#b8942a",
        "opacity": 0.15,
        "hoverinfo": "skip",
        "showlegend": True,
        "name": "rigid floor",
    }


def _outline(points: np.ndarray) -> np.ndarray:
    """Convex outline of a floor in plan, closed; its first and last point where the nodes stand in a row."""
    plan = points[:, [0, 2]] if points.shape[1] == 3 else points[:, :1]
    if plan.shape[1] == 2 and np.linalg.matrix_rank(plan - plan[0]) == 2:
        from scipy.spatial import ConvexHull

        around = ConvexHull(plan).vertices
        return points[[*around, around[0]]]
    along = np.argsort(plan @ np.ptp(plan, axis=0))
    return points[along[[0, -1]]]


def _shape(model: Model, summary: ModelSummary, k: int) -> Trace:
    """Members displaced by a mode shape, those in bending as cubic curves."""
    place = {name: j for j, name in enumerate(model.nodes)}
    shape, d = summary.shapes[k], model.dimensions
    size = np.linalg.norm(np.ptp(np.array(list(model.nodes.values())), axis=0))
    scale = _SCALE * size / max(np.linalg.norm(shape[:, :d], axis=1).max(), 1e-300)
    curved = len(model.members) <= _CURVED
    pieces = []
    for member in model.members.values():
        if not isinstance(member, LeanOn):
            moved = scale * shape[[place[member.i], place[member.j]]]
            bends = curved and isinstance(member, (Elastic, Fibre))
            pieces.append(_bent(model, member, moved) if bends else _ends(model, member) + moved[:, :d])
    drawn = lines(pieces) if pieces else np.zeros((0, d))
    line = {"width": 4 if curved and d == 3 else 2, "color": COLORS[5]}
    return trace(model, drawn, f"mode {k + 1}", "lines", line=line, visible=False, hoverinfo="skip")


def _bent(model: Model, member: Any, moved: np.ndarray) -> np.ndarray:
    """A beam-column in bending: the chord, and on it the cubic of the end rotations relative to it."""
    d = model.dimensions
    arms = np.array(member.offsets)
    turn = (
        np.array([[[-a[1], a[0]] for a in arms]]).reshape(2, 2) * moved[:, 2:3]
        if d == 2
        else np.cross(moved[:, 3:], arms)
    )
    chord = _ends(model, member) + moved[:, :d] + turn
    rotations = (member.rows @ moved.ravel())[1 : 2 * d - 1].reshape(-1, 2)  # about z, then about y
    x, length = _POINTS, np.linalg.norm(np.diff(_ends(model, member), axis=0))
    points = (1 - x)[:, None] * chord[0] + x[:, None] * chord[1]
    for about, (at_i, at_j), axis, sign in zip("zy", rotations, member.axes[1:], (1.0, -1.0), strict=False):
        free_i, free_j = (_released(member, end, about) for end in "ij")
        if free_i:
            at_i = 0.0 if free_j else -at_j / 2
        if free_j:
            at_j = 0.0 if free_i else -at_i / 2
        bow = sign * length * (x * (1 - x) ** 2 * at_i - x**2 * (1 - x) * at_j)
        points = points + bow[:, None] * axis
    nodes = np.array([model.nodes[member.i], model.nodes[member.j]]) + moved[:, :d]
    return np.concatenate([nodes[:1], points, nodes[1:]])


def _released(member: Any, end: str, about: str) -> bool:
    names = {f"{end}{about}", *([end] if about == "z" else [])}
    return bool(names & set(getattr(member, "release", ())))


def _place(model: Model, name: str) -> str:
    return f"{name} ({', '.join(f'{v:g}' for v in np.round(model.nodes[name], 3))}) m"
