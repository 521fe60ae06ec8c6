"""The hysteresis network: its formulas, its training, its file."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from problems.networks import DEPTH, DT, WIDTH, layers, motion, perceptron, scaled_inputs, trained

from hyloop.core.jit import jit
from hyloop.errors import BadInput, BadShape, OutOfBounds, UnknownName
from hyloop.neural import HysteresisNetwork, hysteresis_network, load_network
from hyloop.neural.hysteresis import REACH
from hyloop.neural.perceptron import evaluate, gradients, random_weights, weight_count
from hyloop.updating import pretrain

ROUND_OFF = 1e-12
CREEPS, SKEW = 0.3, 0.5  # of a network that was not told: several times less, with room for another start


@jit
def _value_and_gradients(w, z, g, gz):
    hidden, delta = np.empty(WIDTH * DEPTH), np.empty(WIDTH * DEPTH)
    value = evaluate(w, z, hidden, 6, WIDTH, DEPTH)
    gradients(w, z, hidden, g, gz, delta, 6, WIDTH, DEPTH)
    return value


def test_perceptron_and_its_gradients_equal_those_of_jax():
    rng = np.random.default_rng(1)
    with jax.enable_x64():
        for _ in range(5):
            w, z = random_weights(rng, 6, WIDTH, DEPTH), rng.uniform(-1, 1, 6)
            g, gz = np.empty(len(w)), np.empty(6)
            value = _value_and_gradients(w, z, g, gz)
            by_w, by_z = jax.grad(lambda w, z: perceptron(w, z, jnp), argnums=(0, 1))(jnp.array(w), jnp.array(z))
            assert value == pytest.approx(float(perceptron(w, z)), rel=ROUND_OFF)
            np.testing.assert_allclose(g, by_w, rtol=ROUND_OFF, atol=ROUND_OFF)
            np.testing.assert_allclose(gz, by_z, rtol=ROUND_OFF, atol=ROUND_OFF)


def test_weight_count_is_that_of_the_paper():
    assert weight_count(6, 10, 3) == 301
    assert sum(part.size for part in layers(np.zeros(weight_count(6, WIDTH, DEPTH)))) == weight_count(6, WIDTH, DEPTH)


@pytest.mark.parametrize("energy", ["total", "increment"])
def test_law_is_the_recursion_of_equation_1(energy):
    network, d, f = trained()
    network = HysteresisNetwork(
        network.weights, network.centre, network.factor, 1.0, DT, width=WIDTH, depth=DEPTH, energy=energy
    )
    history, d_last, f_last, E = [], 0.0, 0.0, 0.0
    for value in d[:200]:
        y = perceptron(network.weights, scaled_inputs(network, value, d_last, f_last, E))
        f_last_new = np.clip(y, -REACH, REACH) / network.factor[6] + network.centre[6]
        E += abs(f_last_new * value) if energy == "total" else abs(f_last_new * (value - d_last))
        d_last, f_last = value, f_last_new
        history.append(f_last)
    np.testing.assert_allclose(network.drive(d[:200]), history, rtol=1e-9, atol=1e-9 * np.abs(f).max())


def test_similar_device_is_the_same_network_in_other_units():
    network, d, _ = trained()
    a, b = 1.7, 0.6
    similar = network.block(force_scale=a, length_scale=b, **network.named)
    np.testing.assert_allclose(similar.drive(DT, d=b * d)["f"], a * network.drive(d), rtol=1e-9, atol=1e-6)


def test_training_learns_the_record_and_repeats_itself():
    network, d, f = trained()
    assert network.mse < 1e-5
    assert network.error < 0.1 * np.sqrt(np.mean(f**2))
    free = network.drive(d)
    assert network.error == pytest.approx(np.sqrt(np.mean((free - f) ** 2)), rel=ROUND_OFF)
    again = pretrain(d, f, dt=DT, iterations=150, width=WIDTH, depth=DEPTH)
    np.testing.assert_array_equal(again.weights, network.weights)
    longer = pretrain(d, f, dt=DT, iterations=20, width=WIDTH, depth=DEPTH)
    assert longer.mse > network.mse


def creep(network, d, f):
    """Root mean square of the change of force in a tick without motion, over half the range; states of no record."""
    rng = np.random.default_rng(1)
    states = np.column_stack([np.abs(d).max() * rng.uniform(-1, 1, 300), np.abs(f).max() * rng.uniform(-1, 1, 300)])
    after = [perceptron(network.weights, scaled_inputs(network, x, x, force, 0.0)) for x, force in states]
    return np.sqrt(np.mean((np.array(after) - (states[:, 1] - network.centre[6]) * network.factor[6]) ** 2))


def test_a_network_that_was_told_so_keeps_its_force_at_rest():
    network, d, f = trained()
    rested = pretrain(d, f, dt=DT, iterations=150, width=WIDTH, depth=DEPTH, rest=0.5)
    assert 0.0 < creep(rested, d, f) < CREEPS * creep(network, d, f)
    assert rested.error < 0.1 * np.sqrt(np.mean(f**2))


def test_a_network_of_a_symmetric_device_is_the_same_both_ways():
    network, d, f = trained()
    symmetric = pretrain(d, f, dt=DT, iterations=150, width=WIDTH, depth=DEPTH, symmetric=True)
    odd = [np.sqrt(np.mean((each.drive(d) + each.drive(-d)) ** 2)) for each in (network, symmetric)]
    assert odd[1] < SKEW * odd[0]
    assert symmetric.centre[6] == 0.0 and symmetric.factor[6] == pytest.approx(1.0 / np.abs(f).max(), rel=ROUND_OFF)


def test_force_stays_within_reach():
    network, _, f = trained()
    wild = network.block(**{**network.named, "w_0": 1e3, **{f"w_{k}": 50.0 for k in range(20, 60)}})
    largest = (REACH / network.factor[6]) + abs(network.centre[6])
    assert np.abs(wild.drive(DT, d=50 * motion(500, 3))["f"]).max() <= largest * (1 + ROUND_OFF)
    assert largest < 2 * np.abs(f).max()


def test_file_keeps_everything(tmp_path):
    network, d, _ = trained()
    path = tmp_path / "net.safetensors"
    network.save(path, data="a test", seed=0)
    back = load_network(path)
    np.testing.assert_array_equal(back.drive(d), network.drive(d))
    assert (back.error, back.width, back.energy, back.stiffness) == (
        network.error,
        network.width,
        network.energy,
        network.stiffness,
    )


def test_damaged_files_are_refused(tmp_path):
    network, _, _ = trained()
    path = tmp_path / "net.safetensors"
    network.save(path)
    data = path.read_bytes()
    for name, content in {"cut": data[:-40], "empty": b"", "other": b"x" * 300}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(BadInput, match="no readable network"):
            load_network(tmp_path / name)
    with pytest.raises(BadInput, match="there is no such file"):
        load_network(tmp_path / "missing")
    broken = HysteresisNetwork(
        np.full_like(network.weights, np.nan), network.centre, network.factor, 1.0, DT, width=WIDTH, depth=DEPTH
    )
    broken.save(path)
    with pytest.raises(BadInput, match="not all numbers are finite"):
        load_network(path)
    HysteresisNetwork(network.weights[:-1], network.centre, network.factor, 1.0, DT, width=WIDTH, depth=DEPTH).save(
        path
    )
    with pytest.raises(BadInput, match="weights and 7 scales"):
        load_network(path)


def test_bad_records_are_refused():
    _, d, f = trained()
    with pytest.raises(BadShape, match="at least 50"):
        pretrain(d[:20], f[:20], dt=DT)
    with pytest.raises(BadShape, match="one length"):
        pretrain(d, f[:-1], dt=DT)
    with pytest.raises(BadInput, match="not finite"):
        pretrain(np.where(d == d[100], np.nan, d), f, dt=DT)
    with pytest.raises(BadInput, match="never changes"):
        pretrain(np.zeros(100), np.zeros(100), dt=DT)
    with pytest.raises(UnknownName, match="energy"):
        pretrain(d, f, dt=DT, energy="tottal")
    with pytest.raises(OutOfBounds, match="rest"):
        pretrain(d, f, dt=DT, rest=-0.5)
    with pytest.raises(OutOfBounds, match="width"):
        hysteresis_network(width=0, dt=DT)


def test_a_network_as_in_the_paper_by_default():
    """Six inputs and three hidden layers of ten: 6·10 + 10, twice 10·10 + 10, and 10 + 1 weights."""
    _, d, f = trained()
    network = pretrain(d[:60], f[:60], dt=DT, iterations=1)
    assert len(network.weights) == 70 + 2 * 110 + 11
    assert network.device().stiffness == 0.0
