"""What costs most when an experiment is built, kept for the next one that has the same: structures and motions."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError

__all__ = ["Kept"]

MOST = 64  # parts: the motions of a set of records, and a few structures


class Kept:
    """Parts by the text of the table they are made from; the ones used longest ago go first.

    A part is found by what its table says, not by what a file that it names holds: keep them no longer than the files
    stay as they are. Parts are shared, so nobody changes them.
    """

    def __init__(self, most: int = MOST) -> None:
        self._parts: OrderedDict[tuple[Any, ...], Any] = OrderedDict()
        self._most = most

    def get(self, table: BaseModel, also: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        """The part of a table (and of what else it hangs on), made if it is not there."""
        try:
            key = (type(table).__name__, table.model_dump_json(), *also)
        except PydanticSerializationError:  # a table with arrays has no text
            return make()
        if key not in self._parts:
            self._parts[key] = make()
            while len(self._parts) > self._most:
                self._parts.popitem(last=False)
        self._parts.move_to_end(key)
        return self._parts[key]
