"""What a worker does: it builds experiments from text and runs them. Nothing else crosses between processes."""

import json
from collections import OrderedDict
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from hyloop.ensembles.measures import Measure, measured_channels, values_of
from hyloop.ensembles.outcome import COMPLETE, Row
from hyloop.errors import BadInput, RunFailed
from hyloop.files.load import experiment_of
from hyloop.study.build import Built, build
from hyloop.study.kept import Kept
from hyloop.study.run import run_experiment

__all__ = ["Batch", "Done", "measured", "tables", "work"]


class Batch(NamedTuple):
    """Some runs of one experiment.

    Attributes
    ----------
    text : str
        The tables of the experiment file, with its includes, as JSON.
    source : str
        The file, for messages.
    measures : tuple of Measure
    runs : tuple of (identity, overrides)
    recordings : str
        Folder for a recording of each run, or empty.
    allow_scripts : bool
    """

    text: str
    source: str
    measures: tuple[Measure, ...]
    runs: tuple[tuple[str, tuple[str, ...]], ...]
    recordings: str = ""
    allow_scripts: bool = False


_kept = Kept()  # of this process: structures and motions
_tables: OrderedDict[str, dict[str, Any]] = OrderedDict()  # of the last files
_FILES = 4


class Done(NamedTuple):
    """Rows of a batch, and how long it took in s."""

    rows: list[Row]
    seconds: float


def work(batch: Batch) -> Done:
    """Run a batch, one run after the other; what goes wrong in a run is its row."""
    begin = perf_counter()
    rows = [_run(batch, identity, overrides) for identity, overrides in batch.runs]
    return Done(rows, perf_counter() - begin)


def _run(batch: Batch, identity: str, overrides: tuple[str, ...]) -> Row:
    try:
        experiment = experiment_of(tables(batch.text), overrides, Path(batch.source))
        if batch.recordings:
            path = Path(batch.recordings) / f"{identity}.h5"
            options: dict[str, Any] = {"allow_scripts": batch.allow_scripts}
            recording = run_experiment(experiment, path, source=Path(batch.source), overrides=overrides, **options)
            return Row(identity, COMPLETE, "", values_of(recording, batch.measures))
        built = build(experiment, allow_scripts=batch.allow_scripts, kept=_kept)
        return Row(identity, COMPLETE, "", measured(built, batch.measures))
    except RunFailed as failure:
        return Row(identity, "stopped", f"{failure.reason}: {failure}")
    except BadInput as error:
        return Row(identity, "refused", str(error))


def measured(built: Built, measures: tuple[Measure, ...]) -> dict[str, float]:
    """Run an experiment that is built, and measure it; nothing is recorded that is not needed."""
    channels, derived = measured_channels(built, measures)
    with np.errstate(all="ignore"):  # a response that is not finite is reported by the loop
        recording = built.loop.run(built.excitation, record=channels, derived=derived)
    return values_of(recording, measures)


def tables(text: str) -> dict[str, Any]:
    """The tables of a file, read once."""
    if text not in _tables:
        _tables[text] = json.loads(text)
        while len(_tables) > _FILES:
            _tables.popitem(last=False)
    return _tables[text]
