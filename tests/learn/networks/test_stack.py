"""Networks under JAX: against Equinox's own cells, against the frozen twin, and their gradients."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from oracles.networks import outputs

from hyloop.errors import BadShape, OutOfBounds
from hyloop.learn import Stack, freeze, thaw
from hyloop.neural import Architecture, Card, Signal, load_network, mlp, ocp_nn, recurrent

pytestmark = pytest.mark.slow

FLOAT32 = 1e-5  # of the largest output, over 50 000 steps: what the project promises
DIFFERENCES = 1e-7  # central differences of a double precision loss with a step of 1e-5
ROUNDING = 1e-12  # the same formulas in double precision, in another order
MIXED = Architecture(3, [[("lstm", 7, (0, 2)), ("gru", 5, (1, 3)), ("relu", 3)], [("tanh", 6)], [("linear", 2)]])


def card(architecture, dt=0.001):
    return Card(
        tuple(Signal(f"u{k}", "N") for k in range(architecture.inputs)),
        tuple(Signal(f"y{k}", "N") for k in range(architecture.outputs)),
        dt=dt,
    )


@eqx.filter_jit
def run(stack, x, state=None, path="auto"):
    return stack(x, state, path=path)


@eqx.filter_jit
def run_cell(cell, x, state):
    def step(state, u):
        state = cell(u, state)
        return state, jax.tree.leaves(state)[0]

    return jax.lax.scan(step, state, x)[1]


def test_layers_equal_the_cells_of_equinox(rng):
    x = jnp.asarray(rng.normal(size=(20, 3)))
    one, two = jax.random.split(jax.random.key(1))
    cell = eqx.nn.LSTMCell(3, 4, key=one, dtype=float)
    stack = Stack(Architecture(3, [[("lstm", 4)]]), key=two, dtype=float)
    stack = eqx.tree_at(
        lambda s: s.tensors, stack, {"0.W": cell.weight_ih.T, "0.U": cell.weight_hh.T, "0.b": cell.bias}
    )
    assert np.allclose(run(stack, x)[0], run_cell(cell, x, (jnp.zeros(4), jnp.zeros(4))), rtol=0, atol=ROUNDING)

    cell = eqx.nn.GRUCell(3, 4, key=one, dtype=float)
    stack = Stack(Architecture(3, [[("gru", 4)]]), key=two, dtype=float)
    weights = {"0.W": cell.weight_ih.T, "0.U": cell.weight_hh.T, "0.b": cell.bias, "0.r": cell.bias_n}
    stack = eqx.tree_at(lambda s: s.tensors, stack, weights)
    assert np.allclose(run(stack, x)[0], run_cell(cell, x, jnp.zeros(4)), rtol=0, atol=ROUNDING)


def test_stages_and_ranges_equal_the_textbook(rng):
    stack = Stack(MIXED, key=jax.random.key(2), dtype=float)
    x = rng.normal(size=(2, 30, 3))
    y, _ = run(stack, x)
    for history, given in zip(x, y, strict=True):
        assert np.allclose(given, outputs(MIXED, stack.tensors, history), rtol=0, atol=ROUNDING)


@pytest.mark.parametrize(
    "architecture", [ocp_nn(), recurrent(2, width=16, depth=1, kind="gru"), mlp(3)], ids=["ocp-nn", "gru", "mlp"]
)
def test_the_frozen_twin_gives_the_same_numbers_over_50_000_steps(architecture):
    """Against plain JAX in float32, driven by slow large waves under noise so that cells fill and empty."""
    rng, n = np.random.default_rng(3), 50_000
    stack = Stack(architecture, key=jax.random.key(3))
    wave = 2.0 * np.sin(2 * np.pi * np.arange(n)[:, None] / (700.0 + 300.0 * np.arange(architecture.inputs)))
    x = (wave + rng.normal(size=wave.shape)).astype(np.float32)
    wanted = np.asarray(run(stack, x, path="scan")[0])[:, 0]
    assert wanted.dtype == np.float32
    signals = {f"u{k}": x[:, k].astype(float) for k in range(architecture.inputs)}
    given = freeze(stack, card(architecture)).drive(0.001, **signals)["y0"]
    assert np.abs(given - wanted).max() < FLOAT32 * np.abs(wanted).max()


def test_gradients_equal_differences(rng):
    """By all weights, the inputs and the initial state, in random directions."""
    stack = Stack(MIXED, key=jax.random.key(4), dtype=float)
    x = rng.normal(size=(2, 12, 3))
    start = jax.tree.map(lambda a: rng.normal(size=a.shape), stack.rest(2))

    def loss(tensors, x, start):
        y, end = eqx.tree_at(lambda s: s.tensors, stack, tensors)(x, start)
        return jnp.sum(jnp.sin(y)) + sum(jnp.sum(a**2) for a in jax.tree.leaves(end))

    point = jax.tree.map(np.asarray, (stack.tensors, x, start))
    evaluate = jax.jit(jax.value_and_grad(loss, argnums=(0, 1, 2)))
    slopes = jax.tree.map(np.asarray, evaluate(*point)[1])
    for _ in range(3):
        way = jax.tree.map(lambda a: rng.normal(size=a.shape), point)
        ahead, behind = (jax.tree.map(lambda a, b, s=s: a + s * b, point, way) for s in (1e-5, -1e-5))
        difference = (evaluate(*ahead)[0] - evaluate(*behind)[0]) / 2e-5
        exact = sum(np.vdot(a, b) for a, b in zip(jax.tree.leaves(slopes), jax.tree.leaves(way), strict=True))
        assert float(exact) == pytest.approx(float(difference), rel=DIFFERENCES)


def test_windows_with_carried_state_equal_the_whole_history(rng):
    stack = Stack(MIXED, key=jax.random.key(5))
    x = rng.normal(size=(3, 50, 3)).astype(np.float32)
    whole, end = run(stack, x, stack.rest(3))
    first, state = run(stack, x[:, :25], stack.rest(3))
    second, state = run(stack, x[:, 25:], state)
    assert np.array_equal(np.concatenate([first, second], axis=1), whole)
    assert all(np.array_equal(a, b) for a, b in zip(jax.tree.leaves(state), jax.tree.leaves(end), strict=True))


def test_dropout_acts_only_with_a_key_and_keeps_the_mean(rng):
    """One linear layer of ones after a constant one: its output counts the survivors."""
    stack = Stack(Architecture(1, [[("linear", 500)], [("linear", 1)]]), key=jax.random.key(6), dropout=0.1)
    ones = {"0.W": jnp.ones((1, 500)), "0.b": jnp.zeros(500), "1.W": jnp.ones((500, 1)), "1.b": jnp.zeros(1)}
    stack = eqx.tree_at(lambda s: s.tensors, stack, {key: value.astype(jnp.float32) for key, value in ones.items()})
    x = np.ones((40, 1), np.float32)
    assert np.allclose(run(stack, x)[0], 500.0)
    y = np.asarray(stack(x, key=jax.random.key(7))[0])
    survivors = y * 0.9  # binomial: mean 450, standard deviation sqrt(45)
    assert abs(survivors.mean() - 450.0) < 4 * np.sqrt(45 / 40) and 4.0 < survivors.std() < 10.0


def test_a_saved_network_learns_on(tmp_path, rng):
    stack = Stack(MIXED, key=jax.random.key(8))
    freeze(stack, card(MIXED)).save(tmp_path / "net.safetensors")
    back = thaw(load_network(tmp_path / "net.safetensors"))
    x = rng.normal(size=(10, 3)).astype(np.float32)
    assert np.array_equal(run(back, x)[0], run(stack, x)[0])


def test_starting_weights_have_the_promised_form():
    stack = Stack(recurrent(2, width=48, depth=1), key=jax.random.key(9))
    U, b = np.asarray(stack.tensors["0.U"]), np.asarray(stack.tensors["0.b"])
    assert np.allclose(U @ U.T, np.eye(48), atol=1e-5)
    assert np.array_equal(b, np.repeat([0.0, 1.0, 0.0, 0.0], 48))
    assert np.abs(stack.tensors["0.W"]).max() <= np.sqrt(6 / (2 + 192))


def test_wrong_shapes_and_dropout_are_refused():
    with pytest.raises(OutOfBounds, match=r"dropout = 1\.0 must be in"):
        Stack(mlp(2), key=jax.random.key(0), dropout=1.0)
    with pytest.raises(BadShape, match=r"inputs must be \(time, 2\) or \(batch, time, 2\), got \(5, 3\)"):
        Stack(mlp(2), key=jax.random.key(0))(np.zeros((5, 3)))


def test_no_product_may_be_rounded_to_fewer_digits_by_a_gpu():
    """A GPU computes float32 products of default precision in TF32: three digits, so that CPU and GPU part ways."""
    architecture = Architecture(3, [[("gru", 4), ("lstm", 4)], [("tanh", 5)], [("linear", 1)]])
    stack = Stack(architecture, key=jax.random.key(0))
    slope = jax.grad(lambda stack, x: jnp.sum(stack(x, path="scan")[0]))
    text = str(jax.make_jaxpr(slope)(stack, jnp.zeros((2, 6, 3))))
    products = text.count("dot_general[")
    assert products > 6 and text.count("Precision.HIGHEST") == 2 * products  # both factors of each
