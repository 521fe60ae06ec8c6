"""Controllers as blocks: any linear one, and recursive least squares as published; signals in mm."""

from typing import Any

import numpy as np
from scipy.signal import butter

from hyloop.core.block import Instance, inplace_block
from hyloop.core.jit import verb
from hyloop.errors import BadInput

from .frame import DT, read

__all__ = ["INPUTS", "OUTPUTS", "least_squares", "linear", "low_pass", "stored_start"]

INPUTS = {"t1": "mm", "t2": "mm", "m1": "mm", "m2": "mm"}
OUTPUTS = {"u1": "mm", "u2": "mm", "p1": "mm", "p2": "mm"}
LARGEST = 48  # states of a linear controller
_A, _B, _C, _D = (1 + 2 * LARGEST + np.cumsum([0, LARGEST**2, 4 * LARGEST, 4 * LARGEST])).tolist()


@inplace_block(inputs=INPUTS, outputs=OUTPUTS, params={}, memory=_D + 16, reference="Discrete linear system.")
def _linear(x, u, dt, p, y):
    r"""Any linear controller, :math:`y = C x + D u, \; x^+ = A x + B u`; matrices lie behind the state."""
    n = int(x[0])
    state, new = x[1 : 1 + LARGEST], x[1 + LARGEST : 1 + 2 * LARGEST]
    for i in range(4):
        y[i] = 0.0
        for j in range(4):
            y[i] += x[_D + 4 * i + j] * u[j]
        for j in range(n):
            y[i] += x[_C + n * i + j] * state[j]
    for i in range(n):
        new[i] = 0.0
        for j in range(4):
            new[i] += x[_B + 4 * i + j] * u[j]
        for j in range(n):
            new[i] += x[_A + n * i + j] * state[j]
    for i in range(n):
        state[i] = new[i]


def linear(A: np.ndarray, B: np.ndarray, C: np.ndarray, D: np.ndarray) -> Instance:
    """A linear controller from (t1, t2, m1, m2) to (u1, u2, p1, p2)."""
    n, memory = len(A), np.zeros(_linear.memory)
    if n > LARGEST:
        raise BadInput(
            f"a controller of {n} states; raise LARGEST in blocks.py above {LARGEST}, or shorten the dead time."
        )
    memory[0] = n
    for start, matrix in ((_A, A), (_B, B), (_C, C), (_D, D)):
        memory[start : start + matrix.size] = matrix.ravel()
    return _linear(memory=memory)


TAPS, ORDER, CUTOFF = 4, 4, 20.0  # Hz
_filter: Any = butter(ORDER, CUTOFF, fs=1.0 / DT)
B_FILTER, A_FILTER = np.array(_filter[0]), np.array(_filter[1])
_ALL = 2 * TAPS
# of both actuators: taps of targets and of filtered motions, states of the filters of motion and command; then for each
# actuator coefficients and covariance
_T, _G, _FM, _FU, _THETA, _P = np.cumsum([0, _ALL, _ALL, 2 * ORDER, 2 * ORDER, 2 * _ALL]).tolist()


@verb
def low_pass(state, value):
    """One sample through the Butterworth filter, in transposed direct form."""
    out = B_FILTER[0] * value + state[0]
    for j in range(ORDER):
        state[j] = B_FILTER[j + 1] * value - A_FILTER[j + 1] * out + (state[j + 1] if j < ORDER - 1 else 0.0)
    return out


@inplace_block(
    inputs=INPUTS,
    outputs=OUTPUTS,
    params={},
    memory=_P + 2 * _ALL**2,
    reference="Quiroz, Galmez, Fermandois (2024), Front. Built Environ. 10, 1394952, doi:10.3389/fbuil.2024.1394952.",
)
def _least_squares(x, u, dt, p, y):
    r"""Adaptive inverse by recursive least squares, without forgetting.

    With taps :math:`t` of the targets and :math:`g` of the motions behind a low-pass :math:`B`, for each actuator

    .. math:: \varphi = \frac{P g}{1 + g^T P g}, \quad \theta^+ = \theta + \varphi (B u - \theta^T g), \quad
        P^+ = P - \varphi g^T P, \quad u = \theta^{+T} t

    where u enters its own filter: :math:`B u = b_0 u + r` is solved for it. Taps are those of both actuators; where P
    is zero for those of the other one, this is the published, uncoupled controller.
    """
    t, g, phi, row = x[_T:_G], x[_G:_FM], np.empty(_ALL), np.empty(_ALL)
    for i in range(2):
        for j in range(TAPS - 1, 0, -1):
            t[i * TAPS + j], g[i * TAPS + j] = t[i * TAPS + j - 1], g[i * TAPS + j - 1]
        t[i * TAPS] = u[i]
        g[i * TAPS] = low_pass(x[_FM + i * ORDER : _FM + (i + 1) * ORDER], u[2 + i])
    for i in range(2):
        theta, P = x[_THETA + i * _ALL : _THETA + (i + 1) * _ALL], x[_P + i * _ALL**2 : _P + (i + 1) * _ALL**2]
        of_u = x[_FU + i * ORDER : _FU + (i + 1) * ORDER]
        denominator, direct, told, fitted = 1.0, 0.0, 0.0, 0.0
        for j in range(_ALL):
            phi[j] = row[j] = 0.0
            for l in range(_ALL):
                phi[j] += P[j * _ALL + l] * g[l]
                row[j] += g[l] * P[l * _ALL + j]
            denominator += g[j] * phi[j]
        for j in range(_ALL):
            phi[j] /= denominator
            direct, told, fitted = direct + phi[j] * t[j], told + theta[j] * t[j], fitted + theta[j] * g[j]
        y[i] = (told + direct * (of_u[0] - fitted)) / (1.0 - B_FILTER[0] * direct)
        filtered = low_pass(of_u, y[i])
        for j in range(_ALL):
            theta[j] += phi[j] * (filtered - fitted)
            for l in range(_ALL):
                P[j * _ALL + l] -= phi[j] * row[l]
        y[2 + i] = 0.0


def stored_start() -> tuple[np.ndarray, np.ndarray]:
    """Coefficients and covariance (1/m²) that the authors stored, for each actuator."""
    rows = read("rls_initial.csv", skiprows=1, usecols=(2, 3, 4, 5)).reshape(2, 5, 4)
    return rows[:, 0], rows[:, 1:]


def least_squares(coupled: bool = False) -> Instance:
    """The published controller from its authors' start; with taps of both actuators if `coupled`.

    The covariance stands in 1/m² although the run is in mm (sic; README, defects). The coupled one knows as little of
    taps of the other actuator as of its own.
    """
    memory = np.zeros(_least_squares.memory)
    theta, P = memory[_THETA:_P].reshape(2, 2, TAPS), memory[_P:].reshape(2, 2, TAPS, 2, TAPS)
    start_theta, start_P = stored_start()
    for i in range(2):
        theta[i, i] = start_theta[i]
        for other in range(2) if coupled else (i,):
            P[i, other, :, other] = start_P[other]
    return _least_squares(memory=memory)
