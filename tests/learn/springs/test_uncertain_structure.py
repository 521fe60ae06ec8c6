"""Parts of a structure learned with its springs: derivatives, recovery, what cannot be known, intervals, refusals."""

import jax.numpy as jnp
import numpy as np
import pytest

from hyloop.errors import BadInput, BadShape, OutOfBounds
from hyloop.learn.springs.elastic import CubicSpline, Curve
from hyloop.learn.springs.hysteresis import StopOperators
from hyloop.learn.springs.operators import UncertainPart, with_factors
from hyloop.learn.springs.response_fit import fit_response, through
from hyloop.learn.springs.through_structure import UnknownSprings, prepare, with_structure
from hyloop.learn.springs.uncertainty import Uncertainty
from hyloop.learn.springs.unknowns import parameters
from hyloop.learn.springs.unmeasured_load import _linearised, fit_unmeasured
from hyloop.structure import Structure, rayleigh

pytestmark = pytest.mark.slow

DIFFERENCES = 1e-6  # of the largest entry: error of central differences through 40 steps
STEP = 1e-5  # of central differences
ROUND_OFF = 1e-12  # relative: the same operators by NumPy and by JAX, from solving with three unknowns
RECOVERED = 1e-3  # of a factor without noise; what is left is the spline's, sixteen intervals for a curve with a bend
CURVE = 5e-3  # of the largest force, on average, from the same
NEAR = 4.0  # deviations: what a right interval misses once in 16 000 times
STIFF, STRENGTH, STEPS, SAMPLES, SPREAD = 4e8, 1.2e7, 96, 6, 0.05
NOISE = 0.05  # of the average deviation of the sensors
RUNS = 12
COVERED = 1.0, 0.45  # mean square of errors over deviations: 72 factors of 12 runs give 1 ± 0.17, with a margin


def soft(d):
    return STIFF * d / jnp.sqrt(1 + (STIFF * d / STRENGTH) ** 2)


def line(d):
    return 1e8 * d


def story(i):
    g = np.zeros(3)
    g[i] = 1.0
    if i:
        g[i - 1] = -1.0
    return STIFF * np.outer(g, g)


def problem(**settings):
    masses = Structure(np.full(3, 1e6), sum(story(i) for i in range(3)), loads=np.eye(3)[:, 2:])
    structure = masses.with_damping(rayleigh(masses, 0.02))
    sensors = {f"A{i}": ("a", str(i)) for i in (1, 2, 3)}
    return UnknownSprings(structure, [structure.between("1")], sensors, 0.01, stiffness=STIFF, **settings)


def parts(*names):
    """K as a whole, single stories, floors, damping and the scale of the load."""
    known = problem().structure
    made = {f"k{i + 1}": UncertainPart(f"k{i + 1}", SPREAD, K=story(i)) for i in range(3)}
    made |= {f"m{i + 1}": UncertainPart(f"m{i + 1}", SPREAD, M=np.diag(1e6 * np.eye(3)[i])) for i in range(3)}
    made["K"] = UncertainPart("K", SPREAD, K=known.K)
    made["C"] = UncertainPart("C", SPREAD, C=known.C)
    made["load"] = UncertainPart("load", SPREAD, loads=known.loads)
    return [made[name] for name in names]


def spline():
    return [CubicSpline(-0.12, 0.12, 16, force=1e7)]


def loads_of(samples=SAMPLES, seed=7):
    return 3e7 * np.random.default_rng(seed).normal(size=(samples, STEPS, 1))


def readings(chosen, z, loads, noise=0.0, seed=1, law=soft):
    """Of a structure with other factors; z counts in deviations."""
    y = with_structure(problem(), chosen, z).simulate([Curve(law)], loads).sensors
    level = noise * np.sqrt(np.mean(np.var(y, axis=(0, 1))))
    return y + level * np.random.default_rng(seed).normal(size=y.shape), level


def curve_error(learned):
    d = np.linspace(*learned.coverage[0], 101)
    force, _ = learned.uncertainty.curve(d)
    return np.mean(np.abs(force - soft(d))) / np.abs(soft(d)).max()


