r"""A first guess of unknown springs from the equation of motion, without descending through a simulation.

What sensors read is linear in the loads and in the forces of the springs, :math:`y = y_P + T f`, with the impulse
responses of the known structure in T. So the forces follow from the readings by regularised least squares,

.. math:: \min_f\; |W(y - y_P - T f)|^2 + \rho\, |f|^2,

whatever sensors there are, and the deformations follow from the forces; a law is then fitted to pairs (d, f). The
forces themselves are held small, not their differences: a slow force hardly shows in accelerations, so that noise would
make it, and with it the deformation, drift without limit.
"""

from collections.abc import Sequence
from dataclasses import replace

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from scipy.linalg import cho_factor, cho_solve

from hyloop.learn.springs.gauss_newton import levenberg_marquardt, normal_equations
from hyloop.learn.springs.through_structure import UnknownSprings
from hyloop.learn.springs.unknowns import parameters, prior_of, with_parameters

__all__ = ["SMOOTHING", "estimated_forces", "fitted", "pretrained"]

SMOOTHING = (1e-10, 1e-6, 1e-4, 1e-3, 1e-2)  # ρ over the mean of the diagonal of T'T, from no noise to much
UNKNOWNS = 512
PAIRS = 40  # most evaluations of a fit to pairs; laws that are linear in what is learned need two


def estimated_forces(
    problem: UnknownSprings,
    loads: np.ndarray,
    measured: np.ndarray,
    weight: np.ndarray,
    smoothing: Sequence[float] = SMOOTHING,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Deformations and forces of the unknown springs, (samples, steps, springs) each, for every `smoothing`.

    Parameters
    ----------
    loads, measured : (samples, steps, patterns), (samples, steps, sensors)
        What acted and what was read.
    weight : (sensors,)
        Factor of each sensor, one over its standard deviation.
    smoothing : sequence of float
        Values of ρ, relative to the mean of the diagonal of T'T.

    Notes
    -----
    Histories are cut after `UNKNOWNS` forces in all, enough for a start: the cost grows with the cube.
    """
    springs = len(np.asarray(problem.along))
    loads, measured = loads[:, : UNKNOWNS // springs], measured[:, : UNKNOWNS // springs]
    count, steps, _ = loads.shape
    ops = [np.asarray(part) for part in replace(problem, substeps=1, tangent=False).operators()]
    linear = dict(
        zip(("h", "h2AK", "hAC", "h2AE", "X", "S", "H", "stabilised", "Mhat", "E", "outputs"), ops, strict=True)
    )
    # P alone: rest at first, hence u[0] - u[-1] = -h²a/2
    start = -(linear["h"] ** 2) / 2 * np.linalg.solve(linear["Mhat"], (loads[:, 0] @ linear["E"].T).T).T
    y, d = _march(linear, loads @ linear["h2AE"].T, start)
    # a unit force in the first step; f(0) = 0 at rest, so every force that matters acts later and only shifts this
    unit = np.zeros((springs, steps, problem.structure.n))
    unit[:, 0] = -(linear["h"] ** 2) * linear["X"].T
    y_unit, d_unit = _march(linear, unit, np.zeros((springs, problem.structure.n)))
    T, T_d = _shifted(y_unit * weight), _shifted(d_unit)
    squares = T.T @ T
    # each spring by its own mean, since a force and a moment differ by orders of magnitude
    size = np.tile([np.diag(squares)[j::springs].mean() for j in range(springs)], steps - 1)
    right = T.T @ ((measured - y) * weight).reshape(count, -1).T
    # a trace of ridge, because the last readings hardly feel the last forces
    squares += 1e-12 * np.diag(np.diag(squares) + 1e-12 * np.trace(squares))
    found = []
    for rho in smoothing:
        f = cho_solve(cho_factor(squares + rho * np.diag(size)), right)
        forces = np.concatenate([np.zeros((count, 1, springs)), f.T.reshape(count, steps - 1, springs)], axis=1)
        found.append((d + (T_d @ f).T.reshape(d.shape), forces))
    return found


def _march(linear, driving, w):
    """Sensor readings and deformations of the linear part under increments, (histories, steps, ...)."""
    u, readings, deformations = np.zeros_like(w), [], []
    h = linear["h"]
    for i in range(driving.shape[1]):
        increment = driving[:, i] - u @ linear["h2AK"].T - w @ linear["hAC"].T
        motion = (u, (w + increment / 2) / h, increment / h**2)
        readings.append(sum(part @ rows.T for part, rows in zip(motion, linear["outputs"], strict=True)))
        deformations.append(u @ linear["S"].T)
        w = w + increment
        u = u + w
    return np.stack(readings, axis=1), np.stack(deformations, axis=1)


def _shifted(responses):
    """Block Toeplitz matrix from responses (springs, steps, channels) to a force in step 0; forces begin in step 1."""
    springs, steps, channels = responses.shape
    T = np.zeros((steps, channels, steps - 1, springs))
    for l in range(1, steps):
        T[l:, :, l - 1] = np.moveaxis(responses[:, : steps - l], 0, 2)
    return T.reshape(steps * channels, (steps - 1) * springs)


@eqx.filter_jit
def _open(theta, law, d, f, weight):
    """Normal equations of the force of one law over its parameters, for given deformations (steps, samples)."""
    _, put = parameters([law])

    def build(theta):
        return put(theta)[0].theta

    def advance(tree, state, d):
        force, state = with_parameters([law], [tree])[0](state, d)
        return state, force[None]

    def start(tree):
        rest = law.rest()
        return jnp.broadcast_to(rest, (d.shape[1], *rest.shape))

    return normal_equations(build, advance, start, theta, d, f[..., None], weight, d.shape[0])


def pretrained(problem, laws, theta, loads, measured, weight, squares):
    """The start that explains the sensors best: the one given, or one from the equation of motion."""
    starts = [theta, *(fitted(laws, d, f) for d, f in estimated_forces(problem, loads, measured, weight))]
    return starts[int(np.argmin([np.nan_to_num(np.mean(squares(start)), nan=np.inf) for start in starts]))]


def fitted(laws: Sequence, d: np.ndarray, f: np.ndarray) -> np.ndarray:
    """Parameters of laws fitted to deformations and forces, (samples, steps, springs)."""
    parts = []
    for j, law in enumerate(laws):
        own, _ = parameters([law])
        prior, centre = prior_of([law], own)
        d_j, f_j, size = jnp.asarray(d[..., j].T), jnp.asarray(f[..., j].T), 1.0 / max(np.std(f[..., j]), 1e-300)
        # an estimate is as good as one in a hundred of the force
        found = levenberg_marquardt(
            lambda theta, law=law, d=d_j, f=f_j, size=size: _open(jnp.asarray(theta), law, d, f, jnp.array([size])),
            np.asarray(own),
            prior,
            centre,
            1e-4,
            iterations=PAIRS,
        )
        parts.append(found.theta)
    return np.concatenate(parts)
