"""Model-based explicit methods: unconditionally stable because their operators know the system.

Their velocity variable runs behind the true one: v_i belongs to the time t_i - γΔt. The true velocity is
v + γ w, and a start that ignores this is only first-order accurate. Since C v is evaluated with the variable and the
operators make up for it, a C̃ that differs from the real damping costs first-order accuracy.
"""

import numpy as np
from scipy import sparse

from hyloop.errors import UnknownName
from hyloop.integrators.operators import Method, Operators, inverse, rho

__all__ = ["cr", "generalized_alpha_weights", "kr_alpha", "mkr_alpha", "mkr_alpha_weights"]


def cr() -> Method:
    r"""Chen and Ricles' method, undamped, with the dispersion of the average acceleration method.

    .. math::
        v_{i+1} = v_i + \Delta t\, \alpha_1 a_i, \quad u_{i+1} = u_i + \Delta t\, v_i + \Delta t^2 \alpha_1 a_i, \quad
        \alpha_1 = 4\,(4M + 2\Delta t\, \tilde C + \Delta t^2 \tilde K)^{-1} M

    An initial velocity overshoots by (ωΔt)²/4 of the exact amplitude, and nothing damps it away (docs/methods.md).

    References
    ----------
    Chen and Ricles (2008), doi:10.1061/(ASCE)0733-9399(2008)134:8(676).
    """

    def build(M, C, Cm, Km, dt):
        W = M + dt / 2 * Cm + dt**2 / 4 * Km
        return Operators(
            w_to_u=dt, w_to_v=1.0, lag=0.5, w_to_a=1 / dt, A=dt * inverse(W), start=dt * inverse(W - dt / 2 * C)
        )

    return Method("cr()", build, sparse=True)


def generalized_alpha_weights(rho_inf: float) -> tuple[float, float]:
    """αm and αf of Chung and Hulbert (1993), doi:10.1115/1.2900803, as used by KR-α."""
    r = rho(rho_inf)
    return (2 * r - 1) / (r + 1), r / (r + 1)


def mkr_alpha_weights(rho_inf: float) -> tuple[float, float]:
    """αm and αf of MKR-α."""
    r = rho(rho_inf)
    return (2 * r**3 + r**2 - 1) / (r**3 + r**2 + r + 1), r / (r + 1)


def kr_alpha(rho_inf: float = 0.75) -> Method:
    r"""KR-α: explicit, with the numerical damping and dispersion of the generalized-α method.

    Equations as in `mkr_alpha`, with the αm and αf of `generalized_alpha_weights`.

    References
    ----------
    Kolay and Ricles (2014), doi:10.1002/eqe.2401.
    """
    alpha_m, alpha_f = generalized_alpha_weights(rho_inf)
    return Method(f"kr_alpha(rho_inf={rho_inf:g})", _recast(alpha_m, alpha_f), sparse=True)


def mkr_alpha(rho_inf: float = 0.75, form: str = "recast") -> Method:
    r"""MKR-α: explicit, unconditionally stable, with numerical damping set by ρ∞.

    .. math::
        v_{i+1} &= v_i + \Delta t\, \alpha_1 a_i, \qquad
        u_{i+1} = u_i + \Delta t\, v_i + (\tfrac12 + \gamma) \Delta t^2 \alpha_1 a_i \\
        M[(I - \alpha_3) a_{i+1} + \alpha_3 a_i] &= F_{i+1-\alpha_f} - C v_{i+1-\alpha_f} - R_{i+1-\alpha_f} \\
        \alpha_1 = \alpha^{-1} M, \quad
        \alpha_3 &= \alpha^{-1} [\alpha_m M + \alpha_f (\gamma \Delta t \tilde C + \beta \Delta t^2 \tilde K)], \quad
        \alpha = M + \gamma \Delta t \tilde C + \beta \Delta t^2 \tilde K

    with γ = 1/2 - αm + αf and β = (1/2 + γ)²/4. ρ∞ = 1 conserves energy, ρ∞ = 0 damps high modes most. A β of
    (1/2 + γ)/2, also found in print, makes the period error at ρ∞ = 1 2.5 times larger; with the β used here KR-α has
    the poles of the generalized-α method.

    An initial velocity overshoots where the step does not resolve a mode: by ωΔt, or (ωΔt)²/4 at ρ∞ = 1, in terms of
    the exact amplitude. With 25 steps in a period numerical damping takes 0.1 % of a mode's energy in a cycle at
    ρ∞ = 0.75 and 8 % at ρ∞ = 0. Tables: docs/methods.md.

    Parameters
    ----------
    rho_inf : float
        Spectral radius at infinite frequency.
    form : {"recast", "plain"}
        ``"recast"`` carries w = Δt α1 a, which removes every product from the predictor and every inverse of M:
        W w[i+1] = Δt {...} - [αm M + αf (γΔtC̃ + βΔt²K̃)] w[i] with W = (1-αm) M + (1-αf)(γΔtC̃ + βΔt²K̃).
        ``"plain"`` carries the acceleration as in the equations above; it gives the same answer to round-off.

    References
    ----------
    Kolay and Ricles (2019), doi:10.1080/13632469.2017.1326423; recast form: Al-Subaihawi et al. (2024).
    """
    alpha_m, alpha_f = mkr_alpha_weights(rho_inf)
    forms = {"recast": _recast, "plain": _plain}
    if form not in forms:
        raise UnknownName("form", form, forms, where="mkr_alpha")
    build = forms[form](alpha_m, alpha_f)
    return Method(f"mkr_alpha(rho_inf={rho_inf:g}, form='{form}')", build, sparse=form == "recast")


def _recast(alpha_m, alpha_f):
    gamma = 0.5 - alpha_m + alpha_f
    beta = (0.5 + gamma) ** 2 / 4

    def build(M, C, Cm, Km, dt):
        S = gamma * dt * Cm + beta * dt**2 * Km
        if sparse.issparse(M):
            # αf S = ρ [W - (1-αm) M] with ρ = αf/(1-αf): what W stands before need not be multiplied and solved again
            rho = alpha_f / (1 - alpha_f)
            B = (alpha_m - rho * (1 - alpha_m)) / dt * M
        else:
            B, rho = (alpha_m * M + alpha_f * S) / dt, 0.0
        return Operators(
            w_to_u=(0.5 + gamma) * dt,
            w_to_v=1.0,
            lag=gamma,
            w_to_a=1 / dt,
            alpha_f=alpha_f,
            A=dt * inverse((1 - alpha_m) * M + (1 - alpha_f) * S),
            B=B,
            rho=rho,
            start=dt * inverse(M + S - gamma * dt * C),
        )

    return build


def _plain(alpha_m, alpha_f):
    gamma = 0.5 - alpha_m + alpha_f
    beta = (0.5 + gamma) ** 2 / 4

    def build(M, C, Cm, Km, dt):
        S = gamma * dt * Cm + beta * dt**2 * Km
        alpha = inverse(M + S)
        alpha_1, alpha_3 = alpha @ M, alpha @ (alpha_m * M + alpha_f * S)
        return Operators(
            w_to_u=(0.5 + gamma) * dt**2,
            w_to_v=dt,
            lag=gamma * dt,
            w_to_a=1.0,
            alpha_f=alpha_f,
            A=inverse(M @ (np.eye(len(M)) - alpha_3)),
            B=M @ alpha_3,
            P=alpha_1,
            start=inverse(M - gamma * dt * C @ alpha_1),
        )

    return build
