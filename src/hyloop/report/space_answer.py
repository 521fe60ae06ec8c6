"""What the page of a building in space says first: what its devices do to the roof, the stories and the braces."""

from dataclasses import dataclass

import numpy as np

from hyloop.record import Recording
from hyloop.report.display import short
from hyloop.report.profiles import DIRECTIONS, profile
from hyloop.report.response import respond, story_numbers
from hyloop.report.space import peak_ductility

__all__ = ["Whole", "space_answer", "whole_response"]


@dataclass(frozen=True)
class Whole:
    """A building as a whole, over both horizontal directions; SI units.

    Attributes
    ----------
    roof : float
        Largest horizontal displacement of the uppermost floor in m, and `height` of that floor.
    drift : (float, int, str)
        Largest drift ratio, its story and direction; None where heights are not known.
    ductility : (float, int, int)
        Largest of a brace, braces that have yielded, and braces there are; None where they are not recorded.
    share : float
        Part of the energy put in that the devices have taken; None without devices.
    """

    roof: float
    height: float
    drift: tuple[float, int, str] | None
    ductility: tuple[float, int, int] | None
    share: float | None


def whole_response(recording: Recording) -> Whole | None:
    """Peaks of a building over both directions; None where the drifts of its stories are not recorded."""
    stories, names = story_numbers(recording), set(recording.names)
    if not stories:
        return None
    ways = [key for key, (drift, *_) in DIRECTIONS.items() if f"{drift}.{stories[-1]}" in names]
    roof = [np.sum([np.nan_to_num(recording[f"{DIRECTIONS[way][0]}.{k}"]) for k in stories], axis=0) for way in ways]
    found = [(way, p.ratio) for way in ways if (p := profile(recording, way)) is not None and p.ratio is not None]
    worst = max(((float(r.max()), int(r.argmax()) + 1, way) for way, r in found), default=None)
    height = float(sum((recording.attributes.get("building") or {}).get("heights") or []))
    peak = float(np.sqrt(np.sum(np.square(roof), axis=0)).max(initial=0.0))
    return Whole(peak, height, worst, peak_ductility(recording), respond(recording).share)


def space_answer(
    recording: Recording, against: Recording | None, beside: str
) -> tuple[str, list[tuple[str, str]]] | None:
    """A sentence and three numbers, or None where there is too little to say."""
    one, other = whole_response(recording), None if against is None else whole_response(against)
    if one is None or one.drift is None:
        return None
    return _sentence(one, other, beside), _numbers(one, other, beside)


def _sentence(one: Whole, other: Whole | None, beside: str) -> str:
    ratio, story, way = one.drift or (0.0, 0, "")
    said = f"The largest story drift is {_percent(ratio)} (story {story}, along {way})"
    if other is not None and other.drift is not None and other.drift[0] > 0.0:
        before, its, its_way = other.drift
        change = 100.0 * (ratio / before - 1.0)
        along = "" if its_way == way else f", along {its_way}"
        where = f" (story {its}{along})" if (its, its_way) != (story, way) else ""
        differs = "as large as" if abs(change) < 0.5 else f"{abs(change):.0f} % {'less' if change < 0 else 'more'} than"
        said += f", {differs} the {_percent(before)}{where} {beside}"
        if one.ductility is not None and other.ductility is not None:
            return f"{said}; {_yield(one.ductility)}, {other.ductility[1]} {beside}."
        return f"{said}."
    return f"{said}; {_yield(one.ductility)}." if one.ductility is not None else f"{said}."


def _yield(ductility: tuple[float, int, int]) -> str:
    _, yielded, count = ductility
    return f"{yielded} of {count} braces yield" if yielded else f"none of {count} braces yields"


def _numbers(one: Whole, other: Whole | None, beside: str) -> list[tuple[str, str]]:
    roof = f"largest displacement of the roof, {_percent(one.roof / one.height)} of the height" if one.height else ""
    numbers = [(_length(one.roof), roof + (f"; {_length(other.roof)} {beside}" if other is not None else ""))]
    if one.ductility is not None:
        before = f"; {_two(other.ductility[0])} {beside}" if other is not None and other.ductility is not None else ""
        numbers.append((_two(one.ductility[0]), f"largest ductility of a brace{before}"))
    if one.share is not None:
        numbers.append((f"{100 * one.share:.0f} %", "of the energy put in was taken by the devices"))
    if one.drift is not None:
        before = f"; {_percent(other.drift[0])} {beside}" if other is not None and other.drift is not None else ""
        numbers.append((_percent(one.drift[0]), f"largest story drift{before}"))
    return [*numbers, ("–", ""), ("–", "")][:3]


def _two(value: float) -> str:
    """Two digits, zeros included."""
    return f"{value:#.2g}".rstrip(".")


def _percent(value: float) -> str:
    return f"{_two(100 * value)} %"


def _length(value: float) -> str:
    return f"{short(1e3 * value)} mm"
