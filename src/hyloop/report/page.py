"""One HTML page that needs nothing but itself: text, tables and charts, on screen and on paper."""

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

from hyloop.core.writing import check_target, replacing
from hyloop.errors import BadInput, BadShape, HyloopError
from hyloop.report.cells import Link, Spark
from hyloop.report.charts import Chart, Drawing, chart_spec
from hyloop.report.movie import Movie, movie_html
from hyloop.report.space_movie import SpaceMovie, space_html

__all__ = ["Answer", "Code", "Section", "Table", "check_folder", "check_page", "document", "write_page"]

_LONG = 160  # characters; longer cells are folded
_LONG_WORD = 24  # characters; longer words, such as digests, are broken
_NUMBER = re.compile(r"[-+−]?[\d.,]+(e[-+]?\d+)?\s?%?|[-–—]|")
_FILES = {".csv", ".h5", ".html", ".json", ".mat", ".parquet", ".pdf", ".png", ".safetensors", ".svg", ".txt"}
_VERDICTS = {"beaten", "met", "missed", "not-comparable"}

Picture = Chart | Drawing | Movie | SpaceMovie


@dataclass(frozen=True)
class Table:
    """A table with a title; cells are text, numbers, `Link` or `Spark`, None is an empty cell."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    folded: bool = False

    def __post_init__(self) -> None:
        for k, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise BadShape(
                    f"table '{self.title}': row {k + 1} has {len(row)} cells, the table {len(self.columns)} columns. "
                    "Give every row one cell for each column."
                )


@dataclass(frozen=True)
class Code:
    """Text to be copied: a command, or lines of a file."""

    text: str


@dataclass(frozen=True)
class Section:
    """A part of the page: a heading, then paragraphs, charts, code and tables; folded, only its heading shows."""

    title: str
    text: Sequence[str] = ()
    charts: Sequence[Picture] = ()
    tables: Sequence[Table] = ()
    code: Sequence[Code] = ()
    folded: bool = False

    @property
    def empty(self) -> bool:
        """Whether there is nothing to see in it."""
        return not (self.text or self.charts or self.tables or self.code)


@dataclass(frozen=True)
class Answer:
    """What a page says first: one sentence, three numbers with what they are, one picture.

    Parameters
    ----------
    sentence : str
        What came out.
    numbers : three pairs of str
        Each a number with its unit, and what it is: ``("0.42 %", "largest drift ratio, story 2")``.
    picture : Chart, Drawing or Movie
        At most 520 px high, so that all of it stands on the first screen. None for a page of tables alone.
    """

    sentence: str
    numbers: Sequence[tuple[str, str]]
    picture: "Picture | None"

    def __post_init__(self) -> None:
        if len(self.numbers) != 3:
            raise BadShape(f"an answer has three numbers, got {len(self.numbers)}.")


def check_page(path: str | PathLike) -> None:
    """Refuse a name that promises another kind of file than a page."""
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise BadInput(f"{path}: a page is written as .html; give a name that ends so.")
    check_target(path)


def check_folder(path: str | PathLike, what: str) -> None:
    """Refuse a file, or a name that promises one, where a folder is written."""
    if Path(path).suffix.lower() in _FILES or Path(path).is_file():
        raise BadInput(f"{path}: {what} into a folder; give the name of one, without a suffix.")
    check_target(path, folder=True)


def write_page(path: str | PathLike, title: str, answer: Answer, sections: Sequence[Section]) -> Path:
    """Write `document` to a file, whose folder is made."""
    check_page(path)
    target = Path(path)
    page = document(title, answer, sections)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as part:
            part.write_text(page, encoding="utf-8", errors="backslashreplace")  # a file's name need not be text
    except OSError as error:
        raise HyloopError(f"cannot write {target}: {error.strerror}. Make room, or give another folder.") from error
    return target


def document(title: str, answer: Answer, sections: Sequence[Section]) -> str:
    """The whole page as text.

    A content security policy forbids every request, so the page cannot load anything even by mistake; plotly.js lies
    inside it.
    """
    shown = [section for section in sections if not section.empty]
    pictures = [] if answer.picture is None else [answer.picture]
    charts = [*pictures, *(chart for section in shown for chart in section.charts)]
    ids = (f"plot{k}" for k in range(1, len(charts) + 1))
    head = "".join(_figure(picture, next(ids)) for picture in pictures)
    numbers = "".join(f"<div><dt>{escape(what)}</dt><dd>{escape(value)}</dd></div>" for value, what in answer.numbers)
    links = "".join(f'<li><a href="#s{k}">{escape(s.title)}</a></li>' for k, s in enumerate(shown, 1))
    body = "\n".join(_section(section, k, ids) for k, section in enumerate(shown, 1))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<style>{_asset("page.css")}</style>
</head>
<body>
<header><h1>{escape(title)}</h1>
<p class="answer">{escape(answer.sentence)}</p>
<dl class="numbers">{numbers}</dl>
{head}</header>
<nav aria-label="Contents"><ul>{links}</ul></nav>
<main>
{body}
</main>
{_scripts(charts)}
</body>
</html>
"""


