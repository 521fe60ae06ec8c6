"""What every law must satisfy, whatever it describes; laws are found, not listed."""

import importlib
import pkgutil
import re
from functools import cache

import numpy as np
import pytest

import hyloop.devices
from hyloop.core.block import Block, Instance
from hyloop.devices.prandtl_ishlinskii import prandtl_ishlinskii
from hyloop.errors import BadInput

SAME_ARITHMETIC = 1e-12  # of the peak: compilers reorder and contract sums, and a history adds up such differences
GRADIENT = 1e-5  # of the largest entry: truncation of central differences at the steps below
DIFFERENCE_NOISE = 1e-13  # of the loss, divided by the step: rounding of a difference of two sums
QUADRATURE = 1e-4  # of peak force times peak deformation: trapezoids over a sampled loop with corners
RESAMPLED = 2e-3  # of the peak: laws that integrate along the increment do so to their own order

AMPLITUDES = (1e-4, 1e-3, 1e-2, 5e-2)  # m, from below to far beyond the yield deformations of all defaults
TICK = 1.0 / 1024.0  # s, at which every law is meant to be usable
SAMPLES = 300


def every_block() -> list[Block]:
    found = {}
    for info in pkgutil.walk_packages(hyloop.devices.__path__, hyloop.devices.__name__ + "."):
        for value in vars(importlib.import_module(info.name)).values():
            if isinstance(value, Block):
                found[value.name] = value
    made = prandtl_ishlinskii(8)
    return [*(found[name] for name in sorted(found)), made]


BLOCKS = every_block()
PURE = [block for block in BLOCKS if block.pure]


def each(blocks):
    return pytest.mark.parametrize("block", blocks, ids=lambda block: block.name)


def history(seed: int, amplitude: float, count: int = SAMPLES, periods: int = 1) -> dict[str, np.ndarray]:
    """d, v and a of a random periodic motion, `count` ticks in a period, that starts from zero deformation."""
    rng = np.random.default_rng(seed)
    t = np.arange(1, count * periods + 1) * TICK
    w = 2.0 * np.pi * np.arange(1, 5)[:, None] / (count * TICK)
    phase = rng.uniform(0.0, 2.0 * np.pi, (4, 1))
    size = rng.uniform(0.0, 1.0, (4, 1))
    d = np.sum(size * (np.sin(w * t + phase) - np.sin(phase)), axis=0)
    scale = amplitude / np.max(np.abs(d))
    v = np.sum(size * w * np.cos(w * t + phase), axis=0)
    a = -np.sum(size * w**2 * np.sin(w * t + phase), axis=0)
    return {"d": scale * d, "v": scale * v, "a": scale * a}


