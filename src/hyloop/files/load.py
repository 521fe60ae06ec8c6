"""Load experiment files: includes, sites that are like others, overrides, and messages that name the key."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import deepcopy
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from hyloop.errors import BadInput, UnknownName
from hyloop.files.messages import explain
from hyloop.files.schema import Experiment
from hyloop.files.toml import DEEPEST, parse_toml, read_toml

__all__ = [
    "apply_overrides",
    "experiment_of",
    "json_schema",
    "load_experiment",
    "read_experiment",
    "take_structure_file",
    "with_overrides",
]

T = TypeVar("T")

_PLACES = ("story", "between", "along")
# what a site has that does not follow another
_SPECIMEN = ("device", "model", "physical", "transfer", "interlock", "wiring")
_DEVICES = ("device", "block", "compensator", "actuator", "sensor", "fallback", "twin")  # tables that hold a law
_NAMED = (
    "sites",
    "blocks",
    "couplings",
    "controllers",
    "excitations",
    "loads",
)  # tables whose keys are names a person chose


def load_experiment(path: str | PathLike[str], overrides: Sequence[str] = ()) -> Experiment:
    """Read and check an experiment file.

    Parameters
    ----------
    path
        A TOML file. ``include = ["base.toml"]`` takes over other files first (relative to the one that says so, in
        order, later values win, tables are merged). A site with ``like = "damper1"`` takes over everything of that
        site it does not say itself; if it ``follows`` another, nothing of the specimen there. A structure with
        ``file = "models/portal.toml"`` has its tables from there, but for what it says itself.
    overrides
        Changes such as ``"sites.damper1.device.Fc=20 kN"``, made after reading and before ``like`` is followed.

    Raises
    ------
    BadInput
        With the file and one line for each problem: key path, what was given, what is allowed.
    """
    path = Path(path)
    return experiment_of(read_experiment(path), overrides, path)


def experiment_of(tables: dict[str, Any], overrides: Sequence[str], path: Path) -> Experiment:
    """The experiment of the tables of a file, as `read_experiment` gives them, after some changes of a copy."""

    def make(data: dict[str, Any]) -> Experiment:
        try:
            take_structure_file(data)
            _follow_likes(data)
        except BadInput as error:
            error.args = (f"{path}: {error}",)
            raise
        return Experiment.model_validate(data, context={}).loaded_from(path)

    return with_overrides(
        tables,
        overrides,
        Experiment.model_fields,
        make,
        lambda error, data: f"{path}: " + "\n".join(explain(error, data)),
    )


def read_experiment(path: Path, _above: tuple[Path, ...] = ()) -> dict[str, Any]:
    """The tables of an experiment file with its includes merged, not checked yet."""
    asked = f", included by {_above[-1].name}," if _above else ""
    data, here = read_toml(path, asked), path.resolve()
    if here in _above:
        chain = " > ".join(file.name for file in (*_above, here))
        raise BadInput(f"{path}: include: files include each other in a circle, {chain}. Break it.")
    _place_files(data, path.parent)
    includes = data.pop("include", [])
    if not isinstance(includes, list) or not all(isinstance(name, str) for name in includes):
        raise BadInput(f"{path}: include: got {includes!r}, wanted a list of file names such as ['base.toml'].")
    merged: dict[str, Any] = {}
    for name in includes:
        merged = _merge(merged, read_experiment(path.parent / name, (*_above, here)))
    return _merge(merged, data)


def take_structure_file(data: dict[str, Any]) -> None:
    """Put the tables of the file a structure names in their place; what the structure says itself wins."""
    own = data.get("structure")
    if not isinstance(own, dict) or not isinstance(own.get("file"), str):
        return
    own = {key: value for key, value in own.items() if key != "file"}
    tables = {"kind": "frame", **read_experiment(Path(data["structure"]["file"]))}
    if own.get("kind", "frame") == "frame":
        own["kind"] = tables["kind"]  # "frame" says that it is one; the file knows of which kind
    data["structure"] = _merge(tables, own)


def json_schema() -> str:
    """JSON Schema of experiment files, for completion and checks in an editor."""
    schema = Experiment.model_json_schema(mode="validation")
    schema["properties"]["include"] = {"type": "array", "items": {"type": "string"}}
    schema["anyOf"] = [{"required": [key]} for key in ("excitation", "excitations", "loads")]
    site = schema["$defs"]["SiteSpec"]
    site["properties"]["like"] = {"type": "string", "description": "Site to take everything else from."}
    site["required"] = []  # a site may have its device from another one
    return json.dumps(schema, indent=2, ensure_ascii=False)


def _merge(base: Any, over: Any, name: str = "") -> Any:
    if not isinstance(base, dict) or not isinstance(over, dict):
        return over
    # another law, file of a law or network is another device, another kind another structure or excitation, another
    # updater another model: nothing of the old one stays
    choices = ("law", "coupled", "kind", "updater", *(() if "updater" in base else ("network",)))
    choices = (*choices, *(("file",) if name in _DEVICES else ()))
    if any(key in over and over[key] != base.get(key) for key in choices):
        return over
    base = {key: value for key, value in base.items() if key not in _displaced(over)}
    return {**base, **{key: _merge(base.get(key), value, key) for key, value in over.items()}}


def _displaced(keys: Collection[str]) -> tuple[str, ...]:
    """What these keys of a site take the place of: a site has a device or follows another."""
    return _SPECIMEN if "follows" in keys else ("follows",) if "device" in keys else ()


def _place_files(data: dict[str, Any], folder: Path) -> None:
    """Files of records, structures, scripts and networks are relative to the file that names them, also merged."""
    for table, key in (
        (data.get("excitation"), "file"),
        *((table, "file") for several in ("excitations", "loads") for table in _named(data, several)),
        *((table, "taps") for table in _named(data, "loads")),
        (data.get("structure"), "file"),
        (data.get("structure"), "script"),
        (data, "script"),  # of a file that is a model alone
        *((table, "network") for table in _tables(data)),
        *((device, "file") for device in _devices(data)),
    ):
        name = table.get(key) if isinstance(table, dict) else None
        if isinstance(table, dict) and isinstance(name, str):
            table[key] = str(folder / name)
        elif isinstance(table, dict) and key == "network" and isinstance(name, list):  # several at one site
            table[key] = [str(folder / one) if isinstance(one, str) else one for one in name]


def _named(data: dict[str, Any], key: str) -> list[Any]:
    """Tables that have names, such as [loads.wind]; of a file that is a model alone `loads` is a list of others."""
    return list(data[key].values()) if isinstance(data.get(key), dict) else []


def _tables(data: Any) -> Iterator[dict[str, Any]]:
    """All tables of a file: a device or a model, with its network, may stand in many places."""
    if isinstance(data, dict):
        yield data
    for part in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        yield from _tables(part)


def _devices(data: Any) -> Iterator[Any]:
    """All tables of devices: each may have its law from a file."""
    for table in _tables(data):
        yield from (table.get(key) for key in _DEVICES)


def with_overrides(
    data: dict[str, Any],
    overrides: Sequence[str],
    fields: Collection[str],
    make: Callable[[dict[str, Any]], T],
    say: Callable[[ValidationError, dict[str, Any]], str],
) -> T:
    """What `make` makes of the tables of a file after some changes; `say` turns what pydantic refuses into a message.

    A change is read as a TOML value. Where a text is wanted and the value is none, such as ``component=180``, the word
    itself is taken.
    """
    words: set[str] = set()
    while True:
        changed = deepcopy(data)
        for override in overrides:
            _apply_override(changed, override, fields, override in words)
        try:
            return make(changed)
        except ValidationError as error:
            texts = {override for override in overrides if _wants_text(override, error)} - words
            if not texts:
                raise BadInput(say(error, changed)) from None
            words |= texts


def apply_overrides(tables: dict[str, Any], overrides: Sequence[str]) -> None:
    """Make changes to the tables of an experiment file as they are read, before anything is checked."""
    for override in overrides:
        _apply_override(tables, override, Experiment.model_fields, False)


def _wants_text(override: str, error: ValidationError) -> bool:
    keys, _, text = override.partition("=")
    key, value = keys.split(".")[-1].strip(), _value(text)
    return any(
        problem["type"] == "string_type" and problem["loc"][-1] == key and problem["input"] == value
        for problem in error.errors(include_url=False)
    )


def _apply_override(data: dict[str, Any], override: str, fields: Collection[str], word: bool) -> None:
    """Make one change, ``key.path=value``, to the tables of a file whose top level has these fields."""
    keys, equals, text = override.partition("=")
    path = [key.strip() for key in keys.split(".")]
    if not equals or not all(path):
        raise BadInput(f"override '{override}': wanted key.path=value, such as sites.damper1.device.Fc=20kN.")
    where = f"override '{override}'"
    if len(path) > DEEPEST:
        raise BadInput(f"override '{override[:40]}...': {len(path)} keys, one within the other, are too many.")
    if path[0] not in fields:
        raise UnknownName("key", path[0], fields, where=where)
    table = data
    for depth, key in enumerate(path[:-1]):
        if depth == 1 and path[0] in _NAMED and key not in table:
            raise UnknownName(f"name in {path[0]}", key, table, where=where)
        table = table.setdefault(key, {})
        if not isinstance(table, dict):
            raise BadInput(f"{where}: {'.'.join(path[: depth + 1])} is not a table, so it has no '{path[depth + 1]}'.")
    for key in _displaced(path[2:]) if path[0] == "sites" and len(path) == 3 else ():
        table.pop(key, None)
    table[path[-1]] = text.strip() if word else _value(text)


def _value(text: str) -> Any:
    """A TOML value, or else the text itself, so that nobody needs quotes inside quotes."""
    try:
        parsed = parse_toml(f"value = {text}")
    except ValueError:
        return text.strip()
    return parsed["value"] if len(parsed) == 1 else text.strip()


def _follow_likes(data: dict[str, Any]) -> None:
    sites = data.get("sites")
    if not isinstance(sites, dict):
        return
    data["sites"] = {name: _like(sites, name, ()) for name in sites}


def _like(sites: Mapping[str, Any], name: str, above: tuple[str, ...]) -> Any:
    site = sites[name]
    if not isinstance(site, dict) or "like" not in site:
        return deepcopy(site)
    where, model = f"sites.{name}.like", site["like"]
    if not isinstance(model, str):
        raise BadInput(f"{where}: got {model!r}, wanted the name of another site.")
    if model not in sites:
        raise UnknownName("site", model, [other for other in sites if other != name], where=where)
    if model in (*above, name):
        raise BadInput(f"{where}: sites are like each other in a circle, {' > '.join((*above, name, model))}.")
    base = _like(sites, model, (*above, name))
    own = {key: value for key, value in site.items() if key != "like"}
    if isinstance(base, dict) and any(key in own for key in _PLACES):
        base = {key: value for key, value in base.items() if key not in _PLACES}
    if isinstance(base, dict) and isinstance(base.get("trust"), dict):
        base["trust"].pop("truth", None)  # the true force at another place is not that here
    return _merge(base, deepcopy(own))
