"""Units at the edge: ``"23 kN"`` in a file becomes 23000.0, and ``"23 kg"`` where a force is wanted is refused.

Inside hyloop every number is in SI units. A plain number in a file is taken to be in SI already; a text is a number
(or a fraction such as ``1/1024``) and a unit, which is checked against the dimension of the unit wanted.
"""

import math
import re
from functools import cache
from typing import Any, NamedTuple, NoReturn

from hyloop.errors import BadInput

__all__ = ["UNITS", "Unit", "in_si", "parse_unit", "quantity"]

GRAVITY = 9.80665  # m/s2, standard
POUND = 0.45359237  # kg, exact
INCH = 0.0254  # m, exact
LARGEST = 1e30  # in SI units; beyond it, and below its inverse, products overflow and nothing real is meant


class Unit(NamedTuple):
    """A unit: its size in SI units, and its dimension as powers of metre, kilogram, second and ampere."""

    size: float
    m: int = 0
    kg: int = 0
    s: int = 0
    A: int = 0

    @property
    def dimension(self) -> tuple[int, int, int, int]:
        return self.m, self.kg, self.s, self.A

    def times(self, other: "Unit", power: int = 1) -> "Unit":
        """This unit times `other` to an integer power."""
        size = self.size * other.size**power
        return Unit(size, *(a + power * b for a, b in zip(self.dimension, other.dimension, strict=True)))


_BASIC = {
    "m": Unit(1.0, m=1),
    "s": Unit(1.0, s=1),
    "N": Unit(1.0, 1, 1, -2),
    "Pa": Unit(1.0, -1, 1, -2),
    "J": Unit(1.0, 2, 1, -2),
    "W": Unit(1.0, 2, 1, -3),
    "Hz": Unit(1.0, s=-1),
    "A": Unit(1.0, A=1),
}
_PREFIXES = {"": 1.0, "G": 1e9, "M": 1e6, "k": 1e3, "c": 1e-2, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "n": 1e-9}
_OTHERS = {
    "kg": Unit(1.0, kg=1),
    "t": Unit(1e3, kg=1),
    "min": Unit(60.0, s=1),
    "h": Unit(3600.0, s=1),
    "g": Unit(GRAVITY, m=1, s=-2),
    "gal": Unit(1e-2, m=1, s=-2),
    "Gal": Unit(1e-2, m=1, s=-2),
    "daN": Unit(10.0, 1, 1, -2),
    "kgf": Unit(GRAVITY, 1, 1, -2),
    "tf": Unit(1e3 * GRAVITY, 1, 1, -2),
    "in": Unit(INCH, m=1),
    "ft": Unit(12 * INCH, m=1),
    "lb": Unit(POUND, kg=1),
    "lbf": Unit(POUND * GRAVITY, 1, 1, -2),
    "kip": Unit(1e3 * POUND * GRAVITY, 1, 1, -2),
    "psi": Unit(POUND * GRAVITY / INCH**2, -1, 1, -2),
    "ksi": Unit(1e3 * POUND * GRAVITY / INCH**2, -1, 1, -2),
    "%": Unit(1e-2),
    "rad": Unit(1.0),
    "deg": Unit(math.pi / 180.0),
}
UNITS: dict[str, Unit] = {
    f"{prefix}{name}": unit._replace(size=unit.size * factor)
    for name, unit in _BASIC.items()
    for prefix, factor in _PREFIXES.items()
} | _OTHERS

_DIGITS = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
_QUANTITY = re.compile(rf"\s*([+-]?{_DIGITS}(?:[eE][+-]?[0-9]+)?)(?:\s*/\s*({_DIGITS}))?\s*(.*?)\s*", re.DOTALL)
_TOKEN = re.compile(r"\s*(?:(?P<name>[A-Za-zµμ]+|%)|(?P<digits>[0-9]+)|(?P<sign>\*\*|[-*·^/()²³]))")
_LARGEST_POWER = 12  # no quantity of mechanics goes beyond it

