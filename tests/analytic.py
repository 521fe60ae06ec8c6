"""Closed-form answers used as truth."""

import numpy as np
from scipy.linalg import expm

__all__ = ["harmonic_response", "observed_orders"]


def harmonic_response(M, C, K, load, frequency, u0, v0, times):
    """Exact u(t), v(t) of M a + C v + K u = load sin(frequency t), by particular plus homogeneous solution.

    The homogeneous part uses the matrix exponential of the first-order system.
    """
    n = len(M)
    # particular solution: imaginary part of U exp(i w t)
    U = np.linalg.solve(K - frequency**2 * M + 1j * frequency * C, load.astype(complex))
    particular_u = np.imag(U[:, None] * np.exp(1j * frequency * times))
    particular_v = np.imag(1j * frequency * U[:, None] * np.exp(1j * frequency * times))
    start = np.concatenate([u0 - np.imag(U), v0 - np.imag(1j * frequency * U)])
    S = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]])
    free = np.array([expm(S * t) @ start for t in times]).T
    return particular_u + free[:n], particular_v + free[n:]


def observed_orders(steps, errors):
    """Order between successive refinements."""
    steps, errors = np.asarray(steps), np.asarray(errors)
    return np.log(errors[:-1] / errors[1:]) / np.log(steps[:-1] / steps[1:])
