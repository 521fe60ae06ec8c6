"""How a file of measurements is to be read: options of the command line, and the mapping table they may name."""

from pathlib import Path
from typing import NamedTuple

from hyloop.errors import BadInput
from hyloop.files.column_map import Mapped, read_column_map
from hyloop.files.measurements import Channels
from hyloop.files.units import quantity

__all__ = ["Reading", "page_name", "reading", "stated_noise"]

_MOTION = {"d": "m", "v": "m/s", "a": "m/s2"}


class Reading(NamedTuple):
    """Options that say how to read files, as they are typed."""

    site: str | None = None
    t: str | None = None
    d: str | None = None
    v: str | None = None
    a: str | None = None
    f: str | None = None
    columns: Path | None = None
    units: str | None = None
    rate: str | None = None
    decimal: str | None = None


def reading(given: Reading) -> Mapped:
    """Channels and units; what is typed goes before what the mapping table says."""
    mapped = read_column_map(given.columns) if given.columns else Mapped(Channels(), {})
    typed = {key: text for key in ("site", "t", "d", "v", "a", "f") if (text := getattr(given, key)) is not None}
    if given.rate is not None:
        typed["rate"] = quantity(given.rate, "Hz", "--rate")
        if not typed["rate"] > 0.0:
            raise BadInput(f'--rate {given.rate}: it must be positive, as in --rate "1024 Hz".')
    if given.decimal is not None:
        typed["decimal"] = given.decimal
    return Mapped(mapped.channels._replace(**typed), {**mapped.units, **_units(given.units or "")})


def _units(text: str) -> dict[str, str]:
    """Column and unit from ``d=mm,f=kN``."""
    found = {}
    for word in (word.strip() for word in text.split(",") if word.strip()):
        name, _, unit = (part.strip() for part in word.partition("="))
        if not (name and unit):
            raise BadInput(f"--units {word}: write it as in --units d=mm,f=kN.")
        found[name] = unit
    return found


def stated_noise(text: str | None) -> dict[str, float]:
    """Standard deviations in SI units from ``d=2um,v=1mm/s``."""
    found = {}
    for word in (word.strip() for word in (text or "").split(",") if word.strip()):
        name, _, size = (part.strip() for part in word.partition("="))
        if name not in _MOTION or not size:
            raise BadInput(f"--noise {word}: write it as in --noise d=2um; the motion is d, v and a.")
        found[name] = quantity(float(size) if size == "0" else size, _MOTION[name], f"--noise {name}")
        if found[name] < 0.0:
            raise BadInput(f"--noise {word}: it is a standard deviation, which is not negative.")
    return found


def page_name(source: str, what: str) -> Path:
    """Page about a source: ``out/NAME-what.html``."""
    stem = source.rpartition(":")[2] if ":" in source and not Path(source).exists() else Path(source).stem
    plain = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in stem)
    return Path("out") / f"{plain}-{what}.html"
