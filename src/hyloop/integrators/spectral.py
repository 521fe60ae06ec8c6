"""Stability and accuracy of a method on a linear oscillator, computed from its operators."""

import numpy as np

from hyloop.integrators.operators import Method, Operators

__all__ = ["amplification", "damping_error", "period_error", "spectral_radius"]


def amplification(operators: Operators, C: np.ndarray, K: np.ndarray, dt: float) -> np.ndarray:
    """Matrix that carries the free vibration (u, v, w) of a linear structure over one step."""
    n = len(K)
    zero, eye = np.zeros((n, n)), np.eye(n)
    u, v, w = np.hstack([eye, zero, zero]), np.hstack([zero, eye, zero]), np.hstack([zero, zero, eye])
    o = operators
    if len(o.M):
        # a' from M[(1-αm) a' + αm a] + (1-αf)(C v' + K u') + αf (C v + K u) = 0
        free_u = u + dt * v + dt**2 * (0.5 - o.beta) * w
        free_v = v + dt * (1 - o.gamma) * w
        mass = (1 - o.alpha_m) * o.M + (1 - o.alpha_f) * (o.gamma * dt * C + o.beta * dt**2 * K)
        force = o.alpha_m * o.M @ w + (1 - o.alpha_f) * (C @ free_v + K @ free_u) + o.alpha_f * (C @ v + K @ u)
        new_w = -np.linalg.solve(mass, force)
        return np.vstack([free_u + o.beta * dt**2 * new_w, free_v + o.gamma * dt * new_w, new_w])
    increment = o.P @ w if len(o.P) else w
    new_u, star = u + dt * v + o.w_to_u * increment, v + o.w_to_v * increment
    unbalanced = -(1 - o.alpha_f) * (K @ new_u + C @ star) - o.alpha_f * (K @ u + C @ v)
    new_w = o.A @ (unbalanced - (o.B @ w if len(o.B) else 0.0))
    return np.vstack([new_u, star + o.w_to_v_after * new_w, new_w])


def _roots(method: Method, omega_dt: float, zeta: float) -> np.ndarray:
    M, C, K = np.eye(1), np.array([[2 * zeta * omega_dt]]), np.array([[omega_dt**2]])
    return np.linalg.eigvals(amplification(method.build(M, C, C, K, 1.0), C, K, 1.0))


def _principal(method: Method, omega_dt: float, zeta: float) -> complex:
    """The vibrating root: the largest of the complex pair (nan where the roots are real, beyond bifurcation)."""
    roots = _roots(method, omega_dt, zeta)
    vibrating = roots[np.imag(roots) > 1e-9]
    return complex(vibrating[np.argmax(np.abs(vibrating))]) if len(vibrating) else complex(np.nan, np.nan)


def spectral_radius(method: Method, omega_dt: float, zeta: float = 0.0) -> float:
    """Largest modulus of the roots of the amplification matrix at ωΔt; above 1 the method is unstable there."""
    return float(np.abs(_roots(method, omega_dt, zeta)).max())


def period_error(method: Method, omega_dt: float, zeta: float = 0.0) -> float:
    """Relative lengthening of the period, (T_numerical - T)/T."""
    angle = abs(np.angle(_principal(method, omega_dt, zeta)))
    return float(omega_dt * np.sqrt(1 - zeta**2) / angle - 1.0)


def damping_error(method: Method, omega_dt: float, zeta: float = 0.0) -> float:
    """Numerical minus physical damping ratio."""
    logarithm = np.log(complex(_principal(method, omega_dt, zeta)))
    return float(-logarithm.real / abs(logarithm) - zeta)
