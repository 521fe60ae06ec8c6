"""An LSTM layer over whole histories, differentiable, by the fastest way the machine has.

``"scan"`` is plain JAX: any precision, any device. ``"compiled"`` runs the kernels of `lstm_kernels` on the CPU,
``"pallas"`` those of `lstm_pallas` on a GPU; both in float32 alone. ``"auto"`` takes the fastest that fits. All
give the same numbers to float32 precision.
"""

import ctypes
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from hyloop.core.jit import compile_c
from hyloop.errors import BadInput, UnknownName
from hyloop.learn.networks.lstm_kernels import CALL, PIECE, lstm_backward, lstm_forward
from hyloop.learn.networks.lstm_pallas import recurrence
from hyloop.neural.lanes import padded

__all__ = ["PATHS", "lstm", "lstms", "product"]

PATHS = ("auto", "scan", "compiled", "pallas")
product = partial(jnp.matmul, precision=jax.lax.Precision.HIGHEST)  # a GPU would take TF32, which has three digits
_API = 3  # of XLA's untyped calls: (outputs, inputs, text, its length, status)


def lstm(x: Any, weights: dict[str, Any], state: tuple[Any, Any], path: str = "auto") -> tuple[Any, tuple[Any, Any]]:
    """Outputs (time, batch, width) and the last (h, c) for inputs (time, batch, inputs).

    Parameters
    ----------
    x : array, (time, batch, inputs)
        Inputs.
    weights : mapping
        ``W`` (inputs, 4 width), ``U`` (width, 4 width) and ``b`` (4 width,), gates in the order i f g o.
    state : tuple of arrays, (batch, width)
        h and c before the first sample.
    path : str
        One of `PATHS`.
    """
    path = _chosen(path, x)
    if path == "scan":
        return _scan(x, weights, state)
    if path in PATHS and x.dtype != jnp.float32:
        raise BadInput(f'lstm: path "{path}" computes in float32 alone, the inputs are {x.dtype}; take "scan".')
    if path == "compiled":
        return _compiled(x, weights, state)
    if path == "pallas":
        return _side_by_side([x], [weights], [state])[0]
    raise UnknownName("path", path, PATHS, where="lstm")


def lstms(xs: Any, weights: Any, states: Any, path: str = "auto") -> list[tuple[Any, tuple[Any, Any]]]:
    """Several layers side by side, each as `lstm`; on a GPU those of one width run at the same time."""
    widths = {one["U"].shape[0] for one in weights}
    if len(widths) == 1 and _chosen(path, xs[0]) == "pallas" and xs[0].dtype == jnp.float32:
        return _side_by_side(xs, weights, states)
    return [lstm(*each, path) for each in zip(xs, weights, states, strict=True)]


def _chosen(path: str, x: Any) -> str:
    if path != "auto":
        return path
    return {"cpu": "compiled", "gpu": "pallas"}.get(jax.default_backend(), "scan") if x.dtype == jnp.float32 else "scan"


def _side_by_side(xs: Any, weights: Any, states: Any) -> list[tuple[Any, tuple[Any, Any]]]:
    z = [product(x, one["W"]) + one["b"] for x, one in zip(xs, weights, strict=True)]
    h0, c0 = (jnp.stack(part) for part in zip(*states, strict=True))
    h, (last_h, last_c) = recurrence(jnp.stack(z), jnp.stack([one["U"] for one in weights]), (h0, c0))
    return [(h[n], (last_h[n], last_c[n])) for n in range(len(xs))]


def _scan(x: Any, weights: dict[str, Any], state: tuple[Any, Any]) -> tuple[Any, tuple[Any, Any]]:
    def step(carry, z):
        h, c = carry
        i, f, g, o = jnp.split(z + product(h, weights["U"]), 4, axis=-1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    last, h = jax.lax.scan(step, state, product(x, weights["W"]) + weights["b"])
    return h, last


def _compiled(x: Any, weights: dict[str, Any], state: tuple[Any, Any]) -> tuple[Any, tuple[Any, Any]]:
    """Pad inputs and every gate to full lanes, run the kernels, cut the padding off; JAX differentiates that part."""
    inputs, width = weights["W"].shape[0], weights["U"].shape[0]
    extra, room = padded(inputs) - inputs, padded(width) - width

    def gates(a: Any, below: int) -> Any:
        wide = jnp.pad(a.reshape(-1, 4, width), ((0, below), (0, 0), (0, room)))
        return wide.reshape(-1, 4 * (width + room))

    h0, c0 = (jnp.pad(a, ((0, 0), (0, room))) for a in state)
    x = jnp.pad(x, ((0, 0), (0, 0), (0, extra)))
    h, last_h, last_c = _recur(
        x, gates(weights["W"], extra), gates(weights["U"], room), gates(weights["b"], 0)[0], h0, c0
    )
    return h[..., :width], (last_h[:, :width], last_c[:, :width])


@jax.custom_vjp
def _recur(x: Any, W: Any, U: Any, b: Any, h0: Any, c0: Any) -> tuple[Any, Any, Any]:
    return _recur_forward(x, W, U, b, h0, c0)[0]


def _recur_forward(x: Any, W: Any, U: Any, b: Any, h0: Any, c0: Any) -> tuple[Any, Any]:
    steps, batch, _ = x.shape
    shapes = [(steps, batch, U.shape[0])] * 2 + [_room(batch, U)]
    h, c, _ = _call("hyloop_lstm_forward", shapes)(_sizes(x, U), x, W, U, b, h0, c0)
    return (h, h[-1], c[-1]), (x, W, U, b, h0, c0, h, c)


def _recur_backward(kept: Any, cotangents: Any) -> tuple[Any, ...]:
    x, W, U, b, h0, c0, h, c = kept
    shapes = [a.shape for a in (x, W, U, b, h0, c0)] + [_room(x.shape[1], U)]
    call = _call("hyloop_lstm_backward", shapes)
    return tuple(call(_sizes(x, U), x, W, U, b, h0, c0, W.T, U.T, h, c, *cotangents)[:-1])


_recur.defvjp(_recur_forward, _recur_backward)


def _room(batch: int, U: Any) -> tuple[int, ...]:
    return (PIECE, batch, U.shape[1])


def _sizes(x: Any, U: Any) -> Any:
    """Steps, batch, inputs and width for the kernels, as float32 because XLA hands over addresses of one type."""
    if x.shape[0] >= 2**24:
        raise BadInput(
            f"lstm: {x.shape[0]} steps are too many for one history; cut it into windows of less than 2**24."
        )
    return np.array([*x.shape, U.shape[0]], np.float32)


def _call(name: str, shapes: Any) -> Any:
    _register()
    results = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes]
    return jax.ffi.ffi_call(name, results, custom_call_api_version=_API, vmap_method="sequential")


@cache
def _register() -> list[Any]:
    """Compile the kernels and make them known to XLA; the functions returned must stay alive."""
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    kept = []
    for function in (lstm_forward, lstm_backward):
        compiled = compile_c(function, CALL, function)
        kept.append(compiled)
        address = capsule(compiled.address, b"xla._CUSTOM_CALL_TARGET", None)
        jax.ffi.register_ffi_target(f"hyloop_{function.__name__}", address, platform="cpu", api_version=0)
    return kept
