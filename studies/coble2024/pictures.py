"""What a learned stiffness looks like: over the plane of force and velocity, and along a motion."""

import jax
import jax.numpy as jnp
import numpy as np

from hyloop.record import Recording
from hyloop.study.report import Table


def stiffness_map(title, layer, *, forces, velocities) -> Table:
    """Stiffness sigma0(y, v) in kN/m at pairs of force in N and velocity in m/s."""
    at = jax.vmap(jax.vmap(lambda y, v: layer.parameters(y[None], v[None])[0], (None, 0)), (0, None))
    table = np.asarray(at(jnp.asarray(forces), jnp.asarray(velocities))) / 1e3
    rows = [[f"{y:.0f}", *(f"{value:.3g}" for value in row)] for y, row in zip(forces, table, strict=True)]
    return Table(title, ["y in N \\ v in m/s", *(f"{v:.2g}" for v in velocities)], rows)


def stiffness_along(layer, v, name) -> Recording:
    """Stiffness, force and velocity of a layer driven by a velocity."""

    def tick(x, u):
        new, f = layer.step(x, u)
        return new, (layer.parameters(x, u)[0], f[0])

    sigma0, f = jax.lax.scan(tick, jnp.zeros(1), jnp.asarray(v)[:, None])[1]
    columns = {f"{name}.sigma0": np.asarray(sigma0), f"{name}.f": np.asarray(f), f"{name}.v": np.asarray(v)}
    return Recording(np.arange(len(v)) * layer.dt, np.column_stack([*columns.values()]), tuple(columns),
                     ("N/m", "N", "m/s"))  # fmt: skip
