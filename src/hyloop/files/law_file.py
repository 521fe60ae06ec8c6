"""Files of identified laws: what `identify --save` writes and ``device = { file = "law.toml" }`` reads."""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PlainValidator, ValidationError, WithJsonSchema, model_validator

from hyloop.core import Block
from hyloop.core.writing import check_target, replacing
from hyloop.devices import LAWS
from hyloop.errors import BadInput, UnknownName
from hyloop.files.fields import Table, refuse
from hyloop.files.measurements import Measured
from hyloop.files.toml import read_toml
from hyloop.files.units import quantity
from hyloop.identification import Fit, SessionValue

__all__ = [
    "SIGNALS",
    "IdentifiedLaw",
    "LawFile",
    "check_law_file",
    "device_line",
    "parent_lines",
    "read_law",
    "save_law",
    "shown_quantity",
    "toml_value",
]

KIND = "identified law"
_NOTHING = 1e-30  # in SI units: what a search leaves on a bound at zero, and too small for a file to be read
_DIGITS = 10  # significant: what is written and read back is the same device to one part in 1e9
# units in which a person reads parameters, and how many of them an SI unit is
_READABLE = {
    "N": (1e-3, "kN"),
    "m": (1e3, "mm"),
    "N/m": (1e-6, "kN/mm"),
    "N s/m": (1e-3, "kN s/m"),
    "m/s": (1e3, "mm/s"),
}
_PLAIN = ("-", "")
SIGNALS = {"d": "m", "v": "m/s", "f": "N"}  # those whose range in the tests is kept
_RANGE_DIGITS = 4


class _LawTables(Table):
    """What a file of an identified law may say."""

    kind: Literal["identified law"]
    law: str
    parameters: dict[str, Any]
    """All parameters of the law, with units."""
    identified: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Those that were found: interval, bounds of the search, remark."""
    fit: dict[str, Any] = Field(default_factory=dict)
    tests: list[dict[str, Any]] = Field(default_factory=list)
    ranges: dict[str, list[Any]] = Field(default_factory=dict)
    """Least and greatest d, v and f of all tests; files of earlier versions have none."""
    parent: dict[str, Any] = Field(default_factory=dict)
    """Of a law that was calibrated: the file it was before, and the numbers of the session."""

    @model_validator(mode="after")
    def _possible(self) -> "_LawTables":
        if self.law not in LAWS:
            refuse("law", UnknownName("law", self.law, LAWS))
        block = LAWS[self.law]
        for key, given in self.parameters.items():
            try:
                if key not in block.params:
                    raise UnknownName(f"parameter of {self.law}", key, block.params)
                block.params[key].check(quantity(given, block.params[key].unit), self.law)
            except BadInput as error:
                refuse(f"parameters.{key}", error)
        if missing := [key for key in block.params if key not in self.parameters]:
            lacking = f"{', '.join(missing)} of {self.law} {'is' if len(missing) == 1 else 'are'} missing"
            refuse("parameters", BadInput(f"{lacking}. A law that was identified is given with all its parameters."))
        for key, ends in self.ranges.items():
            try:
                _range(key, ends)
            except BadInput as error:
                refuse(f"ranges.{key}", error)
        for key, value in _leaves({"fit": self.fit, "tests": self.tests, "parent": self.parent}):
            if not isinstance(value, str | int) and not (isinstance(value, float) and math.isfinite(value)):
                refuse(key, BadInput(f"got {value}, wanted a text in quotes, a finite number, true or false."))
        return self


def _range(key: str, ends: Sequence[Any]) -> tuple[float, float]:
    """Ends of a range in SI units."""
    if key not in SIGNALS:
        raise UnknownName("signal", key, SIGNALS)
    if len(ends) != 2:
        raise BadInput(f"got {len(ends)} value(s); give the least and the greatest, such as ['-20 mm', '20 mm'].")
    low, high = (quantity(end, SIGNALS[key]) for end in ends)
    if not low <= high:
        raise BadInput(f"got {ends[0]} to {ends[1]}; give the least first, then the greatest.")
    return low, high


def _leaves(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """What stands in tables and lists, with its key; lists count from one."""
    if not isinstance(value, dict | list):
        yield key, value
        return
    for name, part in value.items() if isinstance(value, dict) else enumerate(value, 1):
        yield from _leaves(part, f"{key}.{name}" if key else str(name))


@dataclass(frozen=True, eq=False)
class IdentifiedLaw:
    """A law read from a file: its name, its parameters in SI units, and where it comes from."""

    path: str
    name: str
    params: dict[str, float]
    sha256: str
    tables: Mapping[str, Any]
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Least and greatest d, v and f of the tests it was fitted to, as far as the file says."""

    @property
    def block(self) -> Block:
        return LAWS[self.name]

    @property
    def origin(self) -> dict[str, Any]:
        """For the attributes of a recording: the file, its digest, and what it says of its making."""
        made = {"fit": self.tables.get("fit", {}), "tests": self.tables.get("tests", [])}
        made |= {"parent": self.tables["parent"]} if self.tables.get("parent") else {}
        return {"file": self.path, "sha256": self.sha256, "law": self.name, **made}


