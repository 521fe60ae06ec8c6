"""The constrained filter as the paper prints it, Eqs. (20)-(33), in its units and with its weighted sums, not repaired.

It exists to see what fails: `hyloop.updating.unscented` is the same filter in a form whose sums cancel nothing. The
weight of the central point is lambda/(L + lambda) (the print lacks the lambda). Sigma points are drawn from P(k-1)
alone, the process noise enters P(k|k-1) afterwards, and no point is drawn again.
"""

import math

import numpy as np

from hyloop.core.jit import jit
from hyloop.devices import nonlinear_maxwell

_law = nonlinear_maxwell.compiled
MU, BETA, KAPPA = 1e-3, 2.0, 0.0  # section 8 of the paper


@jit
def printed_filter(start, d, f_m, dt, noise, sigma):
    """Run until P has no real square root (no Cholesky factor), or to the end.

    Parameters
    ----------
    start : ndarray, (3,)
        K, C and alpha in kN, m, s. All sums are made in its precision, float64 or float32.
    d, f_m : ndarray
        Measured deformation in m and force in kN.
    noise, sigma : float
        Standard deviation of the force in kN, and of the random walk as a fraction of the start.

    Returns
    -------
    ndarray, (ticks, 3), and int
        Estimates, and the number of ticks made; fewer than given where the filter failed.
    """
    F, L = start.dtype, 3
    lam = MU * MU * (L + KAPPA) - L
    Wm = np.full(7, 0.5 / (L + lam)).astype(F)
    Wc = Wm.copy()
    Wm[0] = lam / (L + lam)
    Wc[0] = lam / (L + lam) + 1.0 - MU * MU + BETA
    Q = np.zeros((3, 3), F)
    for i in range(3):
        Q[i, i] = (sigma * start[i]) ** 2
    x, P, low, high = start.copy(), Q.copy(), 0.2 * start, 2.0 * start
    X, Y, S, history = np.zeros((7, 3), F), np.zeros(7, F), np.zeros((3, 3), F), np.zeros((d.size, 3))
    x_mean, P_xy, y, P_yy = np.zeros(3, F), np.zeros(3, F), np.zeros(1, F), np.zeros(1, F)
    state, u, theta = np.zeros(2), np.empty(1), np.empty(3)
    for k in range(d.size):
        for j in range(3):
            for i in range(j, 3):
                s = (L + lam) * P[i, j]
                for m in range(j):
                    s -= S[i, m] * S[j, m]
                if i == j and not s > 0.0:
                    return history, k
                S[i, j] = math.sqrt(s) if i == j else s / S[j, j]
        for tenths in range(10, -1, -1):  # Eq. (23), with the bound rule
            inside = True
            for i in range(3):
                X[0, i] = x[i]
                for j in range(3):
                    X[1 + j, i], X[4 + j, i] = x[i] + tenths / 10.0 * S[i, j], x[i] - tenths / 10.0 * S[i, j]
                    inside = inside and low[i] <= X[1 + j, i] <= high[i] and low[i] <= X[4 + j, i] <= high[i]
            if inside:
                break
        x_mean[:], P_xy[:], y[0], P_yy[0], u[0] = 0.0, 0.0, 0.0, noise * noise, d[k]
        for j in range(7):
            theta[:] = X[j]
            Y[j] = _law(state, u, dt, theta)[0][0]
            y[0] += Wm[j] * Y[j]  # Eq. (28)
            for i in range(3):
                x_mean[i] += Wm[j] * X[j, i]  # Eq. (25)
        P[:] = Q
        for j in range(7):
            P_yy[0] += Wc[j] * (Y[j] - y[0]) ** 2  # Eq. (29)
            for i in range(3):
                P_xy[i] += Wc[j] * (X[j, i] - x_mean[i]) * (Y[j] - y[0])  # Eq. (31)
                for m in range(3):
                    P[i, m] += Wc[j] * (X[j, i] - x_mean[i]) * (X[j, m] - x_mean[m])  # Eq. (26)
        for i in range(3):
            gain = P_xy[i] / P_yy[0]  # Eq. (30)
            for m in range(3):
                P[i, m] -= gain * P_xy[m]  # Eq. (33)
            x[i] = min(max(x_mean[i] + gain * (f_m[k] - y[0]), low[i]), high[i])  # Eq. (32), held inside
        theta[:] = x
        _, new = _law(state, u, dt, theta)
        state[0], state[1] = new[0], new[1]
        history[k] = x
    return history, d.size
