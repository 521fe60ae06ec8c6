"""A law guided by a network that listens: trained and frozen it is the same, and any pure law can be guided."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hyloop.devices import bouc_wen, brfd_gap_slip, dashpot, lugre, lugre_exact
from hyloop.devices.lugre import lugre_level
from hyloop.errors import BadInput, BadShape, OutOfBounds, UnknownName
from hyloop.learn import Recipe, freeze, guided_law, train_network
from hyloop.neural import Architecture, Card, FrozenGuidedLaw, Head, Signal, load_network
from hyloop.neural.histories import History, Split

pytestmark = pytest.mark.slow

DT, N = 1 / 1024, 1500
# Relative to the largest force. Stacks are float32 in both, the law float64 in the loop and float32 in training; over
# 1500 samples the differences of a law that forgets stay some units of the last of seven digits.
ROUND_OFF = 2e-5
GRADIENT = 1e-6  # of central differences in float64

SIGNALS = (
    Signal("f1", "N", 0.0, 1e-4),
    Signal("d1", "m", 0.0, 100.0),
    Signal("v1", "m/s", 0.0, 10.0),
    Signal("d", "m", 0.0, 100.0, -5e-3, 5e-3),
    Signal("v", "m/s", 0.0, 10.0),
)
FORCE = (Signal("f", "N", 0.0, 1e-4),)
BOUNDED = {"sigma0": Head(0.02, 2.0), "sigma1": Head(0.02, 2.0)}
CASES = {
    "lugre, unbounded": (lugre(**lugre_level(18e3)), ("sigma0", "sigma1")),
    "lugre, bounded": (lugre(**lugre_level(18e3)), BOUNDED),
    "lugre_exact": (lugre_exact(), {"sigma0": Head(0.1, 5.0), "Fc_pos": Head(0.5, 1.5)}),
    "bouc_wen": (bouc_wen(k=8e6, d_y=2e-3), ("k", "beta", "gamma")),
}


def listening(outputs, inputs=5):
    first = [("lstm", 4, (0, 3)), ("lstm", 4, (3, inputs))] if inputs > 3 else [("lstm", 4)]
    return Architecture(inputs, [first, [("lstm", 6)], [("linear", outputs)]])


def made(law, guided, inputs=SIGNALS, read=5, seed=1, size=3.0, **options):
    """A model whose last layer says something, as if it had been trained."""
    architecture = listening(len(guided), read)
    model = guided_law(law, guided, architecture, inputs, FORCE, dt=DT, key=jax.random.key(seed), **options)
    last = f"{len(architecture.layers) - 1}.W"
    return eqx.tree_at(lambda m: m.stack.tensors[last], model, replace_fn=lambda w: 10.0 * size * w)


def motion(seed, n=N):
    """Smooth signals of a device that is heard, and the motion of its own place."""
    rng, t = np.random.default_rng(seed), DT * np.arange(1, n + 1)
    wave = lambda: sum(rng.normal() * np.sin(2 * np.pi * (1 + 3 * k) * t + 6 * rng.random()) for k in range(4))  # noqa: E731
    d1, d = 5e-3 * wave(), 4e-3 * wave()
    v1, v = (np.diff(x, prepend=x[0]) / DT for x in (d1, d))
    return {"f1": 1.5e4 * np.tanh(8 * v1), "d1": d1, "v1": v1, "d": d, "v": v}


def columns(signals, inputs=SIGNALS):
    return np.column_stack([signal.scale(signals[signal.name]) for signal in inputs])


def card(inputs=SIGNALS):
    return Card(inputs, FORCE, data="a test")


@pytest.mark.parametrize("case", CASES)
def test_a_frozen_guided_law_equals_the_one_that_was_trained(case, tmp_path):
    law, guided = CASES[case]
    model, signals = made(law, guided), motion(3)
    wanted = FORCE[0].unscale(np.asarray(model(columns(signals))[0])[:, 0])
    frozen = freeze(model, card())
    found = frozen.device().drive(DT, **signals)
    assert np.abs(found["f"] - wanted).max() < ROUND_OFF * np.abs(wanted).max()
    plain = law.drive(DT, **{key: signals[key] for key in law.block.inputs})["f"]
    assert np.abs(found["f"] - plain).max() > 0.02 * np.abs(plain).max()  # what the stack says matters
    for key, head in (guided if isinstance(guided, dict) else dict.fromkeys(guided, Head())).items():
        factor = found[f"{key}_used"] / law.params[key]
        assert factor.min() > head.low and factor.max() < head.high and np.ptp(factor) > 0.02
    frozen.save(tmp_path / "net.safetensors")
    back = load_network(tmp_path / "net.safetensors")
    assert isinstance(back, FrozenGuidedLaw) and back.card == frozen.card and back.card.dt == DT
    again = back.device().drive(DT, **signals)
    assert all(np.array_equal(again[key], found[key]) for key in found)
    outside = (signals["d"] < -5e-3) | (signals["d"] > 5e-3)
    assert found["outside"][-1] == outside.sum() > 0


def test_inputs_that_the_stack_does_not_read_follow_behind():
    """A law of d alone, and a stack that hears the other device only."""
    inputs = (*SIGNALS[:3], SIGNALS[3])
    model, signals = made(bouc_wen(k=8e6), ("k",), inputs, read=3), motion(4)
    del signals["v"]
    wanted = FORCE[0].unscale(np.asarray(model(columns(signals, inputs))[0])[:, 0])
    found = freeze(model, card(inputs)).device().drive(DT, **signals)["f"]
    assert np.abs(found - wanted).max() < ROUND_OFF * np.abs(wanted).max()
    with pytest.raises(BadInput, match="behind which d must follow"):
        freeze(model, card(SIGNALS[:3]))


@pytest.mark.parametrize("case", ["lugre, bounded", "lugre_exact"])
def test_the_state_goes_on_from_window_to_window(case):
    model = made(*CASES[case])
    x = np.stack([columns(motion(5)), columns(motion(6))])
    whole, last = model(x)
    state, parts = model.rest(2), []
    for begin in range(0, N, 500):
        y, state = model(x[:, begin : begin + 500], state)
        parts.append(y)
    joined = np.concatenate(parts, axis=1)
    assert np.abs(joined - whole).max() < ROUND_OFF * np.abs(whole).max()
    assert jax.tree.structure(state) == jax.tree.structure(last)
    alone = np.asarray(model(x[1])[0])
    assert np.abs(alone - whole[1]).max() < ROUND_OFF * np.abs(whole).max()


@pytest.mark.parametrize("case", ["lugre, unbounded", "lugre, bounded", "lugre_exact", "bouc_wen"])
def test_gradients_are_those_of_differences(case):
    law, guided = CASES[case]
    model = made(law, guided, dtype=jnp.float64)
    x = columns(motion(7, 60))
    weights, fixed = eqx.partition(model, eqx.is_inexact_array)
    loss = lambda w: jnp.mean(eqx.combine(w, fixed)(x, path="scan")[0] ** 2)  # noqa: E731
    gradient = jax.grad(loss)(weights)
    along = jax.tree.map(lambda a: jnp.asarray(np.random.default_rng(8).normal(size=a.shape)), weights)
    step = 1e-6
    ends = [loss(jax.tree.map(lambda w, a, s=s: w + s * step * a, weights, along)) for s in (1.0, -1.0)]
    slope = sum(jnp.sum(g * a) for g, a in zip(jax.tree.leaves(gradient), jax.tree.leaves(along), strict=True))
    assert float((ends[0] - ends[1]) / (2 * step)) == pytest.approx(float(slope), rel=GRADIENT, abs=1e-12)


def test_an_untrained_head_leaves_the_law_nearly_as_it_is():
    for head in (Head(), Head(0.02, 2.0), Head(0.5, 1.5)):
        law = lugre(**lugre_level(18e3))
        model = guided_law(law, {"sigma0": head}, listening(1), SIGNALS, FORCE, dt=DT, key=jax.random.key(0))
        silent = eqx.tree_at(lambda m: m.stack.tensors["3.W"], model, replace_fn=jnp.zeros_like)
        used = freeze(silent, card()).device().drive(DT, **motion(9))["sigma0_used"]
        np.testing.assert_allclose(used, law.params["sigma0"], rtol=1e-12)


def test_a_known_level_is_a_column_in_training_and_parameters_at_a_site():
    law, scaled = lugre(), [key for key in lugre.params if key != "vs"]
    model, signals = made(law, BOUNDED, by_level=scaled), motion(10)
    level = 13.0 / 23.0
    wanted = np.asarray(model(np.column_stack([columns(signals), np.full(N, level)]))[0])[:, 0] / FORCE[0].factor
    frozen = freeze(model, card())
    device = frozen.device(**lugre_level(13e3))
    assert np.abs(device.drive(DT, **signals)["f"] - wanted).max() < ROUND_OFF * np.abs(wanted).max()
    assert (device.stiffness, device.damping) == (
        lugre(**lugre_level(13e3)).stiffness,
        lugre(**lugre_level(13e3)).damping,
    )
    assert frozen.device(stiffness=1e6).stiffness == 1e6


def test_it_learns_in_windows_by_the_recipes_of_stacks():
    """Stiffness that hangs on the device that is heard: two devices, one soft, one stiff, told apart by their force."""
    histories = []
    for seed, factor in enumerate((0.3, 0.3, 0.3, 1.6, 1.6, 1.6)):
        signals = motion(20 + seed, 1024)
        device = lugre(**(lugre_level(18e3) | {"sigma0": factor * lugre_level(18e3)["sigma0"]}))
        signals["f1"] = factor * 1e4 * np.ones(1024)
        target = FORCE[0].scale(device.drive(DT, v=signals["v"])["f"])[:, None]
        histories.append(History(f"{seed}", f"{seed}", DT, columns(signals), target))
    parts = Split(tuple(histories[:2] + histories[3:5]), (histories[2], histories[5]), ())
    model = guided_law(lugre(**lugre_level(18e3)), BOUNDED, listening(2), SIGNALS, FORCE, dt=DT, key=jax.random.key(0))
    recipe = Recipe(epochs=25, batch=4, window=256, rate=1e-2)
    found = train_network(listening(2), parts, recipe, model=model)
    assert found.history.validation[-1] < 0.2 * found.history.validation[0]
    frozen = freeze(found.model, card())
    for history, factor in zip(parts.validation, (0.3, 1.6), strict=True):
        signals = {s.name: s.unscale(history.inputs[:, k]) for k, s in enumerate(SIGNALS)}
        used = frozen.device().drive(DT, **signals)["sigma0_used"][200:]
        assert np.median(used) / lugre_level(18e3)["sigma0"] == pytest.approx(factor, rel=0.2)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"law": brfd_gap_slip()}, BadInput, "only a pure law"),
        ({"law": dashpot()}, BadInput, "only a pure law with a state"),
        ({"guided": ("sigma9", "sigma1")}, UnknownName, "sigma9"),
        ({"guided": ("sigma2", "sigma1")}, BadInput, "sigma2 is 0"),
        ({"guided": ("sigma1",)}, BadShape, "2 outputs for 1"),
        ({"inputs": SIGNALS[:4]}, BadInput, "needs v"),
        ({"outputs": (Signal("g", "N"),)}, BadInput, "outputs must be f"),
        ({"by_level": ("Fc",)}, UnknownName, "Fc"),
        ({"law": lugre(initial={"z": 1e-3})}, BadInput, "leave initial out"),
    ],
)
def test_laws_that_cannot_be_guided_are_refused(arguments, error, words):
    usual = {"law": lugre(), "guided": BOUNDED, "architecture": listening(2), "inputs": SIGNALS, "outputs": FORCE}
    with pytest.raises(error, match=words):
        guided_law(**(usual | arguments), dt=DT, key=jax.random.key(0))


@pytest.mark.parametrize("ends", [(0.0, 1.0), (1.0, 2.0), (-0.1, 2.0), (0.5, np.inf), (0.2, 0.1)])
def test_heads_that_do_not_hold_1_are_refused(ends):
    with pytest.raises(BadInput, match="must have 1 between its ends"):
        Head(*ends)


def test_cards_that_do_not_fit_are_refused():
    model = made(lugre(), BOUNDED)
    with pytest.raises(BadInput, match="v was in another place or scaled otherwise"):
        freeze(model, card((*SIGNALS[:4], Signal("v", "m/s", 0.0, 1.0))))
    with pytest.raises(BadInput, match="the card says dt"):
        freeze(model, Card(SIGNALS, FORCE, dt=1 / 512))
    with pytest.raises(BadInput, match="v is in m"):
        freeze(model, card((*SIGNALS[:4], Signal("v", "m", 0.0, 10.0))))
    frozen = freeze(model, card())
    with pytest.raises(OutOfBounds, match="vs"):
        frozen.device(vs=-1.0)
