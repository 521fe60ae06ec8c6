"""A whole loop under JAX: the response of the compiled run, and derivatives that are its central differences."""

from dataclasses import replace

import numpy as np
import pytest

from hyloop.core import Param, block
from hyloop.devices import LAWS, bilinear, bouc_wen, dashpot, friction_backlash, spring, variable_friction
from hyloop.errors import BadInput, OutOfBounds, UnknownName
from hyloop.integrators import (
    central_difference,
    cr,
    kr_alpha,
    mkr_alpha,
    newmark,
    newmark_explicit,
    stabilized_central_difference,
)
from hyloop.loop import FreeBlock, Loop, Site
from hyloop.structure import rayleigh, shear_frame
from hyloop.structure.elements import springs

jax = pytest.importorskip("jax", reason="JAX is not installed (extra: learn)")
jnp = jax.numpy

from hyloop.learn import differentiable  # noqa: E402

SAME = 1e-10  # of the peak of a channel: the order of sums differs, and a history adds up such differences
GRADIENT = 1e-6  # of the largest derivative over the logarithm of a parameter
ROUNDING = 1e-13  # of the loss, divided by the step: what a central difference of two sums cannot resolve
PURE = {name: law for name, law in LAWS.items() if law.pure}
METHODS = {
    "newmark_explicit": newmark_explicit(),
    "newmark_explicit_damped": newmark_explicit(gamma=0.6),
    "central_difference": central_difference(),
    "stabilized_central_difference": stabilized_central_difference(),
    "cr": cr(),
    "kr_alpha": kr_alpha(0.5),
    "mkr_alpha": mkr_alpha(0.75),
    "mkr_alpha_plain": mkr_alpha(0.75, form="plain"),
}
STEPS = {1: 240, 4: 120}  # by substeps
# values at which every parameter matters: a command on its way to what the driver gives, and one that is cut
TELLING = {
    "mr_damper": {"damper1.i": 0.8, "damper3.i": 1.5},
    "mr_eyring": {"damper1.i": 0.8, "damper3.i": 1.5},
    "variable_friction": {"damper1.N": 60e3, "damper1.tau": 0.05, "damper3.N": 120e3},
}
QUICKLY = {"xla_backend_optimization_level": 0}  # run once: time is better spent on the answer than on the code


def frame(stories=3):
    found = shear_frame([1e5] * stories, [4e7] * stories, heights=[3.0] * stories, gravity=[1e6 / stories] * stories)
    return found.with_damping(rayleigh(found, 0.03))


def ground(steps, dt):
    """A motion without symmetry, so that no device rests at a corner of its law."""
    t = np.arange(steps + 1) * dt
    return 6.0 * np.sin(19.0 * t + 0.3) * np.exp(-t) + 2.5 * np.sin(47.0 * t + 1.0) + 0.7 * np.cos(101.0 * t)


def loop_of(law, method, substeps, count=1.0, tick=1.0 / 1024.0):
    whole = frame()
    sites = [Site(f"damper{k}", whole.story(k), law(), count=count) for k in (1, 3)]
    return Loop(whole, sites, method=method, dt=substeps * tick, substeps=substeps)


def strength(law):
    """So many devices that they matter to the frame."""
    t = np.arange(1, 200) / 1024.0
    motion = {"d": 5e-3 * np.sin(30.0 * t), "v": 0.15 * np.cos(30.0 * t), "a": -4.5 * np.sin(30.0 * t)}
    force = law().drive(1.0 / 1024.0, **{key: motion[key] for key in law.inputs})["f"]
    return float(2e5 / np.abs(force).max())


