"""Controllers as blocks: any linear one, and the adaptive one that was published. Signals in mm, as in the benchmark."""

import numpy as np
from scipy.signal import butter

from hyloop.core.block import Instance, inplace_block

from .frame import DT, read

__all__ = ["INPUTS", "OUTPUTS", "linear", "published"]

INPUTS = {"t1": "mm", "t2": "mm", "m1": "mm", "m2": "mm"}
OUTPUTS = {"u1": "mm", "u2": "mm", "p1": "mm", "p2": "mm"}
LARGEST = 48  # states of a linear controller
_A, _B, _C, _D = (1 + 2 * LARGEST + np.cumsum([0, LARGEST**2, 4 * LARGEST, 4 * LARGEST])).tolist()


@inplace_block(inputs=INPUTS, outputs=OUTPUTS, params={}, memory=_D + 16, reference="Discrete linear system.")
def _linear(x, u, dt, p, y):
    r"""Any linear controller: :math:`y = C x + D u, \; x^+ = A x + B u`; matrices lie in the memory, behind the state."""
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
    assert n <= LARGEST and B.shape == (n, 4) and C.shape == (4, n) and D.shape == (4, 4)
    memory[0] = n
    for start, matrix in ((_A, A), (_B, B), (_C, C), (_D, D)):
        memory[start : start + matrix.size] = matrix.ravel()
    return _linear(memory=memory)


TAPS, ORDER, CUTOFF = 4, 4, 20.0  # Hz
_b, _a = butter(ORDER, CUTOFF, fs=1.0 / DT)
B_FILTER, A_FILTER = np.array(_b), np.array(_a)
# of one actuator: coefficients, covariance, taps of target and filtered motion, states of both filters
_OWN = TAPS + TAPS**2 + 2 * TAPS + 2 * ORDER


@inplace_block(
    inputs=INPUTS,
    outputs=OUTPUTS,
    params={},
    memory=2 * _OWN,
    reference="Quiroz, Galmez, Fermandois (2024), Front. Built Environ. 10, 1394952, doi:10.3389/fbuil.2024.1394952.",
)
def _published(x, u, dt, p, y):
    r"""Adaptive inverse by recursive least squares, one for each actuator, without forgetting.

    With taps :math:`t` of the target and :math:`g` of the motion behind a low-pass :math:`B`,

    .. math:: \varphi = \frac{P g}{1 + g^T P g}, \quad \theta^+ = \theta + \varphi (B u - \theta^T g), \quad
        P^+ = P - \varphi g^T P, \quad u = \theta^{+T} t

    where u enters its own filter: :math:`B u = b_0 u + r` is solved for it.
    """
    for i in range(2):
        own = x[i * _OWN : (i + 1) * _OWN]
        theta, P = own[:TAPS], own[TAPS : TAPS + TAPS**2]
        t, g = own[TAPS + TAPS**2 : 2 * TAPS + TAPS**2], own[2 * TAPS + TAPS**2 : 3 * TAPS + TAPS**2]
        of_m, of_u = own[3 * TAPS + TAPS**2 : 3 * TAPS + TAPS**2 + ORDER], own[3 * TAPS + TAPS**2 + ORDER :]
        for j in range(TAPS - 1, 0, -1):
            t[j], g[j] = t[j - 1], g[j - 1]
        t[0], g[0] = u[i], B_FILTER[0] * u[2 + i] + of_m[0]
        for j in range(ORDER):  # transposed direct form
            of_m[j] = B_FILTER[j + 1] * u[2 + i] - A_FILTER[j + 1] * g[0] + (of_m[j + 1] if j < ORDER - 1 else 0.0)
        phi, denominator = np.zeros(TAPS), 1.0
        for j in range(TAPS):
            for l in range(TAPS):
                phi[j] += P[j * TAPS + l] * g[l]
            denominator += g[j] * phi[j]
        direct, told, fitted = 0.0, 0.0, 0.0
        for j in range(TAPS):
            phi[j] /= denominator
            direct, told, fitted = direct + phi[j] * t[j], told + theta[j] * t[j], fitted + theta[j] * g[j]
        command = (told + direct * (of_u[0] - fitted)) / (1.0 - B_FILTER[0] * direct)
        filtered = B_FILTER[0] * command + of_u[0]
        for j in range(ORDER):
            of_u[j] = B_FILTER[j + 1] * command - A_FILTER[j + 1] * filtered + (of_u[j + 1] if j < ORDER - 1 else 0.0)
        row = np.zeros(TAPS)  # g' P
        for j in range(TAPS):
            for l in range(TAPS):
                row[l] += g[j] * P[j * TAPS + l]
        for j in range(TAPS):
            theta[j] += phi[j] * (filtered - fitted)
            for l in range(TAPS):
                P[j * TAPS + l] -= phi[j] * row[l]
        y[i], y[2 + i] = command, 0.0


def start_values() -> tuple[np.ndarray, np.ndarray]:
    """Coefficients and covariance (1/m²) that the authors stored, for each actuator."""
    rows = read("rls_initial.csv", skiprows=1, usecols=(2, 3, 4, 5)).reshape(2, 5, 4)
    return rows[:, 0], rows[:, 1:]


def published() -> Instance:
    """The published controller with its authors' start; the covariance is in 1/m² although the run is in mm (sic)."""
    memory = np.zeros((2, _OWN))
    for own, theta, P in zip(memory, *start_values(), strict=True):
        own[:TAPS], own[TAPS : TAPS + TAPS**2] = theta, P.ravel()
    return _published(memory=memory.ravel())
