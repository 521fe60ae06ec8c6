"""The acceleration reported by every method, against the closed form."""

import numpy as np
import pytest
from analytic import harmonic_response

from hyloop.integrators import (
    central_difference,
    cr,
    generalized_alpha,
    kr_alpha,
    mkr_alpha,
    newmark,
    newmark_explicit,
    stabilized_central_difference,
)
from hyloop.loop import Loop
from hyloop.structure import Structure, rayleigh, shear_frame

METHODS = [
    newmark_explicit(),
    newmark_explicit(0.75),
    central_difference(),
    stabilized_central_difference(),
    cr(),
    kr_alpha(0.5),
    mkr_alpha(1.0),
    mkr_alpha(0.5),
    mkr_alpha(0.5, form="plain"),
    newmark(),
    generalized_alpha(0.5),
]


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_acceleration_is_that_of_the_equation_of_motion(method):
    """M a = F - C v - K u; an increment of velocity over Δt lags by part of a step, so the error is of first order."""
    frame = shear_frame([2e4, 1.5e4], [2e6, 1.6e6])
    frame = Structure(frame.M, frame.K, loads=np.array([[0.0], [1e4]]))
    frame = frame.with_damping(rayleigh(frame, 0.05))
    dt, frequency, u0, v0 = 1e-3, 7.0, np.array([0.01, 0.02]), np.array([0.1, -0.2])
    times = np.arange(1001) * dt
    excitation = np.column_stack([np.zeros_like(times), np.sin(frequency * times)])
    result = Loop(frame, method=method, dt=dt).run(excitation, u0=u0, v0=v0)
    u, v = harmonic_response(frame.M, frame.C, frame.K, frame.loads[:, 0], frequency, u0, v0, times)
    exact = np.linalg.solve(frame.M, frame.loads @ excitation[:, 1:].T - frame.C @ v - frame.K @ u)
    lag = frame.modes().omega[-1] * dt  # relative error of a whole step of delay
    for k in (0, 1):
        assert np.abs(result[f"a.{k + 1}"] - exact[k]).max() < lag * np.abs(exact[k]).max()
