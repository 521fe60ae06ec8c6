"""The page about a design: what it gains on motions it has not seen, where the strength went, and what it took."""

from pathlib import Path
from typing import Any

import numpy as np

from hyloop.report.charts import COLORS, Drawing
from hyloop.report.design_result import Designed
from hyloop.report.display import readable
from hyloop.report.page import Answer, Code, Section, Table, write_page
from hyloop.report.provenance import versions

__all__ = ["write_design"]

_HEIGHT = 430  # px
_EXPLAINED = (
    "All distributions cost the same. A value is the mean, over the motions, of the largest drift of any story, by "
    "compiled runs; test motions took no part in any search and were run once, at the end. What a search has spent is "
    "counted in compiled runs of one motion. A gradient of all training motions together counts as the processor time "
    "it takes in such runs, measured here; compiling counts for nobody, nor does what Optuna itself computes."
)


def write_design(path: Path, found: Designed, command: str) -> Path:
    """Write one HTML page about a design; it loads nothing. `command` is what was typed."""
    sections = [
        Section("Where the strength goes", tables=[_values(found)]),
        Section("What it took", [_EXPLAINED], tables=[_searches(found)]),
        Section("Test motions", tables=[_motions(found)]),
        Section("Notes", found.notes, folded=True),
        Section(
            "Provenance",
            code=[Code(command)],
            tables=[Table("Versions", ["", "version"], [list(row) for row in versions().items()])],
            folded=True,
        ),
    ]
    title = f"Design: {found.title or Path(found.source).stem}"
    return write_page(path, title, Answer(found.sentence(), _three(found), _picture(found)), sections)


def _three(found: Designed) -> list[tuple[str, str]]:
    uniform, designed = found.distributions["uniform"], found.distributions["gradients"]
    other = found.distributions.get("optuna")
    third = (
        (f"{found.gradient.runs[-1]:.0f} runs", "spent on the design, gradients included")
        if other is None
        else (found.read(other.tested), f"by Optuna, {found.optuna[0].runs[-1]:.0f} runs a seed")
    )
    return [
        (found.read(designed.tested), f"mean peak {found.measure} on test motions, by gradients"),
        (found.read(uniform.tested), "with the same budget spread evenly"),
        third,
    ]


def _picture(found: Designed) -> Drawing:
    """Mean peak drift of every story on test motions, as stairs over the height."""
    factor, unit = found.shown
    traces: list[dict[str, Any]] = []
    for k, one in enumerate(found.distributions.values()):
        stories = len(one.profile)
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": one.name,
                "x": np.repeat(factor * one.profile, 2).tolist(),
                "y": np.repeat(np.arange(stories + 1), 2)[1:-1].tolist(),
                "line": {"width": 2, "color": COLORS[k]},
            }
        )
    layout = {
        "height": _HEIGHT,
        "margin": {"l": 70, "r": 16, "t": 46, "b": 50},
        "xaxis": {"title": {"text": f"peak {found.measure}, mean of test motions [{unit}]"}, "rangemode": "tozero"},
        "yaxis": {"title": {"text": "floor"}, "zeroline": False, "dtick": 1},
        "showlegend": True,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "font": {"size": 12, "color": "#444"},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hovermode": "closest",
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "#999", "activecolor": "#666"},
    }
    return Drawing(traces, layout, f"Peak {found.measure} of every story over the height, mean of the test motions.")


def _values(found: Designed) -> Table:
    factor, unit = readable(found.unit)
    names = [f"{one.name} [{unit}]" for one in found.distributions.values()]
    rows: list[list[Any]] = []
    for k, group in enumerate(found.groups.values()):
        rows.append([", ".join(group), *(f"{factor * one.values[k]:.4g}" for one in found.distributions.values())])
    total = [f"{factor * float(found.cost @ one.values):.5g}" for one in found.distributions.values()]
    return Table("Values, and what they cost together", ["parameter", *names], [*rows, ["cost", *total]])


def _searches(found: Designed) -> Table:
    ours = found.gradient
    rows: list[list[Any]] = [[ours.name, f"{ours.runs[-1]:.0f}", found.read(ours.best[-1]), "", f"{ours.seconds:.1f}"]]
    for one, (best, _, runs) in zip(found.optuna, found.reached, strict=True):
        met = "never" if runs is None else f"{runs:.0f}"
        rows.append([one.name, f"{one.runs[-1]:.0f}", found.read(best), met, f"{one.seconds:.1f}"])
    title = f"Searches on the training motions; a gradient counts as {found.equivalence:.1f} runs"
    columns = ["search", "runs", f"best mean peak {found.measure}", "runs by gradients until as good", "seconds"]
    return Table(title, columns, rows)


def _motions(found: Designed) -> Table:
    every = list(found.distributions.values())
    rows = [
        [name, *(found.read(float(one.test[k].max())) for one in every)] for k, name in enumerate(found.motions["test"])
    ]
    rows.append(["mean", *(found.read(one.tested) for one in every)])
    return Table(f"Peak {found.measure}", ["motion", *(one.name for one in every)], rows)