def _scripts(charts: Sequence[Picture]) -> str:
    """What draws: plotly.js only where it is needed, as it has 4.8 MB."""
    parts = []
    if any(not isinstance(chart, (Movie, SpaceMovie)) for chart in charts):
        from plotly.offline import get_plotlyjs  # costs a third of a second, and only a page needs it

        parts.append(get_plotlyjs())
    parts.append(_asset("page.js"))
    if any(isinstance(chart, Movie) for chart in charts):
        parts.append(_asset("movie.js"))
    if any(isinstance(chart, SpaceMovie) for chart in charts):
        parts.append(_asset("space.js"))
    return "\n".join(f"<script>{part}</script>" for part in parts)


@cache
def _asset(name: str) -> str:
    return files("hyloop.report").joinpath("assets", name).read_text(encoding="utf-8")


def _section(section: Section, k: int, ids: Iterator[str]) -> str:
    parts = [f"<p>{escape(text)}</p>" for text in section.text if text.strip()]
    parts += [_figure(chart, next(ids)) for chart in section.charts]
    parts += [
        f'<div class="code"><pre>{escape(code.text.strip())}</pre><button type="button">copy</button></div>'
        for code in section.code
    ]
    parts += [_table(table) for table in section.tables]
    heading, inner = f'<h2 id="s{k}">{escape(section.title)}</h2>', "\n".join(parts)
    if section.folded:
        return f'<details class="section"><summary>{heading}</summary>\n{inner}</details>'
    return f'<section aria-labelledby="s{k}">\n{heading}\n{inner}</section>'


def _figure(chart: Picture, name: str) -> str:
    caption = f"<figcaption>{escape(chart.caption)}</figcaption>" if chart.caption else ""
    if isinstance(chart, Movie):
        return f"<figure>{movie_html(chart, name)}{caption}</figure>"
    if isinstance(chart, SpaceMovie):
        return f"<figure>{space_html(chart, name)}{caption}</figure>"
    spec = chart_spec(chart)
    # "<" never appears as itself, so no text in the data can close the script element
    data = json.dumps(spec, ensure_ascii=True, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return (
        f'<figure><div class="plot" id="{name}" role="img" aria-label="{escape(chart.alt)}" '
        f'style="height:{spec["layout"]["height"]}px"><noscript>{escape(chart.alt)} (drawn with JavaScript)</noscript>'
        f'</div>{caption}<script type="application/json" data-for="{name}">{data}</script></figure>'
    )


def _table(table: Table) -> str:
    texts = [[cell_text(cell) for cell in row] for row in table.rows]
    numeric = [all(_NUMBER.fullmatch(row[j]) for row in texts) for j in range(len(table.columns))]

    def cell(value: Any, text: str, j: int) -> str:
        if isinstance(value, (Link, Spark)):
            return f"<td>{value.html()}</td>"
        kind = "n" if numeric[j] else f"verdict {text}" if text in _VERDICTS else ""
        shown = escape(text)
        if any(len(word) > _LONG_WORD for word in text.split()):
            kind += " long"
        if len(text) > _LONG:
            shown = f"<details><summary>{escape(text[:60])}…</summary><pre>{shown}</pre></details>"
        return f"<td{_class(kind.strip())}>{shown}</td>"

    head = "".join(
        f'<th scope="col"{_class("n" if right else "")}>{escape(str(name))}</th>'
        for name, right in zip(table.columns, numeric, strict=True)
    )
    rows = "\n".join(
        f"<tr>{''.join(cell(value, text, j) for j, (value, text) in enumerate(zip(given, row, strict=True)))}</tr>"
        for given, row in zip(table.rows, texts, strict=True)
    )
    title = "" if table.folded else f"<caption>{escape(table.title)}</caption>"
    shown = (
        f'<div class="wide" role="region" tabindex="0" aria-label="{escape(table.title)}"><table>'
        f"{title}<thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody></table></div>"
    )
    if table.folded:
        return f'<details class="table"><summary>{escape(table.title)}</summary>{shown}</details>'
    return shown


def cell_text(value: Any) -> str:
    """A cell as text: four digits of a float, whole numbers in full, a dash for what is not a number."""
    if value is None:
        return ""
    if isinstance(value, float) or (hasattr(value, "dtype") and value.dtype.kind == "f"):
        number = float(value)
        if not math.isfinite(number):
            return "–" if math.isnan(number) else f"{number:g}"
        return f"{number:.0f}" if number == 0.0 or 1e4 <= abs(number) < 1e7 else f"{number:#.4g}".rstrip(".")
    return str(value)


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)
