"""Files of identified rigs: what `identify-rig --save` writes and ``actuator = { file = "rig.toml" }`` reads."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, PlainValidator, ValidationError, WithJsonSchema

from hyloop.core.writing import check_target, replacing
from hyloop.errors import BadInput
from hyloop.files.fields import Table
from hyloop.files.law_file import toml_value
from hyloop.files.rig_records import RigRecord
from hyloop.files.toml import read_toml
from hyloop.files.units import quantity
from hyloop.identification.rig import Interval, Rig

__all__ = ["KIND", "IdentifiedRig", "RigFile", "check_rig_file", "is_rig_file", "read_rig", "rig_lines", "save_rig"]

KIND = "identified rig"
_DIGITS = 10  # significant: what is written and read back is the same rig to one part in 1e9


class _RigTables(Table):
    """What a file of an identified rig may say."""

    kind: Literal["identified rig"]
    numerator: list[float]
    denominator: list[float]
    delay: Any
    identified: dict[str, Any] = Field(default_factory=dict)
    ranges: dict[str, list[Any]] = Field(default_factory=dict)
    fit: dict[str, Any] = Field(default_factory=dict)
    tests: list[dict[str, Any]] = Field(default_factory=list)


@dataclass(frozen=True, eq=False)
class IdentifiedRig:
    """A rig read from a file.

    Attributes
    ----------
    path, sha256 : str
    numerator, denominator : list of float
        Coefficients in s, highest power first.
    delay : float
        Dead time in s.
    command : float
        Greatest command in m of the test; infinite where the file does not say.
    trusted : tuple of float
        Frequencies in Hz between which the rig is known; of a file that does not say, all.
    tables : mapping
        All that the file says.
    """

    path: str
    sha256: str
    numerator: list[float]
    denominator: list[float]
    delay: float
    command: float
    trusted: tuple[float, float]
    tables: Mapping[str, Any]

    @property
    def origin(self) -> dict[str, Any]:
        """For the attributes of a recording: the file, its digest, and what it says of its making."""
        made = {key: self.tables[key] for key in ("identified", "ranges", "fit", "tests") if key in self.tables}
        return {"file": self.path, "sha256": self.sha256, **made}


def read_rig(given: Any) -> IdentifiedRig:
    """Read a file that `save_rig` wrote, perhaps edited since."""
    if isinstance(given, IdentifiedRig):
        return given
    if not isinstance(given, str):
        raise BadInput(f"got {given!r}, wanted the name of a file that `hyloop identify-rig --save` wrote.")
    data, content = read_toml(Path(given), " of an identified rig"), Path(given).read_bytes()
    if data.get("kind") != KIND:
        raise BadInput(
            f"{given}: is no file of an identified rig. `hyloop identify-rig ... --save rig.toml` writes one."
        )
    try:
        tables = _RigTables.model_validate(data)
    except ValidationError as error:
        raise BadInput(f"{given}: " + "; ".join(map(_problem, error.errors(include_url=False)))) from None
    delay = quantity(tables.delay, "s", f"{given}: delay")
    ranges = {
        key: _ends(given, key, ends, unit)
        for key, unit in (("command", "m"), ("frequency", "Hz"), ("trusted", "Hz"))
        if (ends := tables.ranges.get(key)) is not None
    }
    return IdentifiedRig(
        given,
        hashlib.sha256(content).hexdigest(),
        tables.numerator,
        tables.denominator,
        delay,
        ranges.get("command", (-np.inf, np.inf))[1],
        ranges.get("trusted", (0.0, np.inf)),
        data,
    )


def is_rig_file(given: Any) -> bool:
    """Whether a table's `file` is one of an identified rig; one that cannot be read is not."""
    if isinstance(given, IdentifiedRig):
        return True
    try:
        return isinstance(given, str) and read_toml(Path(given), "").get("kind") == KIND
    except BadInput:
        return False


# what stands in the file is its name; what a table has is the rig
RigFile = Annotated[
    IdentifiedRig,
    PlainValidator(read_rig),
    WithJsonSchema({"type": "string", "description": "File of an identified rig, relative to the experiment file."}),
]


def _problem(found: Any) -> str:
    return f"{'.'.join(map(str, found['loc'])) or 'the file'}: {found.get('ctx', {}).get('message', found['msg'])}"


def _ends(path: str, key: str, ends: Sequence[Any], unit: str) -> tuple[float, float]:
    if len(ends) != 2:
        raise BadInput(f"{path}: ranges.{key}: got {len(ends)} value(s); give the least and the greatest.")
    low, high = (quantity(end, unit, f"{path}: ranges.{key}") for end in ends)
    if not low <= high:
        raise BadInput(f"{path}: ranges.{key}: got {ends[0]} to {ends[1]}; give the least first, then the greatest.")
    return low, high


