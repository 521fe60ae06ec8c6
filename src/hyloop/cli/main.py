"""The commands. Exit codes: 0 done, 1 a run or a download failed, 2 bad input."""

import sys
from pathlib import Path
from typing import Annotated, cast

import typer

from hyloop.cli import data, info
from hyloop.cli import doctor as doctor_
from hyloop.cli.console import console, errors, print_json, print_table, progress_bars
from hyloop.errors import BadInput, DownloadFailed, RunFailed

__all__ = ["app", "main"]

app = typer.Typer(
    name="hyloop",
    help="Hybrid simulation of structures with device models that learn while the test runs.\n\n"
    "Start with:  hyloop run experiments/friction_frame.toml",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
study_app = typer.Typer(help="Papers reproduced, claim by claim.", no_args_is_help=True)
app.add_typer(study_app, name="study")
app.add_typer(data.app, name="data")

Json = Annotated[bool, typer.Option("--json", help="Print JSON for a machine instead of a table.")]


@app.command()
def run(
    file: Annotated[Path, typer.Argument(help="Experiment file (TOML).")],
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Change a value, for instance sites.damper1.device.Fc_pos=20kN. May be repeated."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Recording to write (default: as in the file, else out/).")] = None,
    report: Annotated[bool, typer.Option(help="Write a report page beside the recording.")] = True,
    force: Annotated[bool, typer.Option("--force", help="Replace the recording named by --out if it exists.")] = False,
    json: Json = False,
) -> None:
    """Run an experiment file: record it, and write a page with figures."""
    from hyloop.report.run_page import write_report
    from hyloop.study.run import run_file

    with progress_bars(not json) as update:
        update("compiling and running", 0.0)
        recording = run_file(
            file,
            tuple(set_ or ()),
            out,
            overwrite=force or out is None,
            progress=lambda part: update("compiling and running", part),
        )
    page, timing = None, recording.attributes["timing"]
    ticks, pace = timing["controller ticks"], timing["time per tick, recording included [µs]"]
    path = cast(Path, recording.path)
    if report:
        title = str(recording.attributes.get("title") or file.stem)
        page = write_report(path.with_suffix(".html"), {file.stem: recording}, title=title, notes=recording.notes)
    if json:
        print_json(
            {
                "recording": str(path),
                "report": str(page) if page else None,
                "ticks": ticks,
                "microseconds_per_tick": pace,
                "notes": list(recording.notes),
            }
        )
        return
    info.show_sites(recording)
    for note in recording.notes:
        console.print(f"note: {note}")
    console.print(f"{ticks} controller ticks, {pace:.2f} µs each, recording included")
    console.print(f"recording: {path}")
    if page:
        console.print(f"report:    {page}")


@study_app.command("list")
def study_list(json: Json = False) -> None:
    """List the studies."""
    from hyloop.study.studies import describe, find_studies

    rows = [[name, describe(folder).title] for name, folder in find_studies().items()]
    if json:
        print_json([{"name": name, "title": title} for name, title in rows])
    else:
        print_table("Studies", ["name", "title"], rows)


