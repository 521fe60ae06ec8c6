"""Claims: what a paper printed or what we set ourselves, what we get, and the verdict.

A study folder has a ``claims.toml``::

    [[claims]]
    claim = "first period"
    source = "section 3.2.1"
    group = "frame"      # the first row of every group stands in the project's README
    paper = 0.398        # what is printed
    bar = 0.4            # a goal of our own; it decides where there is nothing printed that can be compared
    unit = "s"
    aim = "equal"        # or "lower", "higher" (can be beaten), "at most" (a bound)
    tolerance = 0.01     # relative
    kind = "baseline"    # what others did and we repeat: to be equal, never to be beaten

A claim that cannot be compared says why in ``not_comparable``; one whose value was tuned until it fitted says
``tuned = true`` and is not compared either.
"""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from hyloop.core.writing import replacing
from hyloop.errors import BadInput, UnknownName
from hyloop.files.toml import read_toml
from hyloop.report.cells import with_spread
from hyloop.study.seeds import ENOUGH, Seeds, Value

__all__ = [
    "Claim",
    "Verdict",
    "judge",
    "load_claims",
    "markdown",
    "markdown_short",
    "read_verdicts",
    "rejudge",
    "write_verdicts",
]


Judgement = Literal["beaten", "met", "tie", "missed", "goal met", "goal missed", "not-comparable"]
LOST = ("missed", "goal missed", "tie")  # of which a headline must show one
TUNED = "tuned until it agreed, so that agreement says nothing"


class Claim(BaseModel):
    """One number to compare with, printed or our own, and how ours is compared with it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    claim: str
    source: str
    unit: str = "-"
    paper: float | None = None
    bar: float | None = None
    aim: Literal["equal", "lower", "higher", "at most"] = "equal"
    tolerance: float = 0.0
    kind: Literal["result", "baseline"] = "result"
    tuned: bool = False
    not_comparable: str = ""
    group: str = ""

    @model_validator(mode="after")
    def _baselines_are_repeated(self) -> "Claim":
        if self.kind == "baseline" and self.paper is not None and (self.aim != "equal" or self.tolerance <= 0.0):
            raise ValueError(f"'{self.claim}': a baseline is repeated; give aim = \"equal\" and a tolerance above 0.")
        if self.kind == "baseline" and self.bar is not None:
            raise ValueError(f"'{self.claim}': a baseline has no goal; leave `bar` out, or make it a result.")
        return self

    @property
    def reason(self) -> str:
        """Why it is not compared with the paper; empty if it is, or if there is nothing to compare with."""
        return self.not_comparable or (TUNED if self.tuned else "")

    @property
    def by_paper(self) -> bool:
        """Whether the printed number decides."""
        return self.paper is not None and not self.reason

    @property
    def reference(self) -> float | None:
        """The number that decides: the paper's where it can be compared, else our own."""
        if self.tuned:
            return None
        return self.paper if self.by_paper else self.bar

    @property
    def comparable(self) -> bool:
        """Whether there is a number to compare with."""
        return self.reference is not None

    def verdict(self, ours: float, error: float = 0.0) -> Judgement:
        """How ours stands to the reference; nan is missed.

        A mean of seeds within one standard `error` of a number that could be passed is a ``tie``.
        """
        if self.reference is None:
            return "not-comparable"
        if self.aim != "equal" and error > 0.0 and abs(ours - self.reference) <= error:
            return "tie"
        found = self._outcome(ours, self.reference)
        if self.by_paper:
            return found
        return "goal missed" if found == "missed" else "goal met"

    def _outcome(self, ours: float, reference: float) -> Literal["beaten", "met", "missed"]:
        slack = self.tolerance * abs(reference)
        if self.aim == "equal":
            return "met" if abs(ours - reference) <= slack else "missed"
        if self.aim == "at most":  # a consistency bound, nothing to beat
            return "met" if ours <= reference + slack else "missed"
        gain = reference - ours if self.aim == "lower" else ours - reference
        if gain > 0.0:
            return "beaten"
        return "met" if gain >= -slack else "missed"

    def margin(self, ours: float) -> float:
        """How far a value is from one with another verdict; infinite where nothing is compared."""
        if self.reference is None:
            return float("inf")
        slack = self.tolerance * abs(self.reference)
        worse = {"equal": (-slack, slack), "lower": (0.0, slack), "at most": (slack,), "higher": (-slack, 0.0)}
        return min(abs(ours - self.reference - edge) for edge in worse[self.aim])


class Verdict(BaseModel):
    """One row of ``claims.json``; what older files do not have is empty."""

    study: str
    claim: str
    paper: float | None
    bar: float | None = None
    ours: float
    spread: float | None = None  # standard deviation over seeds
    seeds: int | None = None
    unit: str
    kind: str = "result"
    verdict: Judgement
    command: str
    headline: bool = False

    @property
    def value(self) -> str:
        """Ours as a table shows it."""
        return with_spread(self.ours, self.spread, self.seeds)

    def unsettled(self, claim: Claim) -> bool:
        """Whether too few seeds were run: the spread is wider than the margin, and they are fewer than six."""
        return self.seeds is not None and self.seeds < ENOUGH and (self.spread or 0.0) > claim.margin(self.ours)


def load_claims(path: Path) -> list[Claim]:
    """Read ``claims.toml``."""
    try:
        claims = [Claim(**row) for row in read_toml(path).get("claims", [])]
    except (ValidationError, TypeError) as error:
        raise BadInput(f"{path}: {error}") from error
    names = [claim.claim for claim in claims]
    if len(set(names)) != len(names):
        raise BadInput(f"{path}: two claims have the same name.")
    return claims