def check_rig_file(path: Path, force: bool) -> None:
    """Refuse before the work what could not be written after it."""
    if path.suffix.lower() != ".toml":
        raise BadInput(f"--save {path}: a rig is saved as .toml; give a name that ends so.")
    if path.exists() and not force:
        raise BadInput(f"--save {path}: the file is there already. Give another name, or --force to replace it.")
    check_target(path)


def save_rig(path: Path, rig: Rig, record: RigRecord) -> Path:
    """Write an identified rig as TOML: the transfer function, how well it is known, and where it comes from."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as part:
            part.write_text(_text(rig, record), encoding="utf-8")
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error}. Give a folder that can be written to.") from error
    return path


def rig_lines(rig: Rig, saved: Path | None) -> str:
    """What puts the rig into an experiment file: the name of its file, or all its numbers."""
    head = "[sites.NAME.transfer.actuator]"
    if saved is not None:
        return f"{head}\nfile = {toml_value(saved.as_posix())}"
    return "\n".join([head, 'law = "transfer_function"', *_function(rig, 7)])


def _function(rig: Rig, digits: int = _DIGITS) -> list[str]:
    above, below = (
        toml_value([float(f"{c:.{digits}g}") for c in polynomial[::-1]])
        for polynomial in (rig.numerator, rig.denominator)
    )
    return [
        f"numerator = {above}",
        f"denominator = {below}",
        f"delay = {toml_value(_time(rig.dead_time.value, digits))}",
    ]


def _time(value: float, digits: int = 5) -> str:
    return f"{1e3 * value:.{digits}g} ms"


def _text(rig: Rig, record: RigRecord) -> str:
    """The lines of the file."""
    low, high = (f"{end:.4g} Hz" for end in rig.trusted)
    lines = [
        "# A rig identified by hyloop. In an experiment:",
        "#   [sites.NAME.transfer.actuator]",
        '#   file = "THIS FILE"',
        f"kind = {toml_value(KIND)}",
        "# displacement over command: coefficients of s, highest power first (s in rad/s), behind a dead time",
        *_function(rig),
        "",
        f"[identified]  # {100 * rig.level:g} % intervals",
        *_told("gain", rig.gain, lambda x: float(f"{x:.5g}")),
        *_told("delay_of_slow_motions", rig.delay, _time),
        *(_told("dead_time", rig.dead_time, _time) if rig.kind.dead_time else []),
        *_told("noise", rig.noise, lambda x: f"{1e6 * x:.4g} um"),
        "",
        "[ranges]  # of the test; a run in which the rig goes beyond them says so",
        f"command = {toml_value([f'{sign * 1e3 * rig.largest:.4g} mm' for sign in (-1, 1)])}",
        f"frequency = {toml_value([f'{end:.4g} Hz' for end in rig.band])}",
        f"trusted = {toml_value([low, high])}  # gain within 1 %, phase within 1 degree",
        "",
        *_made(rig),
        "",
        *_test(rig, record),
    ]
    return "\n".join(lines) + "\n"


def _told(name: str, told: Interval, shown: Any) -> list[str]:
    ends = [shown(end) for end in (told.low, told.high)]
    return [f"{name} = {{ value = {toml_value(shown(told.value))}, interval = {toml_value(ends)} }}"]


def _made(rig: Rig) -> list[str]:
    try:
        own = version("hyloop")
    except PackageNotFoundError:
        own = "not installed"
    return [
        "[fit]",
        f"date = {toml_value(datetime.now(UTC).isoformat(timespec='seconds'))}",
        f"hyloop = {toml_value(own)}",
        f"structure = {toml_value(str(rig.kind))}",
        f"level = {rig.level:g}",
        f"error = {float(f'{rig.error:.4g}')!r}  # of the measured motion, root mean square",
        f"misfit = {float(f'{rig.misfit:.4g}')!r}  # power that is left over that of the noise",
        *([f"hold = {toml_value(_time(rig.hold))}  # taken off the rig"] if rig.hold else []),
    ]


def _test(rig: Rig, record: RigRecord) -> list[str]:
    columns = ", ".join(
        f"{key} = {toml_value(f'{record.columns[key]} [{record.units[key]}]')}" for key in ("command", "measured")
    )
    content = Path(record.source).read_bytes()
    return [
        "[[tests]]",
        f"source = {toml_value(record.source)}",
        f"sha256 = {toml_value(hashlib.sha256(content).hexdigest())}",
        f"columns = {{ {columns} }}",
        f"sampling = {toml_value(record.sampling.text)}",
    ]