def signals(block: Block, motion: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {key: motion[key] for key in block.inputs}


def plain(instance: Instance, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The law run by Python itself, sample by sample."""
    block = instance.block
    x = np.array(list(instance.initial.values()))
    p = np.array(list(instance.params.values()))
    rows = []
    for u in np.column_stack(list(inputs.values())):
        outputs, x = block.function(x, u, TICK, p)
        rows.append((*outputs, *x))
    return dict(zip([*block.outputs, *block.state], np.array(rows).T, strict=True))


@cache
def differentiated(block: Block):
    """Compiled gradient of the sum of a y + b y² over all outputs y, with respect to parameters and inputs."""
    jax = pytest.importorskip("jax", reason="JAX is not installed (extra: learn)")
    from hyloop.learn.laws.jax_law import rollout

    roll = rollout(block)

    def loss(p, u, x, a, b):
        y = roll(x, u, TICK, p)[0]
        return jax.numpy.sum(a * y + b * y**2)

    # run a few times only, so time is better spent on the answer than on optimising the code
    return jax.jit(jax.grad(loss, (0, 1)), compiler_options={"xla_backend_optimization_level": 0})


@each(BLOCKS)
def test_declaration_is_complete(block):
    assert next(iter(block.outputs.items())) == ("f", "N"), "the first output is the force"
    assert set(block.inputs) <= {"d", "v", "a"}
    assert all([*block.inputs.values(), *block.outputs.values(), *block.state.values()]), "a signal has no unit"
    for name, spec in block.params.items():
        assert spec.unit, f"{name} has no unit"
        assert spec.about, f"{name} is not described"
        assert spec.low <= spec.default <= spec.high, f"{name}: default outside its bounds"
    assert "math::" in block.doc, "the docstring has no equation"
    assert re.search(r"doi:10\.\d{4,}/\S+|\(\d{4}\)", block.reference), "the reference has neither DOI nor year"
    assert block.flags <= {"passive", "rate-independent"}


@each(BLOCKS)
def test_lengths_match_the_declared_names(block):
    instance = block()
    x = np.array(list(instance.initial.values()))
    p = np.array(list(instance.params.values()))
    u = np.full(len(block.inputs), 1e-3)
    if block.pure:
        outputs, new = block.function(x, u, 1e-3, p)
        assert len(outputs) == len(block.outputs)
        assert len(new) == len(block.state)
    else:
        y = np.full(len(block.outputs), np.nan)
        block.function(x, u, 1e-3, p, y)
        assert np.all(np.isfinite(y)), "an output is never written"
        assert np.all(np.isfinite(x))
    assert len(x) == len(block.state)
    assert np.isfinite(instance.stiffness)
    assert np.isfinite(instance.damping)


@pytest.mark.slow
@each(PURE)
def test_python_numba_and_jax_agree(block):
    pytest.importorskip("jax", reason="JAX is not installed (extra: learn)")
    from hyloop.learn.laws.jax_law import jax_drive

    # not the largest: 50 mm in a period this short is 3 mm a tick, where stiff laws amplify rounding
    for seed, amplitude in enumerate(AMPLITUDES[:3] * 2):
        inputs = signals(block, history(seed, amplitude))
        numba = block().drive(TICK, **inputs)
        python = plain(block(), inputs)
        jax = jax_drive(block(), TICK, **inputs)
        for name, expected in numba.items():
            peak = np.max(np.abs(expected))
            assert np.max(np.abs(python[name] - expected)) <= SAME_ARITHMETIC * peak, f"Python, {name}"
            assert np.max(np.abs(np.asarray(jax[name]) - expected)) <= SAME_ARITHMETIC * peak, f"JAX, {name}"


@pytest.mark.slow
@each(PURE)
@pytest.mark.parametrize("amplitude", [2e-3, 2e-2])
def test_gradients_equal_differences_of_the_compiled_law(block, amplitude):
    inputs = signals(block, history(11, amplitude))
    instance = block()
    run = instance.drive(TICK, **inputs)
    weight = np.array([1.0 / np.sum(run[key] ** 2) for key in block.outputs])
    x = np.array(list(instance.initial.values()))
    p = np.array(list(instance.params.values()))
    u = np.column_stack(list(inputs.values()))
    by_p, by_u = (np.asarray(g) for g in differentiated(block)(p, u, x, 0.0, weight))

    def loss(p, u):
        made = Instance(block, dict(zip(block.params, p, strict=True)), instance.initial)
        run = made.drive(TICK, **dict(zip(block.inputs, u.T, strict=True)))
        return sum(weight[i] * np.sum(run[key] ** 2) for i, key in enumerate(block.outputs))

    base = loss(p, u)
    for i, name in enumerate(block.params):
        # a parameter that is zero has no scale of its own, so several steps are tried and the best one counts
        steps = [1e-6 * abs(p[i])] if p[i] else [10.0**-e for e in range(3, 13)]
        errors = []
        for h in steps:
            change = h * (np.arange(len(p)) == i)
            difference = (loss(p + change, u) - loss(p - change, u)) / (2.0 * h)
            errors.append(abs(difference - by_p[i]) - GRADIENT * abs(by_p[i]) - DIFFERENCE_NOISE * base / h)
        assert min(errors) <= 0.0, f"parameter {name}: {by_p[i]} by JAX"
    for j, name in enumerate(block.inputs):
        h = 1e-6 * np.max(np.abs(u[:, j]))
        difference = np.empty(len(u))
        for i in range(len(u)):
            change = np.zeros_like(u)
            change[i, j] = h
            difference[i] = (loss(p, u + change) - loss(p, u - change)) / (2.0 * h)
        allowed = GRADIENT * np.max(np.abs(by_u[:, j])) + DIFFERENCE_NOISE * base / h
        assert np.max(np.abs(difference - by_u[:, j])) <= allowed, f"input {name}"


@pytest.mark.slow
@each(PURE)
def test_gradients_are_finite_at_rest(block):
    instance = block()
    x = np.array(list(instance.initial.values()))
    p = np.array(list(instance.params.values()))
    for g in differentiated(block)(p, np.zeros((SAMPLES, len(block.inputs))), x, 1.0, np.zeros(len(block.outputs))):
        assert np.all(np.isfinite(g))


@each([block for block in BLOCKS if "passive" in block.flags])
def test_passive_laws_never_return_more_energy_than_they_took(block):
    count, periods = 6000, 3
    for seed, amplitude in enumerate(AMPLITUDES * 2):
        motion = history(seed, amplitude, count, periods)
        run = block().drive(TICK, **signals(block, motion))
        f = np.concatenate([[0.0], run["f"]])
        if "d" in block.inputs:
            work = 0.5 * (f[1:] + f[:-1]) * np.diff(motion["d"], prepend=0.0)
        else:
            work = run["f"] * motion["v"] * TICK
        margin = QUADRATURE * np.max(np.abs(f)) * amplitude
        assert np.min(np.cumsum(work)) >= -margin, "energy came out of a device at rest"
        assert np.sum(work[-count:]) >= -margin, "a closed cycle gave energy"


@each([block for block in BLOCKS if "rate-independent" in block.flags])
def test_rate_independent_laws_follow_the_path_alone(block):
    for seed, amplitude in enumerate(AMPLITUDES):
        d = history(seed, amplitude, 4000)["d"]
        # a gentle start: how a law departs from rest may have a scale far below its yield deformation
        d = d * np.linspace(1.0 / 4000, 1.0, 4000) ** 2
        force = block().drive(TICK, d=d)["f"]
        slow = block().drive(1000.0 * TICK, d=d)["f"]
        assert np.array_equal(force, slow)
        fine = np.interp(np.arange(1, 12001) / 3.0, np.arange(4001), np.concatenate([[0.0], d]))
        assert np.max(np.abs(block().drive(TICK, d=fine)["f"][2::3] - force)) <= RESAMPLED * np.max(np.abs(force))


@each(BLOCKS)
def test_a_broken_signal_stays_visible(block):
    motion = history(5, 1e-2)
    intact = block().drive(TICK, **signals(block, motion))
    for name in block.inputs:
        inputs = {key: value.copy() for key, value in signals(block, motion).items()}
        inputs[name][20] = np.nan
        broken = block().drive(TICK, **inputs)
        inputs[name][20] = 2e-2
        changed = block().drive(TICK, **inputs)
        assert any(np.isnan(broken[key][20]) for key in block.outputs), f"nan in {name} is hidden"
        for key in block.outputs:
            assert np.all(np.isfinite(broken[key][:20]))
            reached = changed[key][20] != intact[key][20]
            assert np.isnan(broken[key][20]) or not reached, f"nan in {name} is hidden from {key}, which depends on it"


@each([block for block in BLOCKS if not block.pure])
def test_laws_written_in_place_are_refused_by_jax(block):
    pytest.importorskip("jax", reason="JAX is not installed (extra: learn)")
    from hyloop.learn.laws.jax_law import jax_law

    with pytest.raises(BadInput, match=f"{block.name}.*pure"):
        jax_law(block)


def test_single_precision_is_refused():
    jax = pytest.importorskip("jax", reason="JAX is not installed (extra: learn)")
    from hyloop.learn.laws.jax_law import jax_drive

    with jax.enable_x64(False), pytest.raises(BadInput, match="JAX_ENABLE_X64"):
        jax_drive(prandtl_ishlinskii(2)(), TICK, d=np.zeros(3))
