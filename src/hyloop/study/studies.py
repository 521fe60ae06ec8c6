"""Studies: a paper's cases reproduced by one command, judged claim by claim.

A study is a folder with ``study.toml`` (title, reference), ``claims.toml`` and ``study.py``, whose function
``run(job: Job) -> dict[str, float | Seeds]`` does the work and returns a value for every claim.
"""

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from hyloop.core.holding import holding
from hyloop.core.writing import set_aside
from hyloop.errors import BadInput, RunFailed, UnknownName
from hyloop.files.toml import read_toml
from hyloop.record import Recording
from hyloop.report.charts import Chart
from hyloop.report.page import Section, Table, check_folder
from hyloop.report.study_page import JudgedClaim, StudySummary, study_sentence, write_study
from hyloop.study.claims import Claim, Verdict, judge, load_claims, write_verdicts
from hyloop.study.code import load_code as _load
from hyloop.study.run import run_file
from hyloop.study.tasks import Task, run_tasks

Progress = Callable[[str, float], None]

__all__ = ["Job", "Study", "StudyResult", "find_studies", "run_study"]


class Study(BaseModel):
    """Head of a study folder."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    reference: str
    about: str = ""
    full: str = ""  # time of a full run, in words


@dataclass
class Job:
    """What a study's ``run`` works with."""

    folder: Path  # of the study
    out: Path  # for recordings; it becomes the folder of results when the study has ended
    quick: bool
    progress: Progress  # what is being done, fraction of it
    workers: int = 1  # processes for tasks
    recordings: dict[str, Recording] = field(default_factory=dict)
    tables: list[Table] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    numbers: list[tuple[str, str]] = field(default_factory=list)  # for the top of the page: a number and what it is
    picture: Chart | None = None  # at the top of a page with few claims, below them where there are many
    sections: list[Section] = field(default_factory=list)  # further parts of the page, below all tables: figures
    not_comparable: dict[str, str] = field(default_factory=dict)  # claims this run cannot judge, and why

    @property
    def kept(self) -> Path:
        """Folder for what a later run may read again, such as fits that take long; it begins with that of the last."""
        return self.out / "kept"

    def work(self, what: str, tasks: Sequence[Task]) -> dict[str, Any]:
        """Results of tasks by name, from several processes or from an earlier run that broke off.

        A quick run has one process: starting others would take longer than its few tasks.
        """
        workers = 1 if self.quick else self.workers
        results, read = run_tasks(
            self.folder, self.kept, tasks, workers=workers, progress=lambda part: self.progress(what, part)
        )
        note = "Some results are those of an earlier run with the same sources, read from its folder `kept`."
        self.notes.extend([note] if read and note not in self.notes else [])
        return results

    def run(self, case: str, experiment: str, *overrides: str) -> Recording:
        """Run one case from an experiment file of the study's folder; it appears in the report."""
        recording = run_file(
            self.folder / experiment,
            overrides,
            self.out / f"{case}.h5",
            progress=lambda part: self.progress(case, part),
        )
        self.recordings[case] = recording
        self.notes.extend(note for note in recording.notes if note not in self.notes)
        return recording


@dataclass(frozen=True)
class StudyResult:
    """Verdicts and files of a finished study."""

    verdicts: list[Verdict]
    claims: Path
    report: Path
    notes: list[str]
    sentence: str  # how the claims stand


def _roots() -> list[Path]:
    """Where studies are looked for: the current folder, the checkout, the installed package."""
    package = Path(__file__).resolve().parents[1]
    return [Path("studies"), package.parents[1] / "studies", package / "studies"]


def find_studies() -> dict[str, Path]:
    """Name and folder of every study."""
    found: dict[str, Path] = {}
    for root in _roots():
        for head in sorted(root.glob("*/study.toml")):
            found.setdefault(head.parent.name, head.parent)
    return found


def describe(folder: Path) -> Study:
    """Head of a study."""
    path = folder / "study.toml"
    try:
        return Study(**read_toml(path))
    except (ValidationError, TypeError) as error:
        raise BadInput(f"{path}: {error}") from error


