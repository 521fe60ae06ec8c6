"""The command `design`: a budget of damper strength spread over a building, as a table and a page."""

from collections.abc import Sequence
from pathlib import Path

from hyloop.cli.console import console, open_page, print_json, print_table, progress_bars
from hyloop.cli.results import check_results, keep_page
from hyloop.core.writing import set_aside
from hyloop.files.load import load_experiment
from hyloop.report.design_page import write_design
from hyloop.report.design_result import Designed
from hyloop.report.display import readable
from hyloop.report.page import check_page
from hyloop.study.design import design

__all__ = ["run_design"]


def run_design(
    file: Path,
    overrides: Sequence[str],
    trials: int | None,
    seeds: int | None,
    out: Path | None,
    force: bool,
    allow_scripts: bool,
    show: bool,
    json: bool,
) -> None:
    """Design, write a page, print."""
    path = out or Path("out") / f"{file.stem}-design.html"
    check_page(path)
    check_results(out, force)
    experiment = load_experiment(file, list(overrides))
    with progress_bars(not json) as update:
        found = design(experiment, trials=trials, seeds=seeds, allow_scripts=allow_scripts, progress=update)
    if out is None and (earlier := set_aside(path)):
        keep_page(earlier, force)
    words = [f"--set '{change}'" for change in overrides]
    words += [f"--{key} {value}" for key, value in (("trials", trials), ("seeds", seeds)) if value is not None]
    page = write_design(path, found, " ".join(["hyloop design", str(file), *words]))
    open_page(page, show)
    if json:
        print_json({**found.as_dict(), "report": str(page)})
    else:
        _show(found, page)


def _show(found: Designed, page: Path) -> None:
    console.print(found.sentence(), highlight=False)
    every = list(found.distributions.values())
    factor, unit = readable(found.unit)
    rows = [[name, *(f"{factor * one.values[k]:.4g}" for one in every)] for k, name in enumerate(found.groups)]
    rows.append(["cost", *(f"{factor * float(found.cost @ one.values):.5g}" for one in every)])
    rows.append([f"peak {found.measure}, training", *(found.read(one.trained) for one in every)])
    rows.append([f"peak {found.measure}, test", *(found.read(one.tested) for one in every)])
    columns = [unit, *(one.name for one in every)]
    print_table("Distributions of the budget", columns, rows, right=columns[1:])
    ours = found.gradient
    console.print(
        f"by gradients: {ours.runs[-1]:.0f} runs; a gradient of all training motions counts as "
        f"{found.equivalence:.1f} runs of one",
        highlight=False,
    )
    for one, (best, runs, met) in zip(found.optuna, found.reached, strict=True):
        said = "by gradients never" if met is None else f"by gradients in {met:.0f} runs"
        console.print(
            f"{one.name}: {one.runs[-1]:.0f} runs, best {found.read(best)} after {runs:.0f}; as good {said}",
            highlight=False,
        )
    for note in found.notes:
        if "instead" in note:
            console.print(f"note: {note}", highlight=False)
    console.print(f"report: {page}", soft_wrap=True)
