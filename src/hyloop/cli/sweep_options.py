"""What is asked of a sweep on the command line, beside what its file says."""

from pathlib import Path
from shlex import join
from typing import Any, NamedTuple

from pydantic import ValidationError

from hyloop.errors import BadInput, UnknownName
from hyloop.files.messages import explain
from hyloop.files.sweep import DRAWN, Sweep
from hyloop.files.toml import parse_toml

__all__ = ["Asked", "sweep_of"]

_KINDS = ("grid", "list", "latin-hypercube", "sobol")
_OPEN, _CLOSE = "[{(", "]})"


class Asked(NamedTuple):
    """Options as they are typed."""

    grid: tuple[str, ...] = ()
    ranges: tuple[str, ...] = ()
    sample: str | None = None
    runs: int | None = None
    seed: int | None = None
    records: str | None = None
    measures: tuple[str, ...] = ()
    recordings: bool = False
    overrides: tuple[str, ...] = ()

    def command(self, file: Path, out: Path | None) -> str:
        """The command that does the same."""
        words = ["hyloop", "sweep", str(file)]
        for option, several in (
            ("--set", self.overrides),
            ("--grid", self.grid),
            ("--range", self.ranges),
            ("--measure", self.measures),
        ):
            words += [word for one in several for word in (option, one)]
        single = {"--sample": self.sample, "--runs": self.runs, "--seed": self.seed, "--records": self.records}
        words += [word for key, one in single.items() if one is not None for word in (key, str(one))]
        words += ["--recordings"] if self.recordings else []
        return join([*words, *(["--out", str(out)] if out else [])])


def sweep_of(own: Sweep, asked: Asked) -> Sweep:
    """The sweep of a file with what is asked besides; keys that are typed take the place of all keys of the file."""
    given: dict[str, Any] = {key: getattr(own, key) for key in own.model_fields_set}
    if asked.grid or asked.ranges:
        given["keys"] = {}
        for text in asked.grid:
            _enter(given["keys"], "--grid", *_values(text))
        for text in asked.ranges:
            _enter(given["keys"], "--range", *_range(text))
        given.pop("records", None)
        given["kind"] = "sobol" if asked.ranges and own.kind not in DRAWN else own.kind
    if asked.sample is not None:
        if asked.sample not in _KINDS:
            raise UnknownName("way to sample", asked.sample, _KINDS, where="--sample")
        given["kind"] = asked.sample.replace("-", "_")
    if asked.records is not None:
        given["records"] = _records(asked.records)
    if asked.measures:
        given["measures"] = dict(_measure(text) for text in asked.measures)
    given |= {key: getattr(asked, key) for key in ("runs", "seed") if getattr(asked, key) is not None}
    given |= {"recordings": True} if asked.recordings else {}
    try:
        return Sweep.model_validate(given)
    except ValidationError as error:
        raise BadInput("sweep: " + "\n".join(explain(error, given))) from None


def _enter(keys: dict[str, Any], option: str, key: str, values: Any) -> None:
    if key in keys:
        raise BadInput(f"{option}: {key} is given twice; give all its values at once.")
    keys[key] = values


def _values(text: str) -> tuple[str, list[Any]]:
    key, equals, rest = (part.strip() for part in text.partition("="))
    values = _parts(rest, ",")
    if not key or not equals or not all(values):
        raise BadInput(f"--grid: '{text}'; write a key and its values, as in sites.damper1.device.f_y=20kN,40kN.")
    return key, [_value(value) for value in values]


def _range(text: str) -> tuple[str, dict[str, Any]]:
    key, equals, rest = (part.strip() for part in text.partition("="))
    words = [word.strip() for word in rest.split(":")]
    more = words[2:]
    if not key or not equals or len(words) < 2 or set(more) - {"log", "whole"}:
        raise BadInput(f"--range: '{text}'; write a key and its ends, as in KEY=10kN:40kN or KEY=10kN:40kN:log.")
    return key, {"low": _value(words[0]), "high": _value(words[1]), **dict.fromkeys(more, True)}


def _records(text: str) -> list[str] | int | str:
    if text.strip().isdigit():
        return int(text)
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise BadInput(f"--records: '{text}'; write names with commas between them, a pattern, or a number.")
    return names[0] if len(names) == 1 else names


def _measure(text: str) -> tuple[str, str]:
    name, equals, what = (part.strip() for part in text.partition("="))
    if not equals or not name.isidentifier():
        raise BadInput(f"--measure: '{text}'; write a name and what it is, as in roof='peak u.6'.")
    return name, what


def _parts(text: str, sign: str) -> list[str]:
    """Pieces between signs that do not stand in brackets or quotes."""
    found, depth, quote = [""], 0, ""
    for letter in text:
        if letter == sign and not depth and not quote:
            found.append("")
            continue
        if letter in "\"'" and quote in ("", letter):
            quote = "" if quote else letter
        depth += (letter in _OPEN) - (letter in _CLOSE) if not quote else 0
        found[-1] += letter
    return [part.strip() for part in found]


def _value(text: str) -> Any:
    """As --set reads it: a TOML value, or else the text itself."""
    try:
        parsed = parse_toml(f"value = {text}")
    except ValueError:
        return text
    return parsed["value"] if len(parsed) == 1 else text