def compare(loop, e, given=None, record=("u.*", "a.*", "damper*.[dvaf]", "drift.*", "a_abs.*", "base_shear", "ground")):
    """Response and gradient of a loop under JAX beside compiled runs; returns the gradient."""
    response = differentiable(loop, record=record)
    given = dict(response.parameters) | (given or {})
    run = loop.copy(given).run(e, derived=True)
    names = [name for name in response(given, e[:2]) if not name.startswith(("a.", "a_abs"))]
    weight = {name: 1.0 / max(np.sum(run[name] ** 2), 1e-30) for name in names if np.any(run[name])}

    def loss(values):
        found = response(values, e)
        return sum(w * jnp.sum(found[name] ** 2) for name, w in weight.items()), found

    slope, found = jax.jit(jax.grad(loss, has_aux=True), compiler_options=QUICKLY)(given)
    assert len(found) > len(weight) > 3
    for name, history in found.items():
        assert np.max(np.abs(history - run[name])) <= SAME * np.max(np.abs(run[name])), name

    def compiled(values):
        again = loop.copy(values).run(e, derived=True)
        return sum(w * np.sum(again[name] ** 2) for name, w in weight.items())

    base, checked = compiled(given), 0
    scale = max(abs(float(slope[name]) * value) for name, value in given.items())
    for name, value in given.items():
        size = abs(value) or 1.0
        bounds = loop.parts.bounds[name]
        errors = []
        for h in size * 10.0 ** -np.arange(4.0, 7.5 if value else 13.0):
            if value - h < bounds.low or value + h > bounds.high:
                continue
            difference = (compiled(given | {name: value + h}) - compiled(given | {name: value - h})) / (2.0 * h)
            allowed = GRADIENT * (scale / size if value else abs(difference)) + ROUNDING * base / h
            errors.append(abs(difference - float(slope[name])) / allowed)
        checked += bool(errors)  # none at a bound, where there is no difference to both sides
        assert not errors or min(errors) <= 1.0, f"{name}: {slope[name]} by JAX, {min(errors):.3g} of what is allowed"
    assert checked >= len(given) / 2
    return slope


@pytest.mark.slow
@pytest.mark.parametrize("name", PURE)
def test_every_pure_law(name):
    """Over some cycles, in which every parameter of the law matters."""
    loop = loop_of(PURE[name], mkr_alpha(0.75), 1, strength(PURE[name]), tick=1.0 / 256.0)
    slope = compare(loop, ground(STEPS[1], loop.dt), TELLING.get(name))
    told = {key.rpartition(".")[2] for key, value in slope.items() if value != 0.0}
    assert told == {key.rpartition(".")[2] for key in slope}, "some parameters change nothing here"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nonlinear_viscous", "variable_friction"])  # one that reads v, one with three states
def test_laws_at_controller_rate(name):
    loop = loop_of(PURE[name], mkr_alpha(0.75), 4, strength(PURE[name]))
    compare(loop, ground(STEPS[4], loop.dt))


@pytest.mark.slow
@pytest.mark.parametrize("substeps", [1, 4])
@pytest.mark.parametrize("name", METHODS)
def test_every_explicit_method(name, substeps):
    loop = loop_of(bilinear, METHODS[name], substeps)
    compare(loop, ground(STEPS[substeps], loop.dt), {"damper1.k": 1.7e7, "damper3.f_y": 7.3e4})


def same(loop, e, record=("*",), values=None, **options):
    found = differentiable(loop, record=record)(values or {}, e, **options)
    run = loop.copy(values).run(e, derived=True)
    for name, history in found.items():
        assert np.max(np.abs(history - run[name])) <= SAME * np.max(np.abs(run[name])), name
    return found


def test_all_channels_of_a_mixed_loop_at_rest_under_dead_load():
    """Several laws, shared parameters, counts, a dead load, a structure that runs sparse, and more excitations."""
    whole = frame(40)
    dead = np.linspace(1e3, 9e3, 40)
    whole = replace(whole, dead_load=dead, at_rest=np.linalg.solve(whole.K, dead))
    whole = replace(whole, loads=np.eye(40)[:, [4, 39]], load_names=("a", "b"))
    sites = [
        Site("one", whole.story(1), bilinear(f_y=2e4), count=2.0),
        Site("two", whole.story(2), bouc_wen()),
        Site("three", whole.story(3), bilinear(f_y=2e4), shares="one", physical=True),
        Site("four", whole.story(4), dashpot(c=2e5)),
    ]
    loop = Loop(whole, sites, method=mkr_alpha(0.75), dt=0.004)
    assert loop.parts.plan.sparse
    e = np.column_stack([ground(200, 0.004), 1e4 * ground(200, 0.003), 2e4 * ground(200, 0.005)])
    found = same(loop, e, values={"one.f_y": 1.3e4})
    assert set(found) == {n for n in loop.run(e, derived=True).names if not n.startswith("energy.")}


@block(inputs={"f": "N"}, outputs={"k": "N/m"}, params={"gain": Param("1/m", 3.0)}, state={"y": "N"}, reference="test")
def _follower(x, u, dt, p):
    y = x[0] + 20.0 * dt * (u[0] - x[0])
    return (1e7 + p[0] * y,), (y,)


@block(inputs={"u": "m", "t": "s"}, outputs={"d": "m"}, params={"share": Param("-", 0.1)}, reference="test")
def _leaning(x, u, dt, p):
    return (p[0] * u[0] * (1.0 + u[1]),), ()


