"""The command `identify`: words of the command line to laws and tests, and the answer to tables, a page and a file."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from hyloop.cli.console import console, open_page, print_json, print_table, progress_bars
from hyloop.cli.free import beginning_of, law_and_ranges
from hyloop.cli.reading import Reading, page_name, reading, stated_noise
from hyloop.cli.results import keep_page
from hyloop.core import Instance
from hyloop.core.writing import set_aside
from hyloop.devices import LAWS
from hyloop.errors import BadInput, UnknownName
from hyloop.files.law_file import check_law_file, device_line, save_law
from hyloop.files.measurements import Measured, as_tests, read_measured
from hyloop.identification import Fit, MeasuredTest, Profile, Ranking, predict, profile
from hyloop.report.identification_noise import input_noise
from hyloop.report.identification_page import Result, remark, write_identification
from hyloop.report.page import check_page
from hyloop.study.identify import METHODS, identify, rank_laws

__all__ = ["Search", "run_identify"]

_PATIENCE = 2.0  # s without a progress bar
_STARTS = 8, 4  # of one law, and of each of several


class Search(NamedTuple):
    """Options that say how to search, as they are typed."""

    free: str | None
    start: str | None
    fixed: Sequence[str]
    guesses: Sequence[str]
    bounds: Sequence[str]
    method: str
    starts: int | None
    seed: int
    every: int
    profiles: bool | None
    noise: str | None


def _starts(search: Search, several: int) -> int:
    return _STARTS[several] if search.starts is None else search.starts


def run_identify(
    law: str,
    sources: Sequence[str],
    laws: str | None,
    how: Reading,
    search: Search,
    *,
    out: Path | None,
    save: Path | None,
    force: bool,
    show: bool,
    json: bool,
) -> None:
    """Fit, print tables, write a page, save the law."""
    names, sources = _names(law, sources, laws)
    page = out or page_name(sources[0], "identification")
    check_page(page)
    if save is not None:
        check_law_file(save, force)
    if search.method not in METHODS:
        raise UnknownName("method", search.method, METHODS)
    mapped = reading(how)
    measured = [test for source in sources for test in read_measured(source, mapped.channels, mapped.units)]
    with progress_bars(not json) as update:
        result = _fit(names, measured, search, _patient(update))
    saved = save_law(save, result.name, result.fit, result.measured) if save is not None else None
    line = device_line(result.name, result.fit, saved)
    if out is None and (earlier := set_aside(page)):  # of a ranking, perhaps, that took minutes
        keep_page(earlier, force)
    write_identification(page, result, line)
    open_page(page, show)
    if json:
        print_json(_as_dict(result, page, saved))
        return
    _show(result)
    console.print(f"report: {page}", markup=False)
    if saved:
        console.print(f"law:    {saved}", markup=False)
    console.print("in an experiment:", highlight=False)
    console.print(line, markup=False, highlight=False, soft_wrap=True)


def _names(law: str, sources: Sequence[str], laws: str | None) -> tuple[str | list[str], list[str]]:
    """Laws, or "all", and the files."""
    if laws is not None:
        chosen, files = laws, [law, *sources]
    else:
        chosen, files = law, list(sources)
        if chosen not in LAWS and chosen != "all" and "," not in chosen:
            if not files and Path(chosen).is_file():
                raise BadInput(f"which law? Name one before the file, or fit them all: --laws all {chosen}.")
            if chosen == "rig":
                given = " ".join(files) or "test.csv"
                raise BadInput(
                    f"what a rig makes of its command is found by: hyloop identify-rig {given} --command ... "
                    "--measured ..."
                )
            raise UnknownName("law", chosen, [*LAWS, "all"])
    if not files:
        raise BadInput("name at least one file of measurements, or a published test such as brfd:TEST.")
    words = [word.strip() for word in chosen.split(",") if word.strip()]
    for word in words:
        if word not in LAWS and words != ["all"]:
            raise UnknownName("law", word, [*LAWS, "all"])
    return ("all" if words == ["all"] else words), files


def _fit(
    names: str | list[str], measured: list[Measured], search: Search, show: Callable[[str, float], None]
) -> Result:
    """One law as it is asked for, or several ranked with their defaults."""
    if isinstance(names, list) and len(names) == 1:
        return _one(names[0], measured, search, show)
    for option in ("free", "start", "fixed", "guesses", "bounds"):
        if getattr(search, option):
            word = {"fixed": "fix", "guesses": "guess"}.get(option, option)
            raise BadInput(
                f"--{word} is for one law; several laws are fitted with what is free by default. Leave it out."
            )
    if search.method != "least-squares":
        raise BadInput(f"--method {search.method} is for one law; several are fitted by least-squares. Leave it out.")
    settings = {"seed": search.seed, "starts": _starts(search, 1), "progress": show}
    ranking = rank_laws(measured, names, every=search.every, noise=stated_noise(search.noise), **settings)
    best = ranking.best
    shapes = _profiles(best.fit, show) if search.profiles else []
    notes = list(dict.fromkeys(note for one in measured for note in one.notes))
    return Result(best.name, best.fit, measured, shapes, (*notes, *ranking.notes), ranking)


def _one(name: str, measured: list[Measured], search: Search, show: Callable[[str, float], None]) -> Result:
    block = LAWS[name]
    tests, notes = as_tests(measured, block, start=search.start, every=search.every, noise=stated_noise(search.noise))
    if search.free is None:
        law, ranges, state = beginning_of(name, tests, search.fixed, search.guesses, search.bounds)
        notes.append(f"Free by default: {', '.join(ranges)}.")
        loaded = [replace(test, start=state) for test in tests] if state is not None and search.start is None else []
        if loaded and _possible(law, loaded):
            tests = loaded
            notes.append(f"The tests begin loaded: the state {state} gives their first force.")
    else:
        words = [word.strip() for word in search.free.split(",") if word.strip()]
        law, ranges = law_and_ranges(block, words, search.fixed, search.guesses, search.bounds)
    settings = {"starts": _starts(search, 0), "seed": search.seed, "progress": show}
    fitted = identify(law, tests, ranges, search.method, **settings)
    shapes = _profiles(fitted, show) if search.profiles is not False else []
    return Result(name, fitted, measured, shapes, tuple(notes), None)


def _possible(law: Instance, tests: Sequence[MeasuredTest]) -> bool:
    """Whether the law can begin with the first measured forces."""
    try:
        for test in tests:
            predict(law, test)
    except BadInput:
        return False
    return True


def _profiles(fitted: Fit, show: Callable[[str, float], None]) -> list[Profile]:
    shapes = []
    for k, key in enumerate(fitted.estimates):
        shapes.append(profile(fitted, key))
        show("profiles", (k + 1) / len(fitted.estimates))
    return shapes


def _show(result: Result) -> None:
    """Tables for a person."""
    fitted = result.fit
    for warning in result.warnings:
        console.print(f"note: {warning}", markup=False, highlight=False)
    if result.ranking is not None:
        _show_ranking(result.ranking)
    columns = ["parameter", "value", f"{100 * fitted.level:g} % from", "to", "unit"]
    rows = []
    for e in fitted.estimates.values():
        factor, unit = result.shown(e.unit)
        rows.append([e.name, *(_number(factor * x) for x in (e.value, e.low, e.high)), unit])
    print_table(f"Parameters of {result.name}", columns, rows, right=columns[1:4])
    for key in fitted.estimates:
        if text := remark(fitted, result.profiles, key):
            console.print(f"{key}: {text}", markup=False, highlight=False)
    factor, unit = result.shown("N")
    head = ["test", "sampling", f"RMSE, {unit}", "of the range, %"]
    errors = [
        [one.name, one.sampling.text, f"{factor * r:.4g}", f"{100 * n:.2f}"]
        for one, r, n in zip(result.measured, fitted.rmse, fitted.nrmse, strict=True)
    ]
    print_table("Tests", head, errors, right=head[2:])
    for note in (*result.notes, *input_noise(fitted)):
        console.print(f"note: {note}", markup=False)


def _show_ranking(ranking: Ranking) -> None:
    columns = ["law", "free", "unseen, %", "fitted, %", ""]
    rows = [
        [
            c.name,
            c.parameters,
            f"{100 * c.error:.3g}",
            f"{100 * c.seen:.3g}",
            "tie" if c.tie and k else "first" * (k == 0),
        ]
        for k, c in enumerate(ranking.candidates)
    ]
    print_table(
        "Laws: free parameters, error over the range of the force in unseen and in fitted data",
        columns,
        rows,
        right=columns[1:4],
    )
    for name, why in ranking.left_out.items():
        console.print(f"left out: {name} {why}", markup=False, highlight=False)


def _patient(update: Callable[[str, float], None]) -> Callable[[str, float], None]:
    """Show progress only of what takes longer than a moment."""
    begin = perf_counter()

    def show(what: str, part: float) -> None:
        if perf_counter() - begin > _PATIENCE:
            update(what, part)

    return show


def _number(value: float) -> str:
    return "-" if value != value else f"{value:.4g}"


def _as_dict(result: Result, page: Path, saved: Path | None) -> dict[str, Any]:
    """For a machine: numbers in SI units, null where there is none."""

    def number(value: float) -> float | None:
        return None if value != value else value

    fitted = result.fit
    ends = {p.name: [number(p.low), number(p.high)] for p in result.profiles}
    parameters = {
        e.name: {
            "value": e.value,
            "unit": e.unit,
            "std": number(e.std),
            "low": number(e.low),
            "high": number(e.high),
            "profile": ends.get(e.name),
            "observable": e.observable,
            "remark": remark(fitted, result.profiles, e.name),
        }
        for e in fitted.estimates.values()
    }
    tests = [
        {"test": one.name, "source": one.source, "rmse": r, "nrmse": number(n), "dt": one.sampling.dt}
        for one, r, n in zip(result.measured, fitted.rmse, fitted.nrmse, strict=True)
    ]
    found: dict[str, Any] = {
        "law": result.name,
        "method": fitted.method,
        "level": fitted.level,
        "parameters": parameters,
        "tests": tests,
        "converged": fitted.converged,
        "effective_samples": fitted.confidence.samples,
        "notes": [*result.warnings, *result.notes, *input_noise(fitted)],
        "report": str(page),
        "saved": str(saved) if saved else None,
    }
    if (noise := fitted.input_noise) is not None:
        found["input_noise"] = {
            "tests": noise.sizes,
            "allowed_for": noise.matters,
            "left": noise.left,
            "share": {key: number(part) for key, part in noise.share.items()},
        }
    if result.ranking is not None:
        found["ranking"] = [
            {"law": c.name, "parameters": c.parameters, "unseen": c.error, "fitted": c.seen, "tie": c.tie}
            for c in result.ranking.candidates
        ]
        found["left_out"] = result.ranking.left_out
    return found