_EXAMPLES = {
    (0, 0, 0, 0): "'5 %' or 0.05",
    (1, 0, 0, 0): "'25 mm'",
    (0, 1, 0, 0): "'40 t'",
    (0, 0, 1, 0): "'1/1024 s'",
    (1, 1, -2, 0): "'23 kN'",
    (0, 1, -2, 0): "'37 kN/mm'",
    (0, 1, -1, 0): "'30 kN s/m'",
    (1, 0, -2, 0): "'0.35 g' or '1000 gal'",
    (1, 0, -1, 0): "'25 mm/s'",
    (0, 0, -1, 0): "'2 Hz'",
    (2, 1, -2, 0): "'2.5 kJ'",
    (-2, -1, 2, 0): "'5e-9 1/(N mm)'",
    (0, 0, 0, 1): "'0.6 A'",
}
_SI = {  # names of what has more than one of m, kg, s, A, or none
    (0, 0, 0, 0): "-",
    (-1, 1, -2, 0): "Pa",
    (1, 1, -2, 0): "N",
    (0, 1, -2, 0): "N/m",
    (0, 1, -1, 0): "N s/m",
    (1, 0, -1, 0): "m/s",
    (1, 0, -2, 0): "m/s2",
    (0, 0, -1, 0): "Hz",
    (2, 1, -2, 0): "J",
    (2, 1, -3, 0): "W",
}


def quantity(given: Any, unit: str, where: str = "") -> float:
    """A number in SI units from what a file says.

    Parameters
    ----------
    given : number or str
        A number already in SI units, or a text such as ``"23 kN"``, ``"1/1024 s"`` or ``"5e-9 1/(N mm)"``.
    unit : str
        The unit wanted, ``"-"`` for none. One with a symbolic power, such as ``"1/m^n"``, takes plain numbers only.
    where : str
        Key path, for messages.

    Raises
    ------
    BadInput
        For anything that is not a finite number of the dimension wanted.
    """
    if isinstance(given, bool) or not isinstance(given, (int, float, str)):
        _refuse(where, given, unit, f"a {_kind(given)} is not a quantity")
    if not isinstance(given, str):
        return _finite(given, given, unit, where)
    found = _QUANTITY.fullmatch(given)
    if found is None:
        _refuse(where, given, unit, "it does not begin with a number")
    number, below, text = found.groups()
    value = float(number)
    if below is not None:
        if float(below) == 0.0:
            _refuse(where, given, unit, "it divides by zero")
        value /= float(below)
    if not text:
        return _finite(value, given, unit, where)
    try:
        wanted = parse_unit(unit)
    except BadInput:
        _refuse(
            where, given, unit, f"the unit {unit} has a power that depends on a parameter; give a plain number in SI"
        )
    try:
        have = parse_unit(text)
    except BadInput as error:
        _refuse(where, given, unit, str(error))
    if have.dimension != wanted.dimension:
        advice = "; g is the acceleration of gravity, masses are in kg or t" if text == "g" else ""
        advice = "; lb is a mass, the force is lbf" if "lb" in re.split(r"\W+", text) else advice
        _refuse(where, given, unit, f"'{text}' is not a unit of the kind {_shown(unit)}{advice}")
    return _finite(value * have.size, given, unit, where)


def in_si(given: Any) -> tuple[float, str] | None:
    """A number in SI units, and their name, where something is a quantity; of a plain number the name is empty.

    For what nobody has said the kind of: ``"23 kN"`` is (23000.0, "N"), ``"lugre"`` is None.
    """
    if isinstance(given, int | float) and not isinstance(given, bool):
        return (float(given), "") if math.isfinite(given) else None
    found = _QUANTITY.fullmatch(given) if isinstance(given, str) else None
    if found is None or (found.group(2) and float(found.group(2)) == 0.0):
        return None
    value = float(found.group(1)) / float(found.group(2) or 1.0)
    if not found.group(3):
        return (value, "") if math.isfinite(value) else None
    try:
        unit = parse_unit(found.group(3))
    except BadInput:
        return None
    return value * unit.size, _SI.get(unit.dimension) or _composed(unit)


def _composed(unit: Unit) -> str:
    parts = zip(("m", "kg", "s", "A"), unit.dimension, strict=True)
    return " ".join(name if power == 1 else f"{name}^{power}" for name, power in parts if power)


@cache
def parse_unit(text: str) -> Unit:
    """Size and dimension of a unit such as ``"N s/m"``, ``"m/s2"`` or ``"1/(N mm)"`` (``"-"``: a pure number)."""
    if text.strip() == "-":
        return Unit(1.0)
    tokens, position = [], 0
    while position < len(text.rstrip()):
        found = _TOKEN.match(text, position)
        if found is None:
            raise BadInput(f"'{text[position:].strip()}' cannot be read as a unit")
        tokens.append(found)
        position = found.end()
    unit, rest = _product(tokens, 0, text)
    if rest != len(tokens):
        raise BadInput(f"'{text}' has a bracket too many")
    return unit


