"""Run an experiment: from a file, or what was loaded of one, into a recording or into memory."""

import warnings
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from hyloop.core.holding import holding
from hyloop.core.writing import check_target
from hyloop.errors import HyloopWarning, RunFailed
from hyloop.files.load import load_experiment
from hyloop.files.schema import Experiment
from hyloop.record import Recording
from hyloop.record.layout import check_name
from hyloop.report.provenance import provenance
from hyloop.study.build import Built, build
from hyloop.study.comfort import described_comfort
from hyloop.study.control import described_controllers
from hyloop.study.following import described_models
from hyloop.study.recorded import Keep, Manner, Progress, Show, record
from hyloop.study.resume import EVERY, Point
from hyloop.study.tested import LawRanges, without
from hyloop.study.trained import outside_notes
from hyloop.study.trust import described_trust, fallback_notes
from hyloop.study.watchdog import Watchdog, needs_watchdog

__all__ = ["Show", "record_built", "run_experiment", "run_file", "run_in_memory"]

_TAKEN = "another run is recording into it"


def run_file(
    path: Path,
    overrides: tuple[str, ...] = (),
    out: Path | None = None,
    *,
    overwrite: bool = True,
    allow_scripts: bool = False,
    keep: Keep | None = None,
    bare: bool = False,
    paced: bool = False,
    resume: bool = False,
    keep_every: float | None = EVERY,
    progress: Progress | None = None,
    show: Show | None = None,
) -> Recording:
    """Run an experiment file into `out`, or into the recording it names; see `run_experiment`.

    With `bare` the structure runs without its devices, into a recording whose name ends in -bare.
    """
    experiment = load_experiment(path, list(overrides))
    target = out or Path(experiment.recording.file or Path("out") / f"{path.stem}.h5")
    if bare:
        experiment, target = experiment.without_devices(), target.with_stem(f"{target.stem}-bare")
    return run_experiment(
        experiment,
        target,
        source=path,
        overrides=overrides,
        overwrite=overwrite,
        keep=keep,
        allow_scripts=allow_scripts,
        paced=paced,
        resume=resume,
        keep_every=keep_every,
        progress=progress,
        show=show,
    )


def run_experiment(
    experiment: Experiment,
    path: Path,
    *,
    source: Path | None = None,
    overrides: tuple[str, ...] = (),
    overwrite: bool = True,
    allow_scripts: bool = False,
    keep: Keep | None = None,
    paced: bool = False,
    resume: bool = False,
    keep_every: float | None = EVERY,
    progress: Progress | None = None,
    show: Show | None = None,
) -> Recording:
    """Build and run an experiment, writing a recording while it runs; returns it as the file has it.

    Parameters
    ----------
    path : Path
        Recording to write; its folder is made. Nothing is written if the experiment is refused.
    overwrite : bool
        Replace a recording that exists; otherwise it is refused.
    allow_scripts : bool
        Run the OpenSeesPy script that the structure may name; otherwise such an experiment is refused.
    keep : callable, optional
        Rename a recording that exists, and its page, instead of replacing it; called with its new name.
    paced : bool
        Run on the clock, each tick at its time, as the table `pace` says.
    resume : bool
        Go on with the recording of a run that was killed or interrupted; refused if it was another run.
    keep_every : float, optional
        Wall time in s after which it is kept where the run stands, time and again, so that it can go on; None: never.
    progress : callable, optional
        Called with the fraction done.
    show : callable, optional
        Called with the board of a paced run and its recording, before the first tick; what it returns is entered then,
        and left when the recording is closed.

    Raises
    ------
    RunFailed
        If the response is not finite or a limit is passed; the recording holds everything until then.
    """
    check_name(path)
    check_target(path)
    if path.parent.is_dir():
        with holding(path, _TAKEN):  # refuse now rather than after everything is compiled
            pass
    point = Point.load(path) if resume else None
    with ExitStack() as aside:
        dog = None
        if paced and needs_watchdog(experiment):
            if source is None:
                warnings.warn("no watchdog: it would need the file of this experiment", HyloopWarning, stacklevel=2)
            else:
                dog = aside.enter_context(Watchdog(source, overrides, allow_scripts))
        built = build(experiment, allow_scripts=allow_scripts)
        manner = Manner(overwrite, keep, paced, keep_every, progress, show, point, dog)
        return record_built(built, path, source, overrides, manner)


def record_built(
    built: Built, path: Path, source: Path | None = None, overrides: tuple[str, ...] = (), manner: Manner | None = None
) -> Recording:
    """Run what is built, writing a recording while it runs; without a manner given it cannot be gone on with."""
    path.parent.mkdir(parents=True, exist_ok=True)
    attributes = _about(built, source, overrides)
    with holding(path, _TAKEN):
        record(built, path, attributes, manner or Manner(keep_every=None))
        return Recording.load(path)


def run_in_memory(
    experiment: Experiment, *, source: Path | None = None, overrides: tuple[str, ...] = (), allow_scripts: bool = False
) -> Recording:
    """Build and run an experiment without writing anything; see `run_experiment`."""
    built = build(experiment, allow_scripts=allow_scripts)
    attributes = _about(built, source, overrides)
    tested = LawRanges(experiment, built.loop, built.recorded()[0])
    try:
        result = built.run(also=tested.extra)
    except RunFailed as failure:
        recorded = without(failure.result, tested.extra)
        failure.result = replace(recorded, attributes={**attributes, **recorded.attributes})
        raise
    tested.see(result)
    result = without(result, tested.extra)
    if outside := [*outside_notes(built.loop), *fallback_notes(built.loop), *tested.notes()]:
        attributes["notes"] = [*built.notes, *outside]
    return replace(result, attributes={**attributes, **result.attributes, "building": built.building})


def _about(built: Built, source: Path | None, overrides: tuple[str, ...]) -> dict[str, Any]:
    """What a recording says of the experiment it comes from."""
    experiment = built.experiment
    attributes = provenance(source, experiment.seed) | {"title": experiment.title, "notes": list(built.notes)}
    attributes |= {"periods": built.periods(), "excitation": built.excited_by} | built.sources
    if source is not None:
        attributes["experiment_text"] = source.read_text(encoding="utf-8-sig")
    if overrides:
        attributes["overrides"] = list(overrides)
    if laws := _laws(experiment):
        attributes["laws"] = laws
    if built.estimates:
        names = built.recorded()[0]
        attributes["estimates"] = {name: list(pair) for name, pair in built.estimates.items() if name in names}
    if experiment.controllers:
        attributes["controllers"] = described_controllers(experiment, built.loop.sites)
    if experiment.recording.sections:
        attributes["sections"] = {name: spec.member for name, spec in experiment.recording.sections.items()}
    if comfort := described_comfort(experiment, attributes["periods"]):
        attributes["comfort"] = comfort
    if models := described_models(experiment, built.loop.sites):
        attributes["models"] = models
    if monitors := described_trust(experiment, built.loop.sites):
        attributes["trust"] = monitors
    return attributes


def _laws(experiment: Experiment) -> dict[str, Any]:
    """Where laws that were identified come from, by the table that names them."""
    devices: dict[str, Any] = {f"blocks.{name}": spec.block for name, spec in experiment.blocks.items()}
    for name, site in experiment.sites.items():
        devices |= {f"sites.{name}": site.device, f"sites.{name}.model": getattr(site.model, "device", None)}
        devices |= {f"sites.{name}.transfer.{role}": spec for role, spec in site.transfer.items()}
    return {name: spec.file.origin for name, spec in devices.items() if spec is not None and spec.file is not None}
