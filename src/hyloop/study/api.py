"""`hyloop.run` and `hyloop.identify`: experiment files and files of a laboratory, from Python or a notebook."""

import json
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from hyloop.errors import BadInput
from hyloop.files.law_file import check_law_file, save_law
from hyloop.files.load import load_experiment
from hyloop.files.measurements import Channels, read_measured
from hyloop.identification import Ranking
from hyloop.record import Recording
from hyloop.study.identify import rank_laws
from hyloop.study.run import run_experiment, run_in_memory

__all__ = ["identify", "run"]


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
        experiment = experiment.without_devices()
    if out is None:
        return run_in_memory(experiment, source=Path(file), overrides=words, allow_scripts=allow_scripts)
    if Path(out).exists() and not force:
        raise BadInput(f"{out} exists. Give another name, or force=True to replace it.")
    return run_experiment(
        experiment, Path(out), source=Path(file), overrides=words, overwrite=force, allow_scripts=allow_scripts
    )


def identify(
    sources: str | PathLike | Sequence[str | PathLike],
    laws: str | Sequence[str] = "all",
    *,
    t: str | None = None,
    d: str | None = None,
    v: str | None = None,
    a: str | None = None,
    f: str | None = None,
    site: str | None = None,
    units: Mapping[str, str] | None = None,
    rate: float | None = None,
    every: int = 1,
    noise: Mapping[str, float] | None = None,
    starts: int = 4,
    seed: int = 0,
    save: str | PathLike | None = None,
    force: bool = False,
) -> Ranking:
    """Fit laws to tests of a laboratory and rank them; the same as ``hyloop identify --laws all FILE``.

    Parameters
    ----------
    sources : path, or several
        Files of measurements, or published tests by name; docs/lab_data.md says what can be read.
    laws : str or sequence of str
        "all", or names of laws.
    t, d, v, a, f : str, optional
        Headings, or numbers, of the columns of time, deformation, velocity, acceleration and force.
    site : str, optional
        Site of a recording whose channels are taken.
    units : mapping of column to unit, optional
        Where a file does not state them.
    rate : float, optional
        Samples in a second, of a file without times.
    every, starts, seed : int
        Use every n-th sample only; starts of the search, and their seed.
    noise : mapping of str to float, optional
        Standard deviation of the noise of d, v or a in SI units, where it is known; 0 says exact. Default: estimated.
    save : path, optional
        Write the best law as a file for ``device = { file = "law.toml" }``.
    force : bool
        Replace that file if it exists.

    Returns
    -------
    Ranking
        ``.best.fit`` has parameters with intervals; a notebook shows all laws.
    """
    files = [sources] if isinstance(sources, (str, PathLike)) else list(sources)
    if save is not None:
        check_law_file(Path(save), force)
    channels = Channels(site=site, t=t, d=d, v=v, a=a, f=f, rate=rate)
    measured = [test for source in files for test in read_measured(str(source), channels, units)]
    ranking = rank_laws(measured, laws, every=every, noise=noise, starts=starts, seed=seed)
    if save is not None:
        save_law(Path(save), ranking.best.name, ranking.best.fit, measured)
    return ranking


def _word(value: Any) -> str:
    """As it would be written on the command line."""
    return value if isinstance(value, str) else _toml(value)


def _toml(value: Any) -> str:
    """A value as TOML; tables within one line."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(str(key))} = {_toml(part)}" for key, part in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    try:
        return json.dumps(value.item() if hasattr(value, "item") else value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        raise BadInput(f"changes: {value!r} cannot stand in a file; give numbers, texts, lists or tables.") from None