def _product(tokens: list[re.Match], i: int, text: str) -> tuple[Unit, int]:
    """Factors side by side or with ``*``, each ``/`` dividing by the one factor that follows."""
    unit, sign, divided, begin = Unit(1.0), 1, False, i
    while i < len(tokens) and tokens[i].group("sign") != ")":
        symbol = tokens[i].group("sign")
        if symbol == "/":
            sign, divided, i = -1, True, i + 1
        elif symbol in ("*", "·") and i > begin:
            i += 1
        elif divided and sign == 1:
            raise BadInput(f"'{text}' is ambiguous after the '/'; use brackets, as in '1/(N mm)'")
        if i == len(tokens):
            raise BadInput(f"'{text}' ends too early")
        factor, i = _factor(tokens, i, text)
        unit, sign = unit.times(factor, sign), 1
    if i == begin:
        raise BadInput(f"'{text}' lacks a unit")
    return unit, i


def _factor(tokens: list[re.Match], i: int, text: str) -> tuple[Unit, int]:
    name, digits, symbol = tokens[i].group("name", "digits", "sign")
    if digits == "1":
        return Unit(1.0), i + 1
    if symbol == "(":
        unit, i = _product(tokens, i + 1, text)
        if i == len(tokens):
            raise BadInput(f"'{text}' lacks a closing bracket")
    elif name is not None:
        if name not in UNITS:
            # other spellings only: a unit that merely looks alike may be ten or a thousand times as large
            meant = {name.lower(), name.lower().removesuffix("s")}
            near = " or ".join(f"'{known}'" for known in UNITS if known.lower() in meant)
            raise BadInput(f"'{name}' is not a known unit" + (f", did you mean {near}?" if near else ""))
        unit = UNITS[name]
    else:
        raise BadInput(f"'{tokens[i].group().strip()}' is not a unit in '{text}'")
    power, i = _power(tokens, i + 1, text)
    return Unit(1.0).times(unit, power), i


def _power(tokens: list[re.Match], i: int, text: str) -> tuple[int, int]:
    symbol = tokens[i].group("sign") if i < len(tokens) else None
    if symbol in ("²", "³"):
        return (2 if symbol == "²" else 3), i + 1
    sign = 1
    if symbol in ("^", "**"):
        i += 1
        if i < len(tokens) and tokens[i].group("sign") == "-":
            sign, i = -1, i + 1
    elif i == len(tokens) or tokens[i].group("digits") is None or tokens[i].group()[0].isspace():
        return 1, i
    digits = tokens[i].group("digits") if i < len(tokens) else None
    if digits is None or int(digits[:4]) > _LARGEST_POWER:
        raise BadInput(f"'{text}': a power must be a whole number up to {_LARGEST_POWER}")
    return sign * int(digits), i + 1


def _finite(value: float, given: Any, unit: str, where: str) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        _refuse(where, given, unit, "it is not finite")
    if number != 0.0 and not 1.0 / LARGEST <= abs(number) <= LARGEST:
        _refuse(where, given, unit, f"sizes from {1.0 / LARGEST:g} to {LARGEST:g} in SI units are allowed, and zero")
    return number


def _shown(unit: str) -> str:
    return "pure number" if unit == "-" else unit


def _kind(given: Any) -> str:
    names = {"bool": "truth value", "list": "list", "tuple": "list", "dict": "table"}
    return names.get(type(given).__name__, type(given).__name__)


def _refuse(where: str, given: Any, unit: str, why: str) -> NoReturn:
    try:
        example = _EXAMPLES.get(parse_unit(unit).dimension, f"'2.5 {unit}'")
    except BadInput:
        example = "1800.0"
    shown = repr(given) if len(repr(given)) < 60 else repr(given)[:57] + "..."
    prefix = f"{where}: " if where else ""
    stop = "" if why.endswith("?") else "."
    raise BadInput(
        f"{prefix}got {shown}, wanted a quantity in {_shown(unit)}: {why}{stop} Write for example {example}."
    )
