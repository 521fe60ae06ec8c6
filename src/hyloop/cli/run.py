"""The command `run`: an experiment file to a recording, tables and a page."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from hyloop.cli.console import console, open_page, print_json, print_table, progress_bars
from hyloop.cli.live import Wish, live_page
from hyloop.cli.results import check_results, keeper
from hyloop.errors import BadInput, RunFailed
from hyloop.record import Recording
from hyloop.report.pace import pace_sentences
from hyloop.report.response import Response, respond
from hyloop.report.run_page import write_report
from hyloop.report.trust import trust_sentence, watched
from hyloop.study.run import run_file

__all__ = ["run_run", "show_response"]

BARE = "bare"  # the structure without its devices


def run_run(
    file: Path,
    overrides: Sequence[str],
    out: Path | None,
    against: str | None,
    report: bool,
    force: bool,
    paced: bool,
    live: Wish | None,
    resume: bool,
    allow_scripts: bool,
    show: bool,
    json: bool,
) -> None:
    """Run, print tables, write a page; with `live` another page shows it from its first tick on."""
    if resume and force:
        raise BadInput("--resume goes on with the recording that is there, --force replaces it. Give one of them.")
    if not resume:
        check_results(out, force)
    with live_page(live) as page:
        options: dict[str, Any] = {"keep": keeper(force), "allow_scripts": allow_scripts}
        seen: dict[str, Any] = {"paced": paced or page is not None, "show": page and page.show, "resume": resume}
        _run_and_tell(file, tuple(overrides), out, against, report, options, seen, show and page is None, json)


def _run_and_tell(
    file: Path,
    words: tuple[str, ...],
    out: Path | None,
    against: str | None,
    report: bool,
    options: dict[str, Any],
    seen: dict[str, Any],
    show: bool,
    json: bool,
) -> None:
    other = Recording.load(against) if against not in (None, BARE) else None
    missing = ""
    with progress_bars(not json) as update:

        def bar(name: str) -> Callable[[float], None]:
            update(name, 0.0)
            return lambda part: update(name, part)

        doing = "compiling, then running on the clock" if seen["paced"] else "compiling and running"
        try:
            recording = run_file(file, words, out, **options, **seen, progress=bar(doing))
        except RunFailed as failure:
            if report and failure.result.attributes.get("interlocks"):
                _leave_page(failure, file)
            raise
        if against == BARE:
            other, missing = _bare(file, words, out, options, bar("without devices"))
    path, page = cast(Path, recording.path), None
    if report:
        shown = {file.stem: recording}
        if other is not None:
            shown[_other_name(against)] = other
        title, notes = str(recording.attributes.get("title") or file.stem), [*recording.notes, missing]
        try:
            page = write_report(path.with_suffix(".html"), shown, title=title, notes=[note for note in notes if note])
        except KeyboardInterrupt as stop:
            stop.args = (*stop.args, f"{path} is complete, but has no page; `hyloop report` makes one")
            raise
    open_page(page, show)
    timing = recording.attributes["timing"]
    ticks, pace = timing["controller ticks"], timing["time per tick, recording included [µs]"]
    if json:
        print_json(
            {
                "recording": str(path),
                "report": str(page) if page else None,
                "ticks": ticks,
                "microseconds_per_tick": pace,
                "notes": list(recording.notes),
                **respond(recording).as_dict(),
                "against": respond(other).as_dict() if other is not None else None,
            }
        )
        return
    show_response(respond(recording), None if other is None else respond(other), _other_name(against))
    for one in watched(recording):
        console.print(trust_sentence(one), highlight=False)
    for note in [*recording.notes, *([missing] if missing else [])]:
        console.print(f"note: {note}")
    if steps := recording.attributes.get("resumed"):
        console.print(f"gone on from step {', '.join(map(str, steps))}", highlight=False)
    if kept := recording.attributes.get("paced"):
        for sentence in pace_sentences(kept):
            console.print(sentence, highlight=False)
    else:
        console.print(f"{ticks} controller ticks, {pace:.2f} µs each, recording included")
    console.print(f"recording: {path}", soft_wrap=True)
    if page:
        console.print(f"report:    {page}", soft_wrap=True)


def _leave_page(failure: RunFailed, file: Path) -> None:
    """Write a page about a run that its interlocks have ended, and say where it is."""
    path = failure.result.path
    if path is None:  # nothing was written
        return
    recording = Recording.load(path)
    page = path.with_suffix(".html")
    write_report(page, {file.stem: recording}, title=str(recording.attributes.get("title") or file.stem))
    failure.args = (f"{failure} Recording: {path}, page: {page}",)


def _other_name(against: str | None) -> str:
    return "without devices" if against == BARE else Path(str(against)).stem


def _bare(
    file: Path, words: tuple[str, ...], out: Path | None, options: dict[str, Any], progress: Callable[[float], None]
) -> tuple[Recording | None, str]:
    """The run without devices, or why there is none: a structure may need its devices to stand."""
    try:
        return run_file(file, words, out, **options, bare=True, progress=progress), ""
    except RunFailed as failure:
        return None, f"the run without devices stopped, and is not shown: {failure}"


def show_response(response: Response, other: Response | None = None, name: str = "") -> None:
    """Tables of stories and devices; with the drifts of the run it is compared with."""
    rows = []
    for k, story in enumerate(response.stories):
        row = [story.story, f"{1e3 * story.drift:.2f}"]
        row.append("-" if story.drift_ratio is None else f"{100 * story.drift_ratio:.3f}")
        row += [f"{1e3 * story.residual:.2f}", "-" if story.acceleration is None else f"{story.acceleration:.2f}"]
        if other is not None:
            row.append(f"{1e3 * other.stories[k].drift:.2f}" if k < len(other.stories) else "-")
        rows.append(row)
    columns = ["story", "drift, mm", "ratio, %", "at the end, mm", "acceleration, m/s2"]
    columns += [f"drift {name}, mm"] if other is not None else []
    if rows:
        print_table("Stories: peaks, and drift at the end", columns, rows, right=columns)
    rows = []
    for device in response.devices:
        taken = "-" if device.energy is None else f"{1e-3 * device.energy:.3f}"
        peaks = f"{1e3 * device.deformation:.2f}", f"{1e-3 * device.force:.2f}", taken
        whole = device.energy_of_all
        total = ("-", "-") if whole is None else (f"{device.count:g}", f"{1e-3 * whole:.3f}")
        rows.append([device.site, *peaks, *total])
    columns = ["site", "d, mm", "force, kN", "energy of one, kJ", "devices", "of all, kJ"]
    if rows:
        print_table("Devices: peaks and energy", columns, rows, right=columns[1:])
    if shears := response.base_shears:
        parts = (f"{1e-3 * shear:.4g} kN{f' along {along}' if along else ''}" for along, shear in shears.items())
        console.print(f"largest base shear: {', '.join(parts)}", highlight=False)
    if energies := response.energies:
        parts = ", ".join(f"{name} {1e-3 * value:.3g}" for name, value in energies.items() if name != "input")
        console.print(f"energy put in: {1e-3 * energies['input']:.4g} kJ; at the end: {parts}", highlight=False)
