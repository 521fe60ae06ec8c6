"""The decimal sign of a file of numbers, found from all of them or refused."""

import re
from collections.abc import Sequence
from pathlib import Path

from hyloop.errors import BadInput
from hyloop.files.tables.options import option

__all__ = ["decimal_sign"]

_EDGE = r"(?:^|[;\t \n\"])"
_END = r"(?=$|[;\t \n\"\r])"
_EXPONENT = r"(?:[eE][+-]?\d+)?"
# numbers in which the sign cannot part thousands: not three digits after it, a zero before it, or an exponent
_MUST = (
    r"(?:\d*{s}(?:\d{{1,2}}|\d{{4,}}|){e}|0+{s}\d+{e}|\d{{4,}}{s}\d*{e}|\d*{s}\d*[eE][+-]?\d+"
    r"|\d{{1,3}}(?:{o}\d{{3}})+{s}\d*{e})"
)
_SAID = {"comma": ",", "point": "."}
_OTHER = {"comma": ".", "point": ","}  # which can then only part thousands


def _must(sign: str, other: str) -> re.Pattern:
    form = _MUST.format(s=re.escape(sign), o=re.escape(other), e=_EXPONENT)
    return re.compile(rf"{_EDGE}(?P<number>[+-]?{form}){_END}", re.MULTILINE)


def decimal_sign(
    path: Path, lines: Sequence[str], first: int, separator: str, said: str | None, quoted: bool
) -> tuple[str, str, list[str]]:
    """Decimal sign, sign between thousands (or none), and what is to be said about them.

    A comma is decimal where it cannot part thousands, as in ``0,5``; a file in which every comma might do either is
    refused, unless `said` is "comma" or "point".
    """
    if said is not None and said not in _SAID:
        raise BadInput(
            f"{option('decimal', said)}: write {option('decimal', 'comma')} or {option('decimal', 'point')}."
        )
    if separator == "," and not quoted:
        return ".", "", []
    text = "\n".join(lines[first:])
    if separator == ",":  # decimal commas can stand in quotation marks only
        text = "\n".join(re.findall(r'"([^"]*)"', text)) + "\n" + re.sub(r'"[^"]*"', "", text).replace(",", ";")
    points, commas = "." in text, "," in text
    if said is not None:
        return _told(path, text, said), _OTHER[said] if _OTHER[said] in text else "", []
    if not commas:
        return ".", "", []
    comma = _must(",", ".").search(text)
    point = _must(".", ",").search(text) if points else None
    if comma and point:
        raise BadInput(
            f"{path}: has decimal commas ('{comma['number']}') and decimal points ('{point['number']}'). Export it "
            "with one of them."
        )
    if comma:
        return ",", "." if points else "", ["points in numbers are taken for thousands"] if points else []
    if point:
        return ".", ",", ["commas in numbers are taken for thousands, as points are decimal"]
    example = re.search(r"[+-]?\d+,\d+", text)
    raise BadInput(
        f"{path}: is '{example.group() if example else ','}' a whole number or a fraction? No number tells. "
        f"Say {option('decimal', 'comma')} (a fraction) or {option('decimal', 'point')} (a comma between thousands)."
    )


def _told(path: Path, text: str, said: str) -> str:
    """The sign that --decimal names, unless a number shows that the other one is decimal (times 1000)."""
    other = _OTHER[said]
    found = _must(other, _SAID[said]).finditer(text) if other in text else ()
    for number in (match["number"] for match in found):
        if any(sign.isdigit() for sign in number):
            raise BadInput(
                f"{path}: {option('decimal', said)} takes '{other}' for a sign between thousands, which it cannot be "
                f"in '{number}'. Leave {option('decimal')} out, say the other one, or export the file with one decimal "
                "sign."
            )
    return _SAID[said]
