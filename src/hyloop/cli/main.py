"""The command line as a whole.

Exit codes: 0 done, 1 a run or a download failed, or a rehearsal says no-go, or a pushover ends early, 2 bad input, 130
interrupted (128 and the number of the signal).
"""

import os
import signal
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from hyloop import __version__
from hyloop.cli.commands import (
    calibrate,
    data,
    design,
    examples,
    half_power,
    ida,
    identify,
    identify_rig,
    info,
    model,
    peek,
    push,
    recordings,
    rehearse,
    run,
    sensors,
    study,
    sweep,
    train,
    tune,
    watch,
)
from hyloop.cli.console import complain
from hyloop.cli.surroundings import Interrupted, ReaderLeft, interruption, leave_quietly, prepare, unwritable
from hyloop.errors import BadInput, DownloadFailed, HyloopError, RunFailed

__all__ = ["app", "main"]


def _version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"hyloop {__version__}\n")
        raise typer.Exit


class _Commands(TyperGroup):
    """The group of all commands; Typer would turn what is caught here into exit codes without a word."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            raise Interrupted(stop) from stop
        except BrokenPipeError as error:
            raise ReaderLeft from error
        except (RuntimeError, ImportError, SystemError) as error:
            if stop := interruption(error):
                raise Interrupted(stop) from error
            raise
        except EOFError as error:
            raise BadInput(f"a file ends too early ({error}).") from error
        except UnicodeDecodeError as error:
            raise BadInput(f"a file is not the text in UTF-8 that it should be ({error}).") from error


app = typer.Typer(
    name="hyloop",
    cls=_Commands,
    help="Hybrid simulation of structures with device models that learn while the test runs.\n\n"
    "Start with:  hyloop examples friction_frame,  then  hyloop run experiments/friction_frame.toml",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
for command in (
    run.run,
    rehearse.rehearse,
    tune.tune,
    push.push,
    half_power.half_power,
    sweep.sweep,
    design.design,
    ida.ida,
    ida.fragility,
    examples.new,
    examples.examples,
    recordings.show,
    recordings.export,
    recordings.report,
    watch.watch,
    peek.peek,
    sensors.check_sensors,
    identify.identify,
    identify_rig.identify_rig,
    calibrate.calibrate,
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
    prepare()
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except Interrupted as stop:
        complain("interrupted", stop)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(128 + stop.signal)  # LLVM, interrupted in its work, may crash when it is cleared away
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
    except (ReaderLeft, BrokenPipeError):
        leave_quietly()
    except HyloopError as error:
        complain(_heading(error), error)
        sys.exit(2 if isinstance(error, BadInput) else 1)
    except OSError as error:
        text, code = unwritable(error)
        complain("stopped", text)
        sys.exit(code)
    except MemoryError as error:
        complain("refused", f"this needs more memory than there is ({str(error) or 'of any size'}).")
        sys.exit(2)
    except Exception as error:
        # Typer's own complaints about arguments carry a way to show themselves; anything else is ours to see
        show_ = getattr(error, "show", None)
        if show_ is None:
            complain("a defect in hyloop", "please report it with the command and the lines that follow.")
            raise
        show_()
        sys.exit(2)
    if isinstance(code, int) and code:
        sys.exit(code)


def _heading(error: HyloopError) -> str:
    if isinstance(error, DownloadFailed):
        return "the download failed"
    return "refused" if isinstance(error, BadInput) else "the run stopped" if isinstance(error, RunFailed) else "failed"
