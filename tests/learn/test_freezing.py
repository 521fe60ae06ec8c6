"""What was trained and what runs in the loop are the same, sample by sample, whatever it is."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys

from hyloop import Loop, Param, Site, block, shear_frame
from hyloop.devices import bilinear, bouc_wen, lugre_exact, spring
from hyloop.errors import BadInput
from hyloop.integrators import newmark_explicit
from hyloop.learn import (
    BrokenLine,
    CubicSpline,
    Curve,
    KnownLaw,
    LearnedSlope,
    NetworkReturn,
    NetworkSpring,
    StopOperators,
    augmented_lugre,
    freeze,
    physics_layer,
)
from hyloop.neural import Card, Signal, load_network

pytestmark = pytest.mark.slow

# Relative to the largest output. Both calculate in float64 by the same formulas; tanh and exp of XLA and of the C
# library differ in their last bits, sums are in another order, and a history of 400 samples adds such differences up.
ROUND_OFF = 1e-12
DT, N = 1 / 256, 400
T = DT * np.arange(N)
V = 0.08 * np.sin(2 * np.pi * 3 * T) + 0.03 * np.cos(2 * np.pi * 7 * T)
D = 0.08 * np.sin(2 * np.pi * 1.3 * T) * T / T[-1] + 0.01 * np.sin(2 * np.pi * 5 * T)


def shaken(tree, size, seed=0):
    """The same with all that can be learned moved at random, as if it had been."""
    rng = np.random.default_rng(seed)
    moved = jax.tree.map(lambda a: a + size * rng.normal(size=jnp.shape(a)), tree)
    return jax.tree.map(jnp.asarray, moved)


def friction(symmetric=False, activation=jax.nn.relu):
    layer = augmented_lugre(
        lugre_exact(), dt=DT, learned=("Fc_pos", "sigma1"), width=5, symmetric=symmetric, activation=activation
    )
    return eqx.tree_at(lambda it: (it.network, it.log_factors), layer, replace_fn=_learned)


def brace():
    """Every way to learn a parameter at once."""
    layer = physics_layer(
        bouc_wen(k=2e7, d_y=1e-3, initial={"z": 0.2}),
        ("k", "beta"),
        features={"z": 1.0, "d": 5e-3},
        constant=("d_y",),
        shifted={"alpha": 0.01},
        width=4,
        depth=3,
        reach=2.0,
        dt=DT,
    )
    return eqx.tree_at(lambda it: (it.network, it.log_factors, it.shifts), layer, replace_fn=_learned)


def _learned(part):
    arrays, rest = eqx.partition(part, eqx.is_inexact_array)
    return eqx.combine(shaken(arrays, 0.4), rest)


LAYERS = {
    "friction": (friction, {"v": V}),
    "even friction": (lambda: friction(True, jax.nn.tanh), {"v": V}),
    "brace": (brace, {"d": np.cumsum(V) * DT}),
}
SPRINGS = {
    "spline": lambda: CubicSpline(-0.03, 0.04, 9, force=2e4),
    "broken line": lambda: BrokenLine(-0.03, 0.04, 5, force=2e4),
    "network": lambda: NetworkSpring(-0.03, 0.04, (7, 3), force=2e4),
    "stop operators": lambda: StopOperators(-0.03, 0.04, 6, force=2e4, finest=1e-3),
    "slope": lambda: LearnedSlope(8, force=2e4, yielding=0.01),
    "return": lambda: NetworkReturn(-0.1, 0.1, (5,), force=2e4, finest=2e-3),
    "tanh return": lambda: NetworkReturn(-0.1, 0.1, (4, 4), force=2e4, finest=2e-3, relu=False),
}
RATED = ("return", "tanh return")  # what holds for one sampling interval only


def learned_spring(kind):
    law = SPRINGS[kind]()
    law = eqx.tree_at(lambda it: it.theta, law, shaken(law.theta, 0.1 if kind in RATED else 0.5))
    return law.within(-0.02, 0.03)


def card_of(law, **more):
    inputs = tuple(Signal(name, unit, low=-2e-3, high=4e-3) for name, unit in law.inputs.items())
    return Card(inputs, tuple(Signal(name, unit) for name, unit in law.outputs.items()), **more)


def spring_card(**more):
    return Card((Signal("d", "m", low=-0.02, high=0.03),), (Signal("f", "N"),), data="a response", **more)


def jax_forces(law, d):
    def step(state, d):
        f, state = law(state, d)
        return state, f

    return np.asarray(jax.lax.scan(step, law.rest(), jnp.asarray(d))[1])


def close(found, wanted):
    assert np.ptp(wanted) > 0.0
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=ROUND_OFF * np.abs(wanted).max())


@pytest.mark.parametrize("kind", LAYERS)
def test_a_frozen_layer_equals_the_one_that_was_trained(kind, tmp_path):
    make, signals = LAYERS[kind]
    layer = make()
    frozen = freeze(layer, card_of(layer.law, seed=3, data="a test"))
    (u,) = signals.values()
    wanted = np.asarray(layer(jnp.asarray(u)[:, None])[1])
    found = frozen.device().drive(DT, **signals)
    plain = np.asarray(rest_of(layer)(jnp.asarray(u)[:, None])[1])
    assert np.abs(wanted - plain).max() > 0.02 * np.abs(plain).max()  # what was learned matters
    for k, name in enumerate(layer.law.outputs):
        close(found[name], wanted[:, k])
    frozen.save(tmp_path / "net.safetensors")
    back = load_network(tmp_path / "net.safetensors")
    assert back.card == frozen.card and back.card.dt == DT
    again = back.device().drive(DT, **signals)
    assert all(np.array_equal(again[name], found[name]) for name in found)
    assert found["outside"][-1] == np.sum((u < -2e-3) | (u > 4e-3)) > 0
    assert found["largest_excess"][-1] == pytest.approx(max(-2e-3 - u.min(), u.max() - 4e-3) / 6e-3)


def rest_of(layer):
    """The plain law as a layer."""
    zero = jax.tree.map(lambda a: 0.0 * a if eqx.is_inexact_array(a) else a, layer)
    return zero


@pytest.mark.parametrize("kind", SPRINGS)
def test_a_frozen_spring_equals_the_one_that_was_learned(kind, tmp_path):
    law = learned_spring(kind)
    frozen = freeze(law, spring_card(dt=DT if kind in RATED else 0.0))
    assert D.min() < -0.03 and D.max() > 0.045  # beyond its ends too
    found = frozen.device().drive(DT, d=D)
    close(found["f"], jax_forces(law, D))
    frozen.save(tmp_path / "net.safetensors")
    back = load_network(tmp_path / "net.safetensors")
    assert back.card == frozen.card
    assert np.array_equal(back.device().drive(DT, d=D)["f"], found["f"])
    assert found["outside"][-1] == np.sum((D < -0.02) | (D > 0.03)) > 0
    # the stiffness declared is that of the force at rest
    small = 1e-6
    ahead, behind = (jax_forces(law, np.array([d]))[0] for d in (small, -small))
    assert frozen.device().stiffness == pytest.approx(max((ahead - behind) / (2 * small), 0.0), rel=1e-3)
    assert frozen.device(stiffness=5.0, damping=2.0).damping == 2.0


@pytest.mark.parametrize("law", [bilinear(k=2e7, f_y=1e5), spring(k=3e6)], ids=["bilinear", "spring"])
def test_a_known_law_is_the_law_itself(law):
    frozen = freeze(KnownLaw(law), card_of(law.block))
    assert np.array_equal(frozen.device().drive(DT, d=D)["f"], law.drive(DT, d=D)["f"])
    assert frozen.device().stiffness == law.stiffness > 0.0
    assert frozen.block.tick is None


def test_a_layer_with_constants_alone_is_the_law_with_other_parameters():
    layer = physics_layer(bouc_wen(k=2e7), constant=("k",), dt=DT)
    layer = eqx.tree_at(lambda it: it.log_factors, layer, jnp.array([0.3]))
    frozen = freeze(layer, card_of(bouc_wen))
    wanted = bouc_wen(k=2e7 * np.exp(0.3))
    close(frozen.device().drive(0.01, d=D)["f"], wanted.drive(0.01, d=D)["f"])
    assert frozen.device().stiffness == pytest.approx(wanted.stiffness)


def test_a_factor_cannot_leave_its_reach():
    """Weights that shout, and inputs no training has seen: the force is between those of the extreme parameters."""
    layer = physics_layer(spring_with_state(k=1e6), ("k",), features={"d": 1e-3}, width=3, reach=4.0, dt=DT)
    loud = jax.tree.map(lambda a: 1e3 * (a + 1.0) if eqx.is_inexact_array(a) else a, layer.network)
    frozen = freeze(eqx.tree_at(lambda it: it.network, layer, loud), card_of(spring_with_state))
    d = np.concatenate([np.linspace(-1e3, 1e3, 101), np.linspace(-1e-3, 1e-3, 100)])
    factor = frozen.device().drive(DT, d=d)["f"][d != 0.0] / (1e6 * d[d != 0.0])
    assert factor.max() <= 4.0 * (1 + 1e-14) and factor.min() >= 0.25 * (1 - 1e-14)
    assert factor.max() > 3.9 and factor.min() < 0.26


def test_compiled_code_serves_networks_of_every_size():
    """What was compiled for a small network is taken from the cache for a large one: no position may depend on it."""
    u = jnp.asarray(D)[:, None]
    for by_sample, width, depth in (((), 1, 1), (("k",), 2, 1), (("k",), 30, 12)):
        features = {"d": 1e-2} if by_sample else None
        layer = physics_layer(
            spring_with_state(k=1e6), by_sample, features=features, width=width, depth=depth, reach=3.0, dt=DT
        )
        layer = eqx.tree_at(lambda it: it.network, layer, replace_fn=_learned) if by_sample else layer
        frozen = freeze(layer, card_of(spring_with_state, dt=DT))
        close(frozen.device().drive(DT, d=D)["f"], np.asarray(layer(u)[1])[:, 0])


@block(
    inputs={"d": "m"},
    outputs={"f": "N"},
    state={"d_last": "m"},
    params={"k": Param("N/m", 1e6, low=0.0, about="stiffness")},
    reference="test",
)
def spring_with_state(x, u, dt, p):
    """A spring that remembers."""
    return (p[0] * u[0],), (u[0],)


@pytest.mark.parametrize("order", ["small first", "large first"])
def test_springs_of_every_size_share_compiled_code(order):
    laws = [NetworkSpring(-0.1, 0.1, (2,), force=1e4), NetworkSpring(-0.1, 0.1, (20,) * 6, force=1e4)]
    laws += [StopOperators(-0.1, 0.1, n, force=1e4, finest=1e-3) for n in (2, 60)]
    for law in laws if order == "small first" else laws[::-1]:
        law = eqx.tree_at(lambda it: it.theta, law, shaken(law.theta, 0.5))
        close(freeze(law, spring_card()).device().drive(DT, d=D)["f"], jax_forces(law, D))


def test_what_cannot_be_frozen_is_refused_with_a_reason(tmp_path):
    with pytest.raises(BadInput, match=r"Curve is a function written in JAX.*device law"):
        freeze(Curve(jnp.sin), spring_card())
    with pytest.raises(BadInput, match=r"cannot freeze a str; what can be frozen is Stack, StateSpace"):
        freeze("network", spring_card())
    with pytest.raises(BadInput, match=r"units of the network are softplus; the loop has tanh and relu"):
        freeze(friction(activation=jax.nn.softplus), card_of(lugre_exact))
    with pytest.raises(BadInput, match=r"learned one time step; give the card its dt"):
        freeze(learned_spring("return"), spring_card())
    with pytest.raises(BadInput, match=r"card says dt = 0\.01 s, the layer was made with 0\.00390625 s"):
        freeze(friction(), card_of(lugre_exact, dt=0.01))
    with pytest.raises(BadInput, match=r"inputs of the card are d in m; they must be v in m/s"):
        freeze(friction(), spring_card())
    scaled = Card((Signal("d", "m", factor=2.0),), (Signal("f", "N"),))
    with pytest.raises(BadInput, match=r'd is scaled on the card.*scaling="none"'):
        freeze(learned_spring("spline"), scaled)
    layer = physics_layer(bouc_wen(alpha=0.02), shifted={"alpha": 0.1}, dt=DT)
    with pytest.raises(BadInput, match=r"learned alpha.* is outside its bounds"):
        freeze(eqx.tree_at(lambda it: it.shifts, layer, jnp.array([-5.0])), card_of(bouc_wen))
    layer = physics_layer(spring_with_state(), constant=("k",), dt=DT)
    with pytest.raises(BadInput, match=r"spring_with_state: a file names its law, .* none of hyloop\.devices"):
        freeze(layer, card_of(spring_with_state)).save(tmp_path / "net.safetensors")
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["friction", "brace", "stop operators", "slope", "return"])
def test_in_a_loop_it_resumes_bit_for_bit_and_at_no_other_rate(kind):
    if kind in LAYERS:
        layer = LAYERS[kind][0]()
        frozen, rated = freeze(layer, card_of(layer.law)), True
    else:
        rated = kind in RATED
        frozen = freeze(learned_spring(kind), spring_card(dt=DT if rated else 0.0))

    def loop(dt=DT):
        frame = shear_frame([2e5], [4e7])
        return Loop(frame, [Site("damper", frame.story(1), frozen.device())], method=newmark_explicit(), dt=dt)

    ground = 3.0 * np.sin(2 * np.pi * 2.0 * T)[:, None]
    one = loop()
    whole = one.run(ground)
    assert np.abs(whole["damper.f"]).max() > 1e3
    one.start(ground[0])
    one.advance(ground[1:150])
    snapshot = one.snapshot()
    one.advance(ground[150:])
    other = loop()
    other.restore(snapshot)
    rest = other.advance(ground[150:])
    for channel in ("u.1", "damper.f", "damper.outside"):
        np.testing.assert_array_equal(rest[channel], whole[channel][150:])
    if rated:
        with pytest.raises(BadInput, match=r"was trained at 256 Hz, this loop runs its blocks at 512 Hz"):
            loop(DT / 2)
    else:
        assert loop(DT / 2).dt == DT / 2


@pytest.mark.parametrize("kind", ["friction", "spline"])
def test_damaged_files_are_refused(kind, tmp_path):
    layer = friction()
    frozen = freeze(layer, card_of(layer.law)) if kind == "friction" else freeze(learned_spring(kind), spring_card())
    path = tmp_path / "net.safetensors"
    frozen.save(path)
    data = bytearray(path.read_bytes())
    data[-10] ^= 1
    path.write_bytes(data)
    with pytest.raises(BadInput, match=r"net\.safetensors: no readable network \(the weights are not those"):
        load_network(path)


@pytest.mark.parametrize("kind", ["friction", "even friction", "brace", *SPRINGS])
def test_nothing_is_allocated_in_a_tick(kind):
    if kind in LAYERS:
        make, signals = LAYERS[kind]
        layer = make()
        device = freeze(layer, card_of(layer.law)).device()
    else:
        signals, device = {"d": D}, freeze(learned_spring(kind), spring_card(dt=DT if kind in RATED else 0.0)).device()

    def allocated(n):
        before = rtsys.get_allocation_stats().alloc
        device.drive(DT, **{key: values[:n] for key, values in signals.items()})
        return rtsys.get_allocation_stats().alloc - before

    device.drive(DT, **signals)  # compiled by now
    _nrt_python.memsys_enable_stats()
    try:
        assert allocated(N) == allocated(10) > 0  # a call from Python wraps its arguments
    finally:
        _nrt_python.memsys_disable_stats()