@pytest.mark.parametrize("tangent", [True, False])
def test_operators_at_other_factors_are_those_of_the_other_structure(tangent):
    chosen, z = parts("k2", "m1", "C", "load"), np.array([0.7, -1.2, 2.0, 0.4])
    ours = problem(tangent=tangent).assembly(chosen).operators(jnp.asarray(z))
    theirs = with_structure(problem(tangent=tangent), chosen, z).operators()
    changed = problem(tangent=tangent).operators()
    for name, one, other in zip(ours._fields, ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=ROUND_OFF, atol=ROUND_OFF * np.abs(other).max(), err_msg=name)
    assert np.abs(np.asarray(ours.h2AK) - changed.h2AK).max() > 1e-2 * np.abs(changed.h2AK).max()
    built = with_factors(problem().structure, chosen, z)
    assert built.M[0, 0] == pytest.approx(1e6 * (1 - 1.2 * SPREAD), rel=1e-12)
    assert built.K[2, 1] == -STIFF and built.K[1, 0] == pytest.approx(-STIFF * (1 + 0.7 * SPREAD), rel=1e-12)


def test_gradients_of_springs_and_parts_equal_differences(rng):
    chosen, law = parts("k2", "m3", "C", "K", "load"), CubicSpline(-0.16, 0.16, 8, force=1e7)
    asked, steps = problem(substeps=2), 40
    theta = np.append(np.asarray(parameters([law])[0]), np.zeros(len(chosen)))
    theta = theta + 0.3 * rng.normal(size=theta.size)
    target, force = jnp.asarray(0.1 * rng.normal(size=(steps, 2, 3))), prepare(loads_of(2)[:, :steps], 2)
    assembly, weight = asked.assembly(chosen), jnp.array([1.0, 3.0, 2.0])

    def squares(theta):
        return through(jnp.asarray(theta), [law], assembly, force, target, weight, jnp.asarray(steps))

    gradient = np.asarray(squares(theta)[1])
    differences = [float(squares(theta + e)[0] - squares(theta - e)[0]) / (4 * STEP) for e in STEP * np.eye(len(theta))]
    assert np.abs(gradient[-len(chosen) :]).min() > 1e-3 * np.abs(gradient).max()
    np.testing.assert_allclose(gradient, differences, atol=DIFFERENCES * np.abs(gradient).max())


def test_known_factors_are_found_and_the_curve_with_them():
    chosen, z = parts("K", "m1", "m2", "m3", "C"), np.array([1.0, -0.8, 0.5, 0.9, -1.0])
    loads = loads_of()
    y, _ = readings(chosen, z, loads)
    learned = fit_response(problem(), spline(), loads, y, uncertain=chosen)
    supposed = fit_response(problem(), spline(), loads, y)
    for part, true in zip(chosen, 1 + SPREAD * z, strict=True):
        if part.name != "C":  # damping is a hundredth of the forces, and known less well
            assert learned.uncertainty.factors[part.name].value == pytest.approx(true, abs=RECOVERED), part.name
    assert curve_error(learned) < CURVE
    assert curve_error(supposed) > 5 * CURVE
    assert learned.problem.structure.M[0, 0] == pytest.approx(1e6 * (1 - 0.8 * SPREAD), rel=RECOVERED)
    assert supposed.problem.structure.M[0, 0] == 1e6


def test_what_stands_beside_the_spring_stays_where_it_was_believed():
    """Only the sum of the story and the spring in parallel is known, and that well."""
    chosen, z = parts("k1", "k2"), np.array([1.0, 1.0])
    loads = loads_of()
    y, _ = readings(chosen, z, loads, NOISE, law=line)
    learned = fit_response(problem(), spline(), loads, y, uncertain=chosen)
    k1, k2 = (learned.uncertainty.factors[name] for name in ("k1", "k2"))
    assert k1.value == pytest.approx(1.0, abs=0.1 * SPREAD)
    assert k1.deviation == pytest.approx(SPREAD, rel=0.02) and k1.learned < 0.04
    assert k2.value == pytest.approx(1 + SPREAD, abs=NEAR * k2.deviation) and k2.learned > 0.9
    d = np.linspace(*learned.coverage[0], 31)
    force, spread = learned.uncertainty.curve(d)
    both, of_both = learned.uncertainty.of(
        lambda laws, factors: jnp.stack([laws[0](laws[0].rest(), one)[0] for one in d]) + factors["k1"] * STIFF * d
    )
    outer = np.abs(d) > 0.04
    # the force is off by what the story is, within its deviation; the sum is not
    np.testing.assert_allclose((force - line(d))[outer] / d[outer], SPREAD * STIFF, rtol=0.2)
    assert (np.abs(force - line(d)) < NEAR * spread + 1.0).all()
    assert (np.abs(both - line(d) - (1 + SPREAD) * STIFF * d) < NEAR * of_both + 1.0).all()
    assert (of_both[outer] < 0.2 * spread[outer]).all()


