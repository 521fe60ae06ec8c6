"""The page about a study: how many claims hold, ours beside the paper's numbers as a picture, then what was run."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from hyloop.report.charts import Chart, Drawing
from hyloop.report.claims_picture import JudgedClaim, draw_claims, drawable
from hyloop.report.display import Recordings
from hyloop.report.page import Answer, Section, Table
from hyloop.report.run_page import write_report

__all__ = ["JudgedClaim", "StudySummary", "study_sentence", "write_study"]

SHEET = 45  # rows of a picture on paper
FEW = 8  # claims; fewer make no picture, and that of the study itself stands first
LOST = ("missed", "goal missed", "tie")
WORDS = {
    "beaten": ("is beaten", "are beaten"),
    "met": ("is met", "are met"),
    "tie": ("is a tie", "are ties"),
    "missed": ("is missed", "are missed"),
    "goal met": ("meets our own goal", "meet our own goals"),
    "goal missed": ("misses our own goal", "miss our own goals"),
}
FIRST = 22  # rows of the first picture: all of it stands on the first screen


class StudySummary(NamedTuple):
    """What a page says of a study besides its claims."""

    title: str
    about: Sequence[str]
    comparable: int  # claims of the whole study that have a number to be compared with
    quick: bool
    full: str  # time of the full run in words
    command: str  # of the full run
    numbers: Sequence[tuple[str, str]] = ()  # of the study itself, for the top of the page
    picture: Chart | None = None  # of the study itself; at the top of a page with few claims
    sections: Sequence[Section] = ()  # further parts, below all claims and tables


def write_study(
    path: Path, study: StudySummary, judged: Sequence[JudgedClaim], tables: Sequence[Table], recordings: Recordings
) -> Path:
    """Write one HTML page about a study; it loads nothing."""
    first = _first(judged)
    claims = draw_claims(first, _caption(judged, first)) if first else None
    picture, sections = claims, []
    if study.picture is not None and len(first) < FEW:
        picture = study.picture
        sections += [Section("Ours beside the paper's, or beside our goals", charts=[claims])] if claims else []
    elif study.picture is not None:
        sections.append(Section("What was run", charts=[study.picture]))
    if len(first) < len(drawable(judged)):
        text = ["Every claim with two numbers, in the order of the paper."]
        sections.append(Section("All claims", text, charts=_pieces(drawable(judged))))
    sections += study.sections
    answer = Answer(study_sentence(study, judged), _numbers(study, judged), picture)
    summary = [*([_table(judged)] if judged else []), *tables]
    return write_report(
        path, recordings, title=study.title, answer=answer, summary=summary, notes=study.about, sections=sections
    )


def _pieces(claims: list[JudgedClaim]) -> list[Drawing]:
    """Pictures that each fit on a sheet of paper."""
    return [draw_claims(claims[k : k + SHEET], "") for k in range(0, len(claims), SHEET)]


def study_sentence(study: StudySummary, judged: Sequence[JudgedClaim]) -> str:
    """How the claims stand, in one sentence."""
    counts = Counter(claim.verdict for claim in judged)
    told = [f"{counts[kind]} {_said_of(kind, counts[kind] == 1)}" for kind in WORDS if counts[kind]]
    stand = f"{', '.join(told[:-1])} and {told[-1]}" if len(told) > 1 else "".join(told)
    if study.quick:
        every = "runs more tests" if len(judged) == study.comparable else "judges all"
        rest = f"The full run{f', {study.full},' if study.full else ''} {every}: {study.command}"
        if not judged:
            return f"The quick run can judge none of {study.comparable} claims here. {rest}"
        return f"The quick run judges {len(judged)} of {study.comparable} claims: {stand}. {rest}"
    apart = [claim.remark for claim in judged if claim.verdict == "not-comparable"]
    if not apart:
        return f"Of {len(judged)} claims, {stand}."
    why = f" ({apart[0].rstrip('.')})" if len(set(apart)) == 1 and apart[0] else ""
    cannot = f"{len(apart)} cannot be compared{why}"
    return f"Of {len(judged)} claims, {stand}; {cannot}." if stand else f"Of {len(judged)} claims, {cannot}."


def _said_of(verdict: str, one: bool) -> str:
    """A verdict as part of a sentence about one claim or several."""
    alone, many = WORDS[verdict]
    return alone if one else many


def _numbers(study: StudySummary, judged: Sequence[JudgedClaim]) -> list[tuple[str, str]]:
    """How many hold, what the study itself puts first, headline claims; else how many are missed or not compared."""
    counts = Counter(claim.verdict for claim in judged)
    compared = len(judged) - counts["not-comparable"]
    held = counts["beaten"] + counts["met"] + counts["goal met"]
    goals = " (goals of our own among them)" if counts["goal met"] else ""
    found = [(f"{held} of {compared}", f"claims beaten or met, of those compared{goals}"), *study.numbers]
    for claim in judged:
        if claim.headline and claim.reference is not None and len(found) < 3:
            unit = "" if claim.unit == "-" else f" {claim.unit}"
            asked = f"{claim.whose} {claim.reference:.4g}"
            found.append((f"{claim.ours:.3g}{unit}", f"{claim.claim}; {asked}, {_said(claim.verdict)}"))
    missed = counts["missed"] + counts["goal missed"]
    found += [(str(missed), "claims missed"), (str(counts["not-comparable"]), "cannot be compared")]
    return found[:3]


def _said(verdict: str) -> str:
    return "not compared" if verdict == "not-comparable" else verdict


def _first(judged: Sequence[JudgedClaim]) -> list[JudgedClaim]:
    """Claims of the first picture: the headline ones, then half missed and half not, the furthest from the paper."""
    shown = drawable(judged)
    if len(shown) <= FIRST:
        return [c for c in shown if c.headline] + [c for c in shown if not c.headline]
    chosen = [c for c in shown if c.headline][:FIRST]
    rest = [c for c in shown if not c.headline and c.verdict != "not-comparable"]
    far = sorted(rest, key=_distance, reverse=True)
    missed = [c for c in far if c.verdict in LOST]
    held = [c for c in far if c.verdict not in LOST]
    room = FIRST - len(chosen)
    half = max(room // 2, room - len(held))
    return [*chosen, *missed[:half], *held[: room - len(missed[:half])]]


def _distance(claim: JudgedClaim) -> float:
    """How far ours is from what it is compared with, as a factor; a number without a ratio is furthest."""
    ratio = claim.ours / claim.reference if claim.reference else 0.0
    return max(ratio, 1.0 / ratio) if ratio > 0.0 else float("inf")


def _caption(judged: Sequence[JudgedClaim], first: Sequence[JudgedClaim]) -> str:
    every = len(drawable(judged))
    if len(first) == every:
        return ""
    return f"{len(first)} of {every}: the headline claims, then missed and held ones, the furthest off first."


def _table(judged: Sequence[JudgedClaim]) -> Table:
    rows = [
        [
            *(c.claim, c.source),
            *("-" if number is None else f"{number:.4g}" for number in (c.paper, c.bar)),
            *(c.value, c.unit, c.verdict, c.remark),
        ]
        for c in judged
    ]
    columns = ["claim", "source", "paper", "our goal", "ours", "unit", "verdict", "remark"]
    return Table("Claims", columns, rows, folded=True)