def test_pure_blocks_that_hear_and_write_other_channels():
    """A block that overwrites a parameter, one that reads the motion and the time, and a device that hears it late."""
    whole = frame()
    sites = [
        Site("real", whole.story(1), bilinear(), physical=True),
        Site("model", whole.story(2), bilinear()),
        Site("far", whole.story(3), spring(k=4e6), wiring={"d": "lean.d"}),
    ]
    blocks = [
        FreeBlock("follow", _follower(), {"f": "real.f"}, {"k": "model.k"}),
        FreeBlock("lean", _leaning(), {"u": "u.3", "t": "t"}),
    ]
    loop = Loop(whole, sites, method=newmark_explicit(), dt=1 / 256, substeps=2, blocks=blocks)
    same(loop, ground(150, loop.dt), values={"follow.gain": 5.0, "real.f_y": 6e4})


def test_counts_and_excitation_have_derivatives():
    loop = loop_of(bouc_wen, newmark_explicit(), 1, count=2.0)
    response, e = differentiable(loop, record="drift.1"), ground(100, loop.dt)

    def loss(counts, e):
        return jnp.sum(response({}, e, {"damper1": counts})["drift.1"] ** 2) * 1e6

    by_count, by_e = jax.jit(jax.grad(loss, (0, 1)))(2.0, e)

    def compiled(count, e):
        whole = loop.replace(sites={"damper1": replace(loop.sites[0], count=count)})
        return np.sum(whole.run(e, derived=True)["drift.1"] ** 2) * 1e6

    h = 1e-4
    assert (compiled(2.0 + h, e) - compiled(2.0 - h, e)) / (2 * h) == pytest.approx(float(by_count), rel=GRADIENT)
    change = h * (np.arange(len(e)) == 40)
    difference = (compiled(2.0, e + change) - compiled(2.0, e - change)) / (2 * h)
    assert abs(difference - by_e[40]) <= GRADIENT * np.max(np.abs(by_e))


def test_one_row_is_the_start():
    loop = loop_of(bilinear, central_difference(), 1)
    found = same(loop, ground(0, loop.dt))
    assert len(found["u.1"]) == 1 and found["a.1"][0] != 0.0


def implicit():
    return loop_of(bilinear, newmark(), 1)


def written_in_place():
    whole = frame()
    sites = [Site("damper1", whole.story(1), bilinear()), Site("odd", whole.story(2), friction_backlash())]
    return Loop(whole, sites, method=cr(), dt=0.001)


def with_members():
    whole = frame().with_elements(springs(bilinear(), frame().story(1)))
    return Loop(whole, [], method=mkr_alpha(0.75), dt=0.005)


def too_large():
    whole = frame(201)
    return Loop(whole, [Site("damper1", whole.story(1), bilinear())], method=mkr_alpha(0.75), dt=0.005)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (implicit, r"newmark\(.*implicit.*mkr_alpha"),
        (written_in_place, "odd: friction_backlash.*pure"),
        (with_members, r"springs\(bilinear\).*sites"),
        (too_large, "201 degrees.*200"),
    ],
)
def test_what_cannot_be_represented_is_refused_by_name(make, text):
    with pytest.raises(BadInput, match=text):
        differentiable(make())


def test_wrong_names_and_values_are_refused():
    loop = loop_of(variable_friction, cr(), 1)
    with pytest.raises(UnknownName, match=r"damper2\.mu"):
        differentiable(loop, "damper2.mu")
    with pytest.raises(UnknownName, match=r"drift\.9"):
        differentiable(loop, record="drift.9")
    with pytest.raises(BadInput, match=r"energy\.\*.*compiled"):
        differentiable(loop, record="energy.*")
    with pytest.raises(BadInput, match="records nothing"):
        differentiable(loop, record=[])
    response, e = differentiable(loop, "*.mu"), ground(10, loop.dt)
    with pytest.raises(UnknownName, match=r"damper1\.k"):
        response({"damper1.k": 1.0}, e)
    with pytest.raises(OutOfBounds, match=r"damper1\.mu"):
        response({"damper1.mu": -1.0}, e)
    with pytest.raises(UnknownName, match="site"):
        response({}, e, {"damper7": 1.0})
    with pytest.raises(OutOfBounds, match="damper1"):
        response({}, e, {"damper1": 0.0})
    with pytest.raises(BadInput, match="one row"):
        response({}, np.zeros((5, 2)))
    with pytest.raises(BadInput, match="one row"):
        jax.jit(lambda e: response({}, e))(np.zeros((5, 2)))
    with jax.enable_x64(False), pytest.raises(BadInput, match="JAX_ENABLE_X64"):
        differentiable(loop)
