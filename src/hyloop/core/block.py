"""Blocks: anything a sample passes through.

A device, an actuator, a filter or a neural model is a `Block`: it declares its inputs, outputs, state and
parameters by name, and has one verb, *advance by dt*. `block` makes one from a pure function

    ``law(x, u, dt, p) -> (outputs, new state)``

which Python, Numba and JAX all run from the same source. `inplace_block` makes one from a function
``advance(x, u, dt, p, y)`` that writes into its arguments; only Numba runs it, so it may branch freely.
Both compile to one C signature, so a compiled loop calls every block through its address.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from inspect import cleandoc
from typing import Any

import numba
import numpy as np

from hyloop.core import scalar
from hyloop.core.jit import BLOCK, call_block, compile_c, jit, pointer, rebind
from hyloop.core.tick import check_tick
from hyloop.errors import BadInput, BadShape, OutOfBounds, UnknownName

__all__ = ["Block", "Instance", "Param", "block", "inplace_block", "rebind"]


@dataclass(frozen=True)
class Param:
    """A parameter of a block: unit, default value (NaN: there is none), closed bounds, and one line about it."""

    unit: str
    default: float
    low: float = -np.inf
    high: float = np.inf
    about: str = ""

    def check(self, value: Any, where: str) -> float:
        try:
            number = float(value)
        except (TypeError, ValueError) as error:
            raise BadInput(f"{where}: expected a number in {self.unit}, got {value!r}.") from error
        if not self.low <= number <= self.high:
            raise OutOfBounds(
                f"{where} = {number:g} {self.unit} is outside its bounds [{self.low:g}, {self.high:g}] {self.unit}. "
                "Give a value inside them."
            )
        return number


@dataclass(frozen=True, eq=False)
class Block:
    """A law with named inputs, outputs, state and parameters; call it with parameters to get an `Instance`."""

    name: str
    function: Callable
    pure: bool
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    state: Mapping[str, str]
    params: Mapping[str, Param]
    reference: str
    linear: Callable[..., tuple[float, float]] | None
    start: Callable[..., Mapping[str, float]] | None
    flags: frozenset[str] = field(default_factory=frozenset)
    memory: int = 0  # numbers after the named state, such as the weights and the covariance of a network that learns
    contents: np.ndarray | None = None  # what the memory begins with, such as the weights of a trained network
    constant: tuple[int, int] = (0, 0)  # places in the state, from and to, that never change, such as weights
    tick: float | None = None  # sampling interval in s that a trained block has learned; None where it runs at any
    fits: Callable[..., None] | None = None  # fits(dt, **params) refuses a sampling interval that does not go with them

    @property
    def doc(self) -> str:
        return cleandoc(self.function.__doc__ or "")

    @cached_property
    def compiled(self) -> Any:
        """The law as a Numba function, callable from other compiled functions."""
        law = rebind(self.function, **({"np": scalar} if self.pure else {}))
        return numba.njit(nogil=True, error_model="numpy")(law)

    @cached_property
    def cfunc(self) -> Any:
        """The block as a C function; compiled on first use and cached on disk."""
        wrapper = (_pure if self.state else _stateless) if self.pure else _inplace
        sizes = {
            "nx": len(self.state) + self.memory,
            "nu": len(self.inputs),
            "n_p": len(self.params),
            "ny": len(self.outputs),
        }
        return compile_c(rebind(wrapper, law=self.compiled, **sizes), BLOCK, self.function)

    @property
    def address(self) -> int:
        return self.cfunc.address

    def advance(self, x: np.ndarray, u: np.ndarray, dt: float, p: np.ndarray) -> np.ndarray:
        """One step of the compiled law from the state `x`, which moves on in place; returns the outputs."""
        outputs = np.empty((1, len(self.outputs)))
        _drive(self.address, x, u[None], float(dt), p, outputs, np.empty((1, len(self.state))))
        return outputs[0]

    def ordered(self, signals: Mapping[str, Any]) -> list[Any]:
        """Signals given by name, in the order of the inputs; none may be missing or unknown."""
        for key in signals:
            if key not in self.inputs:
                raise UnknownName("input", key, self.inputs, where=self.name)
        missing = [key for key in self.inputs if key not in signals]
        if missing:
            raise BadInput(
                f"{self.name}: input {', '.join(missing)} is missing; give one array for each of "
                f"{', '.join(self.inputs)}."
            )
        return [signals[key] for key in self.inputs]

    def __call__(self, *, initial: Any = None, memory: Any = None, **params: float) -> "Instance":
        """Fix parameters; everything not named keeps its default.

        `initial` maps states to initial values; `memory` fills the unnamed part of the state (if not given: the
        block's own contents, else zeros).
        """
        for key in params:
            if key not in self.params:
                raise UnknownName("parameter", key, self.params, where=self.name)
        missing = [key for key, spec in self.params.items() if np.isnan(spec.default) and key not in params]
        if missing:
            raise BadInput(
                f"{self.name}: {', '.join(missing[:3])}{', ...' if len(missing) > 3 else ''} must be given, "
                f"there is no default: {self.params[missing[0]].about}."
            )
        values = {
            key: spec.check(params.get(key, spec.default), f"{self.name}.{key}") for key, spec in self.params.items()
        }
        begin = dict.fromkeys(self.state, 0.0)
        if self.start is not None:
            begin.update(self.start(**values))
        for key, value in (initial or {}).items():
            if key not in self.state:
                raise UnknownName("state", key, self.state, where=self.name)
            begin[key] = float(value)
        memory = self.contents if memory is None else memory
        rest = np.zeros(self.memory) if memory is None else np.array(memory, dtype=float)
        if rest.shape != (self.memory,):
            raise BadShape(f"{self.name}: memory must be {self.memory} numbers, got shape {rest.shape}.")
        return Instance(self, values, begin, rest)


@dataclass(frozen=True, eq=False)
class Instance:
    """A block with its parameters and initial state fixed."""

    block: Block
    params: dict[str, float]
    initial: dict[str, float]
    memory: np.ndarray = field(default_factory=lambda: np.empty(0))

    @property
    def x0(self) -> np.ndarray:
        """The whole state at the start: the named values, then the memory."""
        return np.concatenate([np.array(list(self.initial.values()), dtype=float), self.memory])

    @property
    def stiffness(self) -> float:
        """Initial stiffness df/dd, used where a method linearises the device (0 where the law declares none)."""
        return self.block.linear(**self.params)[0] if self.block.linear else 0.0

    @property
    def damping(self) -> float:
        """Linearised damping df/dv (0 where the law declares none)."""
        return self.block.linear(**self.params)[1] if self.block.linear else 0.0

    def check_fit(self, dt: float, where: str = "", **changed: float) -> None:
        """Refuse a sampling interval in s that does not go with the parameters, or with those that have changed."""
        if self.block.fits is None:
            return
        try:
            self.block.fits(float(dt), **{**self.params, **changed})
        except BadInput as error:
            error.args = (f"{where or self.block.name}: {error}",)
            raise

    def drive(self, dt: float, **signals: Any) -> dict[str, np.ndarray]:
        """Drive the block open loop with sampled inputs and return every output and named state history.

        Parameters
        ----------
        dt : float
            Sampling interval in s; for a trained block that of its training.
        **signals
            One array for each input of the block, all of the same length. The first sample is advanced over
            `dt` like every other, from the initial state.
        """
        block = self.block
        check_tick(block.name, block.tick, dt)
        self.check_fit(dt)
        columns = [np.asarray(signal, dtype=float) for signal in block.ordered(signals)]
        if len({column.shape for column in columns}) != 1 or columns[0].ndim != 1:
            raise BadShape(
                f"{block.name}: inputs must be one-dimensional arrays of one length, got "
                f"{', '.join(str(column.shape) for column in columns)}."
            )
        x = self.x0
        outputs = np.empty((len(columns[0]), len(block.outputs)))
        states = np.empty((len(columns[0]), len(block.state)))
        parameters = np.array(list(self.params.values()), dtype=float)
        _drive(block.address, x, np.column_stack(columns), float(dt), parameters, outputs, states)
        return {key: outputs[:, i] for i, key in enumerate(block.outputs)} | {
            key: states[:, i] for i, key in enumerate(block.state)
        }


def block(
    *,
    inputs: Mapping[str, str],
    outputs: Mapping[str, str],
    params: Mapping[str, Param],
    state: Mapping[str, str] | None = None,
    reference: str,
    linear: Callable[..., tuple[float, float]] | None = None,
    start: Callable[..., Mapping[str, float]] | None = None,
    flags: str = "",
) -> Callable[[Callable], Block]:
    """Make a `Block` from a pure law ``law(x, u, dt, p) -> (outputs, new state)``.

    The law may use arithmetic, the functions of `hyloop.core.scalar` under the name ``np``, loops with constant
    bounds and ``np.where`` (no ``if`` on values); it must not write into its arguments. Both branches of a
    ``np.where`` must be finite so that gradients are.

    Parameters
    ----------
    inputs, outputs, state
        Name and unit of every signal, in the order of `u`, the returned outputs, and `x`.
    params
        Name and `Param` of every parameter, in the order of `p`.
    reference
        Where the law comes from, with DOI.
    linear
        ``linear(**params) -> (stiffness, damping)`` of the undeformed device.
    start
        ``start(**params) -> {state: value}`` for states that do not begin at zero.
    flags
        Properties the tests then demand: ``"passive"``, ``"rate-independent"``.
    """

    def make(function: Callable) -> Block:
        return _make(function, True, inputs, outputs, params, state, reference, linear, start, flags)

    return make


def inplace_block(
    *,
    inputs: Mapping[str, str],
    outputs: Mapping[str, str],
    params: Mapping[str, Param],
    state: Mapping[str, str] | None = None,
    reference: str,
    linear: Callable[..., tuple[float, float]] | None = None,
    start: Callable[..., Mapping[str, float]] | None = None,
    flags: str = "",
    memory: int = 0,
    fits: Callable[..., None] | None = None,
) -> Callable[[Callable], Block]:
    """Make a `Block` from ``advance(x, u, dt, p, y)``, which updates `x` and writes `y`; see `block`.

    `memory` numbers of unnamed state follow the named ones: part of every snapshot, but of no table and no history.
    ``fits(dt, **params)`` may refuse, with `BadInput`, a sampling interval at which the block cannot run.
    """

    def make(function: Callable) -> Block:
        made = _make(function, False, inputs, outputs, params, state, reference, linear, start, flags)
        return replace(made, memory=memory, fits=fits)

    return make


def _make(function, pure, inputs, outputs, params, state, reference, linear, start, flags) -> Block:
    name = function.__name__
    names = [*inputs, *outputs, *(state or {}), *params]
    if not outputs or not all(key.isidentifier() for key in names):
        raise BadInput(f"{name}: a block needs at least one output, and plain identifiers as names.")
    if set(params) & (set(inputs) | set(outputs)):
        raise BadInput(f"{name}: a parameter and a signal share a name; both would be channel 'site.name'.")
    return Block(
        name,
        function,
        pure,
        dict(inputs),
        dict(outputs),
        dict(state or {}),
        dict(params),
        reference,
        linear,
        start,
        frozenset(flags.split()),
    )


# The C functions round a law. `law` and the sizes are put among their globals by `Block.cfunc`: as closure variables
# they would enter Numba's cache key, which is different in every process for a compiled function.
law: Any = None
nx = nu = n_p = ny = 0


def _pure(x_, u_, dt, p_, y_):
    x, y = numba.carray(x_, (nx,)), numba.carray(y_, (ny,))
    outputs, new = law(x, numba.carray(u_, (nu,)), dt, numba.carray(p_, (n_p,)))
    for i in range(ny):
        y[i] = outputs[i]
    for i in range(nx):
        x[i] = new[i]


def _stateless(x_, u_, dt, p_, y_):
    y = numba.carray(y_, (ny,))
    outputs, _ = law(numba.carray(x_, (nx,)), numba.carray(u_, (nu,)), dt, numba.carray(p_, (n_p,)))
    for i in range(ny):
        y[i] = outputs[i]


def _inplace(x_, u_, dt, p_, y_):
    law(numba.carray(x_, (nx,)), numba.carray(u_, (nu,)), dt, numba.carray(p_, (n_p,)), numba.carray(y_, (ny,)))


@jit
def _drive(address, x, inputs, dt, p, outputs, states):
    u = np.empty(inputs.shape[1])
    y = np.empty(outputs.shape[1])
    for i in range(inputs.shape[0]):
        u[:] = inputs[i]
        call_block(address, pointer(x), 0, pointer(u), 0, dt, pointer(p), 0, pointer(y), 0)
        outputs[i] = y
        states[i] = x[: states.shape[1]]
