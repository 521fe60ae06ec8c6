"""Compilation: Numba functions, kept on disk (`hyloop.core.cache`), and calls through addresses."""

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numpy.typing import NDArray

from hyloop.core.cache import cached
from hyloop.core.fingerprint import fingerprint
from hyloop.errors import BadShape

__all__ = [
    "BLOCK",
    "GROUP",
    "Floats",
    "Ints",
    "Table",
    "bind",
    "call_block",
    "call_group",
    "compile_c",
    "jit",
    "pointer",
    "rebind",
    "verb",
]

_MARK = "_of_"  # between the name of a function that was bound again and what tells it from others
FLOATS = types.CPointer(types.float64)
INTS = types.CPointer(types.int64)

# void advance(double *x, double *u, double dt, double *p, double *y)
BLOCK = types.void(FLOATS, FLOATS, types.float64, FLOATS, FLOATS)
# void resist(double *u, double *v, double dt, double *x, double *p, int64 *i, double *r)
GROUP = types.void(FLOATS, FLOATS, types.float64, FLOATS, FLOATS, INTS, FLOATS)


def jit(function: Callable) -> Any:
    """Compile a kernel of the package: no Python objects, no lock, cached on disk.

    Division follows IEEE rules (a division by zero gives inf or nan) because a kernel reports status codes
    and never raises; no `fastmath`, so that a compiled run and a live run agree to the last bit.
    """
    return cached(lambda keep: numba.njit(cache=keep, nogil=True, error_model="numpy")(function))


def verb(function: Callable) -> Any:
    """A part of a kernel; it is compiled, and cached, with its callers."""
    return numba.njit(nogil=True, error_model="numpy")(function)


def rebind(function: Callable, **names: Any) -> Callable:
    """The same code with other global names.

    ``rebind(law, np=jax.numpy)`` is how one law serves two compilers, and how one tick serves three kinds of runs.

    Its name is one that no other code has. Numba names compiled functions by module, name and a count that begins anew
    in every process; two that were cached by different processes could have one name, and where both are loaded, the
    linker takes one for the other.
    """
    assert isinstance(function, FunctionType)
    globals_ = {**function.__globals__, **names}
    bound = FunctionType(function.__code__, globals_, function.__name__, function.__defaults__, function.__closure__)
    bound.__doc__, bound.__module__ = function.__doc__, function.__module__
    bound.__qualname__ = f"{function.__qualname__.partition(_MARK)[0]}{_MARK}{fingerprint(bound)}"
    return bound


def compile_c(function: Callable, signature: Any, source: Callable) -> Any:
    """Compile `function` to a C function with a fixed signature; `source` is the user's law inside it."""
    return cached(
        lambda keep: numba.cfunc(signature, cache=keep, error_model="numpy")(function), inside=fingerprint(source)
    )


def _caller(signature: Any) -> Any:
    """Code generator of a call through an address; every pointer argument comes as a pointer and an offset."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        values, k = [], 1
        for argtype in signature.args:
            if isinstance(argtype, types.CPointer):
                values.append(builder.gep(args[k], [args[k + 1]]))
                k += 2
            else:
                values.append(args[k])
                k += 1
        ftype = ir.FunctionType(ir.VoidType(), [context.get_value_type(t) for t in signature.args])
        builder.call(builder.inttoptr(args[0], ftype.as_pointer()), values)
        return context.get_dummy_value()

    return generate


_N = types.intp


@intrinsic
def call_block(
    typingctx: Any, address: Any, x: Any, xo: Any, u: Any, uo: Any, dt: Any, p: Any, po: Any, y: Any, yo: Any
) -> Any:
    """Call a block: ``(address, x, offset, u, offset, dt, p, offset, y, offset)``."""
    signature = types.void(_N, FLOATS, _N, FLOATS, _N, types.float64, FLOATS, _N, FLOATS, _N)
    return signature, _caller(BLOCK)


@intrinsic
def call_group(
    typingctx: Any,
    address: Any,
    u: Any,
    uo: Any,
    v: Any,
    vo: Any,
    dt: Any,
    x: Any,
    xo: Any,
    p: Any,
    po: Any,
    i: Any,
    io: Any,
    r: Any,
    ro: Any,
) -> Any:
    """Call an element group: ``(address, u, offset, v, offset, dt, x, offset, p, offset, i, offset, r, offset)``."""
    signature = types.void(_N, FLOATS, _N, FLOATS, _N, types.float64, FLOATS, _N, FLOATS, _N, INTS, _N, FLOATS, _N)
    return signature, _caller(GROUP)


@intrinsic
def pointer(typingctx: Any, array: Any) -> Any:
    """Pointer to the first element of a contiguous array, which the caller keeps alive; another one is refused."""
    if array.layout != "C":
        raise TypingError("the array is not contiguous, and compiled code would read what lies between its numbers")

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0]).data

    return types.CPointer(array.dtype)(array), generate


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Table:
    """A NamedTuple of numbers and arrays as compiled code reads it: one vector `words` of 64 bits each.

    Numbers stand in it as they are, arrays and further tables by their addresses. So fifty arrays cross into compiled
    code at the price of one, and what `bind` makes of them there is free of reference counting. The table owns what its
    addresses point to: as long as it lives, so do they. A table of None has no words.
    """

    __slots__ = ("bundle", "words")

    def __init__(self, bundle: Any) -> None:
        self.bundle = bundle
        kinds = getattr(type(bundle), "__annotations__", {})
        self.words = np.empty(len(kinds), np.int64)
        for k, (name, kind) in enumerate(kinds.items()):
            value = bundle[k]
            if kind is float:
                self.words[k : k + 1].view(np.float64)[0] = value
            elif kind is int:
                self.words[k] = value
            elif kind is Table:
                self.words[k] = value.words.ctypes.data
            else:
                self.words[k] = _address(f"{type(bundle).__name__}.{name}", value, kind)


def _address(name: str, array: Any, kind: Any) -> int:
    # compiled code reads the bytes as they are: an integer as a float would be next to nothing
    wanted = np.float64 if kind is Floats else np.int64
    if array.dtype != wanted or not array.flags.c_contiguous:
        raise BadShape(
            f"{name}: wanted a contiguous array of {wanted.__name__}, got {array.dtype}"
            f"{'' if array.flags.c_contiguous else ', not contiguous'}."
        )
    return array.ctypes.data


_KINDS: Any = {float: types.float64, int: types.int64, Floats: FLOATS, Ints: INTS, Table: INTS}


@intrinsic
def bind(typingctx: Any, bundle: Any, words: Any) -> Any:
    """The NamedTuple behind a `Table`, with plain pointers in place of arrays: ``bind(Plan, words)``.

    `words` is the vector itself, or a pointer to it out of another table.
    """
    kinds = [_KINDS[kind] for kind in bundle.instance_class.__annotations__.values()]
    result = types.BaseTuple.from_types(kinds, bundle.instance_class)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = args[1]
        if not isinstance(sig.args[1], types.CPointer):
            data = cgutils.create_struct_proxy(sig.args[1])(context, builder, value=data).data
        values = []
        for k, kind in enumerate(kinds):
            word = builder.load(builder.gep(data, [ir.Constant(ir.IntType(64), k)]))
            if isinstance(kind, types.CPointer):
                word = builder.inttoptr(word, context.get_value_type(kind))
            elif kind is types.float64:
                word = builder.bitcast(word, ir.DoubleType())
            values.append(word)
        return context.make_tuple(builder, result, values)

    return result(bundle, words), generate
