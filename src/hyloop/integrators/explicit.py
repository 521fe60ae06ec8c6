"""Explicit methods whose operators need the mass and damping, and for SCD the stiffness, but no device model."""

import numpy as np

from hyloop.errors import OutOfBounds
from hyloop.integrators.operators import Method, Operators, highest_frequency, inverse

__all__ = ["central_difference", "newmark_explicit", "stabilized_central_difference"]


def newmark_explicit(gamma: float = 0.5) -> Method:
    r"""Newmark's explicit method (β = 0), second order for γ = 1/2 and then stable for ωΔt ≤ 2.

    .. math::
        u_{i+1} &= u_i + \Delta t\, v_i + \tfrac12 \Delta t^2 a_i, \qquad
        v^*_{i+1} = v_i + (1-\gamma) \Delta t\, a_i \\
        (M + \gamma \Delta t\, C)\, a_{i+1} &= F_{i+1} - R_{i+1} - C v^*_{i+1}, \qquad
        v_{i+1} = v^*_{i+1} + \gamma \Delta t\, a_{i+1}

    Undamped, the limit for γ ≥ 1/2 is ωΔt ≤ sqrt(2/γ).

    References
    ----------
    Newmark (1959), A method of computation for structural dynamics, J. Eng. Mech. Div. 85(3), 67-94.
    """
    if not 0.5 <= gamma <= 1.0:
        raise OutOfBounds(f"gamma = {gamma!r} must lie in [0.5, 1]: below 0.5 the method is unstable for every step.")

    def build(M, C, Cm, Km, dt):
        return Operators(
            w_to_u=dt / 2,
            w_to_v=1 - gamma,
            w_to_v_after=gamma,
            w_to_a=1 / dt,
            A=dt * inverse(M + gamma * dt * C),
            start=dt * inverse(M),
        )

    return Method(f"newmark_explicit(gamma={gamma:g})", build, limit=float(np.sqrt(2 / gamma)))


def central_difference() -> Method:
    r"""Central difference method, second order, stable for ωΔt ≤ 2.

    .. math::
        (M + \tfrac{\Delta t}{2} C)(u_{i+1} - 2u_i + u_{i-1}) = \Delta t^2 (F_i - R_i) - \Delta t\, C (u_i - u_{i-1})

    Carried as the half-step velocity v = (u_i - u_{i-1})/Δt and its increment, which loses fewer digits than
    differences of displacements. The velocity reported is that of the central difference.

    References
    ----------
    Chopra, Dynamics of Structures, section 5.3.
    """
    return Method("central_difference()", lambda M, C, Cm, Km, dt: _difference(M, C, M, dt), limit=2.0)


def stabilized_central_difference() -> Method:
    r"""Stabilised central difference (SCD): central difference with added mass, stable for every ωΔt.

    .. math::
        \hat M = M + \alpha \Delta t^2 K, \qquad \alpha = \tfrac14 \tanh(\omega_{max} \Delta t / 4)

    in place of M in the central difference equation, with K and ω_max of the initial stiffness, devices included.
    The largest apparent (ωΔt)² is x²/(1 + αx²) < 4. The damping half-step enters once; the algorithm printed by
    Luo et al. counts it twice, which costs one order.

    References
    ----------
    Luo et al. (2024), identification of unknown boundaries by a network inside a finite element simulation.
    """

    def build(M, C, Cm, Km, dt):
        alpha = np.tanh(highest_frequency(M, Km) * dt / 4) / 4
        return _difference(M, C, M + alpha * dt**2 * Km, dt)

    return Method("stabilized_central_difference()", build)


def _difference(M, C, Mhat, dt) -> Operators:
    # v is the half-step velocity, so the true one is v + w/2, also at the start, where M̂ without C meets v0 exactly
    return Operators(
        w_to_u=dt, w_to_v=1.0, lag=0.5, w_to_a=1 / dt, A=dt * inverse(Mhat + dt / 2 * C), start=dt * inverse(Mhat)
    )
