"""A law that obeys a command keeps it when it is frozen: one file serves every current."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hyloop.devices import mr_eyring, spring
from hyloop.learn import KnownLaw, freeze, physics_layer
from hyloop.learn.laws.jax_law import jax_law
from hyloop.neural import Card, Signal, load_network

pytestmark = pytest.mark.slow

DT = 1e-3
ROUND_OFF = 1e-9  # of the largest force: the same formulas by two compilers, over 300 ticks
CARD = Card((Signal("d", "m"),), (Signal("f", "N"), Signal("i_coil", "A")))


@pytest.fixture
def motion():
    t = DT * np.arange(300)
    return 6e-3 * np.sin(2 * np.pi * 4.0 * t)


def test_the_command_is_a_parameter_of_the_block(motion, tmp_path):
    frozen = freeze(KnownLaw(mr_eyring(i=0.3)), CARD)
    frozen.save(tmp_path / "damper.safetensors")
    read = load_network(tmp_path / "damper.safetensors")
    for model in (frozen, read):
        assert list(model.block.params) == ["stiffness", "damping", "i"]
        for given, i in (({}, 0.3), ({"i": 0.0}, 0.0), ({"i": 0.8}, 0.8)):
            wanted = mr_eyring(i=i).drive(DT, d=motion)
            found = model.device(**given).drive(DT, d=motion)
            assert found["i_coil"] == pytest.approx(np.full(300, i))  # from the first sample on
            assert found["f"] == pytest.approx(wanted["f"], abs=ROUND_OFF * np.abs(wanted["f"]).max())


def test_a_network_sees_the_current_it_is_given(motion):
    layer = physics_layer(
        mr_eyring(i=0.3), ("v_e",), features={"S": 500.0, "coil": 1.0}, width=4, depth=1, reach=5.0, dt=DT, seed=1
    )
    layer = eqx.tree_at(lambda it: it.network.layers[-1].weight, layer, 30.0 * layer.network.layers[-1].weight)
    frozen = freeze(layer, CARD)
    law, at = jax_law(layer.law), list(layer.law.params).index("i")
    for i in (0.1, 0.9):

        def step(x, u, i=i):
            p = layer.parameters(x, u)
            p[at] = i
            outputs, new = law(x, u, DT, p)
            return jnp.stack(new), outputs[0]

        x = jnp.array([i if key == "coil" else 0.0 for key in layer.law.state])
        wanted = np.asarray(jax.lax.scan(step, x, motion[:, None])[1])
        found = frozen.device(i=i).drive(DT, d=motion)["f"]
        assert found == pytest.approx(wanted, abs=ROUND_OFF * np.abs(wanted).max())
        plain = mr_eyring(i=i).drive(DT, d=motion)["f"]
        assert np.abs(found - plain).max() > 1.0


def test_other_laws_have_no_command(motion):
    card = Card((Signal("d", "m"),), (Signal("f", "N"),))
    frozen = freeze(KnownLaw(spring(k=1e5)), card)
    assert list(frozen.block.params) == ["stiffness", "damping"] and frozen.command == ""
    assert frozen.device().drive(DT, d=motion)["f"] == pytest.approx(1e5 * motion)
