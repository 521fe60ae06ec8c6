r"""The recurrence of an LSTM layer as two GPU kernels, forwards and backwards, by Pallas.

A history of a layer is one program: the recurrent weights stay in registers for all steps, and what the next step
needs from memory is fetched while the present one is computed. Layers that run side by side share a launch, since a
few histories leave most of a GPU idle. The products over all steps at once (inputs, gradients of the weights) are left
to XLA. Widths are padded to powers of two, which the kernels need; padded units stay at zero.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

__all__ = ["recurrence"]

_WARPS = {"_forward": {16: 1, 32: 2, 64: 4, 128: 8}, "_backward": {16: 1, 32: 1, 64: 16}}  # else 16; for an H200
_CANDIDATE = 2  # among the gates i f g o
_EXACT = jax.lax.Precision.HIGHEST  # no TF32, so that CPU and GPU agree


def recurrence(z: Any, U: Any, state: tuple[Any, Any]) -> tuple[Any, tuple[Any, Any]]:
    """Outputs (layers, time, batch, width) and the last (h, c) of layers of one width that run side by side.

    Parameters
    ----------
    z : array, (layers, time, batch, 4 width)
        What inputs and biases give the gates i f g o.
    U : array, (layers, width, 4 width)
        Recurrent weights.
    state : tuple of arrays, (layers, batch, width)
        h and c before the first sample.
    """
    layers, steps, batch, _ = z.shape
    width = U.shape[1]
    wide = max(16, 1 << (width - 1).bit_length())
    room = wide - width
    gates = jnp.pad(z.reshape(layers, steps, batch, 4, width), (*4 * ((0, 0),), (0, room)))
    weights = jnp.pad(U.reshape(layers, width, 4, width), ((0, 0), (0, room), (0, 0), (0, room)))
    h0, c0 = (jnp.pad(a, ((0, 0), (0, 0), (0, room))) for a in state)
    h, last_c = _recur(gates, weights, h0, c0)
    return h[..., :width], (h[:, -1, :, :width], last_c[..., :width])


def _call(kernel: Any, h0: Any, shapes: list[tuple[int, ...]]) -> Any:
    layers, batch, wide = h0.shape
    out = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes]
    warps = _WARPS[kernel.__name__].get(wide, 16)
    # without a GPU the kernels are interpreted: slow, but the same numbers, for the tests
    return pl.pallas_call(
        kernel,
        grid=(layers, batch),
        out_shape=out,
        interpret=jax.default_backend() != "gpu",
        compiler_params=triton.CompilerParams(num_warps=warps),
    )


def _forward(z, U, h0, c0, h_out, c_out, gates_out):
    steps, n, b = z.shape[1], pl.program_id(0), pl.program_id(1)
    weights = U[n]  # (from, gate, to)
    gate = jax.lax.broadcasted_iota(jnp.int32, z.shape[3:], 0)
    candidate = gate == _CANDIDATE

    def step(t, carry):
        h, c, now = carry
        following = z[n, jnp.minimum(t + 1, steps - 1), b]
        # all gates in one sum: a sum across threads costs more than the products
        a = now + jnp.sum(h[:, None, None] * weights, axis=0)
        a = jnp.tanh(jnp.where(candidate, a, a / 2))
        a = jnp.where(candidate, a, (1 + a) / 2)  # the sigmoid is a tanh of half the argument
        gates_out[n, t, b] = a
        i, f, g, o = (jnp.sum(jnp.where(gate == k, a, 0.0), axis=0) for k in range(4))
        c = f * c + i * g
        h = o * jnp.tanh(c)
        h_out[n, t, b, :] = h
        c_out[n, t, b, :] = c
        return h, c, following

    jax.lax.fori_loop(0, steps, step, (h0[n, b, :], c0[n, b, :], z[n, 0, b]))


def _backward(gates, U, c_all, c0, dh_all, dh_last, dc_last, dz_out, dh_out, dc_out):
    steps, n, b = gates.shape[1], pl.program_id(0), pl.program_id(1)
    weights = [U[n, :, k, :] for k in range(4)]

    def fetch(t):
        before = jnp.maximum(t - 1, 0)
        c_before = jnp.where(t > 0, c_all[n, before, b, :], c0[n, b, :])
        return [gates[n, t, b, k, :] for k in range(4)], c_before, dh_all[n, t, b, :]

    def step(k, carry):
        dh, dc, c, ((i, f, g, o), c_before, slope) = carry
        t = steps - 1 - k
        following = fetch(jnp.maximum(t - 1, 0))
        dh = dh + slope
        bent = jnp.tanh(c)
        dc = dc + dh * o * (1.0 - bent * bent)
        dz = (dc * g * i * (1.0 - i), dc * c_before * f * (1.0 - f), dc * i * (1.0 - g * g), dh * bent * o * (1.0 - o))
        for m, part in enumerate(dz):
            dz_out[n, t, b, m, :] = part
        # products first, one sum over all of them, as above
        dh = jnp.sum(sum(part[None, :] * weights[m] for m, part in enumerate(dz)), axis=1)
        return dh, dc * f, c_before, following

    last = steps - 1
    carry = (dh_last[n, b, :], dc_last[n, b, :], c_all[n, last, b, :], fetch(last))
    dh, dc, _, _ = jax.lax.fori_loop(0, steps, step, carry)
    dh_out[n, b, :] = dh
    dc_out[n, b, :] = dc


@jax.custom_vjp
def _recur(z: Any, U: Any, h0: Any, c0: Any) -> tuple[Any, Any]:
    return _recur_forward(z, U, h0, c0)[0]


def _recur_forward(z: Any, U: Any, h0: Any, c0: Any) -> tuple[Any, Any]:
    layers, steps, batch, _, wide = z.shape
    h, c, gates = _call(_forward, h0, [(layers, steps, batch, wide)] * 2 + [z.shape])(z, U, h0, c0)
    return (h, c[:, -1]), (U, h0, c0, h, c, gates)


def _recur_backward(kept: Any, cotangents: Any) -> tuple[Any, ...]:
    U, h0, c0, h, c, gates = kept
    dh, dc_last = cotangents
    call = _call(_backward, h0, [gates.shape, h0.shape, c0.shape])
    dz, dh0, dc0 = call(gates, U, c, c0, dh, jnp.zeros_like(h0), dc_last)
    before = jnp.concatenate([h0[:, None], h[:, :-1]], axis=1)
    dU = jnp.einsum("ntbk,ntbgj->nkgj", before, dz, precision=_EXACT)
    return dz, dU, dh0, dc0


_recur.defvjp(_recur_forward, _recur_backward)
