"""The command `half-power`: damping of a mode from harmonic loads, as a table, a recording and a page."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hyloop.cli.console import console, open_page, print_json, print_table, progress_bars
from hyloop.cli.results import check_results, keeper
from hyloop.core.writing import check_target, set_aside
from hyloop.errors import BadInput
from hyloop.files.load import load_experiment
from hyloop.files.units import quantity
from hyloop.record import Recording
from hyloop.record.layout import check_name
from hyloop.report.half_power_page import write_half_power
from hyloop.report.half_power_result import HalfPowerTest
from hyloop.report.provenance import provenance
from hyloop.study.half_power import half_power_test

__all__ = ["run_half_power"]

ROTATIONS = ("rx", "ry", "rz")


def run_half_power(
    file: Path,
    overrides: Sequence[str],
    at: str,
    amplitude: str | None,
    frequencies: str | None,
    channel: str | None,
    peak: str | None,
    cycles: str,
    as_given: bool,
    workers: int | None,
    out: Path | None,
    force: bool,
    allow_scripts: bool,
    show: bool,
    json: bool,
) -> None:
    """Test, write a recording and a page, print."""
    path = out or Path("out") / f"{file.stem}-half-power.h5"
    check_name(path)
    check_target(path)
    check_results(out, force)
    loads = _loads(at)
    unit = "N m" if next(iter(loads)).rpartition(".")[2] in ROTATIONS else "N"
    options = {
        "amplitude": None if amplitude is None else quantity(amplitude, unit, "--amplitude"),
        "frequencies": None if frequencies is None else _frequencies(frequencies),
        "channel": channel,
        "peak": None if peak is None else _peak(peak),
        "cycles": _cycles(cycles),
        "as_given": as_given,
        "workers": workers,
        "allow_scripts": allow_scripts,
    }
    experiment = load_experiment(file, list(overrides))
    with progress_bars(not json) as update:
        update("compiling and sweeping", 0.0)
        found = half_power_test(
            experiment, loads, progress=lambda part: update("compiling and sweeping", part), **options
        )
    if out is None and (earlier := set_aside(path, ".html")):
        keeper(force)(earlier)
    path.parent.mkdir(parents=True, exist_ok=True)
    _recording(found, file, overrides).save(path, overwrite=True)
    given = {
        "--at": at,
        "--amplitude": amplitude,
        "--frequencies": frequencies,
        "--channel": channel,
        "--peak": peak,
        "--cycles": cycles,
    }
    words = [f"{option} '{value}'" for option, value in given.items() if value is not None]
    words = [*(f"--set '{change}'" for change in overrides), *words, *(["--as-given"] if as_given else [])]
    page = write_half_power(path.with_suffix(".html"), found, " ".join(["hyloop half-power", str(file), *words]))
    open_page(page, show)
    if json:
        print_json({**found.as_dict(), "recording": str(path), "report": str(page)})
        return
    console.print(found.sentence(), highlight=False)
    factor, shown = found.shown
    columns = ["Hz", f"amplitude, {shown}", "phase, °", "cycles held"]
    rows = [
        [f"{f:.4g}", f"{factor * abs(z):.4g}", f"{np.degrees(np.angle(z)):.0f}", int(n)]
        for f, z, n in zip(found.frequency, found.amplitude, found.cycles, strict=True)
    ]
    print_table(f"Steady amplitude of {found.channel}", columns, rows, right=columns)
    console.print(f"damping at the amplitude of the peak, from the phase: {found.at_peak:.3%}", highlight=False)
    for name, value in found.at.items():
        console.print(f"load at {name}: {value:.4g} {unit}", highlight=False)
    if found.peak is not None:
        console.print(f"peak of {found.peak[0]}: {found.peak[2]:.4g}, wanted {found.peak[1]:.4g}", highlight=False)
    for note in found.notes:
        console.print(f"note: {note}", highlight=False)
    console.print(f"recording: {path}", soft_wrap=True)
    console.print(f"report:    {page}", soft_wrap=True)


def _loads(text: str) -> dict[str, float]:
    """Degrees of freedom and factors: ``floor3.ux``, or ``A3.ux=1, B3.ux=-1``."""
    loads = {}
    for word in text.split(","):
        name, equals, value = (part.strip() for part in word.partition("="))
        if not name:
            raise BadInput(f"--at: '{text}' must name degrees of freedom, such as floor3.ux or 'A3.ux=1, B3.ux=-1'.")
        loads[name] = quantity(value, "-", f"--at: {name}") if equals else 1.0
    return loads


def _frequencies(text: str) -> list[float]:
    """A list with commas, or ``first:last:number``."""
    if ":" in text:
        words = text.split(":")
        if len(words) != 3 or not words[2].strip().isdigit():
            raise BadInput(f"--frequencies: '{text}'; write first:last:number, as in '0.2 Hz:0.3 Hz:21', or a list.")
        first, last = (quantity(word.strip(), "Hz", "--frequencies") for word in words[:2])
        return np.linspace(first, last, int(words[2])).tolist()
    return [quantity(word.strip(), "Hz", "--frequencies") for word in text.split(",")]


def _peak(text: str) -> tuple[str, float]:
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not name:
        raise BadInput(f"--peak: '{text}'; write a channel and its peak, as in 'damper1.d=25 mm'.")
    units = {"f": "N", "v": "m/s", "a": "m/s2"}
    unit = units.get(name.rpartition(".")[2], {"v": "m/s", "a": "m/s2"}.get(name.partition(".")[0], "m"))
    return name, quantity(value, unit, f"--peak: {name}")


def _cycles(text: str) -> tuple[int, int, int]:
    words = [word.strip() for word in text.split(",")]
    if len(words) != 3 or not all(word.isdigit() for word in words):
        raise BadInput(f"--cycles: '{text}'; three whole numbers: ramp up, constant, ramp down, as in '2,10,3'.")
    return int(words[0]), int(words[1]), int(words[2])


def _recording(found: HalfPowerTest, source: Path, overrides: Sequence[str]) -> Recording:
    """The points as a recording; its time counts them."""
    columns = {
        "frequency": ("Hz", found.frequency),
        "amplitude": (found.unit, np.abs(found.amplitude)),
        "phase": ("rad", np.angle(found.amplitude)),
        "fit": (found.unit, found.fitted(found.frequency)),
        "cycles": ("-", found.cycles.astype(float)),
    }
    units, values = zip(*columns.values(), strict=True)
    told = {key: value for key, value in found.as_dict().items() if key != "points"}
    about = provenance(source, None) | {"title": found.title, "notes": list(found.notes), "half_power": told}
    if overrides:
        about["overrides"] = list(overrides)
    return Recording(
        np.arange(len(found.frequency), dtype=float), np.column_stack(values), tuple(columns), units, about
    )
