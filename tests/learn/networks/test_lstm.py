"""The compiled LSTM and its gradient against plain JAX in double precision."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hyloop.errors import BadInput, UnknownName
from hyloop.learn.networks.lstm import lstm, lstms

# of the largest entry: sums over some hundred steps and histories in float32
FLOAT32, GRADIENT = 2e-6, 2e-5


def layer(rng, steps, batch, inputs, width):
    weights = {
        "W": rng.normal(size=(inputs, 4 * width)) / np.sqrt(inputs),
        "U": rng.normal(size=(width, 4 * width)) / np.sqrt(width),
        "b": rng.normal(size=4 * width),
    }
    x = rng.normal(size=(steps, batch, inputs))
    return x, weights, (rng.normal(size=(batch, width)), rng.normal(size=(batch, width)))


def cast(tree, dtype):
    return jax.tree.map(lambda a: jnp.asarray(a, dtype), tree)


def loss(arguments, path):
    """Uses every output, weighted differently, and both final states."""
    h, (last_h, last_c) = lstm(*arguments, path)
    weight = jnp.cos(jnp.arange(h.size, dtype=h.dtype)).reshape(h.shape)
    return jnp.sum(weight * h**2) + jnp.sum(jnp.sin(last_h)) + jnp.sum(last_c**2), h


# one step, a whole piece of steps and one more; batches that split into rows of five, of four, and neither
CASES = [(1, 1, 1, 1), (17, 10, 4, 16), (50, 9, 32, 48), (16, 7, 20, 5)]


@pytest.mark.slow
@pytest.mark.parametrize("sizes", CASES)
def test_compiled_kernels_equal_double_precision(sizes, rng):
    case = layer(rng, *sizes)
    evaluate = jax.jit(jax.value_and_grad(loss, has_aux=True), static_argnums=1)
    (_, h), slopes = evaluate(cast(case, jnp.float32), "compiled")
    (_, exact_h), exact = evaluate(cast(case, jnp.float64), "scan")
    assert h.dtype == jnp.float32 and np.abs(h - exact_h).max() < FLOAT32
    for a, b in zip(jax.tree.leaves(slopes), jax.tree.leaves(exact), strict=True):
        assert np.abs(a - b).max() < GRADIENT * np.abs(b).max()


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(1, 1, 1, 1), (7, 3, 4, 16), (5, 2, 3, 5)])
def test_gpu_kernels_equal_double_precision(sizes, rng):
    """Interpreted here; on a GPU the same code is compiled."""
    case = layer(rng, *sizes)
    evaluate = jax.value_and_grad(loss, has_aux=True)
    (_, h), slopes = evaluate(cast(case, jnp.float32), "pallas")
    (_, exact_h), exact = evaluate(cast(case, jnp.float64), "scan")
    assert h.dtype == jnp.float32 and np.abs(h - exact_h).max() < FLOAT32
    for a, b in zip(jax.tree.leaves(slopes), jax.tree.leaves(exact), strict=True):
        assert np.abs(a - b).max() < GRADIENT * np.abs(b).max()


@pytest.mark.slow
def test_gpu_kernels_run_layers_side_by_side(rng):
    cases = [layer(rng, 4, 3, inputs, 5) for inputs in (2, 3)]

    def total(cases, path):
        found = lstms(*zip(*cases, strict=True), path)
        return sum((k + 1) * jnp.sum(h**2) + jnp.sum(c) for k, (h, (_, c)) in enumerate(found))

    slopes = jax.grad(total)(cast(cases, jnp.float32), "pallas")
    exact = jax.grad(total)(cast(cases, jnp.float64), "scan")
    for a, b in zip(jax.tree.leaves(slopes), jax.tree.leaves(exact), strict=True):
        assert np.abs(a - b).max() < GRADIENT * np.abs(b).max()


def test_the_compiled_gradient_equals_differences_of_the_compiled_loss(rng):
    """A check that does not lean on JAX's derivative: float32 allows three digits with a step of 1e-2."""
    case = cast(layer(rng, 20, 4, 3, 16), jnp.float32)
    evaluate = jax.jit(jax.value_and_grad(lambda a: loss(a, "compiled")[0]))
    slopes = evaluate(case)[1]
    way = jax.tree.map(lambda a: (rng.normal(size=a.shape) / np.sqrt(a.size)).astype(np.float32), case)

    def along(s):
        return float(evaluate(jax.tree.map(lambda a, b: np.asarray(a) + np.float32(s) * b, case, way))[0])

    exact = sum(float(np.vdot(a, b)) for a, b in zip(jax.tree.leaves(slopes), jax.tree.leaves(way), strict=True))
    # fourth order, so that a step large enough for float32 is small enough for the curvature
    difference = (8 * (along(0.02) - along(-0.02)) - (along(0.04) - along(-0.04))) / (12 * 0.02)
    assert exact == pytest.approx(difference, rel=2e-3)
    for a, b in zip(jax.tree.leaves(evaluate(case)[1]), jax.tree.leaves(slopes), strict=True):
        assert np.array_equal(a, b)  # and two runs agree to the last bit


def test_it_maps_over_an_ensemble(rng):
    cases = [cast(layer(rng, 5, 2, 3, 4), jnp.float32) for _ in range(3)]
    together = jax.tree.map(lambda *a: jnp.stack(a), *cases)
    one = jax.jit(lambda case: lstm(*case, "compiled")[0])
    h = jax.jit(jax.vmap(one))(together)
    for k, case in enumerate(cases):
        assert np.array_equal(h[k], one(case))


def test_what_does_not_fit_is_refused(rng):
    case = cast(layer(rng, 2, 1, 1, 1), jnp.float32)
    with pytest.raises(UnknownName, match="Did you mean 'compiled'"):
        lstm(*case, "compile")
    with pytest.raises(BadInput, match="float32 alone"):
        lstm(*cast(case, jnp.float64), "compiled")
