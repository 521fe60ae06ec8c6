"""Levenberg-Marquardt against closed forms, the classical test functions and MINPACK."""

import numpy as np
import pytest
from scipy.optimize import least_squares

from hyloop.core.levenberg_marquardt import Factors, Nielsen, cholesky, diagonal, identity, minimise, together

EXACT = 1e-10  # relative: a linear problem in one step, whose normal equations have a condition of a few hundred
MINPACK = 1e-6  # relative, of parameters: both stop where a step changes less
RULES = {"factors": lambda: Factors(1e-3), "cautious": lambda: Factors(1e-2, 4.0, 0.3, trust=0.25), "nielsen": Nielsen}


def fit(residuals, jacobian):
    """`cost` and `normal` of residuals with their derivatives."""

    def evaluate(theta):
        r, J = residuals(theta), jacobian(theta)
        return r @ r / 2, J.T @ r, J.T @ J

    return together(evaluate)


def rosenbrock():
    return fit(
        lambda t: np.array([10 * (t[1] - t[0] ** 2), 1 - t[0]]), lambda t: np.array([[-20 * t[0], 10.0], [-1.0, 0.0]])
    )


def powell_residuals(t):
    a, b, c, d = t
    return np.array([a + 10 * b, np.sqrt(5) * (c - d), (b - 2 * c) ** 2, np.sqrt(10) * (a - d) ** 2])


def powell_jacobian(t):
    a, b, c, d = t
    s = np.sqrt([5.0, 10.0])
    return np.array(
        [
            [1, 10, 0, 0],
            [0, 0, s[0], -s[0]],
            [0, 2 * (b - 2 * c), -4 * (b - 2 * c), 0],
            [2 * s[1] * (a - d), 0, 0, -2 * s[1] * (a - d)],
        ]
    )


@pytest.fixture
def line(rng):
    """A straight line through noisy points: J and y."""
    J = np.column_stack([np.ones(30), np.linspace(0, 3, 30)])
    return J, J @ [2.0, -1.0] + 0.1 * rng.normal(size=30)


@pytest.mark.parametrize("scaling", [identity, diagonal])
@pytest.mark.parametrize("solve", [cholesky, np.linalg.solve])
def test_a_linear_problem_takes_one_step_without_damping(line, scaling, solve):
    J, y = line
    cost, normal = fit(lambda t: J @ t - y, lambda t: J)
    found = minimise(cost, normal, np.zeros(2), Factors(1e-14), scaling=scaling, solve=solve, trials=1)
    assert found.theta == pytest.approx(np.linalg.lstsq(J, y)[0], rel=EXACT)
    assert (found.steps, found.trials) == (1, 1) and found.costs == pytest.approx([y @ y / 2, found.cost])


@pytest.mark.parametrize("scaling, D", [(identity, np.eye(2)), (diagonal, None)])
def test_the_damped_step_is_that_of_the_formula(line, scaling, D):
    J, y = line
    cost, normal = fit(lambda t: J @ t - y, lambda t: J)
    found = minimise(cost, normal, np.zeros(2), Factors(0.7), scaling=scaling, trials=1)
    D = np.diag(np.diag(J.T @ J)) if D is None else D
    assert found.theta == pytest.approx(np.linalg.solve(J.T @ J + 0.7 * D, J.T @ y), rel=EXACT)


def test_a_prior_is_ridge_regression(line):
    J, y = line
    centre, weight = np.array([1.0, 5.0]), np.array([3.0, 40.0])
    found = minimise(
        *fit(lambda t: J @ t - y, lambda t: J),
        np.zeros(2),
        Factors(1e-14),
        prior=lambda t: (weight @ (t - centre) ** 2 / 2, weight * (t - centre), np.diag(weight)),
        trials=1,
    )
    assert found.theta == pytest.approx(
        np.linalg.solve(J.T @ J + np.diag(weight), J.T @ y + weight * centre), rel=EXACT
    )
    r, off = J @ found.theta - y, found.theta - centre
    assert found.cost == pytest.approx(r @ r / 2)  # of the residuals alone
    assert found.costs[-1] == pytest.approx(r @ r / 2 + weight @ off**2 / 2)


@pytest.mark.parametrize("rule", RULES)
def test_rosenbrock_s_valley(rule):
    found = minimise(*rosenbrock(), np.array([-1.2, 1.0]), RULES[rule](), trials=100)
    assert found.theta == pytest.approx([1.0, 1.0], rel=1e-8)
    assert (np.diff(found.costs) <= 0).all() and found.costs[0] == pytest.approx(24.2 / 2)


@pytest.mark.parametrize("rule", RULES)
def test_powell_s_function_with_a_singular_jacobian_at_its_minimum(rule):
    """There the convergence is linear: every step halves the parameters along the valley."""
    found = minimise(
        *fit(powell_residuals, powell_jacobian), np.array([3.0, -1.0, 0.0, 1.0]), RULES[rule](), trials=100
    )
    assert np.abs(found.theta).max() < 1e-4 and found.cost < 1e-16
    assert found.costs[0] == pytest.approx(215.0 / 2)


def _decay(rng):
    t = np.linspace(0, 4, 60)
    y = 2.0 * np.exp(-1.3 * t) + 0.5 + 0.05 * rng.normal(size=60)
    return (
        lambda p: p[0] * np.exp(-p[1] * t) + p[2] - y,
        lambda p: np.column_stack([np.exp(-p[1] * t), -p[0] * t * np.exp(-p[1] * t), np.ones_like(t)]),
        np.array([1.0, 3.0, 0.0]),
    )


