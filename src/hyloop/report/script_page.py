"""The page about a model that an OpenSeesPy script built: a picture, modes, masses and what was checked."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hyloop.errors import OutOfBounds
from hyloop.report.charts import COLORS, NEUTRAL, Drawing
from hyloop.report.model_sites import PlacedSite, site_lines, site_texts, sites_table
from hyloop.report.model_summary import ModelSummary
from hyloop.report.page import Answer, Section, Table, write_page
from hyloop.report.provenance import versions
from hyloop.structure.frames.opensees_script import ScriptModel

__all__ = ["summarise_script", "write_script"]

_SHAPES = 3  # modes drawn
_SCALE = 0.08  # largest displacement of a mode shape, of the size of the model
_NAMES = 60  # nodes whose tags fit into the picture
_DIRECTIONS = ("ux", "uy", "uz")


def summarise_script(model: ScriptModel, modes: int = 10) -> ModelSummary:
    """The model in numbers, with its first modes; in space z points up, as is usual in OpenSees."""
    if modes < 1:
        raise OutOfBounds(f"modes: {modes} asked for; ask for one at least.")
    structure, directions = model.structure, _DIRECTIONS[: model.dimensions]
    influence = np.array([[float(name.endswith("." + d)) for d in directions] for name in structure.names])
    moved = structure.M @ influence
    total = {d: float(influence[:, k] @ moved[:, k]) for k, d in enumerate(directions)}
    if not any(total.values()):
        raise OutOfBounds("the model has no mass, so it has no modes; give masses in the script.")
    found = structure.modes(count=min(modes, structure.n))
    effective = (moved.T @ found.shapes) ** 2
    parts = {d: effective[k] / total[d] for k, d in enumerate(directions) if total[d] > 0.0}
    down = 0.0 - float(structure.dead_load @ influence[:, -1])  # and not -0
    shapes = np.array([_spread(model, shape) for shape in found.shapes.T])
    moves = np.linalg.norm(_spread(model, structure.at_rest), axis=1)
    worst = int(np.argmax(moves))
    settlement = float(moves[worst]), list(model.nodes)[worst]
    return ModelSummary(
        structure, _counts(model), total, down, found.periods, parts, shapes, settlement, _checks(model, settlement)
    )


def write_script(
    path: Path, title: str, model: ScriptModel, summary: ModelSummary, sites: Sequence[PlacedSite] = ()
) -> Path:
    """Write one HTML page about a model, with the sites of its experiment; it loads nothing."""
    first = f"{summary.periods[0]:.3g} s" if len(summary.periods) else "none"
    sentence = (
        f"{model.script} builds {len(model.nodes)} nodes and {len(model.elements)} elements of OpenSees"
        f"{' that stand under their loads' if model.structure.dead_load.any() else ''}, with a first period of {first}."
    )
    numbers = [
        (first, "first period"),
        (f"{summary.mass.get('ux', 0.0) / 1e3:.4g} t", "mass that moves in ux"),
        (f"{model.structure.n}", "degrees of freedom"),
    ]
    modes = [
        [k + 1, float(T), 1.0 / float(T), *(f"{100 * part[k]:.1f}" for part in summary.participation.values())]
        for k, T in enumerate(summary.periods)
    ]
    columns = ["mode", "period [s]", "frequency [Hz]", *(f"mass in {d} [%]" for d in summary.participation)]
    masses = [[f"mass that moves in {d} [t]", m / 1e3] for d, m in summary.mass.items()]
    counts = [[name, count] for name, count in summary.counts.items()]
    sections = [
        *[Section("Sites", tables=[table]) for table in sites_table(sites)],
        Section("Size", tables=[Table("Counts", ["", "number"], counts)]),
        Section("Modes", tables=[Table("Natural modes", columns, modes)]),
        Section(
            "Masses and loads",
            tables=[Table("Totals", ["", "value"], [*masses, ["dead load [kN]", summary.dead_load / 1e3]])],
        ),
        Section(
            "Checks",
            tables=[
                Table("Passed", ["check"], [[text] for text in summary.checks]),
                Table("Versions", ["", "version"], [list(row) for row in versions().items()]),
            ],
        ),
    ]
    return write_page(path, title, Answer(sentence, numbers, _picture(model, summary, sites)), sections)


def _spread(model: ScriptModel, u: np.ndarray) -> np.ndarray:
    """Displacements of all nodes, (nodes, dimensions); zero where the motion hangs on what was condensed."""
    place = {name: k for k, name in enumerate(model.structure.names)}
    full = np.array([u[place[name]] if name in place else 0.0 for name in model.equations])
    moved = model.motions @ full
    directions = _DIRECTIONS[: model.dimensions]
    return np.array([[moved[model.dofs[f"{node}.{d}"]] for d in directions] for node in model.nodes])


def _counts(model: ScriptModel) -> dict[str, int]:
    kinds = Counter(kind for kind, _ in model.elements.values())
    massless = int((model.structure.M.diagonal() == 0.0).sum())
    counts = {
        "nodes": len(model.nodes),
        "supported nodes": len({name.split(".")[0] for name in model.held}),
        "degrees of freedom": model.structure.n,
        "degrees of freedom without mass": massless,
        "members": len(model.elements),
        **kinds,
    }
    return {name: count for name, count in counts.items() if count or name in ("nodes", "members")}


def _checks(model: ScriptModel, settlement: tuple[float, str]) -> tuple[str, ...]:
    checks = [
        f"script {model.script}, sha256 {model.sha256}",
        "no mechanism",
        "at rest under constant loads; "
        + (
            f"node {settlement[1]} moves most, {1e3 * settlement[0]:.3g} mm"
            if settlement[0] > 0.0
            else "there are none, or they move nothing"
        ),
        "the damping is that of the script" if _damped(model) else "the script gives no damping",
    ]
    if not model.left_out:
        return (*checks, "every element and material is linear, so the structure is the same as in OpenSees")
    return (*checks, f"linearised: the structure is without {'; '.join(model.left_out)}")


def _damped(model: ScriptModel) -> bool:
    return abs(model.structure.C).max() > 0.0


def _picture(model: ScriptModel, summary: ModelSummary, sites: Sequence[PlacedSite]) -> Drawing:
    """Elements as lines, supports, sites, and the first mode shapes behind buttons."""
    place = {node: k for k, node in enumerate(model.nodes)}
    at = np.array(list(model.nodes.values()))
    traces = []
    for kind, color in zip(Counter(kind for kind, _ in model.elements.values()), COLORS * 9, strict=False):
        chosen = [(tag, nodes) for tag, (of, nodes) in model.elements.items() if of == kind]
        traces.append(_lines(model, at, [nodes for _, nodes in chosen], place, kind, color, [tag for tag, _ in chosen]))
    names = list(model.nodes) if len(model.nodes) <= _NAMES else None
    traces.append(_points(model, at, "node", {"size": 5, "color": NEUTRAL}, names))
    held = sorted({place[name.split(".")[0]] for name in model.held})
    if held:
        traces.append(_points(model, at[held], "support", {"size": 11, "color": NEUTRAL, "symbol": "square"}, None))
    if drawn := site_lines(sites):
        gap = np.full((1, at.shape[1]), np.nan)
        rows = np.concatenate([row for ends in drawn for row in (ends, gap)])
        look: dict[str, Any] = {"mode": "lines", "line": {"width": 4, "color": COLORS[3], "dash": "dash"}}
        words = {"text": site_texts(sites), "hoverinfo": "text"}
        traces.append({**_trace(model, rows, "site of a device"), **look, **words})
    still = len(traces)
    size = np.linalg.norm(np.ptp(at, axis=0))
    for k, shape in enumerate(summary.shapes[:_SHAPES]):
        scale = _SCALE * size / max(np.linalg.norm(shape, axis=1).max(), 1e-300)
        every = [nodes for _, nodes in model.elements.values()]
        moved = _lines(model, at + scale * shape, every, place, f"mode {k + 1}", COLORS[5], None)
        traces.append({**moved, "visible": False, "hoverinfo": "skip"})
    shown = range(still, len(traces))
    labels = ["at rest", *(f"mode {k - still + 1}: {summary.periods[k - still]:.3g} s" for k in shown)]
    buttons = [
        {"label": label, "method": "restyle", "args": [{"visible": [j == k - 1 for j in range(len(shown))]}, [*shown]]}
        for k, label in enumerate(labels)
    ]
    layout: dict[str, Any] = {
        "height": 500,
        "margin": {"l": 50, "r": 10, "t": 60, "b": 40},
        "font": {"size": 12, "color": NEUTRAL},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "updatemenus": [
            {"type": "buttons", "direction": "right", "x": 0, "xanchor": "left", "y": 1.1, "buttons": buttons}
        ],
    }
    if model.dimensions == 3:
        layout["scene"] = {"aspectmode": "data", "camera": {"projection": {"type": "orthographic"}}}
    else:
        layout |= {"xaxis": {"title": {"text": "x [m]"}}, "yaxis": {"title": {"text": "y [m]"}, "scaleanchor": "x"}}
    caption = "The buttons show mode shapes, not to scale, with straight members. Tags appear under the pointer."
    return Drawing(traces, layout, f"Drawing of the model that {model.script} builds.", caption)


def _lines(
    model: ScriptModel,
    at: np.ndarray,
    pieces: list[tuple[str, ...]],
    place: dict[str, int],
    name: str,
    color: str,
    tags: list[str] | None,
) -> dict[str, Any]:
    gap = np.full((1, at.shape[1]), np.nan)
    rows = [row for nodes in pieces for row in (at[[place[node] for node in nodes]], gap)]
    text = None
    if tags is not None:
        text = [
            word for tag, nodes in zip(tags, pieces, strict=True) for word in (*[f"element {tag}"] * len(nodes), "")
        ]
    look = {"mode": "lines", "line": {"width": 3, "color": color}, "text": text, "hoverinfo": "text"}
    return {**_trace(model, np.concatenate(rows), name), **look}


def _points(
    model: ScriptModel, at: np.ndarray, name: str, marker: dict[str, Any], names: list[str] | None
) -> dict[str, Any]:
    look: dict[str, Any] = {"mode": "markers" if names is None else "markers+text", "marker": marker}
    if names is not None:
        look |= {"text": names, "textposition": "top right"}
    return {**_trace(model, at, name), **look, "hoverinfo": "skip"}


def _trace(model: ScriptModel, points: np.ndarray, name: str) -> dict[str, Any]:
    axes = [[None if np.isnan(v) else round(float(v), 5) for v in column] for column in points.T]
    kind = "scatter" if model.dimensions < 3 else "scatter3d"
    x, y, *z = axes if len(axes) > 1 else (axes[0], [0.0] * len(axes[0]))
    return {"type": kind, "name": name, "x": x, "y": y, **({"z": z[0]} if z else {})}
