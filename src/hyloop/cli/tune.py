"""The command `tune`: an experiment file to better settings, a table, a page, and a piece to include."""

from collections.abc import Sequence
from pathlib import Path

from hyloop.cli.console import console, counting_bar, open_page, print_json, print_table
from hyloop.cli.engines import Place, engine_of
from hyloop.cli.going_on import going_on
from hyloop.core.writing import replacing
from hyloop.ensembles.tune import tuned
from hyloop.errors import BadInput
from hyloop.files.load import load_experiment
from hyloop.report.page import check_folder
from hyloop.report.tune_page import write_tuning
from hyloop.report.tune_piece import piece
from hyloop.report.tune_result import Tuned

__all__ = ["run_tune"]

BEST, PAGE = "best.toml", "tune.html"


def run_tune(
    file: Path,
    overrides: Sequence[str],
    trials: int | None,
    place: Place,
    out: Path | None,
    allow_scripts: bool,
    show: bool,
    json: bool,
) -> None:
    """Tune, print, write the piece and the page."""
    folder = out or Path("out") / f"{file.stem}-tune"
    check_folder(folder, "a tuning is written")
    more = [] if trials is None else [f"tune.trials={trials}"]  # not of the runs: with more of them a tuning goes on
    experiment = load_experiment(file, [*overrides, *more])
    if experiment.tune is None:
        raise BadInput(
            f"{file}: there is no table [tune]. hyloop examples tune_compensator writes a file that has one."
        )
    with going_on(folder), engine_of(experiment, place) as engine, counting_bar("tuning", not json) as update:
        found = tuned(
            file,
            experiment.tune,
            folder,
            engine,
            overrides=overrides,
            allow_scripts=allow_scripts,
            progress=lambda done, all_, each: update(done, all_),
        )
    with replacing(folder / BEST) as part:
        part.write_text(piece(found), encoding="utf-8")
    page = write_tuning(folder / PAGE, found, list(overrides))
    open_page(page, show)
    if json:
        print_json({**found.as_dict(), "settings": str(folder / BEST), "report": str(page)})
    else:
        _show(found, folder)


def _show(found: Tuned, folder: Path) -> None:
    console.print(found.sentence(), highlight=False)
    rows = [[name, text, *_strength(found, name)] for name, text in found.best.settings.items()]
    print_table("Best settings", ["setting", "value", "goes with the objective by"], rows, right=["value"])
    judged = found.judged
    rows = [[name, _number(a), _number(b)] for name, a, b in zip(judged.events, judged.own, judged.best, strict=True)]
    rows.append([f"{found.over} of the test", _number(judged.own_value), _number(judged.best_value)])
    rows.append([f"{found.over} of the training", _number(found.trials[0].value), _number(found.best.value)])
    print_table(f"{found.objective}, SI units", ["event", "file", "best"], rows, right=["file", "best"])
    failed = sum(trial.value is None for trial in found.trials)
    if failed:
        first = next(trial.reason for trial in found.trials if trial.value is None)
        console.print(f"note: {failed} of {len(found.trials)} settings failed and rank last; the first: {first}")
    console.print(f"settings: {folder / BEST}", soft_wrap=True)
    console.print(f"report: {folder / PAGE}", soft_wrap=True)


def _strength(found: Tuned, name: str) -> list[str]:
    one = next(one for one in found.importance() if one.setting == name)
    return [
        "-"
        if one.correlation != one.correlation
        else f"{one.correlation:+.2f}"
        if one.ordered
        else f"{one.correlation:.2f}"
    ]


def _number(value: float | None) -> str:
    return "failed" if value is None else f"{value:.4g}"
