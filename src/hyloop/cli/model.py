"""The command `model`: what a frame in a file is like, before anything runs."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hyloop.cli.console import console, open_page, print_json, print_table
from hyloop.errors import BadInput
from hyloop.files.frames.frame import FrameBase, story_nodes
from hyloop.files.frames.models import load_frame
from hyloop.files.load import load_experiment, read_experiment
from hyloop.files.opensees import OpenSeesScript
from hyloop.files.schema import SiteSpec
from hyloop.report.model_page import write_model
from hyloop.report.model_sites import COLUMNS, PlacedSite, place_sites
from hyloop.report.model_summary import ModelSummary, summarise
from hyloop.report.page import check_page
from hyloop.report.script_page import summarise_script, write_script

__all__ = ["run_model"]


def run_model(
    file: Path,
    overrides: Sequence[str],
    modes: int,
    out: Path | None,
    report: bool,
    allow_scripts: bool,
    show: bool,
    json: bool,
) -> None:
    """Check a model, print tables, write a page."""
    target = out or Path("out") / f"{file.stem}-model.html"
    check_page(target)
    spec = load_frame(file, overrides)
    try:
        specs, missing = _sites(file, overrides)
        title, dimensions, summary, sites, write = _summarised(spec, file, modes, allow_scripts, specs)
    except BadInput as error:
        error.args = (f"{file}: {error}",)
        raise
    page = write(target) if report else None
    open_page(page, show)
    if json:
        print_json(_as_dict(file, title, dimensions, summary, sites, page))
        return
    print_table(title, ["", "number"], list(summary.counts.items()), right=["number"])
    totals = [[f"mass in {d}, t", f"{m / 1e3:.4g}"] for d, m in summary.mass.items()]
    totals += [
        ["weight of the mass in ux, kN", f"{summary.weight / 1e3:.4g}"],
        ["dead load, kN", f"{summary.dead_load / 1e3:.4g}"],
    ]
    print_table("Masses and loads", ["", "value"], totals, right=["value"])
    columns = ["mode", "period, s", "frequency, Hz", *(f"mass in {d}, %" for d in summary.participation)]
    rows = [
        [k + 1, f"{T:.4g}", f"{1 / T:.4g}", *(f"{100 * parts[k]:.1f}" for parts in summary.participation.values())]
        for k, T in enumerate(summary.periods)
    ]
    print_table("Modes", columns, rows, right=columns)
    if sites:
        print_table("Sites", COLUMNS, [site.row for site in sites], right=["devices"])
    if missing:
        console.print(f"note: {missing}", markup=False, highlight=False)
    for check in summary.checks:
        console.print(f"checked: {check}", markup=False, highlight=False)
    if page:
        console.print(f"report: {page}", markup=False)


def _sites(file: Path, overrides: Sequence[str]) -> tuple[Mapping[str, SiteSpec], str]:
    """Sites of an experiment file, or why they are not shown: the frame can be looked at before the rest is right."""
    data = read_experiment(file)
    if "structure" not in data or "sites" not in data:
        return {}, ""
    try:
        return load_experiment(file, list(overrides)).sites, ""
    except BadInput as error:
        return {}, f"the sites are not shown, as the experiment cannot be read: {error}"


def _summarised(
    spec: FrameBase | OpenSeesScript, file: Path, modes: int, allow_scripts: bool, specs: Mapping[str, SiteSpec]
) -> tuple[str, int, ModelSummary, list[PlacedSite], Callable[[Path], Path]]:
    """Title, dimensions, numbers and sites of a model, and a function that writes its page."""
    title = file.stem.replace("_", " ")
    if isinstance(spec, OpenSeesScript):
        script = spec.model(allow_scripts)
        summary = summarise_script(script, modes)
        names = script.structure.names
        floors = [names[script.structure.dof(floor)].rpartition(".")[0] for floor in script.structure.floors]
        sites = place_sites(specs, script.nodes, floors, up=script.dimensions - 1)
        return title, script.dimensions, summary, sites, lambda path: write_script(path, title, script, summary, sites)
    model = spec.model()
    title, summary = spec.title or title, summarise(model, modes)
    in_stories = any(site.story is not None for site in specs.values())
    sites = place_sites(specs, model.nodes, story_nodes(model) if in_stories else [], up=1)
    return title, model.dimensions, summary, sites, lambda path: write_model(path, title, model, summary, sites)


def _as_dict(
    file: Path, title: str, dimensions: int, summary: ModelSummary, sites: Sequence[PlacedSite], page: Path | None
) -> dict[str, Any]:
    modes = [
        {
            "mode": k + 1,
            "period": float(T),
            "frequency": 1.0 / float(T),
            "participation": {d: float(parts[k]) for d, parts in summary.participation.items()},
        }
        for k, T in enumerate(summary.periods)
    ]
    return {
        "file": str(file),
        "title": title,
        "dimensions": dimensions,
        "counts": summary.counts,
        "mass": summary.mass,
        "weight": summary.weight,
        "dead_load": summary.dead_load,
        "modes": modes,
        "settlement": {"displacement": summary.settlement[0], "node": summary.settlement[1]},
        "sites": [{"site": s.name, "where": s.where, "devices": s.devices, "device": s.device} for s in sites],
        "checks": list(summary.checks),
        "report": str(page) if page else None,
    }
