"""Names for places in flat memory, in compiled code at no cost.

A kernel gets bare vectors: numbers `x` and `p`, integers `i`. What lies where is said once, by a NamedTuple, and read
by its names:

    ``m = views(x, WINDOW)``            pointers to the parts of a memory that `laid_out` has laid out
    ``w = columns(Work, x, n)``         pointers to parts of n numbers each, one after another
    ``a = read(Member, i, at)``         the record that stands at one place
    ``a = entry(Member, i, first, k)``  number k of a table of records
    ``tail(x, at)``                     the memory from one place on; a matrix there is ``carray(tail(x, at), (n, m))``

A record is written from the same NamedTuple (a tuple of numbers, after all), so that whoever writes and whoever reads
cannot disagree; `Growing` joins parts to a vector and tells where each begins. `read` and `entry` work in Python, too.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

__all__ = ["Growing", "columns", "entry", "laid_out", "read", "tail", "views"]

T = TypeVar("T")
_INT = ir.IntType(64)


def laid_out(bundle: Callable[..., T], sizes: Mapping[str, int], first: int = 0) -> tuple[T, int]:
    """Where each part begins if all lie one after another from `first` on, and where they end.

    `bundle` is a NamedTuple whose fields are the keys of `sizes`, in any order; parts lie in the order of `sizes`.
    """
    places, at = {}, first
    for name, size in sizes.items():
        places[name] = at
        at += size
    return bundle(**places), at


class Growing:
    """A flat vector that grows part by part."""

    def __init__(self, dtype: type = float) -> None:
        self._dtype, self._parts, self._size = dtype, [], 0

    def add(self, part: Any) -> int:
        """Append numbers, a record or a table of records; return where they begin."""
        self._parts.append(np.ravel(np.asarray(part, dtype=self._dtype)))
        self._size += len(self._parts[-1])
        return self._size - len(self._parts[-1])

    def vector(self) -> np.ndarray:
        """All parts, joined."""
        return np.concatenate(self._parts)


def read(bundle: Callable[..., T], memory: Any, at: int) -> T:
    """The NamedTuple `bundle` of numbers that stands at ``memory[at]``: integers or floats, as the memory is."""
    fields: Any = bundle
    return bundle(*memory[at : at + len(fields._fields)])


def entry(bundle: Callable[..., T], memory: Any, first: int, k: int) -> T:
    """Record k of a table of NamedTuples `bundle` that begins at ``memory[first]``."""
    fields: Any = bundle
    return read(bundle, memory, first + len(fields._fields) * k)


def _data(context: Any, builder: Any, kind: Any, memory: Any) -> Any:
    """Address of a vector, or the pointer itself."""
    if isinstance(kind, types.CPointer):
        return memory
    return cgutils.create_struct_proxy(kind)(context, builder, value=memory).data


@intrinsic
def views(typingctx: Any, memory: Any, places: Any) -> Any:
    """Pointers to the parts of a memory: the NamedTuple `places` of positions with pointers in their stead.

    `memory` is a vector or a pointer; whoever gives it keeps it alive.
    """
    element = types.CPointer(memory.dtype)
    result = types.BaseTuple.from_types([element] * len(places), places.instance_class)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = _data(context, builder, sig.args[0], args[0])
        offsets = cgutils.unpack_tuple(builder, args[1], len(places))
        return context.make_tuple(builder, result, [builder.gep(data, [offset]) for offset in offsets])

    return result(memory, places), generate


@intrinsic
def columns(typingctx: Any, bundle: Any, memory: Any, n: Any) -> Any:
    """Pointers to parts of `n` numbers each, one for each field of the NamedTuple `bundle`, from ``memory[0]`` on."""
    count = len(bundle.instance_class._fields)
    result = types.BaseTuple.from_types([types.CPointer(memory.dtype)] * count, bundle.instance_class)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = _data(context, builder, sig.args[1], args[1])
        parts = [builder.gep(data, [builder.mul(args[2], ir.Constant(_INT, k))]) for k in range(count)]
        return context.make_tuple(builder, result, parts)

    return result(bundle, memory, types.intp), generate


@intrinsic
def tail(typingctx: Any, memory: Any, at: Any) -> Any:
    """Pointer to ``memory[at]``, of a vector or a pointer."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.gep(_data(context, builder, sig.args[0], args[0]), [args[1]])

    return types.CPointer(memory.dtype)(memory, types.intp), generate


@intrinsic
def _read(typingctx: Any, bundle: Any, memory: Any, first: Any, k: Any) -> Any:
    count = len(bundle.instance_class._fields)
    result = types.BaseTuple.from_types([memory.dtype] * count, bundle.instance_class)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = _data(context, builder, sig.args[1], args[1])
        at = builder.add(args[2], builder.mul(args[3], ir.Constant(_INT, count)))
        record = builder.gep(data, [at])
        numbers = [builder.load(builder.gep(record, [ir.Constant(_INT, j)])) for j in range(count)]
        return context.make_tuple(builder, result, numbers)

    return result(bundle, memory, types.intp, types.intp), generate


@overload(read)
def _read_compiled(bundle, memory, at):
    return lambda bundle, memory, at: _read(bundle, memory, at, 0)


@overload(entry)
def _entry_compiled(bundle, memory, first, k):
    return lambda bundle, memory, first, k: _read(bundle, memory, first, k)