def run_study(
    name: str,
    out: Path,
    *,
    quick: bool,
    progress: Progress,
    keep: Callable[[Path], None] = lambda earlier: None,
    workers: int | None = None,
) -> StudyResult:
    """Run a study, judge its claims, and write ``claims.json`` and ``report.html`` into `out`.

    Its tasks run in `workers` processes, as many as there are processors by default.

    Results are written into a neighbouring folder, ``NAME.unfinished``, which takes its place at the end; results that
    were there before are renamed and handed to `keep`. So a study that breaks off leaves them as they were.
    """
    studies = find_studies()
    if workers is not None and workers < 1:
        raise BadInput(f"workers: {workers} processes cannot run a study; give 1 or more.")
    if name not in studies:
        raise UnknownName("study", name, studies)
    check_folder(out, "a study is written")
    if out.is_symlink() or out.name in ("", ".."):  # a link stays one: what it points to is renamed and replaced
        out = Path(os.path.realpath(out))
    head, claims = describe(studies[name]), load_claims(studies[name] / "claims.toml")
    out.parent.mkdir(parents=True, exist_ok=True)
    with holding(out, "another run of a study is writing into it"):
        unfinished = _begin(out)
        job = Job(studies[name], unfinished, quick, progress, workers or os.cpu_count() or 1)
        try:
            verdicts, sentence = _run(name, job, head, claims)
        except KeyboardInterrupt as stop:
            stop.args = (*stop.args, f"{unfinished} has what there is of the study")
            raise
        except RunFailed as failure:
            failure.args = (f"{failure} {unfinished} has what there is of the study.",)
            raise
        except BadInput:
            if not any(unfinished.iterdir()):
                unfinished.rmdir()
            raise
        if out.is_dir() and not any(out.iterdir()):
            out.rmdir()
        if earlier := set_aside(out):
            keep(earlier)
        unfinished.rename(out)
    return StudyResult(verdicts, out / "claims.json", out / "report.html", job.notes, sentence)


def _begin(out: Path) -> Path:
    """An empty folder beside that of the results, but for what the last run has kept, whether it has ended or not."""
    unfinished, room, part = (out.with_name(f"{out.name}.{what}") for what in ("unfinished", "kept", "kept.part"))
    shutil.rmtree(part, ignore_errors=True)  # a copy that broke off
    for last in (unfinished, out):
        if (last / "kept").is_dir() and not room.exists():
            shutil.copytree(last / "kept", part)
            part.rename(room)
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    if room.exists():
        room.rename(unfinished / "kept")
    return unfinished


def _run(name: str, job: Job, head: Study, claims: list[Claim]) -> tuple[list[Verdict], str]:
    """Run the study, write its claims and its page, and say in a sentence what came out."""
    values = _load(job.folder / "study.py").run(job)
    command = f"hyloop study run {name}"
    verdicts = judge(name, claims, values, command + " --quick" * job.quick, job.not_comparable, partial=job.quick)
    write_verdicts(job.out / "claims.json", verdicts)
    comparable = sum(claim.comparable for claim in claims)
    about = [*job.notes, head.about, head.reference]
    own = (job.numbers, job.picture, job.sections)
    summary = StudySummary(head.title, about, comparable, job.quick, head.full, command, *own)
    judged = _judged(claims, verdicts, job.not_comparable)
    write_study(job.out / "report.html", summary, judged, job.tables, job.recordings)
    return verdicts, study_sentence(summary, judged)


def _judged(claims: list[Claim], verdicts: list[Verdict], reasons: dict[str, str]) -> list[JudgedClaim]:
    of = {claim.claim: claim for claim in claims}
    return [
        JudgedClaim(
            v.claim,
            of[v.claim].source,
            v.paper,
            v.ours,
            v.unit,
            v.verdict,
            of[v.claim].aim,
            of[v.claim].tolerance,
            v.headline,
            reasons.get(v.claim, of[v.claim].reason),
            v.bar,
            v.spread,
            v.seeds,
        )
        for v in verdicts
    ]
