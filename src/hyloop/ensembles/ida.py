"""Incremental dynamic analysis: every record of a set at rising intensity, all records of a round together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from hyloop.ensembles.campaign import Campaign, Plan
from hyloop.ensembles.engines import Engine, LocalProcesses
from hyloop.ensembles.hunting import next_level
from hyloop.ensembles.outcome import COMPLETE, Row
from hyloop.ensembles.record_sets import ChosenRecord, choose_records, excited_by, motion_of
from hyloop.ensembles.standing import standing
from hyloop.ensembles.table import TABLE, write_table
from hyloop.errors import BadInput, HyloopError
from hyloop.files.ida import Ida, drift
from hyloop.files.load import load_experiment
from hyloop.files.schema import Experiment
from hyloop.hazards import response_spectrum
from hyloop.report.ida_result import IdaRecord, IdaResult
from hyloop.study.build import Built

__all__ = ["Progress", "analyse", "unscaled_intensity"]

KIND = "ida"  # of the campaign; runs of other levels or records may be added to a folder
RESPONSE = "response"
_OF_THE_ANALYSIS = "ida."  # keys of the file that say what is run, not what a run is

Progress = Callable[[int, int, float], None]
"""Told how many runs are done, of how many at most, and how long one takes on a worker in s (0: not known yet)."""


@dataclass
class _Asked:
    """One record: what has been run of it."""

    record: ChosenRecord
    unit: float  # intensity without scaling
    levels: list[float] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)

    def levels_that(self, stood: bool) -> list[float]:
        return [x for x, row in zip(self.levels, self.rows, strict=True) if (row.outcome == COMPLETE) == stood]


def analyse(
    file: Path,
    folder: Path,
    overrides: Sequence[str] = (),
    engine: Engine | None = None,
    *,
    settings: Ida | None = None,
    period: float | None = None,
    records: Sequence[ChosenRecord] | None = None,
    allow_scripts: bool = False,
    fresh: bool = False,
    progress: Progress = lambda done, most, each: None,
) -> IdaResult:
    """Run an analysis into a folder; one that broke off goes on there.

    What is wrong with what is asked for is found before the folder is touched.

    Parameters
    ----------
    file : Path
        Experiment file, which may have an `[ida]` table.
    overrides : sequence of str
        Changes of the file, also of `ida.levels` and the like.
    settings : Ida, optional
        Instead of the file's own table: those of another file that this one is compared with.
    period : float, optional
        Of the spectral acceleration, where the settings do not say it; default that of the structure.
    records : sequence of ChosenRecord, optional
        Instead of those the file asks for.
    fresh : bool
        Remove the runs of an earlier analysis that are there.

    Raises
    ------
    BadInput
        If the set is empty, the file cannot be run with a record, or the folder holds something else.
    """
    experiment = load_experiment(file, overrides)
    settings = settings or experiment.ida
    chosen = list(records) if records is not None else _chosen(settings, file)
    if not chosen:
        raise BadInput("the set of records is empty; give at least one.")
    excited_by(experiment, chosen[0], 1.0)  # the file has an excitation that can be replaced
    own = [change for change in overrides if not change.startswith(_OF_THE_ANALYSIS)]
    response = settings.response or _response(settings)
    plan = Plan(
        file,
        (*own, f'limits.max_drift="{settings.collapse}"'),
        {RESPONSE: response, **settings.measures},
        allow_scripts=allow_scripts,
        kind=KIND,
    )
    planned = Campaign(plan, folder)
    unit = planned.units[RESPONSE]
    _check_states(settings, unit)
    period = settings.period or period or _first_period(planned.built, settings)
    asked = [_Asked(one, unscaled_intensity(experiment, one, settings, period)) for one in chosen]
    with (
        standing(engine or LocalProcesses()) as workers,
        Campaign.opened(plan, folder, workers, fresh=fresh) as campaign,
    ):
        try:
            _run(campaign, experiment, settings, asked, progress)
        finally:
            _write(campaign, asked)
        found = _result(experiment, settings, asked, overrides, period, response, unit)
        found.save(folder)
    return found


def _chosen(settings: Ida, file: Path) -> list[ChosenRecord]:
    if settings.records is None:
        raise BadInput(
            f"{file}: ida.records is missing. Give names, patterns or a number, as in --records 20 or "
            "--set 'ida.records=[\"kobe*\"]'; hyloop records lists what there is."
        )
    return choose_records(settings.records, file.parent)


def _response(settings: Ida) -> str:
    """The drift ratio where the collapse is given as one, else the drift."""
    return "peak drift_ratio.*" if drift(settings.collapse, "collapse")[1] == "-" else "peak drift.*"


def _check_states(settings: Ida, unit: str) -> None:
    for name, (_, own) in settings.states.items():
        if own != unit:
            wanted = "a part of the story height, such as '2 %'" if unit == "-" else f"a number in {unit}"
            raise BadInput(f"ida.states.{name}: the response is in {unit}; give {wanted}.")


def _first_period(built: Built, settings: Ida) -> float:
    if settings.intensity == "pga":
        return 0.0
    found = built.periods(1)
    if not found:
        raise BadInput("ida.period: this structure has no first period; give one, or ida.intensity = 'pga'.")
    return found[0]


def unscaled_intensity(experiment: Experiment, record: ChosenRecord, settings: Ida, period: float) -> float:
    """Intensity of a record as it is used, in m/s2."""
    motion = motion_of(experiment, record)
    at = float(response_spectrum(motion.a, motion.dt, [period], settings.damping).psa[0])
    if not at > 0.0:
        raise BadInput(f"record {record.name}: its intensity is zero, so it cannot be scaled. Leave it out.")
    return at


def _run(
    campaign: Campaign, experiment: Experiment, settings: Ida, asked: Sequence[_Asked], progress: Progress
) -> None:
    """Rounds, until no record asks for more; which levels are asked for hangs on results alone, not on their order."""
    each = 0.0

    def changes(one: _Asked, level: float) -> tuple[str, ...]:
        return (*one.record.overrides, excited_by(experiment, one.record, level / one.unit))

    while True:
        asking = [next_level(settings, one.levels_that(True), one.levels_that(False)) for one in asked]
        following = [(one, level) for one, level in zip(asked, asking, strict=True) if level is not None]
        done = sum(len(one.levels) for one in asked)
        most = done + sum(settings.levels - len(one.levels) for one, _ in following)
        progress(done, most, each)
        if not following:
            return
        if not done:  # all is compiled here, before workers start
            campaign.try_first(changes(*following[0]))

        def told(there: int, all_: int, seconds: float, done: int = done, most: int = most) -> None:
            nonlocal each
            each = seconds or each
            progress(done + there, most, each)

        rows = campaign.run([changes(*one) for one in following], told)
        for (one, level), row in zip(following, rows, strict=True):
            _check(row, one.record, level)
            one.levels.append(level)
            one.rows.append(row)


def _check(row: Row, record: ChosenRecord, level: float) -> None:
    if row.outcome in (COMPLETE, "stopped"):
        return
    kind = BadInput if row.outcome == "refused" else HyloopError
    raise kind(f"record {record.name} at {level:g} m/s2: {row.reason}")


def _write(campaign: Campaign, asked: Sequence[_Asked]) -> None:
    """The table: a row for each run of the rounds that are done, record by record with rising intensity."""
    rows, keys = [], []
    for one in asked:
        for k in np.argsort(one.levels):
            rows.append(one.rows[k])
            level = one.levels[k]
            keys.append({"record": one.record.name, "intensity": level, "scale": level / one.unit})
    if rows:
        write_table(campaign.folder / TABLE, rows, keys, {**campaign.units, "intensity": "m/s2", "scale": "-"})


def _result(
    experiment: Experiment,
    settings: Ida,
    asked: Sequence[_Asked],
    overrides: Sequence[str],
    period: float,
    response: str,
    unit: str,
) -> IdaResult:
    records = tuple(
        IdaRecord(
            one.record.name,
            one.unit,
            tuple(one.levels),
            tuple(row.values[RESPONSE] if row.outcome == COMPLETE else None for row in one.rows),
            tuple(row.reason for row in one.rows),
        )
        for one in asked
    )
    return IdaResult(
        title=experiment.title,
        source=experiment.source,
        overrides=tuple(overrides),
        intensity=settings.intensity,
        period=period,
        damping=settings.damping,
        response=response,
        unit=unit,
        collapse=settings.collapse,
        flattening=settings.flattening,
        resolution=settings.resolution,
        records=records,
        states=dict(settings.states),
        mce=settings.mce,
        confidence=settings.confidence,
        samples=settings.samples,
        seed=experiment.seed,
    )
