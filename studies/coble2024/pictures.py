"""What a learned stiffness looks like: over the plane of force and velocity, and along a motion."""

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from hyloop.record import Recording
from hyloop.report.run_page import Table


def _stiffness(layer, forces, velocities):
    """Stiffness sigma0(y, v) in N/m, (forces, velocities); an input besides the velocity does not reach the network."""
    more = jnp.ones(len(layer.law.inputs) - 1)

    def at(y, v):
        return layer.parameters(y[None], jnp.concatenate([v[None], more]))[0]

    return np.asarray(jax.vmap(jax.vmap(at, (None, 0)), (0, None))(jnp.asarray(forces), jnp.asarray(velocities)))


def stiffness_map(title, layer, *, forces, velocities) -> Table:
    """Stiffness in kN/m at pairs of force in N and velocity in m/s."""
    table = _stiffness(layer, forces, velocities) / 1e3
    rows = [[f"{y:.0f}", *(f"{value:.3g}" for value in row)] for y, row in zip(forces, table, strict=True)]
    return Table(title, ["y in N \\ v in m/s", *(f"{v:.2g}" for v in velocities)], rows)


def stiffness_along(layer, u, name, y=(0.0,)) -> Recording:
    """Stiffness, state, force and velocity of a layer driven by its inputs, from state y."""

    def tick(x, u):
        new, f = layer.step(x, u)
        return new, (layer.parameters(x, u)[0], new[0], f[0])

    columns = np.column_stack([*jax.lax.scan(tick, jnp.asarray(y), jnp.asarray(u))[1], u[:, 0]])
    names = tuple(f"{name}.{key}" for key in ("sigma0", "y", "f", "v"))
    return Recording(np.arange(len(u)) * layer.dt, columns, names, ("N/m", "N", "N", "m/s"))


def save_stiffness_along(path, along, rows):
    """Draw stiffness and force over time."""
    figure = Figure(figsize=(6.7, 3.2), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    upper.plot(along.time[rows], along["damper.sigma0"][rows] / 1e3, lw=0.8)
    upper.set(ylabel="stiffness [kN/m]", title="Stiffness learned for the damper, through reversals of a harmonic test")
    lower.plot(along.time[rows], along["damper.f"][rows] / 1e3, lw=0.8)
    lower.set(ylabel="force [kN]", xlabel="time [s]")
    _save(figure, path)


def save_stiffness_map(path, layer, visited, every=16):
    """Draw stiffness over the plane of state and velocity, with the places that the training visited."""
    y, v = np.linspace(-21e3, 16e3, 150), np.linspace(-0.4, 0.4, 161)
    figure = Figure(figsize=(6.7, 4.2), layout="constrained")
    axes = figure.subplots()
    drawn = axes.pcolormesh(v, y / 1e3, _stiffness(layer, y, v) / 1e3, norm=LogNorm(), cmap="viridis")
    for along in visited:
        axes.plot(along["damper.v"][::every], along["damper.y"][::every] / 1e3, ".", ms=0.6, color="white", alpha=0.5)
    axes.set(
        xlim=(v[0], v[-1]),
        ylim=(y[0] / 1e3, y[-1] / 1e3),
        xlabel="velocity of the rim [m/s]",
        ylabel="y [kN]",
        title="Stiffness learned for the damper; white: training",
    )
    figure.colorbar(drawn, label="stiffness [kN/m]")
    _save(figure, path)


def _save(figure, path):
    FigureCanvasAgg(figure)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=200)
