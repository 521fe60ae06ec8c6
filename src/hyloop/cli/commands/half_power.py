"""The command `half-power`."""

from pathlib import Path
from typing import Annotated

import typer

from hyloop.cli.commands.options import AllowScripts, Json, Open

__all__ = ["half_power"]


def half_power(
    file: Annotated[Path, typer.Argument(help="Experiment file (TOML); its excitation is replaced.")],
    at: Annotated[
        str,
        typer.Option(
            help="Degree of freedom that is loaded: 6, floor40.ux, floor40.ry (a moment), 'A3.ux=1, B3.ux=1'."
        ),
    ],
    amplitude: Annotated[
        str | None, typer.Option(help="Of the load: '100 kN', at a rotation '5 kN m'. Or give --peak.")
    ] = None,
    frequencies: Annotated[
        str | None,
        typer.Option(
            help="'0.9,1.0,1.1' in Hz, or first:last:number. Default: a wide sweep about the mode, a narrow one about "
            "its peak."
        ),
    ] = None,
    channel: Annotated[
        str | None, typer.Option(help="What is looked at (default: the displacement where the load is).")
    ] = None,
    peak: Annotated[
        str | None, typer.Option(help="Scale the load until a channel peaks near a value: 'damper1.d=25 mm'.")
    ] = None,
    cycles: Annotated[str, typer.Option(help="Of ramp up, constant load and ramp down.")] = "2,10,3",
    as_given: Annotated[
        bool, typer.Option("--as-given", help="Keep these cycles even where the answer is not steady yet.")
    ] = False,
    workers: Annotated[int | None, typer.Option(help="Runs at the same time (default: one on every core).")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Change a value of the file, for instance integrator.dt=0.005. May be repeated."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Recording to write (default: out/NAME-half-power.h5).")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace earlier results instead of renaming them.")] = False,
    allow_scripts: AllowScripts = False,
    open_: Open = False,
    json: Json = False,
) -> None:
    """Find the damping of a mode: harmonic loads at many frequencies, resonance curve, fit and half power.

    Start with:  hyloop examples friction_frame,  then
    hyloop half-power experiments/friction_frame.toml --at 6 --amplitude 100kN

    Every run has ramps and a constant part, which is doubled until the answer is steady. Damping is told twice: by the
    fit of one mode, right for any damping, and by the bandwidth at half power, a first-order formula.
    docs/half_power.md has the rest.
    """
    from hyloop.cli.half_power import run_half_power

    run_half_power(
        file,
        set_ or [],
        at,
        amplitude,
        frequencies,
        channel,
        peak,
        cycles,
        as_given,
        workers,
        out,
        force,
        allow_scripts,
        open_,
        json,
    )
