"""Run an experiment: step in chunks, record while running, show progress."""

import warnings
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

from hyloop.core.holding import holding
from hyloop.core.writing import check_target, set_aside, sweep
from hyloop.errors import HyloopWarning, RunFailed
from hyloop.files.load import load_experiment
from hyloop.files.schema import Experiment
from hyloop.loop import Loop
from hyloop.record import PICTURE, RESUME, Recorder, Recording, picture_path, resume_path
from hyloop.record.layout import check_name
from hyloop.record.room import check_room
from hyloop.report.provenance import provenance
from hyloop.study.build import Built, build
from hyloop.study.comfort import described_comfort
from hyloop.study.control import described_controllers
from hyloop.study.following import described_models
from hyloop.study.pictures import PictureWatch
from hyloop.study.pieces import budget_notes, clock_of, on_the_clock, straight_on, timing_attributes
from hyloop.study.resume import AGAIN, EVERY, Keeper, Point, built_digest
from hyloop.study.tested import LawRanges, without
from hyloop.study.trained import outside_notes
from hyloop.study.trust import described_trust, fallback_notes
from hyloop.study.watchdog import Watchdog, needs_watchdog

__all__ = ["record_built", "run_experiment", "run_file", "run_in_memory"]

Progress = Callable[[float], None]
Keep = Callable[[Path], None]
_TOLD = 12  # interlocks, the first ones to trip: all that an outcome has room for
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
        return record_built(built, path, source, overrides, overwrite, keep, paced, progress, keep_every, point, dog)


def record_built(
    built: Built,
    path: Path,
    source: Path | None = None,
    overrides: tuple[str, ...] = (),
    overwrite: bool = True,
    keep: Keep | None = None,
    paced: bool = False,
    progress: Progress | None = None,
    keep_every: float | None = None,
    point: Point | None = None,
    dog: Watchdog | None = None,
) -> Recording:
    """Run what is built, writing a recording while it runs; see `run_experiment`. It goes on from `point`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    attributes = _about(built, source, overrides)
    with holding(path, _TAKEN):
        _record(built, path, attributes, overwrite, keep, paced, progress, keep_every, point, dog)
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


def _record(
    built: Built,
    path: Path,
    attributes: dict[str, Any],
    overwrite: bool,
    keep: Keep | None,
    paced: bool,
    progress: Progress | None,
    keep_every: float | None,
    point: Point | None,
    dog: Watchdog | None,
) -> None:
    every, loop, rows = built.experiment.recording.every, built.loop, built.excitation
    per_step = loop.substeps if every == "tick" else 1
    wanted, derived = built.recorded()
    tested = LawRanges(built.experiment, loop, wanted)
    picture = PictureWatch(built, wanted, per_step)
    needed = [*wanted, *(derived.sources if derived else ()), *tested.extra, *picture.extra]
    settings: dict[str, Any] = {"record": list(dict.fromkeys(needed)), "every": every}

    def chosen(piece: Recording) -> Recording:
        tested.see(piece)
        picture.see(piece)
        if derived:
            return derived.joined(piece, wanted, per_step)
        return without(piece, [*tested.extra, *picture.extra])

    loop.start(rows[0])
    first = chosen(loop.advance(rows[:0], with_present=True, **settings))
    attributes |= {**first.attributes, "building": built.building}
    whole = 1 + (len(rows) - 1) * per_step
    check_room(path, whole * (1 + len(first.names)) + picture.numbers)
    watches: dict[str, Any] = {"tested": tested, "picture": picture, **({"derived": derived} if derived else {})}
    for part in (path, picture_path(path), resume_path(path)):
        sweep(part)
    keeper = Keeper(built, path, first.names, attributes, watches, keep_every)
    begin, there = (0, first.data[:0]) if point is None else (point.step, point.recording.data)
    if point is not None:
        attributes |= keeper.go_on(point)
        keep, overwrite = None, True
    if dog:
        settings["shared"] = {}
    clock = clock_of(loop, rows, built.experiment.pace, begin, keep_every, **settings) if paced else None
    if dog and clock and clock.board:
        dog.watch(clock.board, path, built_digest(built, clock.names), every)
    if keep is not None and (earlier := set_aside(path, ".html", PICTURE, RESUME)):
        keep(earlier)
    elif overwrite and point is None:
        keeper.forget()
    attributes |= picture.attributes
    with (
        Recorder(
            path, first.names, first.units, loop.dt / per_step, attributes, overwrite=overwrite, begin=there
        ) as recorder,
        picture.recording(path, attributes, overwrite or keep is not None),
    ):
        if point is None:
            recorder.write(first.data)
        start = perf_counter()  # everything is compiled by now
        pieces = on_the_clock(clock, recorder.rows, whole) if clock else straight_on(loop, rows, begin, **settings)
        try:
            for piece, done in pieces:
                recorder.write(chosen(piece).data)
                keeper.look(recorder, clock)
                if dog:
                    dog.look()
                if progress:
                    progress(done)
        except RunFailed as failure:
            recorder.write(chosen(failure.result).data)
            recorder.outcome |= {"fault": str(failure), "reason": failure.reason}
            if log := failure.result.attributes.get("interlocks"):
                recorder.outcome["interlocks"] = log[:_TOLD]
            if failure.reason not in AGAIN:
                keeper.forget()
            failure.result = replace(failure.result, path=path)
            raise
        except KeyboardInterrupt as stop:
            recorder.outcome["fault"] = "interrupted"
            stop.args = (*stop.args, f"{path} holds what was recorded until then, and is marked as not complete")
            if resume_path(path).exists():
                stop.args = (*stop.args, "the same command with --resume goes on")
            raise
        elapsed = perf_counter() - start
        over = budget_notes(clock.timing, built.experiment.pace) if clock else []
        if outside := [*outside_notes(loop), *fallback_notes(loop), *tested.notes(), *over]:
            recorder.outcome["notes"] = [*built.notes, *outside]
        recorder.outcome["timing"] = _timing(loop, (len(rows) - 1 - begin) * loop.substeps, elapsed)
        if clock:
            recorder.outcome["paced"] = timing_attributes(clock.timing, built.experiment.pace, begin)
    keeper.forget()


def _timing(loop: Loop, ticks: int, elapsed: float) -> dict[str, Any]:
    return {
        "controller ticks": ticks,
        "time of the run [s]": round(elapsed, 6),
        "time per tick, recording included [µs]": round(1e6 * elapsed / max(ticks, 1), 3),
        "simulated time over time of the run": round(ticks * loop.dt / loop.substeps / max(elapsed, 1e-9), 1),
    }
