"""What the page says first: one sentence about how it stands, and three numbers."""

from typing import Any

import numpy as np

from hyloop.live.source import Standing
from hyloop.live.watched import Watched
from hyloop.report.display import readable, short
from hyloop.report.pace import pace_sentences

__all__ = ["status_of"]

Number = tuple[str, str]
_CALLED = 1.0  # reason of an interlock that was told to trip; all others are its own


def status_of(watched: Watched) -> dict[str, Any]:
    """State, sentence, numbers, how far it is, how the clock is kept, and how far the picture moves."""
    state, sentence = _told(watched)
    count, planned = watched.count, watched.planned
    least, greatest = watched.reach
    picture = watched.panels.picture
    return {
        "state": state,
        "sentence": sentence,
        "numbers": [_progress(watched, state), _size(watched), _third(watched)],
        "part": 1.0 if planned < 2 else (count - 1) / (planned - 1),
        "end": watched.time(planned - 1),
        "pace": _pace(watched),
        "largest": 0.0 if picture is None else picture.largest(watched.first, least, greatest),
    }


def _told(watched: Watched) -> tuple[str, str]:
    standing = watched.source.standing()
    now, whole = watched.time(watched.count - 1), watched.source.planned is not None
    far = f"{_seconds(now)} of {_seconds(watched.time(watched.planned - 1))} s" if whole else f"{_seconds(now)} s"
    deadlines, why = watched.source.deadlines, standing.said.rstrip(".")
    if said := _tripped(watched, standing):
        return "interlock", said
    if standing.state == "running":
        if deadlines is not None and deadlines.recent:
            return "late", f"Running late: {_ticks(deadlines.recent)} too late just now; {far}."
        kept = "" if deadlines is None else f", {_ticks(deadlines.overruns)} too late"
        return "running", f"Running: {far}{kept}."
    if standing.state == "ended":
        kept = watched.source.attributes.get("paced", {}).get("overruns")
        kept = deadlines.overruns if deadlines is not None else kept
        late = "; all of it is here" if kept is None else f", {_ticks(kept)} too late"
        return "ended", f"Ended after {_seconds(now)} s{late}."
    if standing.state == "stopped":
        return "stopped", f"Stopped by a person after {far}."
    if standing.state == "failed":
        return "failed", f"Ended early, after {far}{f': {why}' if why else ''}."
    return "lost", f"Lost after {far}: {why}."


def _tripped(watched: Watched, standing: Standing) -> str:
    """What is said of interlocks that have tripped; empty where none has, or where the run was ended otherwise."""
    sites = watched.panels.trips
    if not sites:
        return ""
    now = watched.values(watched.count - 1, watched.count, list(sites.values()))[0]
    tripped = {site: reason for site, reason in zip(sites, now, strict=True) if reason > 0.0}
    own = [site for site, reason in tripped.items() if reason != _CALLED]
    going = standing.state == "running"
    if not tripped or not (own or going):
        return ""
    if not going and standing.said:
        return f"{standing.said[:1].upper()}{standing.said[1:].rstrip('.')}."
    what = f"The interlock of {' and '.join(own)} has tripped" if own else "The interlocks were called"
    where = (
        "rigs go to their safe state" if going else f"the run ended at {_seconds(watched.time(watched.count - 1))} s"
    )
    return f"{what}: {where}."


def _ticks(count: int) -> str:
    return "no tick" if count == 0 else "one tick" if count == 1 else f"{count} ticks"


def _seconds(time: float) -> str:
    return f"{time:.1f}" if time < 1000.0 else f"{time:.0f}"


def _progress(watched: Watched, state: str) -> Number:
    now = f"{_seconds(watched.time(watched.count - 1))} s"
    if watched.source.planned is None:
        return now, "recorded so far" if state == "running" else "recorded"
    return now, f"of {_seconds(watched.time(watched.planned - 1))} s"


def _size(watched: Watched) -> Number:
    """The largest drift so far; without stories the largest motion, or force."""
    least, greatest = watched.reach
    moved = np.fmax(np.abs(greatest - watched.first), np.abs(least - watched.first))
    drifts = watched.panels.drifts
    if drifts:
        known = all(height > 0.0 for _, _, height in drifts)
        sizes = [moved[signal] / (height if known else 1.0) for _, signal, height in drifts]
        worst = int(np.nanargmax(sizes)) if np.isfinite(sizes).any() else 0
        story = drifts[worst][0]
        if known:
            return f"{short(100.0 * sizes[worst])} %", f"largest drift ratio, story {story}"
        return f"{short(1e3 * sizes[worst])} mm", f"largest drift, story {story}"
    names = watched.signals.names
    shown = watched.panels.shown
    moving = [k for k in shown if names[k].startswith("u.")] or shown
    worst = max(moving, key=lambda k: np.nan_to_num(moved[k]))
    return _largest(watched, worst, float(moved[worst]))


def _largest(watched: Watched, signal: int, size: float) -> Number:
    factor, unit = readable(watched.signals.units[signal])
    return f"{short(factor * size)} {unit}".strip(), f"largest {watched.signals.names[signal]}"


def _third(watched: Watched) -> Number:
    """Least trust in a model; else how much of a tick is computed; else the largest force of a device."""
    least, greatest = watched.reach
    if trust := watched.panels.trust:
        site = min(trust, key=lambda name: np.nan_to_num(least[trust[name]], nan=1.0))
        return f"{least[trust[site]]:.2f}", f"least trust, {site}"
    pace = _pace(watched)
    if pace and "work" in pace:
        share = 100.0 * pace["work"]["99.9 %"] / pace["tick"]
        return f"{short(share, 2)} %", "of a tick is computed in 99.9 % of them, or less"
    if forces := watched.panels.forces:
        sizes = {site: float(np.nan_to_num(max(-least[f], greatest[f]))) for site, f in forces.items()}
        site = max(sizes, key=lambda name: sizes[name])
        return _largest(watched, forces[site], sizes[site])
    return str(len(watched.source.names)), "channels"


def _pace(watched: Watched) -> dict[str, Any] | None:
    """How ticks kept their time, from the board or as a recording says it, with a sentence."""
    deadlines = watched.source.deadlines
    kept = watched.source.attributes.get("paced") if deadlines is None else deadlines.told()
    if not kept or "work" not in kept:
        return None
    said = {key: kept[key] for key in ("tick", "lateness", "work", "lateness, histogram", "work, histogram")}
    sentences = pace_sentences(kept | said)[:1]
    return said | {"sentence": sentences[0][:1].upper() + sentences[0][1:] + "."}
