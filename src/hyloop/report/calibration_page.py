"""The page about a calibration: what the session has changed of a law, and what that does to its error."""

from pathlib import Path
from typing import Any

import numpy as np

from hyloop.identification import Calibration, SessionValue
from hyloop.report.identification_charts import compared_loops, residuals
from hyloop.report.identification_page import (
    Result,
    drawn_points,
    interval_notes,
    pattern,
    provenance_tables,
    samplings,
)
from hyloop.report.page import Answer, Code, Section, Table, write_page

__all__ = ["calibration_sentence", "value_row", "write_calibration"]

_DRAWN = 3  # tests on the first screen


def write_calibration(path: Path, result: Result, found: Calibration, file: Path, line: str) -> Path:
    """Write one HTML page about a calibration; it loads nothing.

    Parameters
    ----------
    path : Path
        File to write; its folder is made.
    result : Result
        The fit of the session and the tests as they were read.
    found : Calibration
    file : Path
        What the law was read from.
    line : str
        What puts the law of the session into an experiment file.
    """
    points = drawn_points(len(found.fit.tests))
    pairs = list(zip(found.fit.tests, found.fit.forces, strict=True))
    head = ["number", "parameters", "file", "today", "unit", "over the file"]
    head += [f"{100 * found.fit.level:g} % from", "to", "remark"]
    values = Table("What the session has changed", head, [value_row(result, one) for one in found.values])
    sections = [
        Section("Use it", ["Paste this line into the table of a site of an experiment file."], code=[Code(line)]),
        Section("What the session has changed", interval_notes(found.fit), tables=[values]),
        Section("Before and after", _validation(found), tables=_errors(result, found)),
        Section("What is left", pattern(found.fit), charts=[residuals(pairs[:_DRAWN], points, result.shown)]),
        Section("How it was read", [*result.notes, *samplings(result)]),
        Section("Provenance", [f"The law was read from {file}."], tables=provenance_tables(result), folded=True),
    ]
    if result.warnings:
        sections.insert(0, Section("Read this first", result.warnings))
    forces = {f"by {file.name}": found.before[:_DRAWN], "calibrated": found.fit.forces[:_DRAWN]}
    picture = compared_loops(found.fit.tests[:_DRAWN], forces, points, result.shown)
    answer = Answer(calibration_sentence(found, file), _numbers(found), picture)
    return write_page(path, f"Calibration: {found.name}", answer, sections)


def calibration_sentence(found: Calibration, file: Path) -> str:
    """What came out, in one sentence."""
    fell = (
        f"{100 * found.error_before:.2g} % of the range of the force to {100 * found.error_unseen:.2g} % in parts of "
        "the test it was not calibrated on"
    )
    if found.gain == "worse":
        return f"Keep {file.name}: calibrated, the error of {found.name} grows from {fell}."
    if found.gain == "no better":
        return f"Calibrating {found.name} gains nothing that its spread would not explain: from {fell}."
    moved = [f"{one.factor:.2f} x the {one.name}" for one in found.values if one.moved and not one.number.added]
    said = f"Today {found.name} has {' and '.join(moved)}" if moved else f"{found.name} has hardly changed"
    return f"{said}: its error falls from {fell}."


def _numbers(found: Calibration) -> list[tuple[str, str]]:
    factors = [one for one in found.values if not one.number.added]
    far = max(factors, key=lambda one: abs(np.log(one.factor)), default=None)
    if far is None:
        one = found.values[0]
        third = (f"{one.estimate.value:.4g} {one.estimate.unit}", f"{one.name}, {one.file:.4g} in the file")
    else:
        ends = f", {100 * found.fit.level:g} % from {far.ends[0]:.3g} to {far.ends[1]:.3g}" * far.estimate.observable
        third = (f"{far.factor:.3g} x", f"{far.name}, over the file: what has moved most{ends}")
    return [
        (f"{100 * found.error_before:.3g} %", "error before, over the range of the force"),
        (f"{100 * found.error_unseen:.3g} %", f"error after, each {found.parts} left out in turn"),
        third,
    ]


def value_row(result: Result, one: SessionValue) -> list[Any]:
    """Cells of a number of the session, in the units of the laboratory; factors over the file have none."""
    scale, unit = result.shown(one.estimate.unit)
    remark = one.estimate.remark or ("" if one.moved else "the value of the file lies in the interval")
    ends = [scale * end for end in one.ends] if one.number.added else list(one.ends)
    over = scale * (one.estimate.value - one.file) if one.number.added else one.factor
    shown = [one.name, " and ".join(one.number.params), scale * one.file, scale * one.estimate.value, unit]
    return [*shown, f"{over:+.4g} {unit}" if one.number.added else over, *ends, remark]


def _validation(found: Calibration) -> list[str]:
    said = {
        "better": "The calibrated law is better there by more than the parts differ.",
        "no better": "The parts differ by as much as is gained there: a longer or a richer test would tell more.",
        "worse": "It is worse there: the law does not hold for this test, or the test is too short.",
    }
    done = f"Each {found.parts} in turn is left out, the numbers are found from the rest and predict it."
    return [f"{done} {said[found.gain]}"]


def _errors(result: Result, found: Calibration) -> list[Table]:
    factor, unit = result.shown("N")
    tests = [
        [t.name, int(t.counted.sum()), 1e3 * t.dt, *(x for f in (b, a) for x in (factor * t.rmse(f), 100 * t.nrmse(f)))]
        for t, b, a in zip(found.fit.tests, found.before, found.fit.forces, strict=True)
    ]
    head = ["test", "samples", "step [ms]", f"before, RMSE [{unit}]", "of the range [%]"]
    head += [f"calibrated, RMSE [{unit}]", "of the range [%]"]
    parted = [
        [str(k), 100 * b, 100 * a]
        for k, (b, a) in enumerate(zip(found.unseen_before, found.unseen_after, strict=True), 1)
    ]
    return [
        Table("Tests, all of them heard", head, tests),
        Table("Parts not heard, error over the range of the force", ["part", "before [%]", "calibrated [%]"], parted),
    ]