@study_app.command("run")
def study_run(
    name: Annotated[str, typer.Argument(help="A name from `hyloop study list`.")],
    quick: Annotated[bool, typer.Option("--quick", help="A shorter version that ends within a minute.")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for the results (default: out/NAME).")] = None,
    json: Json = False,
) -> None:
    """Run a study: claims.json, a table paper / ours / verdict, and a report page."""
    from hyloop.study.studies import run_study

    with progress_bars(not json) as update:
        result = run_study(name, out or Path("out") / name, quick=quick, progress=update)
    if json:
        print_json([verdict.model_dump() for verdict in result.verdicts])
        return
    info.show_verdicts(result.verdicts)
    for note in result.notes:
        console.print(f"note: {note}")
    console.print(f"claims: {result.claims}")
    console.print(f"report: {result.report}")


@study_app.command("table")
def study_table(
    every: Annotated[bool, typer.Option("--all", help="Every claim, not the headline ones alone.")] = False,
) -> None:
    """Print the claims of all committed full runs as a Markdown table."""
    from hyloop.study.claims import markdown, read_verdicts
    from hyloop.study.studies import find_studies

    committed = [folder / "claims.json" for folder in find_studies().values()]
    verdicts = [verdict for path in committed if path.is_file() for verdict in read_verdicts(path)]
    sys.stdout.write(markdown(verdicts, every=every))


@app.command()
def show(file: Annotated[Path, typer.Argument(help="A recording (.h5).")], json: Json = False) -> None:
    """Show the channels of a recording."""
    info.show_recording(file, json)


@app.command()
def export(
    file: Annotated[Path, typer.Argument(help="A recording (.h5).")],
    target: Annotated[Path, typer.Argument(help="File to write: .csv, .mat or .parquet.")],
) -> None:
    """Write a recording in another format."""
    from hyloop.record import Recording
    from hyloop.record.export import check_export

    check_export(target)
    Recording.load(file).export(target)
    console.print(f"wrote {target}")


@app.command()
def report(
    files: Annotated[list[Path], typer.Argument(help="One or more recordings; several are drawn over each other.")],
    out: Annotated[Path, typer.Option(help="Page to write.")] = Path("out/report.html"),
    title: Annotated[str, typer.Option(help="Title of the page.")] = "Recordings",
    figures: Annotated[Path | None, typer.Option(help="Also save PNG and PDF figures into this folder.")] = None,
) -> None:
    """Write a page with figures from recordings."""
    from hyloop.record import Recording
    from hyloop.report.figures import save_figures
    from hyloop.report.page import check_folder, check_page
    from hyloop.report.run_page import write_report

    check_page(out)
    if figures:
        check_folder(figures, "figures are written")
    recordings = {file.stem: Recording.load(file) for file in files}
    console.print(f"report: {write_report(out, recordings, title=title)}")
    if figures:
        for path in save_figures(figures, recordings):
            console.print(f"figure: {path}")


@app.command()
def identify(
    law: Annotated[str, typer.Argument(help="A law from `hyloop laws`.")],
    recordings: Annotated[
        list[str],
        typer.Argument(
            help="Recordings (.h5), CSV files with units in the header (t, d (mm), f (kN)), or published tests by name "
            "(brfd:TEST, mr_damper:TEST; see `hyloop data list`)."
        ),
    ],
    free: Annotated[str, typer.Option(help="Parameters to find, such as k,alpha.")],
    site: Annotated[
        str | None, typer.Option(help="Site of the recording; its channels d, v, a and f are read.")
    ] = None,
    d: Annotated[str | None, typer.Option(help="Channel of the deformation.")] = None,
    v: Annotated[str | None, typer.Option(help="Channel of the velocity.")] = None,
    a: Annotated[str | None, typer.Option(help="Channel of the acceleration.")] = None,
    f: Annotated[str | None, typer.Option(help="Channel of the measured force.")] = None,
    start: Annotated[
        str | None, typer.Option(help="State whose initial value is found from the first measured force.")
    ] = None,
    fix: Annotated[list[str] | None, typer.Option(help="Hold a parameter, as in k=20kN/mm. May be repeated.")] = None,
    guess: Annotated[list[str] | None, typer.Option(help="Start the search at a value, as in k=20kN/mm.")] = None,
    bounds: Annotated[list[str] | None, typer.Option(help="Bounds of a free parameter, as in n=1..10.")] = None,
    method: Annotated[str, typer.Option(help="least-squares, particle-swarm or gradient.")] = "least-squares",
    starts: Annotated[int, typer.Option(help="Starts of the search.")] = 8,
    seed: Annotated[int, typer.Option(help="Seed of the starts.")] = 0,
    every: Annotated[int, typer.Option(help="Use every n-th sample only.")] = 1,
    units: Annotated[
        str | None, typer.Option(help="Units that the header of a CSV file lacks, as in d=mm,f=kN.")
    ] = None,
    profiles: Annotated[bool, typer.Option(help="Profile likelihood of every parameter.")] = True,
    out: Annotated[Path, typer.Option(help="Page to write.")] = Path("out/identification.html"),
    json: Json = False,
) -> None:
    """Find the parameters of a law from recorded tests, with intervals and a report page."""
    from hyloop.cli.identify import run_identify
    from hyloop.files.measurements import Channels

    run_identify(
        law,
        recordings,
        free=free,
        channels=Channels(site, d, v, a, f),
        start=start,
        fixed=fix or [],
        guesses=guess or [],
        bounds=bounds or [],
        method=method,
        starts=starts,
        seed=seed,
        every=every,
        units=units,
        profiles=profiles,
        out=out,
        json=json,
    )


@app.command()
def train(
    file: Annotated[
        Path, typer.Argument(help="Training file (TOML), such as experiments/training/banded_damper_lstm.toml.")
    ],
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="Change a value, such as training.epochs=10. May be repeated.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Network to write (default: as in the file, else out/).")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the last checkpoint.")] = False,
    report: Annotated[bool, typer.Option(help="Write a report page beside the network.")] = True,
    json: Json = False,
) -> None:
    """Train a network on recorded tests: network with its card, table of agreement, and a page."""
    from hyloop.cli.train import run_train

    run_train(file, set_ or [], out, resume, report, json)


