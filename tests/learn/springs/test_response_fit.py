"""Springs learned through a structure, against springs that are known; the descent against SciPy's."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from scipy.optimize import least_squares

from hyloop.errors import BadInput, BadShape, OutOfBounds
from hyloop.learn.springs.elastic import BrokenLine, CubicSpline, Curve, NetworkSpring
from hyloop.learn.springs.equation_error import estimated_forces
from hyloop.learn.springs.gauss_newton import levenberg_marquardt
from hyloop.learn.springs.learned import nmse, variance_of
from hyloop.learn.springs.response_descent import descend_response
from hyloop.learn.springs.response_fit import choose, fit_response
from hyloop.learn.springs.through_structure import UnknownSprings
from hyloop.learn.springs.unknowns import parameters
from hyloop.structure import Structure, rayleigh

pytestmark = pytest.mark.slow

CURVE = 2e-3  # of the largest force, on average: seven intervals for a curve with one bend, no noise
FORCES = 0.02  # of the largest force: the equation of motion alone, with the added mass of a stiffness that is not kept
DRIFT = 0.1  # of the largest deformation, on average, with a tenth of noise: a force without a size drifts by several
MEMORY = 0.05  # relative: spread of a variance and of a correlation from 200 000 readings, the latter enlarged by ten
STIFF, STRENGTH, STEPS, SAMPLES, HELD_OUT = 4e8, 1.2e7, 96, 6, 1


def soft(d):
    return STIFF * d / jnp.sqrt(1 + (STIFF * d / STRENGTH) ** 2)


def problem():
    K = STIFF * np.array([[2.0, -1, 0], [-1, 2, -1], [0, -1, 1]])
    masses = Structure(np.full(3, 1e6), K, loads=np.eye(3)[:, 2:])
    structure = masses.with_damping(rayleigh(masses, 0.02))
    sensors = {"A1": ("a", "1"), "A3": ("a", "3")}
    return UnknownSprings(structure, [structure.between("1")], sensors, 0.01, stiffness=STIFF)


@pytest.fixture(scope="module")
def measured():
    loads = 3e7 * np.random.default_rng(7).normal(size=(SAMPLES, STEPS, 1))
    return loads, problem().simulate([Curve(soft)], loads)


@pytest.fixture(scope="module")
def learned(measured):
    loads, truth = measured
    return fit_response(problem(), [CubicSpline(-0.12, 0.12, 16, force=1e7)], loads, truth.sensors, held_out=HELD_OUT)


def test_the_curve_is_found_where_the_samples_went(measured, learned):
    loads, truth = measured
    low, high = learned.coverage[0]
    d = truth.d[: SAMPLES - HELD_OUT]
    assert (low, high) == pytest.approx((d.min(), d.max()), rel=1e-3)
    where = jnp.linspace(low, high, 101)
    law = learned.laws[0]
    apart = jax.jit(jax.vmap(lambda d: law(law.rest(), d)[0] - soft(d)))(where)
    assert float(jnp.mean(jnp.abs(apart)) / jnp.abs(soft(where)).max()) < CURVE
    errors = problem().simulate(learned.laws, loads).sensors - truth.sensors
    squares = (errors / np.std(truth.sensors[:-HELD_OUT], axis=(0, 1))) ** 2
    assert learned.nmse == pytest.approx(np.mean(squares[:-HELD_OUT]), rel=1e-12)
    assert learned.held_out == pytest.approx(np.mean(squares[-HELD_OUT:]), rel=1e-12)
    assert learned.held_out < 1e-4


def test_the_same_twice_to_the_last_bit(measured, learned):
    loads, truth = measured
    again = fit_response(problem(), [CubicSpline(-0.12, 0.12, 16, force=1e7)], loads, truth.sensors, held_out=HELD_OUT)
    assert np.array_equal(parameters(again.laws)[0], parameters(learned.laws)[0])
    assert again.iterations == learned.iterations


def test_far_outside_its_coverage_the_model_stays_bounded_and_says_so(measured, learned):
    loads, truth = measured
    response = problem().simulate(learned.laws, 5 * loads)
    assert np.isfinite(response.u).all() and np.abs(response.u).max() < 50 * np.abs(truth.u).max()
    assert learned.outside(response.d)[0] > 0.2
    assert learned.outside(truth.d[:-HELD_OUT])[0] < 0.01


def test_the_equation_of_motion_gives_the_forces(measured):
    loads, truth = measured
    d, f = estimated_forces(problem(), loads, truth.sensors, 1 / np.std(truth.sensors, axis=(0, 1)), [1e-10])[0]
    most = np.abs(truth.f).max()
    inner = slice(0, STEPS - 8)  # the last readings hardly feel the last forces
    assert np.mean(np.abs(f - truth.f)[:, inner]) < FORCES * most
    assert np.mean(np.abs(d - truth.d)) < FORCES * np.abs(truth.d).max()


def test_noise_does_not_make_the_forces_drift(measured, rng):
    loads, truth = measured
    readings = truth.sensors + 0.1 * np.std(truth.sensors, axis=(0, 1)) * rng.normal(size=truth.sensors.shape)
    d, _ = estimated_forces(problem(), loads, readings, 1 / np.std(readings, axis=(0, 1)), [1e-3])[0]
    assert np.mean(np.abs(d - truth.d)) < DRIFT * np.abs(truth.d).max()


def test_residuals_with_memory_count_less(rng):
    """The mean of n readings with r[i+1] = ρ r[i] + white has the variance of n (1 - ρ)/(1 + ρ) without memory."""
    memory, white = 0.8, rng.normal(size=(20, 10_000, 2))
    r = white.copy()
    for i in range(1, r.shape[1]):
        r[:, i, 0] = memory * r[:, i - 1, 0] + white[:, i, 0]
    by_means = r.shape[1] * 1.0 / (1 - memory) ** 2 / r.shape[1]  # n times the variance of the mean of n readings
    assert variance_of(r) == pytest.approx([by_means, 1.0], rel=MEMORY)


def test_the_better_kind_of_law_is_chosen_by_samples_held_out(measured):
    """A straight line cannot follow; its knot is kept away by its range."""
    loads, truth = measured
    kinds = {"spline": [CubicSpline(-0.12, 0.12, 16, force=1e7)], "line": [BrokenLine(-0.12, 0.12, 1, force=1e7)]}
    name, found = choose(problem(), kinds, loads, truth.sensors, held_out=HELD_OUT, pretrain=False)
    assert name == "spline"
    assert found["spline"].held_out < 1e-2 * found["line"].held_out


def test_levenberg_marquardt_ends_where_scipy_does(rng):
    t = np.linspace(0, 4, 60)
    y = 2.0 * np.exp(-1.3 * t) + 0.5 + 0.05 * rng.normal(size=60)
    prior, centre, ridge = np.eye(3), np.array([1.0, 1.0, 0.0]), 0.01

    def residuals(p):
        return p[0] * np.exp(-p[1] * t) + p[2] - y

    def evaluate(p):
        J = np.column_stack([np.exp(-p[1] * t), -p[0] * t * np.exp(-p[1] * t), np.ones_like(t)])
        r = residuals(p)
        return r @ r, J.T @ r, J.T @ J

    theirs = least_squares(
        lambda p: np.append(residuals(p), np.sqrt(ridge) * (prior @ p - centre)),
        [0.1, 5.0, 0.0],
        xtol=1e-14,
        ftol=1e-14,
        gtol=1e-14,
    )
    ours = levenberg_marquardt(
        evaluate, np.array([0.1, 5.0, 0.0]), prior, centre, ridge, iterations=100, tolerance=1e-14
    )
    assert ours.converged
    np.testing.assert_allclose(ours.theta, theirs.x, rtol=1e-6)


def test_a_step_to_nowhere_is_refused():
    def evaluate(p):  # not finite right of 2, where the first steps would lead
        r = np.log(3.0 - p) if p[0] < 2.0 else np.array([np.nan])
        J = -1.0 / (3.0 - p)
        return r @ r, J * r, np.outer(J, J)

    found = levenberg_marquardt(evaluate, np.array([-30.0]), np.zeros((1, 1)), np.zeros(1), 0.0, iterations=60)
    assert 1.9 < found.theta[0] < 2.0


def test_a_network_descends_and_twice_alike(measured):
    loads, truth = measured
    settings = {"held_out": HELD_OUT, "epochs": 15, "batch": 5, "optimiser": optax.adam(3e-2)}
    found = [
        descend_response(problem(), [NetworkSpring(-0.1, 0.1, (4,), force=1e7)], loads, truth.sensors, **settings)
        for _ in range(2)
    ]
    nothing = nmse(problem(), [NetworkSpring(-0.1, 0.1, (4,), force=1e7)], loads, truth.sensors)
    assert found[0].nmse < 0.3 * nothing
    assert np.array_equal(parameters(found[0].laws)[0], parameters(found[1].laws)[0])


def test_bad_input_is_refused_before_anything_runs(measured):
    loads, truth = measured
    law = [CubicSpline(-0.1, 0.1, force=1e7)]
    broken = truth.sensors.copy()
    broken[2, 5, 1] = np.nan
    with pytest.raises(BadShape, match="sensor A3 of sample 2"):
        fit_response(problem(), law, loads, broken)
    with pytest.raises(BadShape, match="one column for each of A1, A3"):
        fit_response(problem(), law, loads, truth.sensors[..., :1])
    with pytest.raises(BadInput, match="too short"):
        fit_response(problem(), law, loads[:, :4], truth.sensors[:, :4])
    with pytest.raises(BadInput, match="too short"):
        fit_response(problem(), law, loads[:1, :30], truth.sensors[:1, :30])
    with pytest.raises(BadInput, match="never changes"):
        fit_response(problem(), law, loads, np.zeros_like(truth.sensors))
    with pytest.raises(BadInput, match="nothing to learn"):
        fit_response(problem(), [Curve(soft)], loads, truth.sensors)
    with pytest.raises(OutOfBounds, match="held_out"):
        fit_response(problem(), law, loads, truth.sensors, held_out=SAMPLES)
    with pytest.raises(OutOfBounds, match="held_out"):
        choose(problem(), {"spline": law}, loads, truth.sensors, held_out=0)
    with pytest.raises(OutOfBounds, match="batch"):
        descend_response(problem(), law, loads, truth.sensors, held_out=1, epochs=1, batch=64)