def _michaelis(rng):
    """Units apart by eight orders: what Marquardt's scaling is for."""
    s = np.geomspace(1e-6, 1e-3, 40)
    y = 50.0 * s / (2e-5 + s) * (1 + 0.02 * rng.normal(size=40))
    return (
        lambda p: p[0] * s / (p[1] + s) - y,
        lambda p: np.column_stack([s / (p[1] + s), -p[0] * s / (p[1] + s) ** 2]),
        np.array([10.0, 1e-4]),
    )


def _oscillation(rng):
    t = np.linspace(0, 6, 200)
    y = np.exp(-0.1 * t) * np.cos(3.0 * t) + 0.1 * rng.normal(size=200)
    return (
        lambda p: np.exp(-p[0] * t) * np.cos(p[1] * t) - y,
        lambda p: np.exp(-p[0] * t)[:, None] * np.column_stack([-t * np.cos(p[1] * t), -t * np.sin(p[1] * t)]),
        np.array([0.3, 2.8]),
    )


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("problem", [_decay, _michaelis, _oscillation])
def test_it_ends_where_minpack_does(problem, rule, rng):
    residuals, jacobian, start = problem(rng)
    theirs = least_squares(residuals, start, jacobian, method="lm", x_scale="jac", xtol=1e-14, ftol=1e-14, gtol=1e-14)
    ours = minimise(*fit(residuals, jacobian), start, RULES[rule](), trials=200, tolerance=1e-15)
    assert ours.converged and ours.trials < 200
    assert ours.theta == pytest.approx(theirs.x, rel=MINPACK)
    assert ours.cost == pytest.approx(theirs.cost, rel=1e-12)


@pytest.mark.parametrize(
    "rule, wanted", [(Factors(1e-6, 10.0), [1e-5, 1e-4, 1e-3]), (Nielsen(1e-6), [2e-6, 8e-6, 6.4e-5])]
)
def test_damping_grows_while_steps_climb(rule, wanted):
    """arctan x from afar: undamped steps overshoot ever more."""
    seen = []
    cost, normal = fit(np.arctan, lambda t: np.diag(1 / (1 + t**2)))
    start = np.array([20.0])
    minimise(cost, normal, start, rule, trials=3, watch=lambda trials, steps, c: seen.append((steps, rule.value)))
    assert [steps for steps, _ in seen] == [0, 0, 0]
    assert [value for _, value in seen] == pytest.approx(wanted)


def test_damping_falls_as_far_as_the_model_is_right():
    rule = Factors(1.0, 4.0, 0.3, trust=0.25, least=0.2)
    rule.accept(0.2, 1.0)
    assert rule.value == 1.0
    for wanted in (0.3, 0.2):
        rule.accept(0.3, 1.0)
        assert rule.value == wanted
    smooth = Nielsen(1.0, growth=16.0)
    smooth.accept(1.0, 1.0)
    assert (smooth.value, smooth.growth) == (1 / 3, 2.0)
    smooth.accept(0.5, 1.0)  # half of it: leave the damping as it is
    assert smooth.value == 1 / 3


def test_it_stops_where_nothing_helps():
    """At the minimum, with residuals that are not zero, every trial is refused until the damping is at its largest."""
    costs = []

    def cost(t):
        costs.append(float(t[0]))
        return (t[0] - 1.0) ** 2 / 2 + 1.0

    rule = Factors(1e-3)
    found = minimise(cost, lambda t: (np.array([1e-3]), np.eye(1)), np.ones(1), rule, largest=1e3)  # a wrong gradient
    assert found.theta == [1.0] and not found.converged and found.steps == 0
    assert found.trials == 6 == len(costs) - 1 and rule.value == pytest.approx(1e3)


def test_steps_to_nowhere_are_refused():
    def evaluate(p):  # not finite right of 2, where the first steps would lead
        r = np.log(3.0 - p) if p[0] < 2.0 else np.array([np.nan])
        J = -1.0 / (3.0 - p)
        return r @ r / 2, J * r, np.outer(J, J)

    found = minimise(*together(evaluate), np.array([-30.0]), Nielsen(), trials=60)
    assert 1.9 < found.theta[0] < 2.0 and np.isfinite(found.costs).all()


def test_a_start_that_is_not_finite_is_given_back():
    found = minimise(lambda t: np.nan, lambda t: (t, np.eye(1)), np.ones(1), Nielsen())
    assert np.isnan(found.cost) and found.theta == [1.0] and (found.trials, found.converged) == (0, False)


@pytest.mark.parametrize("curvature", [-np.eye(2), np.full((2, 2), np.nan)])
def test_equations_without_a_solution_raise_the_damping_and_end(curvature):
    rule = Factors(1e-3)
    found = minimise(lambda t: t @ t / 2 + 1, lambda t: (t, curvature), np.ones(2), rule, scaling=identity, largest=0.5)
    assert (found.trials, found.steps) == (0, 0) and rule.value == pytest.approx(1.0)


def test_steps_and_trials_are_counted_and_seen():
    seen = []
    found = minimise(
        *rosenbrock(),
        np.array([-1.2, 1.0]),
        Nielsen(),
        steps=4,
        watch=lambda trials, steps, c: seen.append((trials, c)),
    )
    assert found.steps == 4 and found.trials == len(seen) >= 4
    assert seen == [(k + 1, c) for k, c in enumerate(found.costs[1:])]
    assert minimise(*rosenbrock(), np.zeros(2), Nielsen(), steps=0).costs.tolist() == [0.5]


def test_normal_equations_are_asked_for_once_at_each_place():
    cost, normal = rosenbrock()
    places = []

    def counted(theta):
        places.append(tuple(theta))
        return normal(theta)

    found = minimise(cost, counted, np.array([-1.2, 1.0]), Factors(1e-3), steps=5)
    assert len(places) == len(set(places)) == found.steps
