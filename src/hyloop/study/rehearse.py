"""Rehearse a planned test: run its virtual version many times with what is not known drawn at random.

Every rehearsal is the experiment as its file has it, with its transfer system, but for what is uncertain and for the
noise of its sensors. Beside it stands the same with an ideal rig: where the specimen itself is uncertain, with the
specimen that was drawn, so that what differs is the work of the rig. Compiled runs hold no lock, so that threads keep
all cores busy and everything is compiled once.
"""

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from fnmatch import fnmatchcase
from typing import NamedTuple

import numpy as np

from hyloop.errors import BadInput, OutOfBounds, RunFailed, UnknownName
from hyloop.files.recording import Recording
from hyloop.files.rehearsal import Rehearsal
from hyloop.files.schema import Experiment
from hyloop.loop import Loop
from hyloop.record import Recording as Result
from hyloop.report.rehearsal_result import Demand, Rehearsed
from hyloop.study.build import Built, build
from hyloop.study.ideal import without_rigs
from hyloop.study.rig_demands import Measured, Rig, measure, rigs
from hyloop.study.stability import critical_delays, margins
from hyloop.study.uncertainty import Draw, draw, uncertain_parts

__all__ = ["rehearse"]

LIMITS = ("limit", "drift")  # reasons of a stop that are limits of the file, not growth of the response


class _Outcome(NamedTuple):
    """One run: the answer over time, its peak with an ideal rig, what every rig was asked for, and why it stopped."""

    answer: np.ndarray
    ideal: float
    sites: dict[str, Measured]
    stopped: str = ""
    unstable: bool = False