def read_law(given: Any) -> IdentifiedLaw:
    """Read a file that `save_law` wrote, perhaps edited since."""
    if isinstance(given, IdentifiedLaw):
        return given
    if not isinstance(given, str):
        raise BadInput(f"got {given!r}, wanted the name of a file that `hyloop identify --save` wrote.")
    data, content = read_toml(Path(given), " of an identified law"), Path(given).read_bytes()
    if data.get("kind") != KIND:
        raise BadInput(f"{given}: is no file of an identified law. `hyloop identify ... --save law.toml` writes one.")
    try:
        tables = _LawTables.model_validate(data)
    except ValidationError as error:
        raise BadInput(f"{given}: " + "; ".join(map(_problem, error.errors(include_url=False)))) from None
    params = LAWS[tables.law].params
    values = {key: quantity(value, params[key].unit) for key, value in tables.parameters.items()}
    ranges = {key: _range(key, ends) for key, ends in tables.ranges.items()}
    return IdentifiedLaw(given, tables.law, values, hashlib.sha256(content).hexdigest(), data, ranges)


def _problem(found: Any) -> str:
    """One problem of a file: key and what is wrong with it."""
    context = found.get("ctx", {})
    keys = [str(key) for key in (*found["loc"], *([context["key"]] if "key" in context else []))]
    return f"{'.'.join(keys) or 'the file'}: {context.get('message', found['msg'])}"


# what stands in the file is its name; what a table has is the law
LawFile = Annotated[
    IdentifiedLaw,
    PlainValidator(read_law),
    WithJsonSchema({"type": "string", "description": "File of an identified law, relative to the experiment file."}),
]


def shown_quantity(value: float, unit: str, digits: int = _DIGITS) -> str | float:
    """A parameter as a person writes it into a file: "20.13 kN/mm", or a plain number where it has no unit."""
    value = 0.0 if abs(value) < _NOTHING else value
    try:
        quantity(f"1 {unit}", unit)
    except BadInput:
        return float(f"{value:.{digits}g}")  # a unit with a power that depends on a parameter
    if unit in _PLAIN:
        return float(f"{value:.{digits}g}")
    factor, shown = _READABLE.get(unit, (1.0, unit))
    return f"{factor * value:.{digits}g} {shown}"


def check_law_file(path: Path, force: bool) -> None:
    """Refuse before the work what could not be written after it."""
    if path.suffix.lower() != ".toml":
        raise BadInput(f"--save {path}: a law is saved as .toml; give a name that ends so.")
    if path.exists() and not force:
        raise BadInput(f"--save {path}: the file is there already. Give another name, or --force to replace it.")
    check_target(path)


def save_law(path: Path, name: str, fitted: Fit, measured: Sequence[Measured], parent: Sequence[str] = ()) -> Path:
    """Write an identified law as TOML: parameters, how well they are known, and where they come from.

    `parent` are the lines about the law that was calibrated (`parent_lines`).
    """
    text = law_text(name, fitted, measured, parent)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as part:
            part.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error}. Give a folder that can be written to.") from error
    return path


def device_line(name: str, fitted: Fit, saved: Path | None) -> str:
    """The line that puts the law into an experiment: its file, or all that differs from the defaults."""
    if saved is not None:
        return f"device = {{ file = {toml_value(saved.as_posix())} }}"
    params = fitted.law.block.params
    given = {key: value for key, value in fitted.law.params.items() if value != params[key].default}
    words = [f"{key} = {toml_value(shown_quantity(value, params[key].unit, 6))}" for key, value in given.items()]
    return f"device = {{ {', '.join([f'law = {toml_value(name)}', *words])} }}"


def parent_lines(file: str | Path, values: Sequence[SessionValue]) -> list[str]:
    """What a calibrated law was before, and what the session has made of it."""
    lines = [
        "[parent]  # the file that was calibrated, and the numbers of the session over its values",
        f"file = {toml_value(str(file))}",
        f"sha256 = {toml_value(hashlib.sha256(Path(file).read_bytes()).hexdigest())}",
    ]
    for one in values:
        entry = {"parameters": list(one.number.params), "before": shown_quantity(one.file, one.estimate.unit)}
        if not one.number.added:
            entry["factor"] = float(f"{one.factor:.{_DIGITS}g}")
            if one.estimate.observable:
                entry["interval"] = [float(f"{end:.4g}") for end in one.ends]
        words = ", ".join(f"{key} = {toml_value(value)}" for key, value in entry.items())
        lines.append(f"numbers.{toml_value(one.name)} = {{ {words} }}")
    return [*lines, ""]


