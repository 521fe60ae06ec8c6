r"""The recurrence of an LSTM layer as two GPU kernels, forwards and backwards, by Pallas.

A history is one program: its recurrent weights stay in registers for all steps, and what the next step needs from
memory is fetched while the present one is computed. The products over all steps at once (inputs,
gradients of the weights) are left to XLA. Widths are padded to powers of two, which the kernels need; padded units
stay at zero.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

__all__ = ["recurrence"]

_WARPS = {16: 4, 32: 4, 64: 4, 128: 8}  # measured on an H200
_EXACT = jax.lax.Precision.HIGHEST  # no TF32, so that CPU and GPU agree


def recurrence(z: Any, U: Any, state: tuple[Any, Any]) -> tuple[Any, tuple[Any, Any]]:
    """Outputs (time, batch, width) and the last (h, c).

    Parameters
    ----------
    z : array, (time, batch, 4 width)
        What inputs and biases give the gates i f g o.
    U : array, (width, 4 width)
        Recurrent weights.
    state : tuple of arrays, (batch, width)
        h and c before the first sample.
    """
    steps, batch, _ = z.shape
    width = U.shape[0]
    wide = max(16, 1 << (width - 1).bit_length())
    room = wide - width
    gates = jnp.pad(z.reshape(steps, batch, 4, width), ((0, 0), (0, 0), (0, 0), (0, room)))
    weights = jnp.pad(U.reshape(width, 4, width), ((0, room), (0, 0), (0, room))).transpose(1, 0, 2)
    h0, c0 = (jnp.pad(a, ((0, 0), (0, room))) for a in state)
    h, last_c = _recur(gates, weights, h0, c0)
    return h[..., :width], (h[-1, :, :width], last_c[:, :width])


def _call(kernel: Any, batch: int, wide: int, shapes: list[tuple[int, ...]]) -> Any:
    out = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes]
    # without a GPU the kernels are interpreted: slow, but the same numbers, for the tests
    return pl.pallas_call(kernel, grid=(batch,), out_shape=out, interpret=jax.default_backend() != "gpu",
                          compiler_params=triton.CompilerParams(num_warps=_WARPS.get(wide, 8)))  # fmt: skip


def _forward(z, U, h0, c0, h_out, c_out, gates_out):
    steps, b = z.shape[0], pl.program_id(0)
    weights = [U[k] for k in range(4)]

    def step(t, carry):
        h, c, now = carry
        ahead = jnp.minimum(t + 1, steps - 1)
        following = [z[ahead, b, k, :] for k in range(4)]
        i, f, g, o = (now[k] + jnp.sum(h[:, None] * weights[k], axis=0) for k in range(4))
        i, f, g, o = jax.nn.sigmoid(i), jax.nn.sigmoid(f), jnp.tanh(g), jax.nn.sigmoid(o)
        c = f * c + i * g
        h = o * jnp.tanh(c)
        h_out[t, b, :] = h
        c_out[t, b, :] = c
        for k, gate in enumerate((i, f, g, o)):
            gates_out[t, b, k, :] = gate
        return h, c, following

    jax.lax.fori_loop(0, steps, step, (h0[b, :], c0[b, :], [z[0, b, k, :] for k in range(4)]))


def _backward(gates, U, c_all, c0, dh_all, dh_last, dc_last, dz_out, dh_out, dc_out):
    steps, b = gates.shape[0], pl.program_id(0)
    weights = [U[k] for k in range(4)]

    def fetch(t):
        before = jnp.maximum(t - 1, 0)
        c_before = jnp.where(t > 0, c_all[before, b, :], c0[b, :])
        return [gates[t, b, k, :] for k in range(4)], c_before, dh_all[t, b, :]

    def step(k, carry):
        dh, dc, c, ((i, f, g, o), c_before, slope) = carry
        t = steps - 1 - k
        following = fetch(jnp.maximum(t - 1, 0))
        dh = dh + slope
        bent = jnp.tanh(c)
        dc = dc + dh * o * (1.0 - bent * bent)
        dz = (dc * g * i * (1.0 - i), dc * c_before * f * (1.0 - f), dc * i * (1.0 - g * g), dh * bent * o * (1.0 - o))
        for m, part in enumerate(dz):
            dz_out[t, b, m, :] = part
        # products first, one sum over all of them: a sum across threads costs more than the products
        dh = jnp.sum(sum(part[None, :] * weights[m] for m, part in enumerate(dz)), axis=1)
        return dh, dc * f, c_before, following

    last = steps - 1
    dh, dc, _, _ = jax.lax.fori_loop(0, steps, step, (dh_last[b, :], dc_last[b, :], c_all[last, b, :], fetch(last)))
    dh_out[b, :] = dh
    dc_out[b, :] = dc


@jax.custom_vjp
def _recur(z: Any, U: Any, h0: Any, c0: Any) -> tuple[Any, Any]:
    return _recur_forward(z, U, h0, c0)[0]


def _recur_forward(z: Any, U: Any, h0: Any, c0: Any) -> tuple[Any, Any]:
    steps, batch, _, wide = z.shape
    shapes = [(steps, batch, wide)] * 2 + [z.shape]
    h, c, gates = _call(_forward, batch, wide, shapes)(z, U, h0, c0)
    return (h, c[-1]), (U, h0, c0, h, c, gates)


def _recur_backward(kept: Any, cotangents: Any) -> tuple[Any, ...]:
    U, h0, c0, h, c, gates = kept
    dh, dc_last = cotangents
    batch, wide = h0.shape
    call = _call(_backward, batch, wide, [gates.shape, h0.shape, c0.shape])
    dz, dh0, dc0 = call(gates, U, c, c0, dh, jnp.zeros_like(h0), dc_last)
    before = jnp.concatenate([h0[None], h[:-1]])
    dU = jnp.einsum("tbk,tbgj->gkj", before, dz, precision=_EXACT)
    return dz, dU, dh0, dc0


_recur.defvjp(_recur_forward, _recur_backward)
