"""Figures for print: the panels of the report as PNG and PDF."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.style import context

from hyloop.core.writing import replacing
from hyloop.errors import UnknownName
from hyloop.report.charts import line_look
from hyloop.report.display import (
    Panel,
    Recordings,
    history_panels,
    hysteresis_panels,
    parameter_names,
    parameter_panels,
)

__all__ = ["STYLE", "save_figures"]

FORMATS = ("pdf", "png", "svg")
POINTS = 8000  # of a line: finer than a printer over the width of a page
WIDTH = 6.7  # in, the text width of a journal page

# sizes for a figure printed at its own width, with text that stays text in a PDF
STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 7.5,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.linewidth": 0.4,
    "grid.color": "0.9",
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "text.parse_math": False,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "savefig.dpi": 300,
}


def save_figures(folder: str | PathLike, recordings: Recordings, formats: Sequence[str] = ("png", "pdf")) -> list[Path]:
    """Draw hysteresis, histories and changing parameters of some recordings and save them.

    Parameters
    ----------
    folder : path
        Where ``hysteresis.*``, ``histories.*`` and ``parameters.*`` go; it is made.
    recordings : mapping of name to Recording
        What is drawn, on top of each other.
    formats : sequence of {"png", "pdf", "svg"}
        Kinds of files.

    Returns
    -------
    list of Path
        The files written; none for a figure whose channels no recording has.
    """
    for kind in formats:
        if kind not in FORMATS:
            raise UnknownName("figure format", kind, FORMATS)
    target, paths = Path(folder), []
    with context(STYLE):
        for name, panels, columns, height, common in (
            ("hysteresis", hysteresis_panels(recordings, POINTS), 3, 1.9, False),
            ("histories", history_panels(recordings, POINTS), 1, 1.05, True),
            ("parameters", parameter_panels(recordings, parameter_names(recordings), POINTS), 2, 1.4, False),
        ):
            if not panels:
                continue
            target.mkdir(parents=True, exist_ok=True)
            figure = _draw(panels, columns, height, common)
            for kind in formats:
                paths.append(target / f"{name}.{kind}")
                # without a date the same data give the same file
                with replacing(paths[-1]) as part:
                    figure.savefig(part, format=kind, metadata={"CreationDate": None} if kind == "pdf" else None)
    return paths


def _draw(panels: Sequence[Panel], columns: int, height: float, common: bool) -> Figure:
    """A grid of panels; a `Figure` of its own rather than pyplot's, which keeps every figure alive."""
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(WIDTH if common else WIDTH * (columns + 1) / 4, height * rows + 0.5), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(rows, columns, squeeze=False, sharex=common)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    legend: dict[str, Any] = {}
    for i, (axes, panel) in enumerate(zip(grid.flat, panels, strict=False)):
        for line in panel.lines:
            color, width = line_look(line.series)
            (drawn,) = axes.plot(line.x, line.y, color=color, linewidth=width)
            if line.series is not None:
                legend.setdefault(line.name, drawn)
        axes.set_title(panel.title)
        if i % columns == 0 or panels[i - 1].y_label != panel.y_label:
            axes.set_ylabel(panel.y_label)
        if i + columns >= len(panels):
            axes.set_xlabel(panel.x_label)
        if common:
            axes.margins(x=0)
    figure.align_ylabels()
    if len(legend) > 1:
        figure.legend(legend.values(), legend.keys(), loc="outside upper left", ncols=min(4, len(legend)))
    return figure
