"""Claims: what a paper printed, what we get, and the verdict.

A study folder has a ``claims.toml``::

    [[claims]]
    claim = "first period"
    source = "section 3.2.1"
    paper = 0.398
    unit = "s"
    aim = "equal"        # or "lower", "higher" (can be beaten), "at most" (a bound)
    tolerance = 0.01     # relative

A claim that cannot be compared says why in ``not_comparable``.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from hyloop.core.writing import replacing
from hyloop.errors import BadInput, UnknownName
from hyloop.files.toml import read_toml

__all__ = ["Claim", "Verdict", "judge", "load_claims", "markdown", "read_verdicts", "write_verdicts"]


Judgement = Literal["beaten", "met", "missed", "not-comparable"]


class Claim(BaseModel):
    """One printed number and how ours is compared with it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    claim: str
    source: str
    unit: str = "-"
    paper: float | None = None
    aim: Literal["equal", "lower", "higher", "at most"] = "equal"
    tolerance: float = 0.0
    not_comparable: str = ""
    headline: bool = False  # one of the few that stand in the project's README

    @property
    def comparable(self) -> bool:
        """Whether there is a number to compare with."""
        return self.paper is not None and not self.not_comparable

    def verdict(self, ours: float) -> Judgement:
        """``beaten``, ``met``, ``missed`` or ``not-comparable``; nan is missed."""
        if self.paper is None or self.not_comparable:
            return "not-comparable"
        slack = self.tolerance * abs(self.paper)
        if self.aim == "equal":
            return "met" if abs(ours - self.paper) <= slack else "missed"
        if self.aim == "at most":  # a consistency bound, nothing to beat
            return "met" if ours <= self.paper + slack else "missed"
        gain = self.paper - ours if self.aim == "lower" else ours - self.paper
        if gain > 0.0:
            return "beaten"
        return "met" if gain >= -slack else "missed"


class Verdict(BaseModel):
    """One row of ``claims.json``."""

    study: str
    claim: str
    paper: float | None
    ours: float
    unit: str
    verdict: Judgement
    command: str
    headline: bool = False


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
    values: Mapping[str, float],
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
        Verdict(
            study=study,
            claim=c.claim,
            paper=c.paper,
            ours=float(values[c.claim]),
            unit=c.unit,
            verdict="not-comparable" if c.claim in not_comparable else c.verdict(float(values[c.claim])),
            command=command,
            headline=c.headline,
        )
        for c in claims
        if c.claim in values
    ]
    return [v for v in verdicts if v.verdict != "not-comparable"] if partial else verdicts


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


def markdown(verdicts: Sequence[Verdict], *, every: bool = False) -> str:
    """The table of a README: the headline claims of every study and how all its claims stand; or every claim."""
    lines = ["| study | claim | paper | ours | unit | verdict |", "|---|---|---|---|---|---|"]
    for study in dict.fromkeys(v.study for v in verdicts):
        rows = [v for v in verdicts if v.study == study]
        for v in rows:
            if every or v.headline:
                paper = "-" if v.paper is None else f"{v.paper:.4g}"
                lines.append(f"| {v.study} | {v.claim} | {paper} | {v.ours:.4g} | {v.unit} | {v.verdict} |")
        counts = {kind: sum(v.verdict == kind for v in rows) for kind in get_args(Judgement)}
        summary = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
        lines.append(f"| {study} | all {len(rows)} claims | | | | {summary} |")
    return "\n".join(lines) + "\n"
