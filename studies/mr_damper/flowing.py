r"""The law with flow in place of friction behind the gap, as one compiled function at a constant current.

.. math::

    f = S + T + k_0 d + f_0, \qquad
    \dot S = k_e \Big(\dot d - v_S \sinh\frac{S}{F}\Big), \qquad
    \dot T = k_y \Big(\dot d - v_T \sinh\frac{T}{y Y}\Big), \quad |T| \le Y

T moves only behind the gap. F and Y grow with the current as in `hyloop.devices.mr_eyring`; both speeds are
:math:`v_e, v_y` at 1 A and follow :math:`(F / F_{1 A})^n`: with n = 1 the viscosity near rest is that of any current.
"""

import numba
import numpy as np

FREE = ("k_e", "F_0", "F_1", "v_e", "k_y", "Y_0", "Y_1", "gap", "i_h", "m", "k_0", "v_y", "y")  # all positive


@numba.njit
def _flow(S, F, v_e, k, moved, dt):
    """Eyring flow behind a spring over a straight line, exact (see `mr_eyring`)."""
    r = moved / (dt * v_e)
    root = np.sqrt(1.0 + r * r)
    q = np.exp(-k * dt * v_e / F * root)
    large = root + abs(r)
    up, down = (large, 1.0 / large) if r > 0.0 else (1.0 / large, large)
    E = np.exp(min(max(S / F, -300.0), 300.0))
    return F * (np.log(1.0 - q + E * (up + q * down)) - np.log(E * (1.0 - q) + down + q * up))


@numba.njit
def _behind(e, T, half, k, Y, F, v_y, moved, dt):
    """Place in the gap and force behind it, after a straight line; back through the gap the spring alone unloads."""
    side = np.sign(T)
    if T * moved < 0.0 and abs(moved) > abs(T) / k:
        e, moved, T = side * half, moved + T / k, 0.0
    if T == 0.0:
        place = e + moved
        e = min(max(place, -half), half)
        moved = place - e
        if moved == 0.0:
            return e, 0.0
    return e, min(max(_flow(T, F, v_y, k, moved, dt), -Y), Y)


@numba.njit
def _run(d, dt, k_e, F, v_e, k_y, Y, gap, F_y, v_y, k_0, f_0):
    f = np.empty(len(d))
    S = e = T = 0.0
    last = d[0]
    for k in range(len(d)):
        moved, last = d[k] - last, d[k]
        S = _flow(S, F, v_e, k_e, moved, dt)
        e, T = _behind(e, T, 0.5 * gap, k_y, Y, F_y, v_y, moved, dt)
        f[k] = S + T + k_0 * d[k] + f_0
    return f


def force(law: dict[str, float], seen, stop: int | None = None) -> np.ndarray:
    """Force over a test, free-running from rest; to the sample `stop`."""

    def grown(i):
        return i ** law["m"] / (i ** law["m"] + law["i_h"] ** law["m"])

    sigma = grown(seen.current)
    F, Y = law["F_0"] + law["F_1"] * sigma, law["Y_0"] + law["Y_1"] * sigma
    slower = (F / (law["F_0"] + law["F_1"] * grown(1.0))) ** law["n"]
    speeds = law["v_e"] * slower, law["v_y"] * slower
    return _run(
        np.ascontiguousarray(seen.d[:stop]),
        seen.dt,
        law["k_e"],
        F,
        speeds[0],
        law["k_y"],
        Y,
        law["gap"],
        law["y"] * Y,
        speeds[1],
        law["k_0"],
        law["f_0"],
    )
