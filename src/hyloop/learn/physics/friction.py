r"""LuGre friction with learned parameters: the augmented law of Coble et al., and a parallel form of the plain one.

.. math::

    \dot y = \sigma_0(y, v)\, v \left(1 - \frac{\mathrm{sgn}\,v}{g(v)}\, y\right), \qquad
    f = y + \sigma_1 \left(v - \frac{|v|}{g(v)}\, y\right) + \sigma_2 v

(Eqs. 5-7) solved exactly for a velocity held over the sample (Eqs. 8-12, `hyloop.devices.lugre_exact`). The state stays
within :math:`\pm\max g` and its steady value is :math:`\mathrm{sgn}(v) g(v)` whatever :math:`\sigma_0` is learned.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from hyloop.core.block import Instance
from hyloop.devices import lugre, lugre_exact
from hyloop.errors import BadInput
from hyloop.learn.physics.layers import PhysicsLayer, linear_recurrence, physics_layer

__all__ = ["Even", "augmented_lugre", "lugre_history", "lugre_parallel"]


def augmented_lugre(
    law: Instance,
    *,
    dt: float,
    force: float | None = None,
    velocity: float = 0.1,
    learned: Sequence[str] = (),
    symmetric: bool = False,
    width: int = 16,
    depth: int = 2,
    activation: Any = jax.nn.relu,
    reach: float = 20.0,
    seed: int = 0,
) -> PhysicsLayer:
    r"""LuGre whose stiffness :math:`\sigma_0(y, v)` is a network inside the recurrence, Eqs. (5)-(12).

    Parameters
    ----------
    law
        A `lugre_exact` with the other parameters; its :math:`\sigma_0` is multiplied by the network's factor. (The
        paper takes the network's output itself, which nothing keeps positive.)
    dt
        Sampling interval in s.
    force, velocity
        Scales in N and m/s of the network's inputs y and v; by default the larger static friction, and 0.1 m/s.
    learned
        Further parameters learned as constants: any of Fc_pos, Fs_pos, Fc_neg, Fs_neg, sigma1, vs.
    symmetric
        Make :math:`\sigma_0(y, v) = \sigma_0(-y, -v)`, for a device that is the same in both directions: a stiffness
        that differs ever so little between them makes the force drift in small cycles.
    width, depth, activation, reach, seed
        Of the network, see `physics_layer`; three layers with rectifiers, as in the paper's Fig. 1 b.

    References
    ----------
    Coble, Cao, Downey, Ricles (2024), doi:10.1016/j.ymssp.2024.111522.
    """
    if law.block is not lugre_exact:
        raise BadInput(f"augmented_lugre: {law.block.name} has no state y to feed back. Give a lugre_exact.")
    force = max(law.params["Fs_pos"], law.params["Fs_neg"]) if force is None else force
    layer = physics_layer(
        law,
        ("sigma0",),
        features={"y": force, "v": velocity},
        constant=learned,
        width=width,
        depth=depth,
        activation=activation,
        reach=reach,
        dt=dt,
        seed=seed,
    )
    return eqx.tree_at(lambda it: it.network, layer, Even(layer.network)) if symmetric else layer


class Even(eqx.Module):
    """A network made even: the mean of its answers to z and to -z."""

    network: Any

    def __call__(self, z: jax.Array) -> jax.Array:
        """Answer to features z."""
        return 0.5 * (self.network(z) + self.network(-z))


def lugre_parallel(params: Mapping[str, Any], v: jax.Array, dt: float, z0: Any = 0.0) -> jax.Array:
    r"""Force of `hyloop.devices.lugre` at all samples at once, its parameters constant or one per sample.

    Backward Euler makes the deflection linear in itself once v and the parameters are known,

    .. math:: z_{n+1} = \frac{z_n + v_n \delta t}{1 + \sigma_0 |v_n| \delta t / g(v_n)} ,

    so a network that does not see z (Malik et al. 2025) is trained without any sample waiting for the one before.

    Parameters
    ----------
    params
        Every parameter of `lugre`, a number or an array like v.
    v
        Velocity in m/s, (samples,) or (samples, histories).
    dt
        Sampling interval in s.
    z0
        Deflection before the first sample in m.
    """
    return lugre_history(params, v, dt, z0)[0]


def lugre_history(params: Mapping[str, Any], v: jax.Array, dt: float, z0: Any = 0.0) -> tuple[jax.Array, jax.Array]:
    """As `lugre_parallel`: the force, and the deflection in m, both at all samples."""
    missing = [name for name in lugre.params if name not in params]
    if missing:
        raise BadInput(f"lugre_parallel: parameter {missing[0]} is missing; it needs {', '.join(lugre.params)}.")
    Fc = jnp.where(v > 0.0, params["Fc_pos"], params["Fc_neg"])
    Fs = jnp.where(v > 0.0, params["Fs_pos"], params["Fs_neg"])
    g = Fc + (Fs - Fc) * jnp.exp(-((v / params["vs"]) ** 2))
    rate = params["sigma0"] * jnp.abs(v) / g
    keep = 1.0 / (1.0 + rate * dt)
    z = linear_recurrence(keep, keep * v * dt, jnp.asarray(z0))
    return params["sigma0"] * z + params["sigma1"] * (v - rate * z) + params["sigma2"] * v, z
