"""What experiment files say of free parameters: pairs of numbers in the units of a law, and fractions."""

from collections.abc import Container, Mapping
from typing import Annotated, Any

from pydantic import PlainValidator, WithJsonSchema

from hyloop.core import Block
from hyloop.errors import BadInput, BadShape, UnknownName
from hyloop.files.fields import Quantity, refuse
from hyloop.files.laws import law_named
from hyloop.files.units import quantity

__all__ = ["Shares", "read_pairs"]

_SHARE = Quantity("-", low=0.0)


def _shares(given: Any) -> Any:
    """One fraction for all free parameters, or a table with one for each; None where none is given."""
    return {key: _SHARE.read(value) for key, value in given.items()} if isinstance(given, dict) else _SHARE.read(given)


Shares = Annotated[
    Any,
    PlainValidator(_shares),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string"}, {"type": "object"}]}),
]


def read_pairs(given: Any, known: Container[str]) -> Any:
    """The table of a model with bounds of its parameters and uncertainties of its states in SI units, by its law."""
    law = law_named(given.get("device")) if isinstance(given, dict) else None
    if law is None:
        return given
    units = {"free": {key: spec.unit for key, spec in law.params.items()}, "states": law.state}
    read = {
        table: {key: _pair(law, table, key, pair, units[table]) for key, pair in given[table].items()}
        for table in ("free", "states")
        if table in known and isinstance(given.get(table), dict)
    }
    return {**given, **read}


def _pair(law: Block, table: str, key: str, pair: Any, units: Mapping[str, str]) -> tuple[float, ...]:
    try:
        if key not in units:
            raise UnknownName(f"{'parameter' if table == 'free' else 'state'} of {law.name}", key, units)
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            wanted = (
                "the lower and the upper bound" if table == "free" else "the uncertainty at the start and in a tick"
            )
            raise BadShape(f"got {pair!r}; give {wanted}.")
        return tuple(quantity(number, units[key]) for number in pair)
    except BadInput as error:
        refuse(f"{table}.{key}", error)
