"""Kalman filters as the textbooks print them, in plain NumPy: slow, obvious, and independent of `hyloop.updating`."""

import numpy as np

__all__ = ["kalman", "textbook_unscented"]


def kalman(H, f, *, noise, process, std, forgetting=1.0):
    """Means and covariances of a random walk from m = 1, seen through the rows of `H`."""
    n = H.shape[1]
    m, P, means, covariances = np.ones(n), np.eye(n) * std**2, [], []
    for row, measured in zip(H, f, strict=True):
        P = P + np.eye(n) * process**2
        gain = P @ row / (row @ P @ row + forgetting * noise**2)
        m, P = m + gain * (measured - row @ m), (P - np.outer(gain, row @ P)) / forgetting
        means.append(m)
        covariances.append(P)
    return np.array(means), np.array(covariances)


def _respond(law, x, row, dt, p):
    """Force and new state of a law after one tick, by its Python function."""
    block, f = law.block, list(law.block.outputs).index("f")
    if block.pure:
        outputs, new = block.function(x, row, dt, p)
        return outputs[f], np.array(new)
    x, y = np.array(x), np.empty(len(block.outputs))
    block.function(x, row, dt, p, y)
    return y[f], x


def textbook_unscented(law, free, u, f_m, dt, *, noise, process, std, alpha, beta=2.0, kappa=0.0, states=None):
    """Weights, sigma points and weighted sums as printed. Returns means (in units) and covariances of all unknowns.

    `states` maps filtered states to (initial, process); without it all sigma points start from one state of the law.
    Raises `numpy.linalg.LinAlgError` in the tick where the covariance is not positive definite.
    """
    states, n = states or {}, len(free)
    L, order, places = n + len(states), list(law.params), [list(law.block.state).index(key) for key in states]
    start, p = np.array([law.params[key] for key in free]), np.array([*law.params.values()])
    x, low, high = np.array([*law.initial.values()]), *(np.array(list(free.values())).T / start)
    at = [order.index(key) for key in free]
    lam = alpha**2 * (L + kappa) - L
    Wm = np.full(2 * L + 1, 0.5 / (L + lam))
    Wc = Wm.copy()
    Wm[0] = lam / (L + lam)
    Wc[0] = Wm[0] + 1 - alpha**2 + beta
    m = np.concatenate([np.ones(n), x[places]])
    P = np.diag([std**2] * n + [pair[0] ** 2 for pair in states.values()])
    Q = np.diag([process**2] * n + [pair[1] ** 2 for pair in states.values()])
    means, covariances = [], []

    def tick(point, row):
        p[at] = point[:n] * start
        begin = x.copy()
        begin[places] = point[n:]
        return _respond(law, begin, row, dt, p)

    for row, measured in zip(u, f_m, strict=True):
        P = P + Q
        root = np.linalg.cholesky((L + lam) * P)
        X = np.vstack([m, m + root.T, m - root.T])
        answers = [tick(point, row) for point in X]
        Y = np.array([f for f, _ in answers])
        if states:
            X[:, n:] = [new[places] for _, new in answers]
            x, m = answers[0][1], Wm @ X
            P = (Wc * (X - m).T) @ (X - m)
        y = Wm @ Y
        Pyy, Pxy = Wc @ (Y - y) ** 2 + noise**2, (Wc * (Y - y)) @ (X - m)
        m, P = m + Pxy / Pyy * (measured - y), P - np.outer(Pxy, Pxy) / Pyy
        m[:n] = np.clip(m[:n], low, high)
        if not states:
            x = tick(m, row)[1]
        means.append(np.concatenate([m[:n] * start, m[n:]]))
        covariances.append(P)
    return np.array(means), np.array(covariances)
