"""Levenberg-Marquardt through a device model: its normal equations, what it finds, and what it refuses."""

import jax.numpy as jnp
import numpy as np
import pytest

from hyloop.devices import lugre_exact
from hyloop.errors import BadInput, BadShape
from hyloop.learn.physics.layers import physics_layer
from hyloop.learn.physics.recurrent_fit import History, follow, local_equations

DT, N = 1 / 256, 512
T = DT * np.arange(N)
V = 0.06 * np.sin(2 * np.pi * 1.5 * T) + 0.02 * np.sin(2 * np.pi * 4 * T)
TRUE = {"sigma0": 9e6, "Fc_pos": 18e3, "Fs_pos": 24e3}
FOUND = 1e-6  # relative: the data are the law's own, so the minimum is zero
DIFFERENCES = 1e-5  # relative: central differences with a step of 1e-5


def layer():
    return physics_layer(lugre_exact(), constant=tuple(TRUE), dt=DT)


def step(model, x, u):
    x, y = model.step(x, u)
    return x, y[0] / 1e4


def start(model, y0):
    return y0 * jnp.exp(model.log_factors[1:2])  # depends on a parameter, so that its derivative is needed


def history(weight=1.0, y0=2e3, **law):
    f = lugre_exact(**law, initial={"y": y0 * (law.get("Fc_pos", 22.91e3) / 22.91e3)}).drive(DT, v=V)["f"]
    return History(V[:, None], f / 1e4, np.full(N, weight), y0)


def test_normal_equations_equal_finite_differences():
    model = layer()
    cost, normal = local_equations(model, step, start, every=4)
    theta, h = np.array([0.2, -0.1, 0.1]), 1e-5
    data = history(0.7, **TRUE)
    data.weight[np.arange(N) % 4 != 0] = 0.0
    c, g, squares = (np.asarray(part) for part in normal(theta, data))
    assert c == pytest.approx(float(cost(theta, data)), rel=1e-12)
    differences = [(cost(theta + e, data) - cost(theta - e, data)) / (2 * h) for e in h * np.eye(3)]
    assert g == pytest.approx(np.array(differences), abs=DIFFERENCES * np.abs(g).max())

    def residuals(theta):
        forces = lugre_exact(
            sigma0=6442.5e3 * np.exp(theta[0]),
            Fc_pos=22.91e3 * np.exp(theta[1]),
            Fs_pos=24.43e3 * np.exp(theta[2]),
            initial={"y": 2e3 * np.exp(theta[1])},
        ).drive(DT, v=V)["f"]
        return data.weight * (forces / 1e4 - data.y)

    J = np.column_stack([(residuals(theta + e) - residuals(theta - e)) / (2 * h) for e in h * np.eye(3)])
    assert squares == pytest.approx(J.T @ J, abs=DIFFERENCES * np.abs(squares).max())


def test_parameters_of_a_law_are_found_from_its_own_force():
    seen = []
    found = follow(
        layer(),
        step,
        start,
        [history(**TRUE), history(0.5, y0=-1e3, **TRUE)],
        iterations=25,
        progress=lambda i, c: seen.append(c),
    )
    values = [p * np.exp(z) for p, z in zip((6442.5e3, 22.91e3, 24.43e3), found.model.log_factors, strict=True)]
    assert np.array(values) == pytest.approx(np.array([*TRUE.values()]), rel=FOUND)
    assert (np.diff(found.costs) <= 0).all() and list(found.costs[1:]) == seen
    # a prior of infinite precision holds everything where it was
    stiff = follow(layer(), step, start, [history(**TRUE)], iterations=5, prior=1e12 * jnp.ones(3))
    assert np.asarray(stiff.model.log_factors) == pytest.approx(np.zeros(3), abs=1e-8)


def test_bad_histories_are_refused():
    with pytest.raises(BadInput, match="no history"):
        follow(layer(), step, start, [], iterations=1)
    broken = history()._replace(y=np.full(N, np.nan))
    with pytest.raises(BadInput, match="not numbers"):
        follow(layer(), step, start, [broken], iterations=1)
    with pytest.raises(BadShape, match="as many"):
        follow(layer(), step, start, [history()._replace(weight=np.ones(3))], iterations=1)
    with pytest.raises(BadShape, match="prior"):
        follow(layer(), step, start, [history()], iterations=1, prior=jnp.zeros(7))
