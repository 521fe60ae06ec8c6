"""One HTML page that needs nothing but itself: text, tables and charts, on screen and on paper."""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

from hyloop.core.writing import check_target, replacing
from hyloop.errors import BadInput, BadShape
from hyloop.report.charts import Chart, Drawing, chart_spec

__all__ = ["Section", "Table", "check_folder", "check_page", "document", "write_page"]

_LONG = 160  # characters; longer cells are folded
_LONG_WORD = 24  # characters; longer words, such as digests, are broken
_NUMBER = re.compile(r"[-+−]?[\d.,]+(e[-+]?\d+)?\s?%?|[-–—]|")
_FILES = {".csv", ".h5", ".html", ".json", ".mat", ".parquet", ".pdf", ".png", ".safetensors", ".svg", ".txt"}
_VERDICTS = {"beaten", "met", "missed", "not-comparable"}


@dataclass(frozen=True)
class Table:
    """A table with a title; cells are text or numbers, None is an empty cell."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]

    def __post_init__(self) -> None:
        for k, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise BadShape(
                    f"table '{self.title}': row {k + 1} has {len(row)} cells, the table {len(self.columns)} columns. "
                    "Give every row one cell for each column."
                )


@dataclass(frozen=True)
class Section:
    """A part of the page: a heading, then paragraphs, charts and tables."""

    title: str
    text: Sequence[str] = ()
    charts: Sequence[Chart | Drawing] = ()
    tables: Sequence[Table] = ()


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


def write_page(path: str | PathLike, title: str, lead: str, sections: Sequence[Section]) -> Path:
    """Write `document` to a file, whose folder is made."""
    check_page(path)
    target = Path(path)
    page = document(title, lead, sections)
    target.parent.mkdir(parents=True, exist_ok=True)
    with replacing(target) as part:
        part.write_text(page, encoding="utf-8", errors="backslashreplace")  # a file's name need not be text
    return target


def document(title: str, lead: str, sections: Sequence[Section]) -> str:
    """The whole page as text.

    A content security policy forbids every request, so the page cannot load anything even by mistake; plotly.js lies
    inside it.
    """
    from plotly.offline import get_plotlyjs  # costs a third of a second, and only a page needs it

    numbers = iter(range(1, 1 + sum(len(section.charts) for section in sections)))
    links = "".join(f'<li><a href="#s{k}">{escape(s.title)}</a></li>' for k, s in enumerate(sections, 1))
    body = "\n".join(_section(section, k, numbers) for k, section in enumerate(sections, 1))
    drawing = (
        f"<script>{get_plotlyjs()}</script>\n<script>{_SCRIPT}</script>" if any(s.charts for s in sections) else ""
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<header><h1>{escape(title)}</h1><p class="lead">{escape(lead)}</p></header>
<nav aria-label="Contents"><ul>{links}</ul></nav>
<main>
{body}
</main>
{drawing}
</body>
</html>
"""


def _section(section: Section, k: int, numbers: Any) -> str:
    parts = [f"<p>{escape(text)}</p>" for text in section.text if text.strip()]
    parts += [_chart(chart, next(numbers)) for chart in section.charts]
    parts += [_table(table) for table in section.tables]
    return (
        f'<section aria-labelledby="s{k}">\n<h2 id="s{k}">{escape(section.title)}</h2>\n'
        + "\n".join(parts)
        + "</section>"
    )


