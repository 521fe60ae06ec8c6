"""The best settings of a tuning as a piece of an experiment file."""

import json
from pathlib import Path

from hyloop.report.tune_result import Tuned

__all__ = ["piece"]


def piece(found: Tuned) -> str:
    """TOML that another file includes behind the one that was tuned."""
    lines = [
        f"# Settings that hyloop tune found for {found.source}, of {len(found.trials)} that were tried.",
        f"# Objective: {found.objective}, {found.over} of {len(found.training)} training events.",
        f"# {found.sentence()}",
        "# What a file says itself wins over what it includes, so use it in a third one:",
        f'#   include = ["{Path(found.source).name}", "best.toml"]  # each with its folder, seen from that file',
    ]
    if found.best.number == 0:
        return "\n".join([*lines, "# The file's own settings were the best, so nothing stands here.", ""])
    tables: dict[str, list[str]] = {}
    for name, text in found.best.settings.items():
        table, _, key = name.rpartition(".")
        tables.setdefault(table, []).append(f"{key} = {_toml(text)}")
    top = tables.pop("", [])
    for table, own in tables.items():
        top += ["", f"[{table}]", *own]
    return "\n".join([*lines, *top, ""])


def _toml(text: str) -> str:
    """The text of an override as TOML: a number with a unit needs quotes."""
    try:
        json.loads(text)
    except ValueError:
        pass
    else:
        return text
    return text if text[:1] in "[{" else json.dumps(text, ensure_ascii=False)