def judge(
    study: str,
    claims: Sequence[Claim],
    values: Mapping[str, Value],
    command: str,
    not_comparable: Mapping[str, str],
    *,
    partial: bool = False,
) -> list[Verdict]:
    """Compare values, named like the claims, with the claims; none may be missing or unknown.

    `not_comparable` gives reasons why claims cannot be compared in this run (a record that is not there). A `partial`
    run judges what it has values for and can compare; the other claims are left out.
    """
    known = [claim.claim for claim in claims]
    for name in values:
        if name not in known:
            raise UnknownName("claim", name, known, where=study)
    missing = [name for name in known if name not in values]
    if missing and not partial:
        raise BadInput(f"{study}: no value for the claim '{missing[0]}'.")
    verdicts = [
        _verdict(study, claim, values[claim.claim], command, claim.claim in not_comparable)
        for claim in claims
        if claim.claim in values
    ]
    verdicts = _with_headlines(claims, verdicts)
    return [v for v in verdicts if v.verdict != "not-comparable"] if partial else verdicts


def _verdict(study: str, claim: Claim, value: Value, command: str, refused: bool) -> Verdict:
    seeds = value if isinstance(value, Seeds) else Seeds.of([value])
    several = isinstance(value, Seeds)
    return Verdict(
        study=study,
        claim=claim.claim,
        paper=claim.paper,
        bar=claim.bar,
        ours=seeds.mean,
        spread=seeds.spread if several else None,
        seeds=len(seeds.values) if several else None,
        unit=claim.unit,
        kind=claim.kind,
        verdict="not-comparable" if refused else claim.verdict(seeds.mean, seeds.error),
        command=command,
    )


def _with_headlines(claims: Sequence[Claim], verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Mark what stands in the project's README: by a rule, so that no good row can be picked.

    Of every group the first row that was compared; and, where none of these was lost, the first of the study that was.
    """
    groups = {claim.claim: claim.group for claim in claims}
    compared = [v for v in verdicts if v.verdict != "not-comparable"]
    first: dict[str, str] = {}
    for v in compared:
        first.setdefault(groups[v.claim], v.claim)
    chosen = set(first.values())
    lost = [v.claim for v in compared if v.verdict in LOST]
    chosen |= set() if chosen & set(lost) else set(lost[:1])
    return [v.model_copy(update={"headline": v.claim in chosen}) for v in verdicts]


def rejudge(claims: Sequence[Claim], verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The values of a run judged by the claims as they stand now; a claim without a value is left out."""
    found, rows = {v.claim: v for v in verdicts}, []
    for claim in claims:
        if v := found.get(claim.claim):
            error = (v.spread or 0.0) / math.sqrt(v.seeds or 1)
            now = {key: getattr(claim, key) for key in ("paper", "bar", "unit", "kind")}
            rows.append(v.model_copy(update=now | {"verdict": claim.verdict(v.ours, error)}))
    return _with_headlines(claims, rows)


def write_verdicts(path: Path, verdicts: Sequence[Verdict]) -> None:
    """Write ``claims.json``."""
    rows: list[dict[str, Any]] = [verdict.model_dump() for verdict in verdicts]
    with replacing(path) as part:
        part.write_text(json.dumps(rows, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read_verdicts(path: Path) -> list[Verdict]:
    """Read ``claims.json``."""
    try:
        return [Verdict(**row) for row in json.loads(path.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError) as error:
        raise BadInput(f"{path}: not a list of verdicts ({error}).") from error


def markdown_short(verdicts: Sequence[Verdict]) -> str:
    """The table of a README, a row for every study: how many claims hold, the first, and the first that was lost."""
    lines = ["| study | claims that hold | the first claim | the first that was lost |", "|---|---|---|---|"]
    for study in dict.fromkeys(v.study for v in verdicts):
        rows = [v for v in verdicts if v.study == study]
        judged = [v for v in rows if v.verdict != "not-comparable"]
        holds = sum(v.verdict not in LOST for v in judged)
        lost = [v for v in rows if v.headline and v.verdict in LOST]
        first = next(v for v in rows if v.headline)
        lines.append(f"| {study} | {holds} of {len(judged)} | {_told(first)} | {_told(lost[0]) if lost else '-'} |")
    return "\n".join(lines) + "\n"


def _told(v: Verdict) -> str:
    """A claim in a few words: what was asked, what was found."""
    asked = f"paper {v.paper:.4g}" if v.paper is not None else f"goal {v.bar:.4g}" if v.bar is not None else "no number"
    return f"{v.claim}: {v.value} {v.unit} ({asked}{', tie' if v.verdict == 'tie' else ''})".replace(" - (", " (")


def markdown(verdicts: Sequence[Verdict], *, every: bool = False) -> str:
    """The headline claims of every study and how all its claims stand; or every claim."""
    lines = ["| study | claim | paper | our goal | ours | unit | verdict |", "|---|---|---|---|---|---|---|"]
    for study in dict.fromkeys(v.study for v in verdicts):
        rows = [v for v in verdicts if v.study == study]
        for v in rows:
            if every or v.headline:
                asked = " | ".join("-" if number is None else f"{number:.4g}" for number in (v.paper, v.bar))
                lines.append(f"| {v.study} | {v.claim} | {asked} | {v.value} | {v.unit} | {v.verdict} |")
        counts = {kind: sum(v.verdict == kind for v in rows) for kind in get_args(Judgement)}
        summary = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
        lines.append(f"| {study} | all {len(rows)} claims | | | | | {summary} |")
    return "\n".join(lines) + "\n"
