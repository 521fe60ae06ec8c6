"""The command `fragility`: fits to runs that are there."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hyloop.cli.console import console, open_page, print_json
from hyloop.cli.ida import given_states, show_fragilities
from hyloop.cli.results import keep_page
from hyloop.core.writing import set_aside
from hyloop.ensembles.table import TABLE, read_table
from hyloop.errors import BadInput
from hyloop.files.ida import drift
from hyloop.files.units import quantity
from hyloop.report.ida_page import write_ida
from hyloop.report.ida_result import RESULT, read_ida
from hyloop.report.page import check_page
from hyloop.report.stripes import stripes_of, write_stripes

__all__ = ["run_fragility"]

PAGE = "fragility.html"
LEVELS = ("excitation.peak", "excitation.scale", "intensity")  # columns that are levels, as a sweep has them
_UNITS = {"excitation.peak": "m/s2", "intensity": "m/s2"}


def run_fragility(
    path: Path,
    states: Sequence[str],
    mce: str | None,
    confidence: str | None,
    intensity: str | None,
    response: str | None,
    out: Path | None,
    force: bool,
    show: bool,
    json: bool,
) -> None:
    """Fit, print, write a page."""
    if not path.exists():
        raise BadInput(f"{path}: there is no such folder or file.")
    folder = path if path.is_dir() else path.parent
    page = out or folder / PAGE
    check_page(page)
    given: dict[str, Any] = {}
    if states:
        given["states"] = {name: drift(level, f"--state {name}") for name, level in given_states(states)}
    if confidence is not None:
        given["confidence"] = quantity(confidence, "-", "--confidence")
        if not 0.5 <= given["confidence"] < 1.0:
            raise BadInput(f"--confidence: got '{confidence}'; give 50 % or more, and less than 100 %.")
    words = " ".join(["hyloop fragility", str(path), *(f"--state '{state}'" for state in states)])
    if (path / RESULT).is_file() or path.suffix == ".json":
        if intensity is not None or response is not None:
            raise BadInput("--intensity and --response are for a sweep; an incremental analysis has its own.")
        told = _of_ida(path, given, mce, page, force, out, words, json)
    else:
        if mce is not None:
            given["mce"] = quantity(mce, "m/s2", "--mce")
        told = _of_stripes(path, given, intensity, response, page, force, out, words, json)
    open_page(page, show)
    if json:
        print_json({**told, "report": str(page)})
    else:
        console.print(f"report: {page}", soft_wrap=True)


def _of_ida(
    path: Path,
    given: dict[str, Any],
    mce: str | None,
    page: Path,
    force: bool,
    out: Path | None,
    words: str,
    json: bool,
) -> dict[str, Any]:
    if mce is not None:
        given["mce"] = quantity(mce, "m/s2", "--mce")
    found = replace(read_ida(path), **given)
    for name, (_, unit) in found.states.items():
        if unit != found.unit:
            raise BadInput(f"--state {name}: the response of this analysis is in {found.unit}, the state in {unit}.")
    _keep(page, force, out)
    write_ida(page, found, words)
    if not json:
        console.print(found.sentence(), highlight=False)
        show_fragilities(found.fragilities, found.measure, found.mce)
        for note in found.notes:
            console.print(f"note: {note}", highlight=False)
    return found.as_dict()


def _of_stripes(
    path: Path,
    given: dict[str, Any],
    intensity: str | None,
    response: str | None,
    page: Path,
    force: bool,
    out: Path | None,
    words: str,
    json: bool,
) -> dict[str, Any]:
    file = path / TABLE if path.is_dir() else path
    if file.suffix != ".parquet" or not file.is_file():
        raise BadInput(f"{path} holds neither an incremental analysis ({RESULT}) nor a table of runs ({TABLE}).")
    columns = read_table(file)
    key = intensity or next((name for name in LEVELS if name in columns), None)
    if key is None:
        raise BadInput(f"{file}: which column is the intensity? There are {', '.join(columns)}. Give --intensity.")
    given.pop("mce", None)
    found = stripes_of(
        columns, key, given.pop("states", {}), response, source=str(path), unit=_UNITS.get(key, "-"), **given
    )
    _keep(page, force, out)
    write_stripes(page, found, words)
    if not json:
        console.print(found.sentence(), highlight=False)
        factor, unit = found.shown
        show_fragilities(found.fragilities, key, None, factor, unit)
    return found.as_dict()


def _keep(page: Path, force: bool, out: Path | None) -> None:
    if out is None and (earlier := set_aside(page)):
        keep_page(earlier, force)
