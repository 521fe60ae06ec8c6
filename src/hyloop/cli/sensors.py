"""The command `check-sensors`: a recorded test to sentences, a table and a page."""

from pathlib import Path
from typing import Any

from hyloop.cli.console import console, open_page, print_json, print_table
from hyloop.cli.reading import Reading, page_name, reading
from hyloop.errors import BadInput
from hyloop.files.measurements import read_measured
from hyloop.identification.sensors import SensorCheck, Told, check_sensors
from hyloop.report.page import check_page
from hyloop.report.sensors_page import IN_PRINCIPLE, findings, told_rows, write_sensor_check

__all__ = ["run_check_sensors"]


def run_check_sensors(source: str, how: Reading, out: Path | None, show: bool, json: bool) -> None:
    """Check, print, write a page."""
    page = out or page_name(source, "sensors")
    check_page(page)
    mapped = reading(how)
    tests = read_measured(source, mapped.channels, mapped.units)
    if len(tests) > 1:
        raise BadInput(f"{source}: {', '.join(test.name for test in tests[:8])}: name one of these tests.")
    measured = tests[0]
    if "d" not in measured.signals:
        raise BadInput(f"{source}: there is no deformation to compare the force with. Name its column with --d.")
    try:
        check = check_sensors(measured.sampling.dt, measured.signals["d"], measured.signals["f"])
    except BadInput as error:
        error.args = (f"{source}: {error}",)
        raise
    write_sensor_check(page, measured, check)
    open_page(page, show)
    if json:
        print_json(_as_dict(check, source, page))
        return
    for sentence in findings(check):
        console.print(sentence, markup=False, highlight=False)
    columns = ["", "value", "95 % from", "to", "unit"]
    rows = [[name, *_cells(told)] for name, told in told_rows(check)]
    if check.delay.known:
        samples = [f"{number / check.dt:.3g}" for number in (check.delay.value, check.delay.low, check.delay.high)]
        rows.insert(3, ["", *samples, "samples"])
    print_table(f"{source}: {measured.sampling.text}", columns, rows, right=columns[1:4])
    for sentence in IN_PRINCIPLE:
        console.print(f"note: {sentence}", markup=False, highlight=False)
    for note in measured.notes:
        console.print(f"note: {note}", markup=False, highlight=False)
    console.print(f"report: {page}", markup=False)


def _cells(told: Told) -> list[str]:
    if not told.known:
        return ["-", "-", "-", told.unit]
    return [*(f"{number:.4g}" for number in (told.value, told.low, told.high)), told.unit]


def _as_dict(check: SensorCheck, source: str, page: Path) -> dict[str, Any]:
    """For a machine: numbers in SI units, null where the record does not tell one."""

    def entry(told: Told) -> dict[str, Any]:
        numbers = {key: getattr(told, key) if told.known else None for key in ("value", "low", "high")}
        return numbers | {"unit": told.unit, "fault": told.fault}

    names = ("offset", "drift", "delay", "noise_f", "offset_d", "noise_d")
    return {
        "source": source,
        "faults": check.faults,
        "sentences": findings(check),
        **{name: entry(getattr(check, name)) for name in names},
        "delay_samples": check.delay.value / check.dt if check.delay.known else None,
        "dt": check.dt,
        "rest": check.rest * check.dt,
        "unexplained": check.error,
        "not_told_apart": list(IN_PRINCIPLE),
        "report": str(page),
    }
