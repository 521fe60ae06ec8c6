"""Cells of tables that are more than text: a link to a page beside this one, a history drawn as small as a word."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from urllib.parse import quote

import numpy as np

__all__ = ["Link", "Spark", "with_spread"]

_WIDTH, _HEIGHT = 140, 28  # px


@dataclass(frozen=True)
class Link:
    """Text that leads to a file, relative to the page."""

    text: str
    target: str

    def html(self) -> str:
        """An anchor; the target is a path, never a scheme."""
        return f'<a href="./{escape(quote(self.target))}">{escape(self.text)}</a>'

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False)
class Spark:
    """A history without axes, its least and greatest values kept in every pixel."""

    values: Sequence[float] | np.ndarray
    alt: str

    def html(self) -> str:
        """A drawing of its own, in the colour of links."""
        finite = np.asarray(self.values, dtype=float)
        finite = finite[np.isfinite(finite)]
        if len(finite) < 2 or np.ptp(finite) == 0.0:
            return ""
        pieces = np.array_split(finite, min(_WIDTH, len(finite) // 2))
        low, span = float(finite.min()), float(np.ptp(finite))
        points = []
        for k, piece in enumerate(pieces):
            x = _WIDTH * (k + 0.5) / len(pieces)
            ends = (piece.min(), piece.max()) if k % 2 else (piece.max(), piece.min())
            points += [f"{x:.1f},{_HEIGHT - 1 - (_HEIGHT - 2) * (float(end) - low) / span:.1f}" for end in ends]
        return (
            f'<svg class="spark" role="img" aria-label="{escape(self.alt)}" width="{_WIDTH}" height="{_HEIGHT}" '
            f'viewBox="0 0 {_WIDTH} {_HEIGHT}"><polyline fill="none" stroke="currentColor" stroke-width="1" '
            f'points="{" ".join(points)}"/></svg>'
        )

    def __str__(self) -> str:
        return ""


def with_spread(mean: float, spread: float | None, count: int | None, digits: int = 4) -> str:
    """A number of a table: ``41.6``, or ``41.6 ± 1.2 (6)`` with standard deviation and count."""
    return f"{mean:.{digits}g}" + ("" if spread is None else f" ± {spread:.2g} ({count})")
