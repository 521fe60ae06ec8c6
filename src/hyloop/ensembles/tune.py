"""Settings sought on training events and judged on others: a sampler asks, a campaign runs, so nothing runs twice.

A tuning that broke off goes on by asking again: the same seed and the same answers give the same questions, and what
has been run is answered from the journal.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from math import isfinite
from pathlib import Path
from typing import Any

from hyloop.ensembles.campaign import Campaign, Plan
from hyloop.ensembles.engines import Engine
from hyloop.ensembles.events import Changes, apart, as_changes, named
from hyloop.ensembles.outcome import COMPLETE, Row
from hyloop.ensembles.settings import at_in_file
from hyloop.ensembles.standing import standing
from hyloop.ensembles.table import TABLE, write_table
from hyloop.errors import BadInput, HyloopError
from hyloop.files.load import read_experiment
from hyloop.files.tune import Choice, Range, Tune, inline
from hyloop.report.tune_result import Judged, Trial, Tuned

__all__ = ["Tuning", "tuned"]

OBJECTIVE = "objective"
Progress = Callable[[int, int, float], None]


def tuned(
    path: Path,
    spec: Tune,
    folder: Path,
    engine: Engine,
    *,
    overrides: Sequence[str] = (),
    allow_scripts: bool = False,
    progress: Progress = lambda done, all_, each: None,
) -> Tuned:
    """Tune an experiment file into a folder, or go on there; the table of all runs lies there at the end.

    Parameters
    ----------
    spec : Tune
        What is sought, of the file's own table `[tune]`.
    progress : callable
        Told how many runs are done, of how many, and how long one takes in s.

    Raises
    ------
    BadInput
        If the file, a setting or an event cannot be run; nothing has been run then.
    """
    _optuna()
    kind = f"tune {spec.text()} optuna {version('optuna')}"
    plan = Plan(path, tuple(overrides), {OBJECTIVE: spec.objective}, allow_scripts=allow_scripts, kind=kind)
    Tuning(Campaign(plan, folder, engine), spec, progress).check()  # before the folder is made
    with standing(engine) as lasting, Campaign.opened(plan, folder, lasting) as campaign:
        return Tuning(campaign, spec, progress).run()


class Tuning:
    """One tuning: trials on the training events, then the best of them on the test events, once."""

    def __init__(self, campaign: Campaign, spec: Tune, progress: Progress) -> None:
        self.campaign, self.spec, self._progress = campaign, spec, progress
        tables = read_experiment(campaign.plan.path)
        self.training = [as_changes(event, tables) for event in spec.training]
        self.test = [as_changes(event, tables) for event in spec.test]
        self.trials: list[Trial] = []
        self._done = 0

    def check(self) -> None:
        """Refuse what cannot be run: events that are not apart, then each event, and each setting at its ends."""
        plan = self.campaign.plan
        apart(read_experiment(plan.path), self.spec.training, self.spec.test, plan.overrides, plan.path)
        for event in (*self.training, *self.test):
            self.campaign.check(event)
        for name, setting in self.spec.settings.items():
            for text in setting.ends():
                self.campaign.check((f"{name}={text}", *self.training[0]))

    def run(self) -> Tuned:
        """All trials, then the test."""
        with _quiet():
            self._search()
        sign = 1.0 if self.spec.goal == "least" else -1.0
        held = [(sign * trial.value, trial.number) for trial in self.trials if trial.value is not None]
        if not held:
            first = self.trials[0].reason
            raise HyloopError(f"every trial failed; the first: {first}. Look at the file, or its ranges.")
        best = self.trials[min(held)[1]]
        judged = self._judge(best)
        self._write(best)
        return self._result(best, judged)

    def _search(self) -> None:
        """Ask for some settings, run them on all training events, tell, ask again."""
        optuna = _optuna()
        spec = self.spec
        direction = "minimize" if spec.goal == "least" else "maximize"
        study = optuna.create_study(direction=direction, sampler=optuna.samplers.TPESampler(seed=spec.seed))
        places = _places(spec)
        self.campaign.try_first(self.training[0])
        own = self._tried([(0, {}, at_in_file(self.campaign.built.experiment, spec.settings))])[0]
        if own.value is not None and own.at.keys() == places.keys():  # else a default that no range holds
            values = {name: _as_place(spec, name, own.at[name]) for name in places}
            study.add_trial(optuna.trial.create_trial(params=values, distributions=places, value=own.value))
        while len(self.trials) < spec.trials:
            count = min(spec.together, spec.trials - len(self.trials))
            asked = [study.ask(places) for _ in range(count)]
            wanted = []
            for k, trial in enumerate(asked):
                texts = {name: spec.settings[name].text(trial.params[name]) for name in places}
                wanted.append((len(self.trials) + k, texts, {name: float(trial.params[name]) for name in places}))
            for trial, found in zip(asked, self._tried(wanted), strict=True):
                if found.value is None:  # ranked behind every trial that holds, whatever its value
                    study.tell(trial, state=optuna.trial.TrialState.PRUNED)
                else:
                    study.tell(trial, found.value)

    def _tried(self, wanted: Sequence[tuple[int, dict[str, str], dict[str, float]]]) -> list[Trial]:
        """Run settings on all training events; the trials are kept in order."""
        rows = self._rows([(texts, event) for _, texts, _ in wanted for event in self.training])
        per = len(self.training)
        for k, (number, texts, at) in enumerate(wanted):
            values, reason = _values(rows[k * per : (k + 1) * per])
            self.trials.append(Trial(number, texts, values, self._together(values), reason, at))
        return self.trials[-len(wanted) :]

    def _judge(self, best: Trial) -> Judged:
        """The file and the best settings on the test events, which nothing has been run on before."""
        rows = self._rows([(texts, event) for texts in ({}, best.settings) for event in self.test])
        (own, _), (new, _) = _values(rows[: len(self.test)]), _values(rows[len(self.test) :])
        names = tuple(named(event) for event in self.spec.test)
        return Judged(names, own, new, self._together(own), self._together(new))

    def _rows(self, runs: Sequence[tuple[dict[str, str], Changes]]) -> list[Row]:
        before = self._done
        all_ = self.spec.trials * len(self.training) + 2 * len(self.test)

        def told(done: int, _: int, each: float) -> None:
            self._progress(before + done, all_, each)

        rows = self.campaign.run([_changes(texts, event) for texts, event in runs], told)
        self._done += len(runs)
        return rows

    def _together(self, values: Sequence[float | None]) -> float | None:
        """The objective of several events; None if one has none."""
        there = [value for value in values if value is not None]
        if len(there) < len(values):
            return None
        if self.spec.over == "mean":
            return sum(there) / len(there)
        return max(there) if self.spec.goal == "least" else min(there)

    def _write(self, best: Trial) -> None:
        """The table of all runs, in the order they were asked for."""
        rows: list[Row] = []
        keys: list[dict[str, Any]] = []
        parts = [("training", trial, self.training, self.spec.training) for trial in self.trials]
        parts += [
            ("test", trial, self.test, self.spec.test)
            for trial in dict.fromkeys((0, best.number))
            for trial in (self.trials[trial],)
        ]
        for side, trial, events, names in parts:
            for event, name in zip(events, names, strict=True):
                rows.append(self.campaign.rows[self.campaign.identity(_changes(trial.settings, event))])
                keys.append({"trial": trial.number, "side": side, "event": named(name), **trial.settings})
        units = {**self.campaign.units}
        write_table(self.campaign.folder / TABLE, rows, keys, units, self.spec.text())

    def _result(self, best: Trial, judged: Judged) -> Tuned:
        spec, campaign = self.spec, self.campaign
        ranges = {name: one.unit for name, one in spec.settings.items() if isinstance(one, Range)}
        choices = {
            name: tuple(inline(value) for value in one.values)
            for name, one in spec.settings.items()
            if isinstance(one, Choice)
        }
        return Tuned(
            source=str(campaign.plan.path),
            title=campaign.built.experiment.title,
            objective=spec.objective,
            unit=campaign.units[OBJECTIVE],
            goal=spec.goal,
            over=spec.over,
            trials=tuple(self.trials),
            best=best,
            judged=judged,
            training=tuple(named(event) for event in spec.training),
            units=ranges,
            choices=choices,
            seed=spec.seed,
            together=spec.together,
        )


def _changes(texts: dict[str, str], event: Changes) -> Changes:
    return (*(f"{name}={text}" for name, text in texts.items()), *event)


def _values(rows: Sequence[Row]) -> tuple[tuple[float | None, ...], str]:
    """The objective of each row, and why the first that failed did."""
    values, reason = [], ""
    for row in rows:
        value = row.values.get(OBJECTIVE) if row.outcome == COMPLETE else None
        if value is not None and not isfinite(value):
            value, reason = None, reason or "the objective is not a finite number"
        elif value is None:
            reason = reason or f"{row.outcome}: {row.reason}"
        values.append(value)
    return tuple(values), reason


def _places(spec: Tune) -> dict[str, Any]:
    """Where Optuna may look; choices by their place."""
    optuna = _optuna()
    found: dict[str, Any] = {}
    for name, setting in spec.settings.items():
        if isinstance(setting, Choice):
            found[name] = optuna.distributions.CategoricalDistribution(tuple(range(len(setting.values))))
        elif setting.whole:
            found[name] = optuna.distributions.IntDistribution(int(setting.low), int(setting.high), log=setting.log)
        else:
            found[name] = optuna.distributions.FloatDistribution(setting.low, setting.high, log=setting.log)
    return found


def _as_place(spec: Tune, name: str, value: float) -> float | int:
    setting = spec.settings[name]
    return int(value) if isinstance(setting, Choice) or setting.whole else value


@contextmanager
def _quiet() -> Iterator[None]:
    """Optuna says of every trial that it was tried, and warns of what it may change one day."""
    optuna = _optuna()
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(level)


def _optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise BadInput("a tuning needs Optuna: pip install 'hyloop[tune]'.") from None
    return optuna
