"""The command `push`: the frame of a file pushed, as a recording, numbers and a page."""

from collections.abc import Sequence
from pathlib import Path

import typer

from hyloop.cli.console import console, open_page, print_json, print_table, progress_bars
from hyloop.cli.results import check_results, keeper
from hyloop.core.writing import check_target, set_aside
from hyloop.record.layout import check_name
from hyloop.report.push_page import drift_text, push_sentence, write_push
from hyloop.report.push_result import capacity
from hyloop.study.push import Pushed, push_file, push_recording

__all__ = ["run_push"]

ENDED_EARLY = 1  # exit code
SHOWN = 12  # parts that yield in the table of the terminal


def run_push(
    file: Path,
    overrides: Sequence[str],
    targets: str | None,
    cycles: str | None,
    repeat: int,
    pattern: str,
    control: str | None,
    steps: int,
    out: Path | None,
    force: bool,
    allow_scripts: bool,
    show: bool,
    json: bool,
) -> None:
    """Push, write a recording and a page, print; the exit code says whether every target was reached."""
    path = out or Path("out") / f"{file.stem}-push.h5"
    check_name(path)
    check_target(path)
    check_results(out, force)
    with progress_bars(not json) as update:
        update("compiling and pushing", 0.0)
        pushed = push_file(
            file,
            overrides,
            targets=targets,
            cyclic=cycles,
            repeat=repeat,
            pattern=pattern,
            control=control,
            steps=steps,
            allow_scripts=allow_scripts,
            progress=lambda part: update("compiling and pushing", part),
        )
    if out is None and (earlier := set_aside(path, ".html")):
        keeper(force)(earlier)
    path.parent.mkdir(parents=True, exist_ok=True)
    push_recording(pushed, file, overrides).save(path, overwrite=True)
    command = " ".join(["hyloop push", str(file), *_words(overrides, targets, cycles, repeat, pattern, control, steps)])
    page = write_push(
        path.with_suffix(".html"),
        pushed.title,
        pushed.curve,
        pushed.weight,
        pushed.building,
        pushed.model,
        pushed.pattern,
        pushed.notes,
        command,
    )
    open_page(page, show)
    if json:
        print_json(_as_dict(pushed, path, page))
    else:
        _show(pushed, path, page)
    if not pushed.curve.complete:
        raise typer.Exit(ENDED_EARLY)


def _words(
    overrides: Sequence[str],
    targets: str | None,
    cycles: str | None,
    repeat: int,
    pattern: str,
    control: str | None,
    steps: int,
) -> list[str]:
    words = [f"--set '{change}'" for change in overrides]
    given = {"--targets": targets, "--cycles": cycles, "--pattern": pattern, "--control": control, "--steps": steps}
    words += [f"{option} '{value}'" for option, value in given.items() if value is not None]
    return [*words, f"--repeat {repeat}"] if cycles else words


def _as_dict(pushed: Pushed, path: Path, page: Path) -> dict:
    curve = pushed.curve
    return {
        "sentence": push_sentence(curve, pushed.weight),
        "control": curve.control,
        "pattern": pushed.pattern,
        "height": curve.height if curve.height > 0.0 else None,
        "weight": pushed.weight,
        **capacity(curve).as_dict(),
        "hinges": [
            {
                "member": h.member,
                "kind": h.kind,
                "place": None if h.place != h.place else h.place,
                "displacement": float(curve.displacement[h.row]),
                "ductility": h.ductility,
            }
            for h in curve.hinges
        ],
        "rows": len(curve.displacement),
        "complete": curve.complete,
        "notes": list(pushed.notes),
        "recording": str(path),
        "report": str(page),
    }


def _show(pushed: Pushed, path: Path, page: Path) -> None:
    curve = pushed.curve
    console.print(push_sentence(curve, pushed.weight), highlight=False)
    rows = []
    for hinge in curve.hinges[:SHOWN]:
        place = "-" if hinge.place != hinge.place else f"{hinge.place:.0%}"
        at = drift_text(curve, abs(float(curve.displacement[hinge.row])))
        rows.append([hinge.member, hinge.kind, place, at, f"{hinge.ductility:.3g}"])
    columns = ["member", "", "along it", "yields at", "ductility"]
    if rows:
        more = f", the first {SHOWN} of {len(curve.hinges)}" if len(curve.hinges) > SHOWN else ""
        print_table(f"What yields{more}", columns, rows, right=columns[2:])
    for note in pushed.notes:
        console.print(f"note: {note}", highlight=False)
    console.print(f"recording: {path}", soft_wrap=True)
    console.print(f"report:    {page}", soft_wrap=True)
