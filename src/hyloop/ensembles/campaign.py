"""A folder of runs of one experiment: what has been run stays, what is asked for again is not run again."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hyloop.core.holding import holding
from hyloop.core.writing import check_target, replacing
from hyloop.ensembles.batches import hand_out
from hyloop.ensembles.engines import Engine, LocalProcesses
from hyloop.ensembles.identity import Identities, beside
from hyloop.ensembles.journal import Journal
from hyloop.ensembles.measures import Measure, default_measures, measured_channels, parse_measure, units_of
from hyloop.ensembles.outcome import AGAIN, Row
from hyloop.ensembles.work import Batch, attempt, measured
from hyloop.errors import BadInput
from hyloop.files.load import experiment_of, read_experiment
from hyloop.study.build import Built, build
from hyloop.study.kept import Kept
from hyloop.study.tasks import library_digest

__all__ = ["Campaign", "Plan"]

JOURNAL, MANIFEST, RECORDINGS = "runs.jsonl", "campaign.json", "recordings"


@dataclass(frozen=True)
class Plan:
    """What is run, and how it is looked at.

    Attributes
    ----------
    path : Path
        The experiment file.
    overrides : tuple of str
        Changes of the file that all runs have.
    measures : mapping of name to text, optional
        Such as ``{"roof": "peak u.6"}``; by default what is usual.
    recordings : bool
        Keep a recording of each run.
    allow_scripts : bool
        Run the OpenSeesPy script that the structure may name.
    kind : str
        What is done in the folder, with its settings, as text: another kind does not go on there.
    """

    path: Path
    overrides: tuple[str, ...] = ()
    measures: Mapping[str, str] | None = None
    recordings: bool = False
    allow_scripts: bool = False
    kind: str = "sweep"


class Campaign:
    """The runs of a plan in a folder; use it as ``with Campaign.opened(plan, folder) as campaign``.

    Attributes
    ----------
    folder : Path
    plan : Plan
    measures : tuple of Measure
    units : dict of str
        Of the measures, SI.
    built : Built
        The experiment with the changes that all runs have.
    """

    def __init__(self, plan: Plan, folder: Path, engine: Engine | None = None) -> None:
        self.plan, self.folder, self.engine = plan, folder, engine or LocalProcesses()
        self._tables = read_experiment(plan.path)
        experiment = experiment_of(self._tables, plan.overrides, plan.path)
        self.built: Built = build(experiment, allow_scripts=plan.allow_scripts)
        given = plan.measures
        self.measures: tuple[Measure, ...] = (
            default_measures(self.built) if given is None else tuple(parse_measure(*item) for item in given.items())
        )
        if not self.measures:
            raise BadInput(f"{plan.path}: nothing is measured. Name at least one measure.")
        measured_channels(self.built, self.measures)
        self.units = units_of(self.built, self.measures)
        self._digests = Identities(self._tables, beside(self.measures))
        self._identities: dict[tuple[str, ...], str] = {}
        self._kept = Kept()
        self._journal: Journal | None = None

    @classmethod
    @contextmanager
    def opened(
        cls,
        plan: Plan,
        folder: Path,
        engine: Engine | None = None,
        *,
        check: Iterable[Sequence[str]] = (),
        fresh: bool = False,
    ) -> Iterator["Campaign"]:
        """Open the folder, which is made; nobody else may run into it meanwhile.

        Parameters
        ----------
        check : iterable of sequence of str
            Runs that are built first; if one is refused nothing is written.
        fresh : bool
            Remove the runs of an earlier campaign that are there.

        Raises
        ------
        BadInput
            If the plan cannot be run, or the folder holds the runs of another plan.
        """
        check_target(folder, folder=True)
        campaign = cls(plan, folder, engine)
        for overrides in check:
            campaign.check(overrides)
        folder.mkdir(parents=True, exist_ok=True)
        with holding(folder / JOURNAL, "another campaign is running into this folder"):
            if fresh and (folder / MANIFEST).is_file():
                _clear(folder)
            campaign._claim()
            campaign._journal = Journal(folder / JOURNAL)
            yield campaign

    @property
    def rows(self) -> dict[str, Row]:
        """All rows by identity."""
        return self.journal.rows

    @property
    def journal(self) -> Journal:
        """The file of rows; only of a campaign that is open."""
        if self._journal is None:
            raise BadInput("this campaign is not open; use `with Campaign.opened(plan, folder) as campaign`.")
        return self._journal

    def identity(self, overrides: Sequence[str]) -> str:
        """Digest of all that the result of a run hangs on."""
        key = tuple(overrides)
        if key not in self._identities:
            self._identities[key] = self._digests.of((*self.plan.overrides, *key))
        return self._identities[key]

    def check(self, overrides: Sequence[str]) -> None:
        """Refuse a run that cannot be built, in words and before others are run."""
        changes = (*self.plan.overrides, *overrides)
        experiment = experiment_of(self._tables, changes, self.plan.path)
        built = build(experiment, allow_scripts=self.plan.allow_scripts, kept=self._kept)
        measured_channels(built, self.measures)

    def try_first(self, overrides: Sequence[str]) -> Row:
        """Run one here, so that everything is compiled before workers start; its row is kept as any other."""
        found = self.known(overrides)
        if found is not None:
            return found
        changes = (*self.plan.overrides, *overrides)
        experiment = experiment_of(self._tables, changes, self.plan.path)
        built = build(experiment, allow_scripts=self.plan.allow_scripts, kept=self._kept)
        row = attempt(self.identity(overrides), lambda: measured(built, self.measures))
        if not self.plan.recordings:
            self.journal.add([row])
        return row

    def known(self, overrides: Sequence[str]) -> Row | None:
        """The row of a run that has been run; one whose process died, or that was handed back, is to be run again."""
        row = self.rows.get(self.identity(overrides))
        return None if row is None or row.outcome in AGAIN else row

    def run(
        self, runs: Sequence[Sequence[str]], progress: Callable[[int, int, float], None] = lambda done, all_, each: None
    ) -> list[Row]:
        """Rows of these runs, each given by its changes of the file; what is there already is not run.

        Parameters
        ----------
        progress : callable
            Told how many are there, of how many, and how long one takes on a worker in s.
        """
        wanted = {self.identity(run): tuple(run) for run in runs}
        open_ = {key: run for key, run in wanted.items() if self.known(run) is None}
        there = len(wanted) - len(open_)
        progress(there, len(wanted), 0.0)

        def done(rows: list[Row], each: float) -> None:
            nonlocal there
            self.journal.add(rows)
            there += len(rows)
            progress(there, len(wanted), each)

        if open_:
            hand_out(self.engine, self._batch(open_), done)
        return [self.rows[self.identity(run)] for run in runs]

    def _batch(self, runs: Mapping[str, tuple[str, ...]]) -> Batch:
        recordings = self.folder / RECORDINGS
        if self.plan.recordings:
            recordings.mkdir(exist_ok=True)
            for left in recordings.glob(".*"):  # by processes that were killed
                shutil.rmtree(left, ignore_errors=True)
        return Batch(
            text=json.dumps(self._tables, default=str),
            source=str(self.plan.path),
            measures=self.measures,
            runs=tuple((key, (*self.plan.overrides, *run)) for key, run in runs.items()),
            recordings=str(recordings) if self.plan.recordings else "",
            allow_scripts=self.plan.allow_scripts,
        )

    def _claim(self) -> None:
        """Write what the folder is for, or refuse one that is for something else."""
        path = self.folder / MANIFEST
        own = {
            "kind": self.plan.kind,
            "experiment": hashlib.sha256(json.dumps(self._tables, default=str, sort_keys=True).encode()).hexdigest(),
            "file": self.plan.path.name,
            "overrides": list(self.plan.overrides),
            "measures": {m.name: m.text for m in self.measures},
            "recordings": self.plan.recordings,
            "library": hashlib.sha256(library_digest().encode()).hexdigest(),
        }
        if not path.exists():
            if any(not name.startswith(".") and not name.endswith(".part") for name in os.listdir(self.folder)):
                raise BadInput(f"{self.folder} holds other files. Give the name of a new folder.")
            with replacing(path) as part:
                part.write_text(json.dumps(own, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
            return
        try:
            there = dict(json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, TypeError):
            raise BadInput(f"{path} is damaged. Give the name of a new folder.") from None
        if different := [key for key in own if own[key] != there.get(key)]:
            raise BadInput(f"{self.folder} holds a campaign with {_differs(different)}. Give the name of a new folder.")


def _clear(folder: Path) -> None:
    """Remove everything but the lock; what says whose folder it is last, so that a death leaves it ours."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name == MANIFEST):
        if entry.name.startswith("."):
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _differs(keys: Sequence[str]) -> str:
    words = {
        "kind": "other settings",
        "experiment": "another text of the experiment file",
        "file": "another file",
        "overrides": "other values of --set",
        "measures": "other measures",
        "recordings": "another choice of recordings",
        "library": "another version of hyloop or of what it computes with",
    }
    return ", ".join(words[key] for key in keys)
