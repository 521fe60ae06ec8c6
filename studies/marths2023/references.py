"""Reference controllers: none, the 2x2 inverse, LQG with weights of our own, and one that is a step late."""

from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag, solve_discrete_are

from hyloop.core.block import Instance

from .blocks import least_squares, linear
from .frame import DT
from .loop import NOISE
from .plant import Plant, discrete, transfer

__all__ = ["LATE", "Controller", "inverse", "kalman", "lqg", "none", "rls"]

LATE = Plant(np.zeros((2, 2)), np.eye(2), np.eye(2))  # a plant that does what it was told a step ago


class Controller(NamedTuple):
    """A block, and the weights of a new measurement in what it estimates."""

    block: Instance
    blend: np.ndarray = np.eye(2)


def none() -> Controller:
    """Commands are the targets."""
    D = np.zeros((4, 4))
    D[:2, :2] = np.eye(2)
    return Controller(linear(np.zeros((0, 0)), np.zeros((0, 4)), np.zeros((4, 0)), D))


def rls(coupled: bool = False) -> Controller:
    """The published adaptive controller, or one like it that hears both actuators."""
    return Controller(least_squares(coupled))


def series(order: int = 3) -> list[np.ndarray]:
    """Coefficients of the plant in powers of s."""
    points = 64
    circle = 2.0 * np.pi * np.exp(2j * np.pi * np.arange(points) / points)  # within the slowest pole
    values = np.array([[[h(s) for h in row] for row in transfer()] for s in circle])
    return [(values / circle[:, None, None] ** k).mean(0).real for k in range(order)]


def inverse() -> Controller:
    """The coupled inverse u = A0 t + A1 t' + A2 t'' of the nominal plant, by backward differences."""
    H0, H1, H2 = series()
    A0 = np.linalg.inv(H0)
    A1 = -A0 @ H1 @ A0
    A2 = -(A0 @ H2 @ A0 + A0 @ H1 @ A1)
    taps = [A0 + A1 / DT + A2 / DT**2, -A1 / DT - 2.0 * A2 / DT**2, A2 / DT**2]
    A, B, C, D = np.zeros((4, 4)), np.zeros((4, 4)), np.zeros((4, 4)), np.zeros((4, 4))
    A[2:, :2] = B[:2, :2] = np.eye(2)  # targets of the last two steps
    D[:2, :2], C[:2] = taps[0], np.hstack(taps[1:])
    return Controller(linear(A, B, C, D))


def lqg() -> Controller:
    """LQG on the nominal plant without dead time; the weights are those of our sheet, not the paper's."""
    A, B, C = discrete()
    states = len(A)
    whole = np.block([[A, np.zeros((states, 2))], [-DT * C, np.eye(2)]])
    drive = np.vstack([B, np.zeros((2, 2))])
    Q, R = block_diag(C.T @ C, 1e4 * np.eye(2)), 1e-3 * np.eye(2)
    X = solve_discrete_are(whole, drive, Q, R)
    F = np.linalg.solve(R + drive.T @ X @ drive, drive.T @ X @ whole)
    Fx, Fi = F[:, :states], F[:, states:]
    W, V = 1e-2 * B @ B.T, NOISE**2 * np.eye(2)
    L = kalman(A, C, W, V)
    N = np.linalg.inv(C @ np.linalg.solve(np.eye(states) - A + B @ Fx, B))
    return Controller(observed(A, B, C, L, Fx, Fi, N), C @ L)


def kalman(A, C, W, V) -> np.ndarray:
    """Gain of a new measurement on the state at the same time, in the long run."""
    S = solve_discrete_are(A.T, C.T, W, V)
    return S @ C.T @ np.linalg.inv(C @ S @ C.T + V)


def observed(A, B, C, L, Fx, Fi, N) -> Instance:
    """A controller u = N t - Fx x - Fi xi with a Kalman filter for x and integrators xi of what is left, t - C x."""
    states = len(A)
    seen = np.eye(states) - L @ C  # x after a measurement: seen x + L m
    x_of, u_of = np.hstack([seen, np.zeros((states, 2))]), np.hstack([-Fx @ seen, -Fi])
    x_in, u_in = np.hstack([np.zeros((states, 2)), L]), np.hstack([N, -Fx @ L])
    top, top_in = A @ x_of + B @ u_of, A @ x_in + B @ u_in
    xi = np.hstack([-DT * C @ seen, np.eye(2)])
    xi_in = np.hstack([DT * np.eye(2), -DT * C @ L])
    return linear(
        np.vstack([top, xi]), np.vstack([top_in, xi_in]), np.vstack([u_of, C @ top]), np.vstack([u_in, C @ top_in])
    )
