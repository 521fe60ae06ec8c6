"""Sixteen float32 numbers at once, as a Numba type: arithmetic that is certain to use the vector unit.

The loops of a network are short, and their buffers may overlap for all a compiler knows, so it gives up on most of
them. Here the kernel says what it wants: `load` sixteen neighbours, calculate with ``+ - * /`` as with scalars, `store`
them. The compiler maps the sixteen lanes to whatever registers the machine has.

`multiply_add` may fuse the product and the sum into one rounding where the machine can. Which of the two it does is
fixed when the kernel is compiled, so two runs on one machine still agree to the last bit.
"""

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel.models import PrimitiveModel
from numba.core.datamodel.registry import register_default
from numba.extending import intrinsic, lower_builtin, type_callable

__all__ = ["WIDTH", "as_float32", "as_int64", "broadcast", "fill", "limit", "load", "multiply_add", "padded", "store"]

WIDTH = 16
_FLOAT = ir.FloatType()
_VECTOR = ir.VectorType(_FLOAT, WIDTH)


class Lanes(types.Type):
    """Type of sixteen float32 numbers."""

    def __init__(self) -> None:
        super().__init__(name=f"float32x{WIDTH}")


_lanes = Lanes()


@register_default(Lanes)
class _Model(PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, _VECTOR)


def padded(n: int) -> int:
    """The next multiple of `WIDTH`: a vector stored with that many numbers needs no special last step."""
    return -(-n // WIDTH) * WIDTH


def _operator(function: Any, instruction: str) -> None:
    @type_callable(function)
    def typer(context: Any) -> Any:
        return lambda a, b: _lanes if isinstance(a, Lanes) and isinstance(b, Lanes) else None

    @lower_builtin(function, _lanes, _lanes)
    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return getattr(builder, instruction)(*args)


for _function, _instruction in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _operator(_function, _instruction)


def _spread(builder: Any, number: Any) -> Any:
    zero = ir.Constant(ir.IntType(32), 0)
    first = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, zero)
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH))


def _address(builder: Any, context: Any, sig: Any, args: Any) -> Any:
    """Pointer to element ``args[1]`` of the array or pointer ``args[0]``."""
    kind, base = sig.args[0], args[0]
    if isinstance(kind, types.Array):
        base = cgutils.create_struct_proxy(kind)(context, builder, value=base).data
    return builder.gep(base, [args[1]])


def _cast(kind: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0]).data
        return builder.bitcast(data, context.get_value_type(kind))

    return generate


@intrinsic
def as_float32(typingctx: Any, array: Any) -> Any:
    """Address of a contiguous array, taken as one of float32 numbers."""
    kind = types.CPointer(types.float32)
    return kind(array), _cast(kind)


@intrinsic
def as_int64(typingctx: Any, array: Any) -> Any:
    """Address of a contiguous array, taken as one of whole numbers."""
    kind = types.CPointer(types.int64)
    return kind(array), _cast(kind)


@intrinsic
def load(typingctx: Any, array: Any, k: Any) -> Any:
    """Elements k ... k + 15 of a contiguous float32 array."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        place = builder.bitcast(_address(builder, context, sig, args), _VECTOR.as_pointer())
        return builder.load(place, align=4)

    return _lanes(array, types.intp), generate


@intrinsic
def store(typingctx: Any, array: Any, k: Any, value: Any) -> Any:
    """Write `value` to elements k ... k + 15."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        place = builder.bitcast(_address(builder, context, sig, args), _VECTOR.as_pointer())
        builder.store(args[2], place, align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, _lanes), generate


@intrinsic
def broadcast(typingctx: Any, array: Any, k: Any) -> Any:
    """Element k in all lanes."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _spread(builder, builder.load(_address(builder, context, sig, args), align=4))

    return _lanes(array, types.intp), generate


@intrinsic
def fill(typingctx: Any, number: Any) -> Any:
    """One number in all lanes."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _spread(builder, context.cast(builder, args[0], sig.args[0], types.float32))

    return _lanes(number), generate


@intrinsic
def multiply_add(typingctx: Any, a: Any, b: Any, c: Any) -> Any:
    """a b + c, in one rounding where the machine can."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        product = builder.fmul(args[0], args[1], flags=("contract",))
        return builder.fadd(product, args[2], flags=("contract",))

    return _lanes(_lanes, _lanes, _lanes), generate


@intrinsic
def limit(typingctx: Any, a: Any, bound: Any) -> Any:
    """`a` held between -bound and bound; a NaN stays one."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        value, top = args
        bottom = builder.fneg(top)
        value = builder.select(builder.fcmp_ordered(">", value, top), top, value)
        return builder.select(builder.fcmp_ordered("<", value, bottom), bottom, value)

    return _lanes(_lanes, _lanes), generate
