"""Charts about one matter each: loops of sites, models that are updated, trust, interlocks, actuators."""

from collections.abc import Mapping
from typing import Any

from hyloop.live.charts import History, HistoryLine, Loop, LoopLine
from hyloop.live.signals import Signals
from hyloop.report.display import readable

__all__ = ["TRIP", "interlock_charts", "site_loops", "tracking_charts", "trust_charts", "updating_charts"]

TRIP = ".interlock.trip"
_MOST_LINES = 8  # of a chart
_MODEL = ("f", "innovation")  # channels of an updater that are drawn elsewhere


def _axis(signals: Signals, number: int, word: str) -> tuple[str, str, float]:
    factor, unit = readable(signals.units[number])
    return word, unit, factor


def _loop(signals: Signals, title: str, lines: list[tuple[str, str, str]], series: int) -> Loop:
    """The first line has the colour of the site in the picture."""
    drawn = [LoopLine(name, signals[x], signals[y], series + k) for k, (name, x, y) in enumerate(lines)]
    return Loop(title, _axis(signals, drawn[0].x, "deformation"), _axis(signals, drawn[0].y, "force"), drawn)


def site_loops(
    signals: Signals, about: Mapping[str, Any], sites: Mapping[str, tuple[str, str]]
) -> tuple[list[tuple[str, Loop]], list[int]]:
    """A chart for every site, models and measured devices on top of each other, and how telling each is."""
    loops, told = [], []
    for site, (d, f) in sites.items():
        model, truth = about.get("models", {}).get(site), about.get("trust", {}).get(site, {}).get("truth")
        lines = [(site, d, f)]
        if model:
            heard = [
                name if (name := model["inputs"].get(key)) in signals else own for key, own in (("d", d), ("f", f))
            ]
            lines = [("measured", heard[0], heard[1])]
            if updated := _updated(signals, site, heard[1]):
                lines.append(("model", heard[0], updated))
        elif truth in signals:
            lines = [("model", d, f), ("truth", d, truth)]
        loops.append((site, _loop(signals, site, lines, len(loops))))
        told.append(2 * len(lines) + (site in about.get("transfer", {})))
    return loops, told


def _updated(signals: Signals, site: str, measured: str) -> str | None:
    """Channel of the force of the updated model; before it has seen the force of the tick, where that is known."""
    name, innovation = f"{site}.model.f", f"{site}.model.innovation"
    if innovation not in signals:
        return name if name in signals else None
    ahead = f"{site}, model"
    signals.difference(ahead, measured, innovation)
    return ahead


def _history(signals: Signals, title: str, lines: Mapping[str, str], **more: Any) -> History:
    """Some channels of one unit, by the names they have in the legend."""
    numbers = [signals[channel] for channel in lines.values()]
    factor, unit = readable(signals.units[numbers[0]])
    drawn = [HistoryLine(name, number, k) for k, (name, number) in enumerate(zip(lines, numbers, strict=True))]
    return History(title, unit, factor, drawn, **more)


def _by_unit(signals: Signals, title: str, channels: list[str]) -> list[History]:
    """Charts of channels that may have different units."""
    units: dict[str, list[str]] = {}
    for channel in channels:
        units.setdefault(signals.units[signals[channel]], []).append(channel)
    found = []
    for same in units.values():
        for k in range(0, len(same), _MOST_LINES):
            piece = same[k : k + _MOST_LINES]
            found.append(_history(signals, title, {name.rpartition(".")[2]: name for name in piece}))
    return found


def updating_charts(signals: Signals, about: Mapping[str, Any]) -> list[History]:
    """Estimates with their bounds; whatever else an updater puts out, such as scales."""
    found = []
    for channel, bounds in about.get("estimates", {}).items():
        if channel in signals:
            factor = readable(signals.units[signals[channel]])[0]
            levels = [factor * float(bound) for bound in bounds]
            found.append(_history(signals, channel, {channel: channel}, levels=levels))
    for site in about.get("models", {}):
        own = [name for name in signals.names if name.startswith(f"{site}.model.")]
        own = [
            name for name in own if name not in about.get("estimates", {}) and name not in about.get("parameters", ())
        ]
        found += _by_unit(signals, f"{site}.model", [name for name in own if name.rpartition(".")[2] not in _MODEL])
        if (name := f"{site}.model.innovation") in signals:
            found.append(_history(signals, f"{site}: what the model was off by", {"innovation": name}))
    return found


def trust_charts(signals: Signals, about: Mapping[str, Any]) -> list[History]:
    found = []
    for site, said in about.get("trust", {}).items():
        force, low, high = (f"{site}.{key}" for key in ("f", "f_low", "f_high"))
        if all(name in signals for name in (force, low, high)):
            truth = said.get("truth")
            lines = {"force": force} | ({"truth": truth} if truth in signals else {})
            band = signals[low], signals[high]
            title = f"{site}: force and band for {100 * said['coverage']:.3g} %"
            found.append(_history(signals, title, lines, band=band))
        shares = {"trust": f"{site}.trust", "share of the fallback": f"{site}.fallback"}
        shares = {key: name for key, name in shares.items() if name in signals}
        if shares:
            levels = [float(said["limit"])] if "limit" in said else []
            found.append(_history(signals, f"{site}: trust and fallback", shares, levels=levels))
    return found


def interlock_charts(signals: Signals) -> list[History]:
    found = []
    for name in signals.names:
        if name.endswith(TRIP):
            site = name.removesuffix(TRIP)
            states = {key: f"{site}.interlock.{key}" for key in ("trip", "settled")}
            found.append(_history(signals, f"{site}: trip", {k: n for k, n in states.items() if n in signals}))
            if (indicator := f"{site}.interlock.indicator") in signals:
                found.append(_history(signals, f"{site}: stability indicator", {"indicator": indicator}))
    return found


def tracking_charts(signals: Signals, about: Mapping[str, Any]) -> list[History | Loop]:
    found: list[History | Loop] = []
    for site, channels in (about.get("transfer") or {}).items():
        command = f"{site}.d"
        done = {key: name for key in ("achieved", "measured") if (name := channels.get(key)) in signals}
        done = {key: name for key, name in done.items() if name != command}
        if command not in signals or not done:
            continue
        shown, name = next(iter(done.items()))
        line = LoopLine(shown, signals[name], signals[command], 0)
        found.append(
            Loop(
                f"{site}: wanted over {shown}",
                _axis(signals, line.x, f"{shown} displacement"),
                _axis(signals, line.y, "wanted displacement"),
                [line],
                ideal=True,
            )
        )
        found.append(_history(signals, f"{site}: displacement", {"wanted": command, **done}))
        error = f"{site}, wanted less {shown}"
        signals.difference(error, command, name)
        found.append(_history(signals, f"{site}: wanted less {shown}", {"error": error}))
        fixed = about.get("parameters", ())
        own = [
            n for n in signals.names if n.startswith(f"{site}.compensator.") and n not in fixed and not n.endswith(".d")
        ]
        found += _by_unit(signals, f"{site}.compensator", own)
    return found
