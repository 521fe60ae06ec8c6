"""Medians and quartiles over pairs, of every seed, and the tables they make."""

import numpy as np

from hyloop.report.page import Table

from .judging import Errors


def quartiles(errors: dict) -> np.ndarray:
    """Lower quartile, median and upper quartile over pairs in % (3, seeds)."""
    return 100.0 * np.quantile(np.array(list(errors.values())), [0.25, 0.5, 0.75], axis=0)


def pooled(found: dict[str, Errors], keep=lambda session, pair: True) -> dict:
    """All pairs of all sessions together, of those models that every session has."""
    models = [m for m in next(iter(found.values())) if all(m in errors for errors in found.values())]
    return {
        m: {(s, *pair): e for s, errors in found.items() for pair, e in errors[m].items() if keep(s, pair)}
        for m in models
    }


def cell(errors: dict) -> str:
    """Median with quartiles, means over seeds."""
    low, middle, high = quartiles(errors).mean(axis=1)
    return f"{middle:.2f} ({low:.2f}-{high:.2f})"


def table(title: str, groups: dict[str, Errors]) -> Table:
    """A row for every model, a column for every group of pairs."""
    models = list(dict.fromkeys(model for errors in groups.values() for model in errors))
    most = {model: max(len(next(iter(g[model].values()))) for g in groups.values() if model in g) for model in models}
    rows = [[m, most[m], *(cell(g[m]) if m in g else "" for g in groups.values())] for m in models]
    head = [f"{name}, {len(next(iter(g.values())))} pairs" for name, g in groups.items()]
    return Table(title, ["model", "seeds", *head], rows)
