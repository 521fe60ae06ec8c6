"""The command `identify-rig`: a record of a rig to numbers, a page and a file."""

from pathlib import Path
from typing import Any, NamedTuple

from hyloop.cli.console import console, open_page, print_json, print_table
from hyloop.cli.reading import Reading, page_name, reading
from hyloop.cli.results import keep_page
from hyloop.core.writing import set_aside
from hyloop.errors import BadInput
from hyloop.files.rig_file import check_rig_file, rig_lines, save_rig
from hyloop.files.rig_records import RigRecord, read_rig_record
from hyloop.files.units import quantity
from hyloop.identification.rig import Interval, Rig, Structure, identify_rig
from hyloop.report.page import check_page
from hyloop.report.rig_page import RigResult, rig_rows, rig_sentence, rig_warnings, write_rig

__all__ = ["RigOptions", "run_identify_rig"]


class RigOptions(NamedTuple):
    """Options that say what to identify, as they are typed."""

    command: str | None
    measured: str | None
    band: str | None
    hold: str | None
    poles: int | None
    zeros: int
    dead_time: bool


def run_identify_rig(
    source: str,
    how: Reading,
    options: RigOptions,
    *,
    out: Path | None,
    save: Path | None,
    force: bool,
    show: bool,
    json: bool,
) -> None:
    """Identify, print, write a page, save the rig."""
    page = out or page_name(source, "rig")
    check_page(page)
    if save is not None:
        check_rig_file(save, force)
    mapped = reading(how)
    band, hold, structure = _band(options.band), _hold(options.hold), _structure(options)
    record = read_rig_record(source, options.command, options.measured, mapped.channels, mapped.units)
    try:
        rig = identify_rig(
            record.command, record.measured, record.sampling.dt, band=band, hold=hold, structure=structure
        )
    except BadInput as error:
        error.args = (f"{source}: {error}",)
        raise
    saved = save_rig(save, rig, record) if save is not None else None
    lines = rig_lines(rig, saved)
    if out is None and (earlier := set_aside(page)):
        keep_page(earlier, force)
    write_rig(page, RigResult(rig, record), lines)
    open_page(page, show)
    if json:
        print_json(_as_dict(rig, record, page, saved))
        return
    _show(rig, record)
    console.print(f"report: {page}", markup=False)
    if saved:
        console.print(f"rig:    {saved}", markup=False)
    console.print("in an experiment:", highlight=False)
    console.print(lines, markup=False, highlight=False, soft_wrap=True)


def _band(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    first, dots, last = text.partition("..")
    if not dots:
        raise BadInput(f'--band {text}: write it as in --band "0.1..20 Hz".')
    unit = last.strip().lstrip("0123456789.eE+- ")
    low = first if any(letter.isalpha() for letter in first.replace("e", "")) else f"{first.strip()} {unit}".strip()
    return quantity(low, "Hz", "--band"), quantity(last.strip(), "Hz", "--band")


def _hold(text: str | None) -> float:
    return 0.0 if text is None else quantity(float(text) if text == "0" else text, "s", "--hold")


def _structure(options: RigOptions) -> Structure | None:
    if options.poles is None:
        if options.zeros:
            raise BadInput("--zeros is for --poles; without them both are chosen. Leave it out, or give --poles too.")
        return None
    return Structure(options.poles, options.zeros, options.dead_time)


def _show(rig: Rig, record: RigRecord) -> None:
    for warning in rig_warnings(rig):
        console.print(f"note: {warning}", markup=False, highlight=False)
    console.print(rig_sentence(rig), markup=False, highlight=False)
    columns = ["", "value", f"{100 * rig.level:g} % from", "to", "unit"]
    rows = []
    for name, told in rig_rows(rig):
        factor, unit = {"s": (1e3, "ms"), "m": (1e6, "µm")}.get(told.unit, (1.0, ""))
        none = told.low == told.high == 0.0
        ends = ["-", "-"] if none else [f"{factor * end:.5g}" for end in (told.low, told.high)]
        rows.append([name, f"{factor * told.value:.5g}", *ends, unit])
    rows.append(
        ["gain has fallen by 3 dB at", "beyond" if rig.half_power != rig.half_power else f"{rig.half_power:.4g}"]
    )
    rows[-1] += ["", "", "Hz"]
    print_table(f"{record.source}: {record.sampling.text}; {rig.kind}", columns, rows, right=columns[1:4])
    for note in record.notes:
        console.print(f"note: {note}", markup=False, highlight=False)


def _as_dict(rig: Rig, record: RigRecord, page: Path, saved: Path | None) -> dict[str, Any]:
    """For a machine: numbers in SI units, null where there is none."""

    def entry(told: Interval) -> dict[str, Any]:
        return {"value": told.value, "low": told.low, "high": told.high, "unit": told.unit}

    return {
        "source": record.source,
        "sentence": rig_sentence(rig),
        "gain": entry(rig.gain),
        "delay": entry(rig.delay),
        "dead_time": entry(rig.dead_time) if rig.kind.dead_time else None,
        "noise": entry(rig.noise),
        "poles": rig.kind.poles,
        "zeros": rig.kind.zeros,
        "numerator": rig.numerator[::-1].tolist(),
        "denominator": rig.denominator[::-1].tolist(),
        "band": list(rig.band),
        "trusted": list(rig.trusted),
        "half_power": None if rig.half_power != rig.half_power else rig.half_power,
        "error": rig.error,
        "misfit": rig.misfit,
        "level": rig.level,
        "dt": rig.dt,
        "notes": [*rig_warnings(rig), *record.notes],
        "report": str(page),
        "saved": str(saved) if saved else None,
    }
