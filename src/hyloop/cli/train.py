"""The command `train`: a training file to networks, a table and a page, with the loss shown while it falls."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from hyloop.cli.console import clearing, console, errors, open_page, print_json, print_table, progress_bars
from hyloop.report.training_head import training_answer
from hyloop.report.training_page import write_training
from hyloop.report.training_result import MEASURES, Rival, TrainingOutcome
from hyloop.study.rivals import fit_rivals
from hyloop.study.train import train_file

__all__ = ["run_train"]

_PRINTED = MEASURES[:3]  # what a terminal has room for
_FIRST = 20  # losses printed for a machine, to compare processors and versions


def run_train(
    file: Path, overrides: Sequence[str], out: Path | None, resume: bool, report: bool, show: bool, json: bool
) -> None:
    """Train, print a table, write a page."""
    try:
        with _losses_shown(not json) as progress:
            outcome = train_file(file, overrides, out, resume=resume, progress=progress)
    except KeyboardInterrupt as stop:
        stop.args = (*stop.args, "the same command with --resume goes on from the last checkpoint, if there is one yet")
        raise
    rivals, page = [], None
    if report:
        with progress_bars(not json) as update:
            rivals = fit_rivals(outcome.prepared, update)
        page = write_training(outcome.prepared.out.with_suffix(".html"), outcome, rivals)
    open_page(page, show)
    if json:
        print_json(_as_dict(outcome, rivals, page))
        return
    rows = []
    for side, _, name in outcome.judged:
        cells = [_cell(*outcome.spread(name, measure)) for measure in _PRINTED]
        rows.append([side, name, *cells])
    unit = outcome.prepared.outputs[0].unit
    columns = ["side", "test", f"RMSE, {unit}", *_PRINTED[1:]]
    print_table(f"Agreement of {outcome.prepared.outputs[0].name}", columns, rows, right=columns[2:])
    if rivals:
        console.print(training_answer(outcome, rivals).sentence, markup=False)
    for note in outcome.prepared.data.notes:
        console.print(f"note: {note}", markup=False)
    for member in outcome.members:
        epochs = len(member.history.train)
        console.print(f"seed {member.seed}: epoch {member.best_epoch} of {epochs} kept, {member.seconds:.1f} s")
    console.print(f"network: {outcome.prepared.out}", markup=False)
    if page:
        console.print(f"report:  {page}", markup=False)


@contextmanager
def _losses_shown(shown: bool) -> Iterator[Any]:
    """A bar for every seed with losses and remaining time, on standard error."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("epoch {task.completed:.0f}/{task.total:.0f}"),
        TextColumn("loss {task.fields[loss]}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with clearing(Progress(*columns, console=errors, disable=not shown)) as progress:
        bars = {}

        def show(seed: int, now: Any) -> None:
            loss = f"{now.loss:.3e}" + ("" if math.isnan(now.validation) else f", validation {now.validation:.3e}")
            left = "" if math.isnan(now.remaining) else f"{now.remaining:.0f} s left"
            if seed not in bars:
                bars[seed] = progress.add_task(f"seed {seed}", total=now.epochs, loss="", left="")
            progress.update(bars[seed], completed=now.epoch, loss=loss, left=left)

        yield show


def _cell(mean: float, std: float) -> str:
    return f"{mean:.4g}" if math.isnan(std) else f"{mean:.4g} ± {std:.2g}"


def _as_dict(outcome: TrainingOutcome, rivals: Sequence[Rival], page: Path | None) -> dict[str, Any]:
    def number(value: float) -> float | None:
        return value if math.isfinite(value) else None

    agreement = [
        {
            "side": side,
            "event": event,
            "test": name,
            "outside": outcome.outside[name],
            "RMSE_of_mean": number(outcome.together[name]["RMSE"]),
            **{m: dict(zip(("mean", "std"), map(number, outcome.spread(name, m)), strict=True)) for m in MEASURES},
        }
        for side, event, name in outcome.judged
    ]
    members = [
        {
            "seed": m.seed,
            "network": str(m.path),
            "best_epoch": m.best_epoch,
            "epochs": len(m.history.train),
            "seconds": m.seconds,
            "first_losses": m.history.updates[:_FIRST].tolist(),
            "train": number(float(m.history.train[-1])),
            "validation": number(float(m.history.validation.min())) if m.history.validation.size else None,
        }
        for m in outcome.members
    ]
    return {
        "network": str(outcome.prepared.out),
        "chosen_seed": outcome.chosen.seed,
        "members": members,
        "agreement": agreement,
        "rivals": [
            {"name": r.name, "about": r.about, **{name: number(found["NRMSE"]) for name, found in r.agreement.items()}}
            for r in rivals
        ],
        "notes": outcome.prepared.data.notes,
        "report": str(page) if page else None,
    }