def rehearse(
    experiment: Experiment,
    *,
    runs: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    allow_scripts: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Rehearsed:
    """Rehearse an experiment; the same seed gives the same answer, whatever the number of workers.

    Parameters
    ----------
    runs, seed : int, optional
        In place of `rehearsal.runs` and `seed` of the experiment. The excitation stays that of the experiment.
    workers : int, optional
        Runs at the same time; by default one on every core.
    progress : callable, optional
        Called with the fraction done.

    Raises
    ------
    BadInput
        If there is no rig to rehearse, or the tables do not go together.
    """
    plan, seed = experiment.rehearsal, experiment.seed if seed is None else seed
    count = plan.runs if runs is None else runs
    _check_numbers(runs=(count, 1), workers=(workers, 1), seed=(seed, 0))
    whole = experiment.model_copy(update={"recording": Recording()})
    _check_rigs(whole)
    built = build(whole, allow_scripts=allow_scripts)
    ideal = build(without_rigs(whole), allow_scripts=allow_scripts)
    parts, found = uncertain_parts(built.loop, plan), rigs(built.loop, plan)
    perfect = _ideal_run(ideal)
    channel = _answer(plan.answer, perfect)

    peak = float(np.abs(perfect[channel]).max())

    def one(run: int | None) -> _Outcome:
        drawn = Draw({}, {}) if run is None else draw(built.loop, parts, seed, run)
        return _rehearsal(built, found, channel, drawn, _ideal_peak(ideal, drawn, channel, peak))

    nominal = one(None)  # everything is compiled by now
    outcomes = _all(one, count, workers, progress)
    critical, remarks = critical_delays(built.loop, [rig.site for rig in found])
    expected = perfect[channel]
    return Rehearsed(
        title=experiment.title,
        source=experiment.source,
        runs=count,
        seed=seed,
        demands=_demands(found, outcomes, critical, plan),
        stopped=tuple(outcome.stopped for outcome in outcomes),
        unstable=np.array([outcome.unstable for outcome in outcomes]),
        may_fail=plan.may_fail,
        critical=critical,
        remarks=(*built.notes, *remarks),
        answer=channel,
        answer_unit=perfect.units[list(perfect.names).index(channel)],
        time=perfect.time,
        ideal=expected,
        nominal=nominal.answer,
        answers=np.array([outcome.answer for outcome in outcomes]),
        uncertain=tuple((part.channel, part.value, part.text) for part in parts),
    )


def _all(
    one: Callable[[int], _Outcome], count: int, workers: int | None, progress: Callable[[float], None] | None
) -> list[_Outcome]:
    """The outcomes of all runs, in their order."""
    with ThreadPoolExecutor(workers or os.cpu_count()) as pool:
        futures = [pool.submit(one, run) for run in range(count)]
        try:
            for done, future in enumerate(as_completed(futures), 1):
                future.result()
                if progress:
                    progress(done / count)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return [future.result() for future in futures]


def _check_numbers(**given: tuple[int | None, int]) -> None:
    for name, (value, least) in given.items():
        if value is not None and value < least:
            raise OutOfBounds(f"{name} = {value!r} must be at least {least}.")


def _check_rigs(experiment: Experiment) -> None:
    if not any(site.physical and "actuator" in site.transfer for site in experiment.sites.values()):
        raise BadInput(
            f"{experiment.source or 'this experiment'}: no physical site has an actuator, so there is no rig to "
            "rehearse. Give the site of the specimen physical = true and a table transfer.actuator; docs/transfer.md "
            "shows one."
        )


def _ideal_run(ideal: Built) -> Result:
    try:
        with np.errstate(all="ignore"):
            return ideal.loop.run(ideal.excitation, derived=True)
    except RunFailed as failure:
        raise BadInput(f"even with an ideal rig the test stops: {failure} Change that first.") from failure


def _answer(pattern: str | None, ideal: Result) -> str:
    """The channel with the largest peak among those that are asked for."""
    wanted = pattern or ("drift.*" if "drift.1" in ideal.names else "u.*")
    found = [name for name in ideal.names if fnmatchcase(name, wanted)]
    if not found:
        raise UnknownName("channel", wanted, ideal.names, where="rehearsal.answer")
    best = max(found, key=lambda name: float(np.abs(ideal[name]).max()))
    if not np.abs(ideal[best]).max() > 0.0:
        raise BadInput(f"rehearsal.answer: '{wanted}' is zero all the time with an ideal rig; name another channel.")
    return best


def _ideal_peak(ideal: Built, drawn: Draw, channel: str, usual: float) -> float:
    """Peak of the answer with an ideal rig and what was drawn of the rest; nan if that test stops."""
    rest = {name: value for name, value in drawn.parameters.items() if name in ideal.loop.parameters}
    if not rest:
        return usual
    own = channel in ideal.loop.channels
    with np.errstate(all="ignore"):
        result = ideal.loop.copy(rest).run(
            ideal.excitation, record=[channel] if own else [], derived=not own, on_fault="stop"
        )
    return float(np.abs(result[channel]).max()) if result.complete else np.nan


def _rehearsal(built: Built, found: list[Rig], channel: str, drawn: Draw, ideal: float) -> _Outcome:
    """One run and what is kept of it; a run that grows, or a plant that cannot be, is an outcome and no error."""
    loop, answer = built.loop, np.full(len(built.excitation), np.nan)
    try:
        own = loop.copy(drawn.parameters, drawn.contents)
    except BadInput as error:  # such as an inner loop that is unstable
        return _Outcome(answer, ideal, {}, f"a rig that was drawn cannot be: {error}", True)
    result, stopped, unstable = _run(own, built.excitation, found, channel)
    ends = np.arange(0, len(result), loop.substeps)
    answer[: len(ends)] = result[channel][ends]
    return _Outcome(answer, ideal, {rig.site: measure(rig, result, loop) for rig in found}, stopped, unstable)


def _run(loop: Loop, excitation: np.ndarray, found: list[Rig], channel: str) -> tuple[Result, str, bool]:
    record = list(dict.fromkeys(name for rig in found for name in rig.channels))
    derived = channel not in loop.channels
    record += [] if derived else [channel]
    with np.errstate(all="ignore"):
        try:
            return loop.run(excitation, record=record, every="tick", derived=derived), "", False
        except RunFailed as failure:
            grew = failure.reason not in LIMITS
            why = failure.result.fault or str(failure)
            return failure.result, why, grew


def _demands(
    found: list[Rig], outcomes: list[_Outcome], critical: Mapping[str, tuple[float, float]], plan: Rehearsal
) -> tuple[Demand, ...]:
    """All numbers of all runs: of the rigs, of the margin, of the answer."""
    demands = []
    for rig in found:
        demands += rig.demands([outcome.sites.get(rig.site) for outcome in outcomes])
    margin = margins(demands, critical, plan.margin)
    effects = [
        np.nan if outcome.stopped else abs(float(np.abs(outcome.answer).max()) / outcome.ideal - 1.0)
        for outcome in outcomes
    ]
    effect = Demand("effect", "", "%", 100.0, np.array(effects), plan.max_effect, "rehearsal.max_effect")
    return (*margin, *demands, effect)