@app.command()
def model(
    file: Annotated[
        Path, typer.Argument(help="File of a frame (TOML), or an experiment file whose structure is a frame.")
    ],
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help='Change a value, such as sections.column.depth="45 cm". May be repeated.'),
    ] = None,
    modes: Annotated[int, typer.Option(help="Number of modes to show.")] = 10,
    out: Annotated[Path | None, typer.Option(help="Page to write (default: out/NAME-model.html).")] = None,
    report: Annotated[bool, typer.Option(help="Write a page with a picture of the model.")] = True,
    json: Json = False,
) -> None:
    """Show a frame before it runs: checks, modes, masses, and a page with a picture.

    A frame is a plane or space frame given by nodes, materials, sections, members and floors. Two to copy:
    experiments/models/rc_frame.toml (a regular plane frame with fibre columns) and
    experiments/models/braced_building.toml (a braced building in space with rigid floors).

    An experiment uses one by kind = "frame" and file = "models/rc_frame.toml" in its structure table, or has the same
    tables there. The model is refused, with the node or member named, if it is a mechanism, comes apart, buckles
    under its loads or cannot carry them. docs/frames.md explains the tables.
    """
    from hyloop.cli.model import run_model

    run_model(file, set_ or [], modes, out, report, json)


@app.command()
def records(
    folder: Annotated[Path | None, typer.Argument(help="Folder of ground motions (default: the data folder).")] = None,
    json: Json = False,
) -> None:
    """List the ground motions in a folder."""
    info.show_records(folder, json)


@app.command()
def laws(
    name: Annotated[str | None, typer.Argument(help="Show one law with its equation and parameters.")] = None,
    json: Json = False,
) -> None:
    """Catalogue of device laws."""
    info.show_laws(name, json)


@app.command()
def schema() -> None:
    """Print the JSON Schema of experiment files, for editors."""
    from hyloop.files.load import json_schema

    sys.stdout.write(json_schema() + "\n")


@app.command()
def bench(
    names: Annotated[list[str] | None, typer.Argument(help="Benchmarks to run (default: all).")] = None,
    json: Json = False,
) -> None:
    """Measure speed side by side with other engines (from a source checkout)."""
    info.run_benchmarks(names or [], json)


@app.command()
def doctor(json: Json = False) -> None:
    """Check this machine: cores, threads, clock, real-time permissions, data, versions."""
    findings = doctor_.examine()
    if json:
        print_json([finding._asdict() for finding in findings])
        return
    print_table("This machine", ["what", "found", "advice"], findings)


def main() -> None:
    """Run the command line and turn every expected error into a message and an exit code."""
    try:
        app(standalone_mode=False)
    except BadInput as error:
        errors.print(f"[bold red]refused:[/] {_plain(error)}", highlight=False)
        sys.exit(2)
    except DownloadFailed as error:
        errors.print(f"[bold red]the download failed:[/] {_plain(error)}", highlight=False)
        sys.exit(1)
    except RunFailed as error:
        errors.print(f"[bold red]the run stopped:[/] {_plain(error)}", highlight=False)
        sys.exit(1)
    except typer.Exit as stop:
        sys.exit(stop.exit_code)
    except typer.Abort:
        sys.exit(130)
    except Exception as error:
        # Typer's own complaints about arguments carry a way to show themselves; anything else is ours to see
        show_ = getattr(error, "show", None)
        if show_ is None:
            raise
        show_()
        sys.exit(2)


def _plain(error: Exception) -> str:
    """A message in which brackets are not taken for markup."""
    return str(error).replace("[", r"\[")