def _chart(chart: Chart | Drawing, k: int) -> str:
    spec = chart_spec(chart)
    # "<" never appears as itself, so no text in the data can close the script element
    data = json.dumps(spec, ensure_ascii=True, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    caption = f"<figcaption>{escape(chart.caption)}</figcaption>" if chart.caption else ""
    return (
        f'<figure><div class="wide"><div class="plot" id="plot{k}" role="img" aria-label="{escape(chart.alt)}" '
        f'style="height:{spec["layout"]["height"]}px"><noscript>{escape(chart.alt)} (drawn with JavaScript)</noscript>'
        f'</div></div>{caption}<script type="application/json" data-for="plot{k}">{data}</script></figure>'
    )


def _table(table: Table) -> str:
    texts = [[cell_text(cell) for cell in row] for row in table.rows]
    numeric = [all(_NUMBER.fullmatch(row[j]) for row in texts) for j in range(len(table.columns))]

    def cell(text: str, j: int) -> str:
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
    rows = "\n".join(f"<tr>{''.join(cell(text, j) for j, text in enumerate(row))}</tr>" for row in texts)
    return (
        f'<div class="wide" role="region" tabindex="0" aria-label="{escape(table.title)}"><table>'
        f"<caption>{escape(table.title)}</caption><thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody></table></div>"
    )


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


_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"

# Colours are variables, so that one rule serves light, dark and paper. plotly.js writes colours into each element;
# the important rules bring its text and lines back to the page's.
_STYLE = """
:root { --ink: #1c1d1f; --soft: #5d6167; --line: #e3e4e7; --axis: #b9bcc1; --back: #fff; --link: #1f5f9e;
  --good: #1d7a4f; --bad: #b3402a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e7e9; --soft: #a2a6ad; --line: #33363b; --axis: #5b6068;
  --back: #17181b; --link: #7db5ea; --good: #5cc596; --bad: #ee8a72; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1080px; padding: 2.5rem 1.5rem 4rem; background: var(--back); color: var(--ink);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 1.75rem; line-height: 1.25; font-weight: 650; margin: 0 0 .4rem; text-wrap: balance;
  overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; font-weight: 650; margin: 2.6rem 0 .7rem; padding-top: .7rem;
  border-top: 1px solid var(--line); }
p { max-width: 72ch; margin: .5rem 0; overflow-wrap: anywhere; }
.lead, figcaption, caption { color: var(--soft); }
a { color: var(--link); }
nav ul { list-style: none; padding: 0; margin: 1rem 0 0; display: flex; flex-wrap: wrap; gap: .3rem 1.3rem; }
nav a { text-decoration: none; } nav a:hover, nav a:focus { text-decoration: underline; }
figure { margin: 1rem 0 1.5rem; } figcaption { font-size: .87rem; max-width: 90ch; }
.wide { overflow-x: auto; } .plot { min-width: 640px; }
table { border-collapse: collapse; margin: .8rem 0 1.6rem; font-size: .92rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: .35rem; white-space: nowrap; }
th, td { text-align: left; vertical-align: top; padding: .28rem 1.2rem .28rem 0; border-bottom: 1px solid var(--line);
  overflow-wrap: break-word; max-width: 34rem; }
thead th { border-bottom: 1.5px solid var(--axis); font-weight: 600; vertical-align: bottom; }
th.n, td.n { text-align: right; }
.verdict { font-weight: 600; } .beaten, .met { color: var(--good); } .missed { color: var(--bad); }
.long { overflow-wrap: anywhere; min-width: 12rem; }
summary { cursor: pointer; } pre { white-space: pre-wrap; font-size: .85em; margin: .4rem 0; }
.plot [class$="tick"] text, .plot .legendtext, .plot .annotation-text, .plot [class$="title"] {
  fill: var(--ink) !important; }
.plot path[class*="grid"] { stroke: var(--line) !important; }
.plot .zl { stroke: var(--axis) !important; }
.plot .rangeslider-bg { fill: var(--line) !important; fill-opacity: .35; }
@media print {
  :root { --ink: #000; --soft: #444; --line: #ddd; --axis: #999; --back: #fff; --link: #000; --good: #000;
    --bad: #000; }
  @page { margin: 15mm; }
  body { padding: 0; font-size: 10pt; max-width: none; } nav, .modebar { display: none; }
  .wide { overflow: visible; } tr, figure { break-inside: avoid; } h2 { break-after: avoid; }
}
"""

_SCRIPT = """
"use strict";
const plots = [...document.querySelectorAll(".plot")];
const config = { responsive: true, displaylogo: false, showSendToCloud: false, plotlyServerURL: "", scrollZoom: false,
  modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"], toImageButtonOptions: { format: "svg" } };
for (const plot of plots) {
  const spec = JSON.parse(document.querySelector(`script[data-for="${plot.id}"]`).textContent);
  plot.replaceChildren();
  Plotly.newPlot(plot, spec.data, spec.layout, config);
}
const paper = 680; // px, the text width of A4 and of Letter
addEventListener("beforeprint", () => plots.forEach(plot => Plotly.relayout(plot, { width: paper })));
addEventListener("afterprint", () => plots.forEach(plot => Plotly.relayout(plot, { width: null, autosize: true })));
"""