def test_the_scale_of_the_load_is_that_of_everything_else():
    """Readings stay the same when loads, masses, damping, stiffness and spring grow alike: the prior shares it out."""
    chosen, loads = parts("K", "m1", "m2", "m3", "C", "load"), loads_of()
    y, _ = readings(chosen, np.zeros(6), loads)
    found = fit_response(problem(), spline(), loads, y, uncertain=chosen).uncertainty
    # K, three masses and C bind the scale, each within SPREAD, beside the load's own: SPREAD/sqrt(6)
    assert found.factors["load"].deviation == pytest.approx(SPREAD / np.sqrt(6), rel=0.1)
    assert found.factors["m1"].deviation == pytest.approx(SPREAD / np.sqrt(6), rel=0.1)
    loose = fit_response(problem(), spline(), loads, y, uncertain=parts("K", "m1", "m2", "m3", "C")).uncertainty
    assert loose.factors["m1"].deviation < 0.1 * found.factors["m1"].deviation


def test_intervals_hold_what_they_promise():
    """Monte Carlo: factors drawn from the prior, noise drawn anew; a line, which the prior of the spline allows for."""
    chosen, errors, curves = parts("K", "m1", "m2", "m3", "C", "k3"), [], []
    for run in range(RUNS):
        z = np.random.default_rng([11, run]).normal(size=len(chosen))
        loads = loads_of(seed=[12, run])
        y, _ = readings(chosen, z, loads, NOISE, [13, run], line)
        learned = fit_response(problem(), spline(), loads, y, uncertain=chosen)
        factors = learned.uncertainty.factors.values()
        errors += [(f.value - 1 - SPREAD * one) / f.deviation for f, one in zip(factors, z, strict=True)]
        d = np.linspace(*(0.8 * learned.coverage[0]), 9)
        force, spread = learned.uncertainty.curve(d)
        curves += list(((force - line(d)) / np.maximum(spread, 1.0))[d != 0.0])
    assert np.mean(np.square(errors)) == pytest.approx(COVERED[0], abs=COVERED[1])
    # nine forces of one curve go together, so twelve curves say less: no more than twice the variance promised
    assert 0.3 < np.mean(np.square(curves)) < 2.0


def test_equations_without_the_load_are_those_of_the_whole(rng):
    """Gauss-Newton with all unknowns at once, from one Jacobian by differences, has the same step and curvature."""
    law, steps = CubicSpline(-0.16, 0.16, 4, force=1e7), 12
    asked, theta = problem(), 0.1 * rng.normal(size=7)
    y, q = 0.1 * rng.normal(size=(1, steps, 3)), rng.normal(size=(1, steps, 1))
    weight, deviation, believed = np.array([1.0, 2.0, 3.0]), np.array([2e7]), np.zeros((1, steps, 1))

    def residuals(x):
        (changed,) = (parameters([law])[1](x[:7])[0],)
        simulated = asked.simulate([changed], deviation * x[7:].reshape(1, steps, 1)).sensors
        return np.append((weight * (simulated - y)).ravel(), x[7:])

    x = np.append(theta, q.ravel())
    r = residuals(x)
    J = np.stack([(residuals(x + e) - residuals(x - e)) / (2 * STEP) for e in STEP * np.eye(len(x))], axis=1)
    whole = J.T @ J
    step = -np.linalg.solve(whole + np.eye(len(x)) * (np.arange(len(x)) < 7), J.T @ r)
    data = (jnp.asarray(part) for part in (believed, y, weight, deviation, q))
    found = _linearised(jnp.asarray(theta), [law], asked.assembly(), 1, *data)
    gradient, curvature = np.asarray(found.gradient[0]), np.asarray(found.curvature[0])
    assert float(found.cost[0]) == pytest.approx(r @ r, rel=1e-9)
    ours = -np.linalg.solve(curvature + np.eye(7), gradient)
    np.testing.assert_allclose(ours, step[:7], atol=1e-5 * np.abs(step[:7]).max())
    alone = np.linalg.solve(whole[7:, 7:], (J.T @ r)[7:])
    np.testing.assert_allclose(np.asarray(found.q).ravel(), x[7:] - alone, atol=1e-5 * np.abs(alone).max())


