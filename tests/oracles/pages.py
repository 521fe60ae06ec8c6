"""A page read as a browser would: its headings, tables, and the numbers its charts draw.

plotly.js alone makes a page megabytes long, so its size says nothing; what counts is what is drawn and tabulated.
"""

import base64
import json
from html.parser import HTMLParser

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.image import imread

VOID = {"meta", "br", "img", "link", "input", "hr"}


class Page(HTMLParser):
    """Reads a page and fails where an element is not closed."""

    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.open, self.headings, self.loads, self.specs, self.scripts, self.cells = [], [], [], [], [], []
        self.policy, self.text, self.plots, self.tables = "", "", [], {}
        self.answer, self.numbers, self.picture = "", [], None  # what stands at the top of the page
        self.feed(path.read_text(encoding="utf-8"))
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"]
        if {"plot", "movie"} & set((given.get("class") or "").split()):
            self.plots.append(given)
        self.loads += [value for key, value in attrs if key in ("src", "href", "srcset", "data", "action", "poster")]
        if tag == "table":
            self._rows = []
            if ("details", {"class": "table"}) in self.open:  # its title stands on the fold
                self.tables[self._folded] = self._rows
        if tag == "tr":
            self._rows.append([])
        if tag == "td":
            self.cells.append("")
            self._rows[-1].append("")
        if tag not in VOID:
            self.open.append((tag, given))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        tag, given = self.open[-1] if self.open else ("", {})
        if tag == "script" and given.get("type") == "application/json":
            spec = json.loads(data, parse_constant=pytest.fail)
            if any(name == "header" for name, _ in self.open):
                self.picture = spec
            else:
                self.specs.append(spec)
        elif tag == "script":
            self.scripts.append(data)
        else:
            self.text += data
        if tag in ("h1", "h2"):
            self.headings.append(data)
        if given.get("class") == "answer":
            self.answer += data
        if tag in ("dt", "dd"):
            self.numbers.append(data)
        if tag == "caption":
            self.tables[data] = self._rows
        if tag == "summary" and ("details", {"class": "table"}) in self.open:
            self._folded = data
        if any(name == "td" for name, _ in self.open):
            self.cells[-1] += data
            self._rows[-1][-1] += data

    def rows(self, caption):
        """First cell -> the others, of the table whose caption begins so."""
        (found,) = (rows for title, rows in self.tables.items() if title.startswith(caption))
        return {row[0]: row[1:] for row in found if row}  # the head has no cells of this kind

    def chart(self, begins):
        """Number of the first chart below the head whose description begins so."""
        below = self.plots[self.picture is not None :]
        return next(k for k, plot in enumerate(below) if plot.get("aria-label", "").startswith(begins))

    def lines(self, spec=None):
        """(panel title, name of the line) -> x, y of a chart; without a number of the picture on top."""
        drawn = self.picture if spec is None else self.specs[spec]
        layout = drawn["layout"]
        corner = {(n["x"], n["y"]): n["text"][3:-4] for n in layout["annotations"] if n["text"].startswith("<b>")}
        found = {}
        for trace in drawn["data"]:
            x_axis, y_axis = (layout[f"{key}axis{trace[key + 'axis'][1:]}"] for key in "xy")
            title = corner[x_axis["domain"][0], y_axis["domain"][1]]
            found[title, trace["name"]] = numbers(trace["x"]), numbers(trace["y"])
        return found


def assert_claims(page, verdicts):
    """The page of a study shows every claim with the number and the verdict of this run."""
    shown = {claim: (row[3], row[5]) for claim, row in page.rows("Claims").items()}
    assert shown == {v.claim: (v.value, v.verdict) for v in verdicts}


def numbers(packed):
    return np.frombuffer(base64.b64decode(packed["bdata"]), "<" + packed["dtype"])


def ink(path, color):
    """Pixels of a picture that have a colour, but for the smoothed rim of lines."""
    pixels = imread(path)[:, :, :3]
    return int((np.abs(pixels - to_rgb(color)).max(axis=2) < 0.01).sum())


def extremes(values):
    return np.array([values.min(), values.max()])
