"""`hyloop.run`: an experiment file from Python or a notebook."""

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from hyloop.errors import BadInput
from hyloop.files.load import load_experiment
from hyloop.record import Recording
from hyloop.study.run import run_experiment, run_in_memory, without_devices

__all__ = ["run"]


def run(
    file: str | PathLike,
    changes: Mapping[str, Any] | None = None,
    *,
    out: str | PathLike | None = None,
    force: bool = False,
    bare: bool = False,
    allow_scripts: bool = False,
) -> Recording:
    """Run an experiment file and return its recording.

    Parameters
    ----------
    file : path
        Experiment file (TOML).
    changes : mapping, optional
        Values to change, by their place in the file: ``{"sites.damper1.device.Fc_pos": "20 kN"}``.
    out : path, optional
        Recording to write while it runs (``.h5``). By default nothing is written.
    force : bool
        Replace a recording that exists; otherwise it is refused.
    bare : bool
        Run the structure without its devices.
    allow_scripts : bool
        Run the OpenSeesPy script that the structure may name; otherwise such a file is refused.

    Raises
    ------
    BadInput
        If the file, or what it describes, cannot be run.
    RunFailed
        If the response is not finite or a limit is passed; it carries what was recorded until then.

    Examples
    --------
    >>> import hyloop
    >>> result = hyloop.run("experiments/friction_frame.toml", {"excitation.duration": "5 s"})
    >>> result["drift.1"].shape
    (5121,)
    """
    words = tuple(f"{key}={_word(value)}" for key, value in (changes or {}).items())
    experiment = load_experiment(Path(file), list(words))
    if bare:
        experiment = without_devices(experiment)
    if out is None:
        return run_in_memory(experiment, source=Path(file), overrides=words, allow_scripts=allow_scripts)
    if Path(out).exists() and not force:
        raise BadInput(f"{out} exists. Give another name, or force=True to replace it.")
    return run_experiment(
        experiment, Path(out), source=Path(file), overrides=words, overwrite=force, allow_scripts=allow_scripts
    )


def _word(value: Any) -> str:
    """As it would be written on the command line."""
    return value if isinstance(value, str) else json.dumps(value)