def test_springs_are_found_without_the_load_and_the_load_with_them():
    loads = loads_of(8)
    y, level = readings([], [], loads, NOISE, law=line)
    learned, found = fit_unmeasured(problem(), spline(), y, noise=level, load_deviation=3e7)
    d = np.linspace(*(0.8 * learned.coverage[0]), 21)
    force, spread = learned.uncertainty.curve(d)
    assert np.mean(np.abs(force - line(d))) < 0.03 * np.abs(line(d)).max()
    assert (np.abs(force - line(d)) < NEAR * spread + 1.0).all()
    inner = slice(0, STEPS - 2)  # the last readings do not feel the last load
    assert np.std((found - loads)[:, inner]) < 0.1 * np.std(loads)


def test_bad_input_is_refused_with_advice():
    K = problem().structure.K
    with pytest.raises(OutOfBounds, match="Leave out a part that is known exactly"):
        UncertainPart("k", 0.0, K=K)
    with pytest.raises(OutOfBounds, match=r"0\.05 for 5 %"):
        UncertainPart("k", 5.0, K=K)
    with pytest.raises(BadInput, match="Give it M, C, K or loads"):
        UncertainPart("k", 0.05)
    with pytest.raises(BadInput, match="Give it M, C, K or loads"):
        UncertainPart("k", 0.05, K=np.zeros((3, 3)))
    with pytest.raises(BadShape, match="UncertainPart k: K must be"):
        problem().assembly([UncertainPart("k", 0.05, K=np.eye(2))])
    with pytest.raises(BadShape, match="UncertainPart P: loads must be"):
        problem().assembly([UncertainPart("P", 0.05, loads=np.ones((3, 2)))])
    with pytest.raises(BadInput, match="different names"):
        problem().assembly(2 * parts("K"))
    with pytest.raises(BadInput, match="no structure has the factors m1 -"):
        with_factors(problem().structure, parts("m1"), [-30.0])
    hysteretic = Uncertainty([StopOperators(-0.1, 0.1, 4, force=1e7, finest=1e-3)], [], [], np.eye(5))
    with pytest.raises(BadInput, match="has a memory"):
        hysteretic.curve([0.0])
    with pytest.raises(OutOfBounds, match="spring = 1 does not exist"):
        hysteretic.curve([0.0], 1)
    loads = loads_of(2)
    y, _ = readings([], [], loads)
    with pytest.raises(BadInput, match="smaller load on a smaller structure"):
        fit_unmeasured(problem(), spline(), y, noise=0.1, load_deviation=1e7, uncertain=parts("K"))
    with pytest.raises(BadInput, match=r"noise = 0\.0 must be positive"):
        fit_unmeasured(problem(), spline(), y, noise=0.0, load_deviation=1e7)
    with pytest.raises(BadShape, match="load_deviation must be one number, or 1"):
        fit_unmeasured(problem(), spline(), y, noise=0.1, load_deviation=[1e7, 1e7])
    one = UnknownSprings(problem().structure, problem().along, {"A1": ("a", "1")}, 0.01, stiffness=STIFF)
    with pytest.raises(BadInput, match="more sensors than load patterns"):
        fit_unmeasured(one, spline(), y[..., :1], noise=0.1, load_deviation=1e7)
