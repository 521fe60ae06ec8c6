"""Fields of experiment files: quantities with units, and tables that name the nearest key for a misspelt one."""

import math
from dataclasses import dataclass
from typing import Annotated, Any, NoReturn, get_args, get_origin

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler, model_validator
from pydantic_core import PydanticCustomError, core_schema

from hyloop.errors import BadInput, OutOfBounds, UnknownName
from hyloop.files.units import quantity

__all__ = ["Quantity", "Table", "kinds", "refuse", "word"]


def refuse(key: str, error: BadInput) -> NoReturn:
    """Refuse a key of the table being validated; the key path of the message then ends with it."""
    raise PydanticCustomError("refused", "{message}", {"message": str(error), "key": key}) from error


class Table(BaseModel):
    """A table of an experiment file: no unknown keys, no silent conversions, not changed after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, given: Any) -> Any:
        if isinstance(given, dict) and cls.model_config.get("extra") == "forbid":
            for key in given:
                if key not in cls.model_fields:
                    refuse(str(key), UnknownName("key", str(key), cls.model_fields))
        return given


def kinds(union: Any, key: str = "kind") -> dict[str, type[Table]]:
    """Tables of a union that a key tells apart, by what the key says: a `Literal` of one word in each."""
    tables = get_args(get_args(union)[0]) if get_origin(union) is Annotated else get_args(union)
    return {get_args(table.model_fields[key].annotation)[0]: table for table in tables}


def word(given: Any) -> Any:
    """A whole number where a name is wanted is that name: the tag 3 of a node, or 180 for a component of a record."""
    return str(given) if isinstance(given, int) and not isinstance(given, bool) else given


@dataclass(frozen=True)
class Quantity:
    """Annotation of a number with a unit: ``Annotated[float, Quantity("kg", low=0.0)]``.

    Parameters
    ----------
    unit : str
        Unit wanted, as in `hyloop.files.units.quantity`.
    low, above, high : float
        Smallest value, a value it must exceed, and largest value, in SI units.
    depth : int
        0: one number. 1: one number or a list. 2: also a list of lists. Lists become tuples.
    """

    unit: str
    low: float = -math.inf
    above: float = -math.inf
    high: float = math.inf
    depth: int = 0

    def read(self, given: Any) -> Any:
        return self._read(given, self.depth, "")

    def _read(self, given: Any, depth: int, place: str) -> Any:
        if depth and isinstance(given, (list, tuple)):
            if not given:
                raise BadInput("the list is empty; give at least one number.")
            return tuple(self._read(item, depth - 1, f"{place}[{i}]") for i, item in enumerate(given))
        value = quantity(given, self.unit, f"entry {place}" if place else "")
        if not self.low <= value <= self.high or (value <= self.above and self.above > -math.inf):
            raise OutOfBounds(f"{f'entry {place}: ' if place else ''}got {given!r}, allowed are {self._range()}.")
        return value

    def _range(self) -> str:
        unit = "" if self.unit == "-" else f" {self.unit}"
        parts = [f"values above {self.above:g}"] if self.above > -math.inf else []
        parts += [f"values of at least {self.low:g}"] if self.low > -math.inf else []
        parts += [f"at most {self.high:g}"] if self.high < math.inf else []
        return " and ".join(parts) + unit

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler) -> dict:
        one: dict[str, Any] = {"anyOf": [{"type": "number"}, {"type": "string"}]}
        nested = one
        for _ in range(self.depth):
            nested = {"anyOf": [*one["anyOf"], {"type": "array", "items": nested}]}
        return {**nested, "description": f"in {self.unit}, or a text with a unit"}
