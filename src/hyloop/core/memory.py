"""Names for places in flat memory, in compiled code at no cost.

A kernel gets bare vectors: numbers `x` and `p`, integers `i`. What lies where is said once, by a NamedTuple, and read
by its names: ``m = views(x, WINDOW)`` gives pointers to the parts of a memory that `laid_out` has laid out, and
``read(Member, i, at)`` the record of numbers at one place. A matrix is ``carray(m.a, (rows, columns))`` by Numba.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = ["laid_out", "place", "read", "views"]

T = TypeVar("T")


def laid_out(bundle: Callable[..., T], sizes: Mapping[str, int], first: int = 0) -> tuple[T, int]:
    """Where each part begins if all lie one after another from `first` on, and where they end.

    `bundle` is a NamedTuple whose fields are the keys of `sizes`, in any order; parts lie in the order of `sizes`.
    """
    places, at = {}, first
    for name, size in sizes.items():
        places[name] = at
        at += size
    return bundle(**places), at


@intrinsic
def views(typingctx: Any, memory: Any, places: Any) -> Any:
    """Pointers to the parts of a memory: the NamedTuple `places` of positions with pointers in their stead.

    `memory` is a vector or a pointer; whoever gives it keeps it alive.
    """
    element = types.CPointer(memory.dtype)
    result = types.BaseTuple.from_types([element] * len(places), places.instance_class)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = args[0]
        if not isinstance(sig.args[0], types.CPointer):
            data = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=data).data
        offsets = cgutils.unpack_tuple(builder, args[1], len(places))
        return context.make_tuple(builder, result, [builder.gep(data, [offset]) for offset in offsets])

    return result(memory, places), generate


@intrinsic
def place(typingctx: Any, memory: Any, at: Any) -> Any:
    """Pointer to ``memory[at]``, of a vector or a pointer."""
    result = types.CPointer(memory.dtype)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = args[0]
        if not isinstance(sig.args[0], types.CPointer):
            data = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=data).data
        return builder.gep(data, [args[1]])

    return result(memory, types.intp), generate


@intrinsic
def read(typingctx: Any, bundle: Any, numbers: Any, at: Any) -> Any:
    """The NamedTuple `bundle` of numbers that stands at ``numbers[at]``: all integers, or all floats."""
    count = len(bundle.instance_class._fields)
    result = types.BaseTuple.from_types([numbers.dtype] * count, bundle.instance_class)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = args[1]
        if not isinstance(sig.args[1], types.CPointer):
            data = cgutils.create_struct_proxy(sig.args[1])(context, builder, value=data).data
        first = builder.gep(data, [args[2]])
        words = [builder.load(builder.gep(first, [ir.Constant(ir.IntType(64), k)])) for k in range(count)]
        return context.make_tuple(builder, result, words)

    return result(bundle, numbers, types.intp), generate
