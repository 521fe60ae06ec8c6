"""What a worker does: it builds experiments from text and runs them. Nothing else crosses between processes."""

import json
import os
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from hyloop.ensembles.measures import Measure, measured_channels, values_of
from hyloop.ensembles.outcome import COMPLETE, Row
from hyloop.errors import BadInput, HyloopError, RunFailed
from hyloop.files.load import experiment_of
from hyloop.study.build import Built, build
from hyloop.study.kept import Kept
from hyloop.study.run import record_built

__all__ = ["Batch", "Done", "attempt", "measured", "tables", "work"]


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
        built = build(experiment, allow_scripts=batch.allow_scripts, kept=_kept)
        needed = measured_channels(built, batch.measures)
    except BadInput as error:
        return Row(identity, "refused", str(error))
    except Exception as error:
        return _fallen(identity, error)
    if not batch.recordings:
        return attempt(identity, lambda: measured(built, batch.measures, needed))
    path, source = Path(batch.recordings) / f"{identity}.h5", Path(batch.source)
    return attempt(identity, lambda: _recorded(built, batch.measures, needed, path, source, overrides))


def attempt(identity: str, run: Callable[[], dict[str, float]]) -> Row:
    """The row of a run that can be built. What is wrong with the disk is no result of a run, and is raised."""
    try:
        return Row(identity, COMPLETE, "", run())
    except RunFailed as failure:
        return Row(identity, "stopped", f"{failure.reason}: {failure}")
    except (OSError, HyloopError):
        raise
    except Exception as error:
        return _fallen(identity, error)


def _fallen(identity: str, error: Exception) -> Row:
    """The row of a run that ended with an error that nobody has explained; one without memory is run again later."""
    if isinstance(error, OSError):
        raise error
    if isinstance(error, MemoryError):
        return Row(identity, "died", f"more memory was needed than there is ({str(error) or 'of any size'})")
    return Row(identity, "failed", f"a defect in hyloop, please report it: {type(error).__name__}: {error}")


def measured(
    built: Built, measures: tuple[Measure, ...], needed: tuple[list[str], bool] | None = None
) -> dict[str, float]:
    """Run an experiment that is built, and measure it; nothing is recorded that is not needed."""
    channels, derived = needed or measured_channels(built, measures)
    every = built.experiment.recording.every
    with np.errstate(all="ignore"):  # a response that is not finite is reported by the loop
        recording = built.loop.run(built.excitation, record=channels, every=every, derived=derived)
    return values_of(recording, measures)


def _recorded(
    built: Built,
    measures: tuple[Measure, ...],
    needed: tuple[list[str], bool],
    path: Path,
    source: Path,
    overrides: tuple[str, ...],
) -> dict[str, float]:
    """Run an experiment into a recording, and measure that.

    It is written in a folder of this process and moved when it has ended, so that what a dead process was at is
    nobody's result and in nobody's way.
    """
    kept, (channels, derived) = built.experiment.recording, needed
    more = {"channels": (*kept.channels, *channels), "derived": kept.derived or derived}
    wider = built.experiment.model_copy(update={"recording": kept.model_copy(update=more)})
    own = path.parent / f".{os.getpid()}"
    try:
        recording = record_built(replace(built, experiment=wider), own / path.name, source, overrides)
        return values_of(recording, measures)
    finally:
        for file in own.glob(f"{path.stem}.*"):
            os.replace(file, path.with_name(file.name))
        with suppress(OSError):
            own.rmdir()


def tables(text: str) -> dict[str, Any]:
    """The tables of a file, read once."""
    if text not in _tables:
        _tables[text] = json.loads(text)
        while len(_tables) > _FILES:
            _tables.popitem(last=False)
    return _tables[text]
