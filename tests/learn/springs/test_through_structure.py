"""A structure with springs under JAX: the same history as the loop, derivatives as by differences, refused input."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from analytic import observed_orders
from scipy.integrate import solve_ivp
from scipy.interpolate import BSpline

from hyloop import Loop, Site
from hyloop.devices import bilinear, bouc_wen, brfd_gap_slip, lugre, spring
from hyloop.errors import BadInput, BadShape, OutOfBounds, UnknownName
from hyloop.integrators import stabilized_central_difference
from hyloop.learn.springs.elastic import BrokenLine, CubicSpline, Curve, NetworkSpring, spline
from hyloop.learn.springs.hysteresis import KnownLaw, LearnedSlope, NetworkReturn, StopOperators
from hyloop.learn.springs.response_fit import through
from hyloop.learn.springs.through_structure import UnknownSprings, prepare
from hyloop.learn.springs.unknowns import parameters
from hyloop.structure import Structure, rayleigh

pytestmark = pytest.mark.slow

ROUND_OFF = 1e-11  # of the largest displacement: 300 steps of sums in another order
DIFFERENCES = 1e-6  # of the largest entry: error of central differences through 40 steps
STEP = 1e-5  # of central differences
STIFF, STRENGTH, DT, STEPS = 4e8, 1.2e7, 0.01, 300


def soft(d):
    return STIFF * d / jnp.sqrt(1 + (STIFF * d / STRENGTH) ** 2)


def chain():
    K = STIFF * np.array([[2.0, -1, 0], [-1, 2, -1], [0, -1, 1]])
    masses = Structure(np.full(3, 1e6), K, loads=np.eye(3)[:, 2:], influence=np.zeros(3))
    return masses.with_damping(rayleigh(masses, 0.02))


def problem(**settings):
    structure = chain()
    sensors = settings.pop("sensors", {"A1": ("a", "1"), "U3": ("u", "3"), "V2": ("v", "2")})
    return UnknownSprings(structure, [structure.between("1")], sensors, DT, **{"stiffness": STIFF} | settings)


@pytest.mark.parametrize(
    ("device", "law"),
    [
        (spring(k=STIFF), Curve(lambda d: STIFF * d)),
        (bilinear(k=STIFF, alpha=0.1, f_y=2e6), KnownLaw(bilinear(k=STIFF, alpha=0.1, f_y=2e6))),
    ],
    ids=["linear", "bilinear"],
)
def test_the_history_is_that_of_the_loop(device, law, rng):
    """With the added mass of the initial stiffness, which the loop keeps; a linear spring has no other."""
    loads = 1.5e7 * rng.normal(size=(STEPS, 1))
    structure = chain()
    site = Site("base", structure.between("1"), device)
    loop = Loop(structure, [site], method=stabilized_central_difference(), dt=DT)
    theirs = loop.run(np.column_stack([np.zeros(STEPS), loads]))
    for tangent in (False, True) if device.block is spring else (False,):
        ours = problem(tangent=tangent).simulate([law], loads)
        for key in "uva":
            for i in range(3):
                other = theirs[f"{key}.{i + 1}"]
                apart = np.abs(getattr(ours, key)[0, :, i] - other).max()
                assert apart < ROUND_OFF * np.abs(other).max(), (tangent, key, i)
        np.testing.assert_allclose(ours.f[0, :, 0], theirs["base.f"], atol=1e-9 * np.abs(ours.f).max())


def test_second_order_towards_an_independent_integration():
    structure = chain()
    M, C, K, end = structure.M, structure.C, structure.K, 1.28

    def rate(t, x):
        f = np.array([float(STIFF * x[0] / np.sqrt(1 + (STIFF * x[0] / STRENGTH) ** 2)), 0.0, 0.0])
        load = np.array([0.0, 0.0, 2e7 * (1 - t / end)])
        return np.concatenate([x[3:], np.linalg.solve(M, load - C @ x[3:] - K @ x[:3] - f)])

    path = solve_ivp(rate, (0, end - 0.16), np.zeros(6), method="DOP853", rtol=1e-11, atol=1e-13).y[:3]
    exact = path[:, -1]
    # a straight line of load, so that the substeps see it exactly
    loads = (2e7 * (1 - np.arange(9) / 8))[:, None]
    substeps, errors = [16, 32, 64, 128], []
    for m in substeps:
        coarse = UnknownSprings(structure, [structure.between("1")], {"A1": ("a", "1")}, 0.16, m, STIFF)
        errors.append(np.abs(coarse.simulate([Curve(soft)], loads).u[0, 7] - exact).max())
    assert errors[-1] < 1e-3 * np.abs(path).max()
    assert observed_orders([1 / m for m in substeps], errors)[-1] == pytest.approx(2.0, abs=0.1)


LAWS = {
    "spline": lambda: CubicSpline(-0.16, 0.16, 8, force=1e7),
    "broken line": lambda: BrokenLine(-0.16, 0.16, 3, force=1e7),
    "network": lambda: NetworkSpring(-0.16, 0.16, (3,), force=1e7),
    "stops": lambda: StopOperators(-0.16, 0.16, 4, force=7e6, finest=1e-3),
    "slope": lambda: LearnedSlope(6, force=2.5e6, yielding=5e-3),
    "return": lambda: NetworkReturn(-0.16, 0.16, (2,), force=7e6, finest=1e-2, relu=False),
}


@pytest.mark.parametrize("kind", LAWS)
def test_gradients_through_the_structure_equal_differences(kind, rng):
    law = LAWS[kind]()
    asked, steps = problem(substeps=2), 40
    loads = 1.5e7 * rng.normal(size=(2, steps, 1))
    theta, _ = parameters([law])
    theta = np.asarray(theta) + 0.1 * rng.normal(size=theta.size)
    target = jnp.asarray(1e-1 * rng.normal(size=(steps, 2, 3)))
    force, ops, n = prepare(loads, 2), asked.assembly(), jnp.asarray(steps)
    weight = jnp.array([1.0, 10.0, 2.0])

    def squares(theta):
        return through(jnp.asarray(theta), [law], ops, force, target, weight, n)

    gradient = np.asarray(squares(theta)[1])  # half of the derivative of the sum of squares
    differences = [float(squares(theta + e)[0] - squares(theta - e)[0]) / (4 * STEP) for e in STEP * np.eye(len(theta))]
    assert np.abs(gradient).max() > 0.0
    np.testing.assert_allclose(gradient, differences, atol=DIFFERENCES * np.abs(gradient).max())


def test_derivatives_of_the_spline_are_those_of_scipy(rng):
    c = rng.normal(size=11)
    theirs = BSpline(np.arange(-3.0, 12.0), c, 3)
    t = np.linspace(0.01, 7.99, 40)  # no knot among them, where the third derivative jumps
    ours = lambda t: spline(jnp.asarray(c), t)  # noqa: E731
    for order in range(4):
        np.testing.assert_allclose(
            jax.jit(jax.vmap(ours))(t), theirs.derivative(order)(t) if order else theirs(t), atol=1e-12 * 10**order
        )
        ours = jax.grad(ours)


@eqx.filter_jit
def _curve(law, d):
    return jax.vmap(lambda d: law(law.rest(), d)[0])(d)


@pytest.mark.parametrize("kind", ["spline", "broken line", "network"])
def test_beyond_its_reach_a_spring_does_not_fall(kind, rng):
    law = LAWS[kind]()
    theta, put = parameters([law])
    for _ in range(5):
        (law,) = put(np.asarray(theta) + rng.normal(size=theta.size))
        law = law.within(-0.1, 0.05)
        d = jnp.linspace(-1.0, 1.0, 401)
        f = np.asarray(_curve(law, d))
        low, high = np.asarray(law.reach)
        assert -0.16 <= low <= -0.1 and 0.05 <= high < 0.1
        outside = (np.asarray(d)[:-1] > high) | (np.asarray(d)[1:] < low)
        assert (np.diff(f)[outside] >= -1e-6).all()
        assert f[200] == pytest.approx(0.0, abs=1e-6)  # at rest


def test_a_law_of_hyloop_is_itself(rng):
    d = 0.02 * rng.normal(size=200)
    instance = bouc_wen(k=STIFF, d_y=5e-3)
    law = KnownLaw(instance)
    f = jax.jit(lambda d: jax.lax.scan(lambda x, d: law(x, d)[::-1], law.rest(), d)[1])(d)
    np.testing.assert_allclose(f, instance.drive(DT, d=d)["f"], rtol=1e-12, atol=1e-3)


def test_bad_input_is_refused_with_advice():
    with pytest.raises(UnknownName, match="unknown degree of freedom 'roof'"):
        problem(sensors={"A": ("a", "roof")})
    with pytest.raises(UnknownName, match="unknown kind of sensor 'strain'"):
        problem(sensors={"A": ("strain", "1")})
    with pytest.raises(BadInput, match="no sensors"):
        problem(sensors={})
    with pytest.raises(OutOfBounds, match="substeps"):
        problem(substeps=0)
    with pytest.raises(BadShape, match="2 laws for 1 springs"):
        problem().simulate([Curve(soft), Curve(soft)], np.zeros((10, 1)))
    with pytest.raises(BadShape, match="loads must be"):
        problem().simulate([Curve(soft)], np.zeros((10, 2)))
    with pytest.raises(BadShape, match="loads of sample 1"):
        problem().simulate([Curve(soft)], np.where(np.arange(3)[:, None, None] == 1, np.nan, np.zeros((3, 10, 1))))
    with pytest.raises(BadInput, match="choose a law that reads d alone"):
        KnownLaw(lugre())
    with pytest.raises(BadInput, match="reads d, v"):
        KnownLaw(brfd_gap_slip())
    with pytest.raises(OutOfBounds, match="below zero to above"):
        CubicSpline(0.0, 0.1, force=1.0)
    with pytest.raises(OutOfBounds, match="force"):
        BrokenLine(-0.1, 0.1, force=0.0)
    with pytest.raises(OutOfBounds, match="thresholds"):
        StopOperators(-0.1, 0.1, force=1.0, finest=0.2)
