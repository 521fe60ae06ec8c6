"""The page about a training: agreement on every event, loss curves, predictions, settings."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hyloop.neural.histories import History
from hyloop.report.charts import Chart
from hyloop.report.display import Line, Panel, readable, rows_to_draw
from hyloop.report.page import Section, Table, write_page
from hyloop.report.provenance import versions
from hyloop.report.training_head import counted, rivals_table, training_answer, use_section
from hyloop.report.training_result import MEASURES, Member, Rival, TrainingOutcome

__all__ = ["write_training"]

_POINTS = 60_000  # on a page, as many as keep it under 6 MB with plotly.js inside
_MOST = 8  # histories drawn; more cannot be read
_MOST_SEEDS = 9


def write_training(path: Path, outcome: TrainingOutcome, rivals: Sequence[Rival] = ()) -> Path:
    """Write one HTML page about a finished training, beside what it is compared with; it loads nothing."""
    now, count = outcome.prepared, len(outcome.members)
    sizes = ", ".join(
        f"{counted(len(getattr(now.parts, side)), 'test')} {of}"
        for side, of in (("train", "trained on"), ("validation", "for validation"), ("test", "for test"))
    )
    kept = f" The network of seed {outcome.chosen.seed} is kept: it has the least validation loss."
    text = [
        f"{now.file.network.kind} network; {sizes}; {counted(count, 'seed')}."
        + (kept if count > 1 and now.parts.validation else ""),
        "The frozen network, as it would stand in a loop, runs freely from rest over every test: nothing that was "
        "measured at the output is given to it.",
        "Outside: part of the samples at which an input leaves the range it had in training. Of the mean: error of the "
        "mean prediction of all seeds.",
        *now.data.notes,
    ]
    if not now.parts.validation:
        text.append("No events were set aside for validation, so the last epoch was kept, however much it overfits.")
    drawn = [*now.parts.validation, *now.parts.test, *now.parts.train][:_MOST]
    charts = [*_histories(outcome.chosen, drawn, outcome), *_loops(outcome, drawn)]
    compared = [rivals_table(outcome, list(rivals))] if rivals else []
    sections = [
        use_section(outcome),
        Section("Agreement", text, tables=[*compared, _agreement(outcome)]),
        Section("Losses", charts=[_losses(outcome.members[:_MOST_SEEDS])], tables=[_seeds(outcome)]),
        Section("Predictions", charts=charts),
        Section("Settings", tables=_settings(outcome), folded=True),
    ]
    title = now.file.title or f"Training of {now.path.stem}"
    return write_page(path, title, training_answer(outcome, list(rivals)), sections)


def _agreement(outcome: TrainingOutcome) -> Table:
    unit = outcome.prepared.outputs[0].unit
    factor, shown = readable(unit)
    columns = ["side", "event", "test", f"RMSE [{shown or '-'}]", "NRMSE [%]", "R²", "TRAC", "outside [%]"]
    several = len(outcome.members) > 1
    columns += [f"RMSE of the mean [{shown or '-'}]"] if several else []
    rows = []
    for side, event, name in outcome.judged:
        scales = dict(zip(MEASURES, (factor, 100.0, 1.0, 1.0), strict=True))
        cells = [_with_spread(*outcome.spread(name, measure), scale) for measure, scale in scales.items()]
        cells.append(100.0 * outcome.outside[name])
        cells += [factor * outcome.together[name]["RMSE"]] if several else []
        rows.append([side, event, name, *cells])
    output = outcome.prepared.outputs[0].name
    spread = ": mean ± standard deviation over the seeds" if several else ""
    return Table(f"Agreement of {output}{spread}", columns, rows)


def _with_spread(mean: float, std: float, scale: float) -> Any:
    return scale * mean if np.isnan(std) else f"{scale * mean:.4g} ± {scale * std:.2g}"


def _losses(members: Sequence[Member]) -> Chart:
    panels = []
    for member in members:
        curves = {"training": member.history.train, "validation": member.history.validation}
        lines = tuple(
            Line(np.arange(1, len(values) + 1), np.log10(np.where(values > 0.0, values, np.nan)), name, series)
            for series, (name, values) in enumerate(curves.items())
            if len(values)
        )
        panels.append(Panel(f"seed {member.seed}", "epoch", "log10 of the loss", lines))
    caption = (
        "Mean square error of the scaled outputs after every epoch; in training with dropout, in validation without."
    )
    return Chart(panels, f"Loss over epochs for {len(panels)} seeds.", caption, columns=min(3, len(panels)))


def _seeds(outcome: TrainingOutcome) -> Table:
    rows = []
    for member in outcome.members:
        epochs = len(member.history.train)
        train, validation = member.history.train, member.history.validation
        least = float(validation.min()) if validation.size else None
        rows.append(
            [
                member.seed,
                epochs,
                member.best_epoch,
                float(train[member.best_epoch - 1]),
                least,
                member.seconds,
                member.path.name,
            ]
        )
    columns = ["seed", "epochs", "kept epoch", "training loss", "validation loss", "time [s]", "network"]
    return Table("Seeds", columns, rows)


def _histories(member: Member, drawn: Sequence[History], outcome: TrainingOutcome) -> list[Chart]:
    signal = outcome.prepared.outputs[0]
    factor, unit = readable(signal.unit)
    points = int(np.clip(_POINTS // (4 * len(drawn)), 64, 4000))
    panels = []
    for history in drawn:
        time = history.dt * np.arange(len(history))
        pair = (("measured", history.target[:, 0]), ("network", member.predictions[history.name][:, 0]))
        lines = []
        for series, (name, values) in enumerate(pair):
            rows = rows_to_draw(points, values)
            lines.append(Line(time[rows], factor * values[rows], name, series))
        title = f"{history.name} ({_side(outcome, history)})"
        panels.append(Panel(title, "time [s]", f"{signal.name} [{unit or '-'}]", tuple(lines)))
    alt = f"Measured and predicted {signal.name} over time in {len(panels)} tests."
    return [
        Chart(panels, alt, f"Measured {signal.name} and that of the network of seed {member.seed}.", row_height=180)
    ]


def _loops(outcome: TrainingOutcome, drawn: Sequence[History]) -> list[Chart]:
    """Output over the deformation, where the network hears one."""
    across = next((k for k, signal in enumerate(outcome.prepared.inputs) if signal.unit == "m"), None)
    if across is None:
        return []
    signal, deformation = outcome.prepared.outputs[0], outcome.prepared.inputs[across]
    (factor, unit), (widen, length) = readable(signal.unit), readable(deformation.unit)
    points = int(np.clip(_POINTS // (8 * len(drawn)), 64, 4000))
    panels = []
    for history in drawn:
        d = history.inputs[:, across]
        pair = (("measured", history.target[:, 0]), ("network", outcome.chosen.predictions[history.name][:, 0]))
        lines = []
        for series, (name, values) in enumerate(pair):
            rows = rows_to_draw(points, d, values)
            lines.append(Line(widen * d[rows], factor * values[rows], name, series))
        labels = f"{deformation.name} [{length}]", f"{signal.name} [{unit or '-'}]"
        panels.append(Panel(history.name, *labels, tuple(lines)))
    alt = f"{signal.name} against {deformation.name}, measured and predicted, in {len(panels)} tests."
    return [Chart(panels, alt, "The same over the deformation.", columns=min(3, len(panels)))]


def _side(outcome: TrainingOutcome, history: History) -> str:
    parts = outcome.prepared.parts
    return next(side for side in ("validation", "test", "train") if history in getattr(parts, side))


def _settings(outcome: TrainingOutcome) -> list[Table]:
    now = outcome.prepared
    signals = [
        [s.name, kind, s.unit, s.centre, 1.0 / s.factor, s.low, s.high]
        for kind, group in (("input", now.inputs), ("output", now.outputs))
        for s in group
    ]
    layers = [", ".join(f"{layer.kind} {layer.width}" for layer in stage) for stage in now.architecture.stages]
    tables = {
        "network": now.file.network.model_dump(),
        "training": now.file.training.model_dump(),
        "scaling": now.file.scaling.model_dump(),
    }
    rows = [[f"{table}.{key}", _shown(value)] for table, found in tables.items() for key, value in found.items()]
    rows += [["layers, stage by stage", " → ".join(layers)], ["training file", now.path.name]]
    rows += [[f"version of {key}", value] for key, value in versions().items()]
    columns = ["signal", "", "unit", "centre", "width", "least in training", "greatest in training"]
    return [Table("Signals in SI units", columns, signals), Table("Settings", ["", "value"], rows)]


def _shown(value: Any) -> Any:
    return ", ".join(str(item) for item in value) if isinstance(value, tuple) else value