def law_text(name: str, fitted: Fit, measured: Sequence[Measured], parent: Sequence[str] = ()) -> str:
    """The lines of the file."""
    params, level = fitted.law.block.params, 100 * fitted.level
    lines = [
        f"# A law {'calibrated' if parent else 'identified'} by hyloop. "
        'In an experiment:  device = { file = "THIS FILE" }',
        '# Further keys there change single parameters:   device = { file = "THIS FILE", k = "30 kN/mm" }',
        f"kind = {toml_value(KIND)}",
        f"law = {toml_value(name)}",
        "",
        "[parameters]",
    ]
    leaders = {key: leader for leader, others in fitted.problem.tied.items() for key in others}
    for key, value in fitted.law.params.items():
        held = f"scaled with {leaders[key]}" if key in leaders else "fixed"
        mark = "" if key in fitted.estimates else f"  # {held}"
        lines.append(f"{key} = {toml_value(shown_quantity(value, params[key].unit))}{mark}")
    lines += ["", f"[identified]  # {level:g} % interval (none where the tests do not tell), bounds of the search"]
    for key, e in fitted.estimates.items():
        ends, bounds = ([shown_quantity(x, e.unit, 4) for x in pair] for pair in ((e.low, e.high), e.bounds))
        entry = [f"interval = {toml_value(ends)}"] if e.observable else []
        entry += [f"bounds = {toml_value(bounds)}", *([f"remark = {toml_value(e.remark)}"] if e.remark else [])]
        lines.append(f"{key} = {{ {', '.join(entry)} }}")
    lines += ["", "[ranges]  # of all tests together; a run in which the device goes beyond them says so"]
    lines += [
        f"{key} = {toml_value([shown_quantity(end, SIGNALS[key], _RANGE_DIGITS) for end in ends])}"
        for key, ends in _tested(fitted).items()
    ]
    return "\n".join([*lines, "", *_made(fitted), "", *parent, *_tests(fitted, measured)]) + "\n"


def _tested(fitted: Fit) -> dict[str, tuple[float, float]]:
    """Least and greatest d, v (where the law reads it) and f of the samples that were fitted."""
    found = {}
    for key in SIGNALS:
        if key == "v" and key not in fitted.law.block.inputs:
            continue
        signals = [test.f if key == "f" else test.inputs[key] for test in fitted.tests if key in (*test.inputs, "f")]
        if signals:
            found[key] = (min(float(x.min()) for x in signals), max(float(x.max()) for x in signals))
    return found


def _made(fitted: Fit) -> list[str]:
    try:
        own = version("hyloop")
    except PackageNotFoundError:
        own = "not installed"
    noise = fitted.input_noise
    smoothed = []
    if noise is not None and noise.matters:
        sizes = ", ".join(f"{key} {noise.largest(key):.2g}" for key in ("d", "v", "a") if noise.largest(key) > 0.0)
        smoothed = [
            f"noise_in_motion = {toml_value(f'{sizes} in SI units: smoothed, and allowed for in the intervals')}"
        ]
    return [
        "[fit]",
        f"date = {toml_value(datetime.now(UTC).isoformat(timespec='seconds'))}",
        f"hyloop = {toml_value(own)}",
        f"method = {toml_value(fitted.method)}",
        f"level = {fitted.level:g}",
        f"converged = {toml_value(fitted.converged)}",
        f"effective_samples = {round(fitted.confidence.samples)}",
        f"reference = {toml_value(fitted.law.block.reference)}",
        *smoothed,
    ]


def _tests(fitted: Fit, measured: Sequence[Measured]) -> list[str]:
    lines = []
    for one, test, rmse, nrmse in zip(measured, fitted.tests, fitted.rmse, fitted.nrmse, strict=True):
        lines += ["[[tests]]", f"source = {toml_value(one.source)}", f"name = {toml_value(one.name)}"]
        if Path(one.source).is_file():
            lines.append(f"sha256 = {toml_value(hashlib.sha256(Path(one.source).read_bytes()).hexdigest())}")
        columns = ", ".join(
            f"{key} = {toml_value(f'{column} [{one.units[key]}]')}" for key, column in one.columns.items()
        )
        lines += [
            f"columns = {{ {columns} }}",
            *(f"factors.{key} = {factor:g}" for key, factor in one.factors.items()),
            f"sampling = {toml_value(one.sampling.text)}",
            f"samples_used = {test.f.size}",
            f"rmse = {toml_value(shown_quantity(rmse, 'N', 4))}",
            f"error_over_range = {float(f'{nrmse:.4g}')!r}" if nrmse == nrmse else "",
            "",
        ]
    return [line for k, line in enumerate(lines) if line or k == 0 or lines[k - 1]][:-1]


def toml_value(value: Any) -> str:
    """A text, number, truth value or list as TOML writes it."""
    if isinstance(value, list):
        return f"[{', '.join(toml_value(item) for item in value)}]"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, str):
        value = value.encode("utf-8", "backslashreplace").decode("utf-8")  # a file's name need not be text
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # which TOML wants escaped, JSON does not
