"""Commands that show something: recordings, records, laws, verdicts, benchmarks."""

import sys
from pathlib import Path
from typing import Any

from rich.text import Text

from hyloop.cli.console import console, print_json, print_table, progress_bars
from hyloop.cli.transfer_laws import described, show_transfer, show_transfers, transfer_dicts
from hyloop.core import Block
from hyloop.devices import LAWS
from hyloop.devices.specimens import SPECIMENS
from hyloop.errors import BadInput, UnknownName
from hyloop.files.laws import device_text
from hyloop.hazards import RecordInfo
from hyloop.record import Recording
from hyloop.study.claims import Verdict

__all__ = ["run_benchmarks", "show_laws", "show_recording", "show_records", "show_verdicts"]


def show_recording(path: Path, json: bool) -> None:
    """Channel table of a recording."""
    recording = Recording.load(path)
    rows = recording.table()
    if json:
        print_json(
            {
                "file": str(path),
                "complete": recording.complete,
                "rows": len(recording.time),
                "attributes": recording.attributes,
                "channels": [row._asdict() for row in rows],
            }
        )
        return
    end = recording.time[-1] if len(recording.time) else 0.0
    state = "complete" if recording.complete else "not finished: the run was cut off, or is still going on"
    cells = [[r.name, r.unit, f"{r.min:.4g}", f"{r.max:.4g}", f"{r.rms:.4g}"] for r in rows]
    print_table(
        f"{path}: {len(recording.time)} rows to {end:g} s, {state}",
        ["channel", "unit", "min", "max", "rms"],
        cells,
        right=["min", "max", "rms"],
    )


def show_records(folder: Path | None, json: bool) -> None:
    """Table of the ground motions in a folder."""
    from hyloop.data import data_folder
    from hyloop.hazards import index_records

    chosen = folder or data_folder()
    if chosen is None:
        raise BadInput("no folder of records: name one, or set HYLOOP_DATA to the folder that holds them.")
    found = index_records(chosen)
    if json:
        print_json(
            [
                {
                    "name": r.name,
                    "component": r.component or None,
                    "file": str(r.path),
                    "npts": r.npts,
                    "dt": r.dt,
                    "pga": r.pga,
                }
                for r in found
            ]
        )
        return
    rows = [
        [
            f"{r.name}, channel {r.component}" if r.component else r.name,
            r.npts,
            f"{r.dt:g}",
            f"{r.duration:.1f}",
            f"{r.pga / 9.80665:.3f}",
        ]
        for r in found
    ]
    columns = ["record", "samples", "dt, s", "duration, s", "PGA, g"]
    print_table(f"{len(rows)} records in {chosen}", columns, rows, right=columns[1:])


def _record(info: RecordInfo) -> str:
    return f"{info.name}, channel {info.component}" if info.component else info.name


def show_laws(name: str | None, json: bool) -> None:
    """Catalogue of the laws, or one law with its equation, parameters and reference."""
    if name is not None and name in described():
        show_transfer(name, json)
        return
    if name is not None and name not in LAWS:
        raise UnknownName("law", name, [*LAWS, *described()])
    chosen = {name: LAWS[name]} if name else LAWS
    if json:
        print_json([*(_as_dict(key, block) for key, block in chosen.items()), *([] if name else transfer_dicts())])
        return
    if name is None:
        rows = [[k, *_signals(b), b.doc.splitlines()[0], ", ".join(b.params)] for k, b in LAWS.items()]
        title = 'Device laws, for files: device = { law = "NAME" }; a site gives d, v, a. hyloop laws NAME shows one'
        print_table(title, ["law", "reads", "gives", "what it is", "parameters"], rows)
        show_transfers()
        return
    block = LAWS[name]
    console.print(block.doc, markup=False, highlight=False)
    rows = [[key, f"{p.default:g}", p.unit, f"{p.low:g} to {p.high:g}", p.about] for key, p in block.params.items()]
    print_table(f"Parameters of {name}", ["parameter", "default", "unit", "bounds", "about"], rows, right=["default"])
    console.print(f"Reference: {block.reference}", markup=False, highlight=False)
    console.print(f"In a file: {device_text(name)}", markup=False, highlight=False, soft_wrap=True)
    if name in SPECIMENS:
        console.print("draw = true instead draws the parameters at random, as for a specimen", highlight=False)


def _signals(block: Block) -> tuple[str, str]:
    return ", ".join(block.inputs), ", ".join(block.outputs)


def _as_dict(name: str, block: Block) -> dict[str, Any]:
    params = {key: {"default": p.default, "unit": p.unit, "about": p.about} for key, p in block.params.items()}
    return {
        "law": name,
        "role": "device",
        "about": block.doc,
        "inputs": dict(block.inputs),
        "outputs": dict(block.outputs),
        "params": params,
        "file": device_text(name),
        "can_be_drawn": name in SPECIMENS,
        "pure": block.pure,
        "reference": block.reference,
    }


def show_verdicts(verdicts: list[Verdict]) -> None:
    """Table paper / our goal / ours / verdict."""
    style = {"beaten": "green", "met": "green", "goal met": "green", "missed": "red", "goal missed": "red"}
    rows = [
        [
            v.claim,
            *("-" if number is None else f"{number:.4g}" for number in (v.paper, v.bar)),
            v.value,
            v.unit,
            Text(v.verdict, style.get(v.verdict, "")),
        ]
        for v in verdicts
    ]
    columns = ["claim", "paper", "our goal", "ours", "unit", "verdict"]
    print_table("Claims", columns, rows, right=["paper", "our goal", "ours"])


def run_benchmarks(names: list[str], json: bool) -> None:
    """Run benchmarks from the checkout."""
    root = Path(__file__).resolve().parents[3]
    if not (root / "benchmarks" / "catalogue.py").is_file():
        raise BadInput("benchmarks come with the source checkout: clone it and call `make bench` there.")
    sys.path.insert(0, str(root))
    from benchmarks.catalogue import BENCHMARKS

    for name in names:
        if name not in BENCHMARKS:
            raise UnknownName("benchmark", name, BENCHMARKS)
    results = []
    with progress_bars(not json) as update:
        for name in names or BENCHMARKS:
            update(name, 0.0)
            results.append(BENCHMARKS[name]())
            update(name, 1.0)
    if json:
        print_json(results)
        return
    rows = []
    for result in results:
        numbers = [f"{result[key]:.3g}" for key in ("median", "p99", "p999")]
        for k, (peer, value) in enumerate((result["peers"] or {"-": None}).items()):
            own = [result["name"], *numbers, result["unit"]] if k == 0 else [""] * 5
            rows.append([*own, peer, *([f"{value['median']:.3g}", f"{value['ratio']:.1f}"] if value else ["", ""])])
    columns = ["benchmark", "median", "p99", "p99.9", "unit", "peer", "its median", "ratio"]
    print_table("ratio = time of the peer / time of hyloop", columns, rows, right=["median", "p99", "p99.9", "ratio"])
    for line in (line for result in results for line in result.get("lines", ())):
        console.print(line, highlight=False, soft_wrap=True)
