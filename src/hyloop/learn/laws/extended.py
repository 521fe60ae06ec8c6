r"""Extended Kalman filter for the parameters of a law, with exact gradients: the oracle for `hyloop.updating`.

The model is that of `hyloop.updating.unscented`: parameters on a random walk, one state of the law, which advances with
the updated parameters. Where the unscented filter asks the law at sigma points, this one differentiates one tick,

.. math:: H = \frac{\partial f}{\partial \theta}(\hat\theta; x_k, u_k), \qquad
    k = \frac{P^- H}{H^T P^- H + \sigma^2}, \qquad P^+ = (I - k H^T) P^- (I - k H^T)^T + \sigma^2 k k^T .

Both agree for a law that is linear in its free parameters, and to second order in their spread for any other.
"""

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from hyloop.core.block import Instance
from hyloop.learn.laws.jax_law import jax_law
from hyloop.updating.filters.parameters import free_parameters, positive

__all__ = ["extended"]


def extended(
    law: Instance,
    free: Mapping[str, tuple[float, float]],
    *,
    noise: float,
    process: float | Mapping[str, float] = 1e-3,
    initial_std: float | Mapping[str, float] = 0.1,
) -> Callable[..., dict[str, np.ndarray]]:
    """Make ``run(dt, **signals)``, an extended Kalman filter over recorded inputs and the measured force ``f_m``.

    Arguments are those of `hyloop.updating.unscented`; the mean is held inside the bounds. `run` returns histories by
    name: the free parameters, ``f``, ``innovation``, and as ``P`` the covariances (samples, n, n) of the parameters as
    multiples of their starting values. Set JAX to double precision first, as `hyloop.learn.laws.jax_law` says.

    References
    ----------
    Jazwinski (1970), Stochastic Processes and Filtering Theory, section 8.3.
    """
    block, where = law.block, f"extended({law.block.name})"
    carried = free_parameters(law, free, process, initial_std, False, where)
    positive(noise, "noise", where)
    advance, force = jax_law(block), list(block.outputs).index("f")
    at = jnp.array([list(block.params).index(key) for key in carried])
    m0, scale, low, high, walk, std = (jnp.array(column) for column in zip(*carried.values(), strict=True))
    given = jnp.array(list(law.params.values()), dtype=float)
    rest = jnp.array(list(law.initial.values()), dtype=float)

    def respond(m, x, u, dt):
        outputs, new = advance(x, u, dt, given.at[at].set(scale * m))
        return outputs[force], (jnp.stack(new) if block.state else x)

    def tick(carry, sample):
        m, P, x, dt = carry
        u, f_m = sample
        P = P + jnp.diag(walk**2)
        (f, _), H = jax.value_and_grad(respond, has_aux=True)(m, x, u, dt)
        gain = P @ H / (H @ P @ H + noise**2)
        innovation = f_m - f
        usable = jnp.isfinite(innovation) & jnp.isfinite(gain).all()
        gain = jnp.where(usable, gain, 0.0)
        m = jnp.clip(m + gain * jnp.where(usable, innovation, 0.0), low / scale, high / scale)
        # Joseph's form: symmetric and definite whatever the round-off
        keep = jnp.eye(len(m)) - jnp.where(usable, jnp.outer(gain, H), 0.0)
        P = keep @ P @ keep.T + noise**2 * jnp.outer(gain, gain)
        f, new = respond(m, x, u, dt)
        x = jnp.where(jnp.isfinite(new).all(), new, x)
        return (m, P, x, dt), (scale * m, P, f, innovation)

    @jax.jit
    def scan(u, f_m, dt):
        return jax.lax.scan(tick, (m0, jnp.diag(std**2), rest, dt), (u, f_m))[1]

    def run(dt: float, *, f_m: Any, **signals: Any) -> dict[str, np.ndarray]:
        u = jnp.stack([jnp.asarray(signal, dtype=float) for signal in block.ordered(signals)], axis=1)
        theta, P, f, innovation = scan(u, jnp.asarray(f_m, dtype=float), float(dt))
        histories = {key: np.asarray(theta[:, i]) for i, key in enumerate(carried)}
        return histories | {"f": np.asarray(f), "innovation": np.asarray(innovation), "P": np.asarray(P)}

    return run
