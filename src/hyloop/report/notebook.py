"""Recordings in a notebook: a summary where one is shown, and the building in motion."""

from dataclasses import dataclass
from html import escape
from os import PathLike
from pathlib import Path

from hyloop.errors import BadInput
from hyloop.record import Recording, picture_of
from hyloop.report.building import building_movie
from hyloop.report.page import Answer, document, write_page
from hyloop.report.response_sections import run_answer

__all__ = ["Animation", "animate", "summary_html"]

_HEIGHT = 800  # px, of the page with the picture
_ROWS = 12  # channels in the summary


@dataclass(frozen=True, eq=False, repr=False)
class Animation:
    """The building of a recording in motion; a notebook shows it, and `save` writes it as a page."""

    title: str
    answer: Answer

    def save(self, path: str | PathLike) -> Path:
        """Write it as a page of its own, for any browser."""
        return write_page(path, self.title, self.answer, [])

    def __repr__(self) -> str:
        return f"Animation: {self.title}; a notebook shows it, .save('page.html') writes it"

    def _repr_html_(self) -> str:
        # a page of its own, so that its styles and scripts and those of the notebook leave each other alone
        page, title = escape(document(self.title, self.answer, [])), escape(self.title)
        return f'<iframe srcdoc="{page}" style="width:100%;height:{_HEIGHT}px;border:0" title="{title}"></iframe>'


def animate(recording: Recording, against: Recording | None = None) -> Animation:
    """The building in motion with the loops of its devices, beside another recording in grey where one is given."""
    title = str(recording.attributes.get("title") or "Recording")
    other = "" if against is None else str(against.attributes.get("title") or "")
    other = "without devices" if other.endswith("without devices") else "the other recording"
    if picture_of(recording) is None and building_movie(recording) is None:
        raise BadInput(
            "animate: this recording does not know its building: the drifts of the stories and the ground motion are "
            "needed. Run a file, or loop.run(..., derived=True) with a structure that knows its floors."
        )
    shown = {title: recording} | ({} if against is None else {other: against})
    return Animation(title, run_answer(shown))


def summary_html(recording: Recording) -> str:
    """What a notebook shows of a recording: the answer, and its first channels."""
    if len(recording) == 0:
        return "<p>A recording without samples.</p>"
    answer = run_answer({str(recording.attributes.get("title") or "recording"): recording}, picture=False)
    numbers = "".join(f"<td><b>{escape(value)}</b><br>{escape(what)}</td>" for value, what in answer.numbers)
    rows = "".join(
        f"<tr><td>{escape(r.name)}</td><td>{escape(r.unit)}</td><td>{r.min:.4g}</td><td>{r.max:.4g}</td></tr>"
        for r in recording.table()[:_ROWS]
    )
    more = len(recording.names) - _ROWS
    rest = f"<p>and {more} more channels; <code>.names</code> lists them</p>" if more > 0 else ""
    return (
        f"<p><b>{escape(answer.sentence)}</b></p><table><tr>{numbers}</tr></table>"
        f"<details><summary>{len(recording.names)} channels, {len(recording)} rows to {recording.time[-1]:g} s"
        "</summary>"
        f"<table><tr><th>channel</th><th>unit</th><th>least</th><th>greatest</th></tr>{rows}</table>{rest}</details>"
    )
