"""The command line as a whole. Exit codes: 0 done, 1 a run or a download failed, 2 bad input."""

import sys
from typing import Annotated

import typer

from hyloop import __version__
from hyloop.cli.commands import data, examples, identify, info, model, peek, recordings, run, study, train
from hyloop.cli.console import errors
from hyloop.errors import BadInput, DownloadFailed, RunFailed

__all__ = ["app", "main"]


def _version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"hyloop {__version__}\n")
        raise typer.Exit


app = typer.Typer(
    name="hyloop",
    help="Hybrid simulation of structures with device models that learn while the test runs.\n\n"
    "Start with:  hyloop examples friction_frame,  then  hyloop run experiments/friction_frame.toml",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
for command in (
    run.run,
    examples.new,
    examples.examples,
    recordings.show,
    recordings.export,
    recordings.report,
    peek.peek,
    identify.identify,
    train.train,
    model.model,
    info.records,
    info.laws,
    info.schema,
    info.bench,
    info.doctor,
):
    app.command()(command)
app.add_typer(study.app, name="study")
app.add_typer(data.app, name="data")


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    """What is typed before any command."""


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
