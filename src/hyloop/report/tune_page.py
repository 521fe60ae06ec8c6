"""The page about a tuning: the best settings, how they were found, and how they do on events they have not seen."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hyloop.report.charts import COLORS, NEUTRAL, Drawing
from hyloop.report.page import Answer, Code, Section, Table, write_page
from hyloop.report.provenance import versions
from hyloop.report.tune_piece import piece
from hyloop.report.tune_result import Tuned

__all__ = ["write_tuning"]

_HEIGHT = 380  # px
_IMPORTANCE = (
    "Correlation of ranks between a setting and the objective over all trials that hold: near +1 or -1 the objective "
    "goes with the setting, near 0 it does not matter, or the best lies inside the range. The search has looked more "
    "often where it is good, so this tells a direction, not a share. Of choices without order: the part of the ranks "
    "that lies between them, from 0 to 1."
)
_FAILED = (
    "A trial one of whose runs fails has no value: it ranks behind every trial that holds, and the search turns away "
    "from there."
)


def write_tuning(path: Path, found: Tuned, changes: Sequence[str] = ()) -> Path:
    """Write one HTML page about a tuning; it loads nothing. `changes` are what was changed of the file."""
    sections = [
        Section("Best settings", code=[Code(piece(found))], tables=[_settings(found)]),
        Section("Events that judge", tables=[_judged(found)]),
        Section("What matters", [_IMPORTANCE], charts=_importance(found)),
        Section("Every trial", _failed(found), tables=[_trials(found)]),
        Section("Provenance", code=[Code(_command(found, changes))], tables=[_provenance(found)], folded=True),
    ]
    title = f"Tuning: {found.title or Path(found.source).stem}"
    return write_page(path, title, Answer(found.sentence(), _numbers(found), _picture(found)), sections)


def _numbers(found: Tuned) -> list[tuple[str, str]]:
    judged = found.judged
    unit = "" if found.unit == "-" else f" {found.unit}"
    return [
        (_shown(judged.best_value, unit), f"{found.objective} on the test events, best settings"),
        (_shown(judged.own_value, unit), "the same with the settings of the file"),
        (_shown(found.best.value, unit), f"on the training events (file: {_shown(found.trials[0].value, unit)})"),
    ]


def _picture(found: Tuned) -> Drawing:
    """Every trial, and the best so far."""
    held = [trial for trial in found.trials if trial.value is not None]
    best = found.best_so_far()
    points = {
        "type": "scatter",
        "mode": "markers",
        "name": "trial",
        "x": [trial.number for trial in held],
        "y": [trial.value for trial in held],
        "marker": {"size": 7, "color": NEUTRAL},
    }
    line = {
        "type": "scatter",
        "mode": "lines",
        "name": "best so far",
        "x": list(range(len(best))),
        "y": best,
        "line": {"width": 2, "color": COLORS[0], "shape": "hv"},
    }
    values = [trial.value for trial in held if trial.value is not None]
    text = "objective" if found.unit == "-" else f"objective [{found.unit}]"
    scale = "log" if min(values, default=0.0) > 0.0 else "linear"
    axis = {"title": {"text": text, "standoff": 8}, "type": scale}
    layout = _layout(_HEIGHT, {"title": {"text": "trial", "standoff": 8}, "zeroline": False}, axis, 70)
    caption = (
        f"{found.objective}, {found.over} of {len(found.training)} training events; trial 0 is the file as it stands."
    )
    return Drawing([points, line], layout, "The objective of every trial, and the best so far.", caption)


def _importance(found: Tuned) -> list[Drawing]:
    rows = [one for one in found.importance() if one.correlation == one.correlation]
    if not rows:
        return []
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": [one.correlation for one in rows],
        "y": [one.setting for one in rows],
        "marker": {"color": COLORS[0]},
    }
    x = {"title": {"text": "rank correlation with the objective", "standoff": 8}, "range": [-1, 1]}
    y = {"autorange": "reversed", "automargin": True}
    return [Drawing([bars], _layout(110 + 30 * len(rows), x, y, 24), "How much the objective goes with each setting.")]


def _layout(height: int, x: dict[str, Any], y: dict[str, Any], left: int) -> dict[str, Any]:
    return {
        "height": height,
        "margin": {"l": left, "r": 16, "t": 46, "b": 50},
        "xaxis": x,
        "yaxis": y,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "font": {"size": 12, "color": "#444"},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
    }


def _settings(found: Tuned) -> Table:
    importance = {one.setting: one.correlation for one in found.importance()}
    rows = [[name, text, importance.get(name)] for name, text in found.best.settings.items()]
    return Table(f"Trial {found.best.number}", ["setting", "best", "rank correlation"], rows)


def _judged(found: Tuned) -> Table:
    judged = found.judged
    rows: list[list[Any]] = [list(row) for row in zip(judged.events, judged.own, judged.best, strict=True)]
    rows.append([f"{found.over} of all", judged.own_value, judged.best_value])
    unit = "" if found.unit == "-" else f" [{found.unit}]"
    return Table(f"{found.objective}{unit}, run once at the end", ["event", "file", "best settings"], rows)


def _failed(found: Tuned) -> list[str]:
    failed = [trial for trial in found.trials if trial.value is None]
    return [f"{len(failed)} of {len(found.trials)} failed. {_FAILED}"] if failed else []


def _trials(found: Tuned) -> Table:
    names = [*found.units, *found.choices]
    rows = [
        [trial.number, *(trial.settings.get(name, "as in the file") for name in names), trial.value, trial.reason]
        for trial in found.trials
    ]
    return Table(f"{len(found.trials)} trials", ["trial", *names, "objective", "failed because"], rows, folded=True)


def _command(found: Tuned, changes: Sequence[str]) -> str:
    words = "".join(f" --set {change}" for change in changes)
    return f"hyloop tune {found.source or 'FILE'}{words} --trials {len(found.trials)}"


def _provenance(found: Tuned) -> Table:
    rows = [
        ["file", found.source],
        ["training", "; ".join(found.training)],
        ["test", "; ".join(found.judged.events)],
        ["seed of the search", found.seed],
        ["asked for at once", found.together],
        *([f"version of {name}", number] for name, number in versions().items()),
    ]
    return Table("Provenance", ["", "value"], rows)


def _shown(value: float | None, unit: str) -> str:
    return "–" if value is None else f"{value:.4g}{unit}"
