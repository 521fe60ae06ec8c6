r"""Linear-quadratic-Gaussian control of a structure: the wanted forces, and the motion estimated from instruments.

The gain minimises, for a force held over every tick,

.. math:: J = \int \sum \left(\frac{\text{drift}}{d_1}\right)^2 + \sum \left(\frac{\text{acceleration}}{a_1}\right)^2
    + \sum \left(\frac{f}{f_1}\right)^2 dt

over all stories, floors (absolute accelerations) and devices. The estimator is the steady Kalman filter for a ground
acceleration that is white noise, as strong as a motion of a given root mean square that is spread evenly over 10 Hz.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, solve_discrete_are

from hyloop.control.plant import Plant, held, noise_of_a_step, plant, ramped, sampled_cost
from hyloop.errors import BadInput, OutOfBounds
from hyloop.loop import Site
from hyloop.structure import Structure

__all__ = ["Lqg", "Weights", "design_lqg"]

_BAND = 10.0  # Hz, over which the motion that is expected is spread


class Weights(NamedTuple):
    """What counts as one in the cost: a drift (m), an absolute acceleration (m/s2), a force of one device (N)."""

    drift: float
    acceleration: float
    force: float


class Lqg(NamedTuple):
    """A design: the estimate x moves on by x⁺ = Ad x + Bd f in a tick, and the wanted forces are -gain x.

    Over a step, in which the structure feels forces that go straight from one end to the other, it is
    x⁺ = As x + Bs f + Rs (f⁺ - f), and then x += correction (y - Cm x - Dm f) with y the absolute accelerations of the
    degrees of freedom `measured`, then the deformations of the devices where they are heard.
    """

    Ad: np.ndarray
    Bd: np.ndarray
    As: np.ndarray
    Bs: np.ndarray
    Rs: np.ndarray
    gain: np.ndarray
    Cm: np.ndarray
    Dm: np.ndarray
    correction: np.ndarray
    measured: tuple[int, ...]


def design_lqg(
    structure: Structure,
    sites: Sequence[Site],
    weights: Weights,
    *,
    dt: float,
    substeps: int = 1,
    measured: Sequence[str | int] | None = None,
    ground: float = 1.0,
    noise: float = 0.02,
    noise_d: float | None = None,
    others: Sequence[Site] = (),
) -> Lqg:
    """Design gain and estimator; see `hyloop.control.clipped_optimal` for the arguments."""
    positive = {**weights._asdict(), "dt": dt, "ground": ground, "noise": noise}
    positive |= {} if noise_d is None else {"noise_d": noise_d}
    for key, value in positive.items():
        if not 0.0 < value < np.inf:
            raise OutOfBounds(f"{key} = {value!r} must be positive and finite.")
    model = plant(structure, sites, others)
    places = list(structure.floors) if measured is None else [structure.dof(name) for name in measured]
    if not places and noise_d is None:
        raise BadInput("nothing is measured; name degrees of freedom with an accelerometer, or give noise_d.")
    if len(set(places)) < len(places):
        raise BadInput(f"measured: {list(measured or ())} must name each degree of freedom once.")
    Cm, Dm = model.accelerations[0][places], model.accelerations[1][places]
    variances = np.full(len(places), noise**2)
    if noise_d is not None:
        Cm, Dm = np.vstack([Cm, model.deformations[0]]), np.vstack([Dm, model.deformations[1]])
        variances = np.append(variances, np.full(len(sites), noise_d**2))
    tick = dt / substeps
    try:
        gain = _gain(model, list(structure.floors), weights, tick)
        Ad, Bd = held(model.A, model.B, tick)
        As, Bs = held(model.A, model.B, dt)
        Rs = ramped(model.A, model.B, dt)
        process = noise_of_a_step(model.A, model.E, ground**2 / (2.0 * _BAND), dt)
        correction = _correction(As, Cm, process, np.diag(variances))
    except (LinAlgError, ValueError) as error:
        raise BadInput(
            f"no controller can be designed with these numbers ({error}). Check the units of the weights and the "
            "noise, and that the structure is supported; a cost of accelerations alone needs a force that counts."
        ) from None
    return Lqg(Ad, Bd, As, Bs, Rs, gain, Cm, Dm, correction, tuple(places))


def _gain(model: Plant, floors: list[int], weights: Weights, tick: float) -> np.ndarray:
    """Gain of the wanted forces, from the cost sampled exactly."""
    m = model.B.shape[1]
    drift, acceleration = np.hstack(model.drifts) / weights.drift, np.hstack(model.accelerations) / weights.acceleration
    acceleration = acceleration[floors]
    cost = drift.T @ drift + acceleration.T @ acceleration
    cost[-m:, -m:] += np.eye(m) / weights.force**2
    n = len(model.A)
    # in units in which all numbers are of about the same size: the Riccati solver compares them with each other
    size = _sizes(model.A)
    Ad, Bd = held(model.A, model.B, tick)
    cost = sampled_cost(model.A, model.B, cost, tick)
    T = np.diag(np.append(size, np.full(m, weights.force)))
    cost = T @ cost @ T
    Ad, Bd = Ad * size[None] / size[:, None], Bd * weights.force / size[:, None]
    Q, S, R = cost[:n, :n], cost[:n, n:], cost[n:, n:]
    scale = np.abs(R).max()
    P = solve_discrete_are(Ad, Bd, Q / scale, R / scale, s=S / scale)
    gain = np.linalg.solve(R / scale + Bd.T @ P @ Bd, Bd.T @ P @ Ad + S.T / scale)
    return weights.force * gain / size[None]


def _correction(Ad: np.ndarray, Cm: np.ndarray, process: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Steady Kalman gain P Cᵀ (C P Cᵀ + R)⁻¹ of the estimate before the sample, in scaled units."""
    size, shown = _sizes(Ad), np.sqrt(np.diag(noise))
    A, C = Ad * size[None] / size[:, None], Cm * size[None] / shown[:, None]
    Q, R = process / np.outer(size, size), noise / np.outer(shown, shown)
    P = solve_discrete_are(A.T, C.T, Q, R)
    gain = np.linalg.solve(C @ P @ C.T + R, C @ P).T
    return size[:, None] * gain / shown[None]


def _sizes(A: np.ndarray) -> np.ndarray:
    """Displacements over velocities: one second of a typical motion, so that both halves of x are alike."""
    n = len(A) // 2
    omega = max(float(np.abs(np.linalg.eigvals(A)).max()), 1.0)
    return np.append(np.full(n, 1.0 / omega), np.ones(n))
