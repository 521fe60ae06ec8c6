"""The command `identify`: words of the command line to a law, tests and bounds, and the answer to a table."""

from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from hyloop.cli.console import console, print_json, print_table, progress_bars
from hyloop.core import Block, Instance
from hyloop.errors import BadInput, UnknownName
from hyloop.files.laws import LAWS
from hyloop.files.measurements import Channels, read_tests
from hyloop.files.units import quantity
from hyloop.identification import Fit, Profile, profile
from hyloop.report.identification_page import remark, write_identification
from hyloop.report.page import check_page
from hyloop.study.identify import METHODS, identify

__all__ = ["run_identify"]

_PATIENCE = 2.0  # s without a progress bar


def run_identify(
    name: str,
    recordings: Sequence[str],
    *,
    free: str,
    channels: Channels,
    start: str | None,
    fixed: Sequence[str],
    guesses: Sequence[str],
    bounds: Sequence[str],
    method: str,
    starts: int,
    seed: int,
    every: int,
    units: str | None,
    profiles: bool,
    out: Path,
    json: bool,
) -> None:
    """Fit, print a table, write a page."""
    check_page(out)
    if name not in LAWS:
        raise UnknownName("law", name, LAWS)
    if method not in METHODS:
        raise UnknownName("method", method, METHODS)
    block = LAWS[name]
    names = [word.strip() for word in free.split(",") if word.strip()]
    law, ranges = _law(block, names, fixed, guesses, bounds)
    stated = _units(units or "")
    tests, notes = [], []
    for source in recordings:
        more, remarks = read_tests(source, block, channels, start=start, every=every, units=stated)
        tests += more
        notes += [remark for remark in remarks if remark not in notes]
    with progress_bars(not json) as update:
        show = _patient(update)
        fitted = identify(law, tests, ranges, method, starts=starts, seed=seed, progress=show)
        shapes: list[Profile] = []
        for k, key in enumerate(fitted.estimates if profiles else ()):
            shapes.append(profile(fitted, key))
            show("profiles", (k + 1) / len(fitted.estimates))
    page = write_identification(out, fitted, shapes, notes)
    if json:
        print_json(_as_dict(fitted, shapes, page))
        return
    columns = ["parameter", "value", f"{100 * fitted.level:g} % from", "to", "unit"]
    rows = [[e.name, _shown(e.value), _shown(e.low), _shown(e.high), e.unit] for e in fitted.estimates.values()]
    print_table(f"Parameters of {name}", columns, rows, right=columns[1:4])
    for key in fitted.estimates:
        if text := remark(fitted, shapes, key):
            console.print(f"{key}: {text}", markup=False, highlight=False)
    errors = [[t.name, f"{r:.4g}", f"{100 * n:.2f}"] for t, r, n in zip(tests, fitted.rmse, fitted.nrmse, strict=True)]
    print_table("Tests", ["test", "RMSE, N", "of the range, %"], errors, right=["RMSE, N", "of the range, %"])
    for note in notes:
        console.print(f"note: {note}", markup=False)
    console.print(f"report: {page}", markup=False)


def _law(
    block: Block, names: Sequence[str], fixed: Sequence[str], guesses: Sequence[str], bounds: Sequence[str]
) -> tuple[Instance, dict[str, Any]]:
    """The law with what is fixed and where the search starts; bounds of the free parameters, None where not given."""
    for key in names:
        if key not in block.params:
            raise UnknownName("parameter", key, block.params, where=f"--free of {block.name}")
    held, begin, limits = (
        _pairs(block, words, option) for option, words in (("--fix", fixed), ("--guess", guesses), ("--bounds", bounds))
    )
    for option, given, free in (("--fix", held, False), ("--guess", begin, True), ("--bounds", limits, True)):
        for key in given:
            if (key in names) is not free:
                raise BadInput(
                    f"{option} {key}: it is {'not free' if free else 'free'}; "
                    f"{'name it in --free too' if free else 'leave it out of --free'}."
                )
    values = {key: _number(block, key, text, "--fix") for key, text in held.items()}
    values |= {key: _number(block, key, text, "--guess") for key, text in begin.items()}
    ranges: dict[str, Any] = dict.fromkeys(names)
    for key, text in limits.items():
        ends = text.split("..")
        if len(ends) != 2:
            raise BadInput(f"--bounds {key}={text}: write the lower and the upper bound as in {key}=1..10.")
        ranges[key] = tuple(_number(block, key, end, "--bounds") for end in ends)
    return block(**values), ranges


def _units(text: str) -> dict[str, str]:
    """Column and unit from ``d=mm,f=kN``."""
    found = {}
    for word in (word.strip() for word in text.split(",") if word.strip()):
        name, _, unit = (part.strip() for part in word.partition("="))
        if not (name and unit):
            raise BadInput(f"--units {word}: write it as in --units d=mm,f=kN.")
        found[name] = unit
    return found


def _pairs(block: Block, words: Sequence[str], option: str) -> dict[str, str]:
    found = {}
    for word in words:
        key, sign, text = word.partition("=")
        if not sign:
            raise BadInput(f"{option} {word}: write it as in {option} {next(iter(block.params))}=1.")
        if key.strip() not in block.params:
            raise UnknownName("parameter", key.strip(), block.params, where=option)
        found[key.strip()] = text.strip()
    return found


def _number(block: Block, key: str, text: str, option: str) -> float:
    return quantity(text, block.params[key].unit, f"{option} {key}")


def _patient(update: Callable[[str, float], None]) -> Callable[[str, float], None]:
    """Show progress only of what takes longer than a moment."""
    begin = perf_counter()

    def show(what: str, part: float) -> None:
        if perf_counter() - begin > _PATIENCE:
            update(what, part)

    return show


def _shown(value: float) -> str:
    return "-" if value != value else f"{value:.4g}"


def _as_dict(fitted: Fit, profiles: Sequence[Profile], page: Path) -> dict[str, Any]:
    """For a machine: numbers, null where there is none."""

    def number(value: float) -> float | None:
        return None if value != value else value

    ends = {p.name: [number(p.low), number(p.high)] for p in profiles}
    parameters = {
        e.name: {
            "value": e.value,
            "unit": e.unit,
            "std": number(e.std),
            "low": number(e.low),
            "high": number(e.high),
            "profile": ends.get(e.name),
            "observable": e.observable,
            "remark": remark(fitted, profiles, e.name),
        }
        for e in fitted.estimates.values()
    }
    tests = [
        {"test": t.name, "rmse": r, "nrmse": number(n)}
        for t, r, n in zip(fitted.tests, fitted.rmse, fitted.nrmse, strict=True)
    ]
    return {
        "law": fitted.law.block.name,
        "method": fitted.method,
        "level": fitted.level,
        "parameters": parameters,
        "tests": tests,
        "converged": fitted.converged,
        "effective_samples": fitted.confidence.samples,
        "report": str(page),
    }
