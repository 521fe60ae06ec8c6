"""The command `calibrate`: a known law and tests of today to the numbers of the session, a page and a file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hyloop.cli.console import console, open_page, print_json, print_table, progress_bars
from hyloop.cli.reading import Reading, page_name, reading
from hyloop.errors import BadInput
from hyloop.files.known_law import read_known_law
from hyloop.files.law_file import check_law_file, device_line, parent_lines, save_law
from hyloop.files.measurements import as_tests, read_measured
from hyloop.identification import Calibration, calibrate, numbers_from
from hyloop.report.calibration_page import calibration_sentence, value_row, write_calibration
from hyloop.report.identification_page import Result
from hyloop.report.page import check_page

__all__ = ["run_calibrate"]


def run_calibrate(
    file: str,
    sources: Sequence[str],
    how: Reading,
    *,
    free: str | None,
    start: str | None,
    every: int,
    out: Path | None,
    save: Path | None,
    force: bool,
    show: bool,
    json: bool,
) -> None:
    """Calibrate, print tables, write a page, save the law of the session."""
    page = out or page_name(sources[0], "calibration")
    check_page(page)
    if save is not None:
        check_law_file(save, force)
        if save.exists() and save.samefile(file):
            raise BadInput(f"--save {save}: it is the law that is calibrated, and a session has its own. Name another.")
    known = read_known_law(file, how.site)
    block = known.law.block
    words = None if free is None else [word.strip() for word in free.split(",") if word.strip()]
    numbers = None if words is None else numbers_from(words, block)
    mapped = reading(how)
    measured = [test for source in sources for test in read_measured(source, mapped.channels, mapped.units)]
    tests, notes = as_tests(measured, block, start=start, every=every)
    with progress_bars(not json) as update:
        found = calibrate(known.name, known.law, tests, numbers, progress=update)
    result = Result(known.name, found.fit, measured, [], tuple(notes), None)
    saved = None
    if save is not None:
        saved = save_law(save, known.name, found.fit, measured, parent_lines(known.file, found.values))
    line = device_line(known.name, found.fit, saved)
    write_calibration(page, result, found, known.file, line)
    open_page(page, show)
    if json:
        print_json(_as_dict(result, found, known.file, page, saved))
        return
    _show(result, found, known.file)
    console.print(f"report: {page}", markup=False)
    if saved:
        console.print(f"law:    {saved}", markup=False)
    console.print("in an experiment:", highlight=False)
    console.print(line, markup=False, highlight=False, soft_wrap=True)


def _show(result: Result, found: Calibration, file: Path) -> None:
    """The answer and the tables for a person."""
    for warning in result.warnings:
        console.print(f"note: {warning}", markup=False, highlight=False)
    console.print(calibration_sentence(found, file), markup=False, highlight=False)
    level = f"{100 * found.fit.level:g} % from"
    columns = ["number", "file", "today", "unit", "over the file", level, "to"]
    rows = [[_cell(cell) for k, cell in enumerate(value_row(result, one)[:-1]) if k != 1] for one in found.values]
    print_table("What the session has changed", columns, rows, right=columns[1:3] + columns[4:])
    for one in found.values:
        if one.estimate.remark:
            console.print(f"{one.name}: {one.estimate.remark}", markup=False, highlight=False)
    head = ["error over the range of the force, %", "file", "today"]
    errors = [
        ["all of the test", f"{100 * found.error_before:.3g}", f"{100 * found.error_after:.3g}"],
        [f"each {found.parts} left out in turn", f"{100 * found.error_before:.3g}", f"{100 * found.error_unseen:.3g}"],
    ]
    print_table("Errors", head, errors, right=head[1:])
    for note in result.notes:
        console.print(f"note: {note}", markup=False)


def _cell(value: Any) -> str:
    return ("-" if value != value else f"{value:.4g}") if isinstance(value, float) else str(value or "")


def _as_dict(result: Result, found: Calibration, file: Path, page: Path, saved: Path | None) -> dict[str, Any]:
    """For a machine: numbers in SI units, null where there is none."""

    def number(value: float) -> float | None:
        return None if value != value else value

    numbers = {
        one.name: {
            "parameters": list(one.number.params),
            "file": one.file,
            "value": one.estimate.value,
            "low": number(one.estimate.low),
            "high": number(one.estimate.high),
            "unit": one.estimate.unit,
            "factor": number(one.factor),
            "moved": one.moved,
            "remark": one.estimate.remark,
        }
        for one in found.values
    }
    return {
        "law": found.name,
        "file": str(file),
        "answer": calibration_sentence(found, file),
        "numbers": numbers,
        "error": {"file": found.error_before, "calibrated": found.error_after, "unseen": found.error_unseen},
        "unseen": {"file": list(found.unseen_before), "calibrated": list(found.unseen_after), "parts": found.parts},
        "gain": found.gain,
        "parameters": found.law.params,
        "tests": [{"test": one.name, "source": one.source, "dt": one.sampling.dt} for one in result.measured],
        "notes": [*result.warnings, *result.notes],
        "report": str(page),
        "saved": str(saved) if saved else None,
    }
