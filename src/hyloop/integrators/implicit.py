"""Implicit reference methods, solved by Newton's method in every step (`hyloop.core.newton`)."""

from hyloop.errors import OutOfBounds
from hyloop.integrators.model_based import generalized_alpha_weights
from hyloop.integrators.operators import Method, Operators, inverse

__all__ = ["generalized_alpha", "newmark"]


def newmark(gamma: float = 0.5, beta: float = 0.25) -> Method:
    r"""Newmark's implicit method; the default is the average acceleration method.

    .. math::
        u_{i+1} = u_i + \Delta t\, v_i + \Delta t^2 [(\tfrac12 - \beta) a_i + \beta a_{i+1}], \qquad
        v_{i+1} = v_i + \Delta t [(1 - \gamma) a_i + \gamma a_{i+1}]

    Unconditionally stable for 2β ≥ γ ≥ 1/2; other values are refused.

    References
    ----------
    Newmark (1959), A method of computation for structural dynamics, J. Eng. Mech. Div. 85(3), 67-94.
    """
    if not 2 * beta >= gamma >= 0.5:
        raise OutOfBounds(f"gamma = {gamma!r}, beta = {beta!r}: stability for every step needs 2 beta >= gamma >= 1/2.")
    return Method(f"newmark(gamma={gamma:g}, beta={beta:g})", _implicit(gamma, beta, 0.0, 0.0))


def generalized_alpha(rho_inf: float = 0.75) -> Method:
    r"""Generalized-α method with the optimal parameters for a spectral radius ρ∞ at infinite frequency.

    .. math::
        M a_{i+1-\alpha_m} + C v_{i+1-\alpha_f} + R_{i+1-\alpha_f} = F_{i+1-\alpha_f}, \quad
        (\cdot)_{i+1-\alpha} = (1-\alpha)(\cdot)_{i+1} + \alpha (\cdot)_i

    References
    ----------
    Chung and Hulbert (1993), doi:10.1115/1.2900803.
    """
    alpha_m, alpha_f = generalized_alpha_weights(rho_inf)
    gamma = 0.5 - alpha_m + alpha_f
    return Method(f"generalized_alpha(rho_inf={rho_inf:g})", _implicit(gamma, (0.5 + gamma) ** 2 / 4, alpha_m, alpha_f))


def _implicit(gamma, beta, alpha_m, alpha_f):
    def build(M, C, Cm, Km, dt):
        start = inverse(M)
        return Operators(
            w_to_u=0.0, w_to_v=0.0, A=start, start=start, alpha_f=alpha_f, M=M, gamma=gamma, beta=beta, alpha_m=alpha_m
        )

    return build
