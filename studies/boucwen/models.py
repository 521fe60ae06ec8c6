"""The three kinds of model: what each assumes, where it starts, and how it runs free over a record."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from hyloop.learn.freezing import freeze
from hyloop.learn.networks.state_space import StateSpaceNetwork, state_space_network
from hyloop.learn.physics.layers import physics_layer
from hyloop.neural.card import Card, Signal

from .oscillators import bouc_wen_oscillator, dahl_oscillator
from .records import HIGH, LOW, PERIOD, RATE, ticks

jax.config.update("jax_enable_x64", True)

# ticks in a sample of the benchmark: the shorter the tick, the less the straight line of the force costs
BLACK_TICKS, LAW_TICKS = 2, 8
STATES, WIDTH, SPREAD = 3, 16, 3.0  # of the black box
LAW_WIDTH, REACH, FORCE_SEEN = 6, 10.0, 50.0  # -, -, N
NU_START = 1.5  # of the white box
FORGETS = 6.0  # standard deviations of y: way in which Dahl's friction forgets, at the start
LABEL = "Bouc-Wen benchmark (Noël and Schoukens, CC BY-SA 4.0)"


class Linear(NamedTuple):
    """What a mass on a spring and a dashpot makes of a record: best linear approximation, of second order."""

    m: float
    c: float
    k: float
    u: float  # rms force
    y: float  # rms displacement


def linear(seen) -> Linear:
    """Least squares on the frequency response of one period, over the band of the multisine."""
    lines = np.arange(int(np.ceil(LOW * PERIOD / RATE)), int(HIGH * PERIOD / RATE) + 1)
    U, Y = (np.fft.rfft(each)[lines] for each in (seen.u, seen.y))
    s, G = 2j * np.pi * lines * RATE / PERIOD, Y / U
    rows = np.column_stack([s**2 * G, s * G, G])
    A = np.concatenate([rows.real, rows.imag])
    b = np.concatenate([np.ones(len(lines)), np.zeros(len(lines))])
    m, c, k = np.linalg.lstsq(A, b, rcond=None)[0]
    return Linear(float(m), float(c), float(k), float(seen.u.std()), float(seen.y.std()))


def black_box(start: Linear, seed) -> StateSpaceNetwork:
    """Three states: the linear approximation, one more that listens to its velocity, and a perceptron over all."""
    omega = np.sqrt(start.k / start.m)
    A = np.array([[0.0, 1.0, 0.0], [-1.0, -start.c / (start.m * omega), -0.1], [0.0, 1.0, -1.0]])
    B = np.array([[0.0], [start.u / (start.m * omega**2 * start.y)], [0.0]])
    return state_space_network(
        A, B, np.eye(1, STATES), width=WIDTH, rate=omega, dt=1 / (RATE * BLACK_TICKS), spread=SPREAD, seed=seed
    )


def dahl(start: Linear):
    """Dahl's friction in the equation of motion, its six numbers free: the law before it is corrected."""
    k = 0.5 * start.k
    law = dahl_oscillator(m=start.m, c=0.5 * start.c, k=k, k_out=k, k_back=k, rho=1.0 / (FORGETS * start.y))
    return physics_layer(law, constant=tuple(law.params), dt=1 / (RATE * LAW_TICKS))


def corrected(params, seed):
    """The law from where it stood alone, with a network that gives both stiffnesses from the size of the force."""
    return physics_layer(
        dahl_oscillator(**params),
        ("k_out", "k_back"),
        features={"z_mid": FORCE_SEEN},
        constant=("m", "c", "k", "rho"),
        width=LAW_WIDTH,
        depth=1,
        reach=REACH,
        dt=1 / (RATE * LAW_TICKS),
        seed=seed,
    )


def white_box(start: Linear):
    """The equations of the benchmark from half the stiffness each, no hysteresis, and a wrong power."""
    k = 0.5 * start.k
    law = bouc_wen_oscillator(m=start.m, c=0.5 * start.c, k=k, alpha=k, nu=NU_START)
    shifted = {"beta_gamma": 1e3, "beta_delta": 1e3}
    return physics_layer(law, constant=("m", "c", "k", "alpha", "nu"), shifted=shifted, dt=1 / (RATE * LAW_TICKS))


def parameters(layer) -> dict[str, float]:
    """Parameters of a law without a network."""
    values = layer.parameters(jnp.asarray(layer.rest), jnp.zeros(1))
    return {key: float(value) for key, value in zip(layer.law.params, values, strict=True)}


def frozen(model, start: Linear, seen, seed=0):
    """The model as a block of the loop; its card has the ranges of the records it was trained on."""
    u, y = [each.u for each in seen], [each.y for each in seen]
    signals = Signal.of("u", "N", u, "none"), Signal.of("y", "m", y, "none")
    if isinstance(model, StateSpaceNetwork):
        scales = 1.0 / start.u, 1.0 / start.y
        signals = tuple(Signal(s.name, s.unit, 0.0, f, s.low, s.high) for s, f in zip(signals, scales, strict=True))
    return freeze(model, Card((signals[0],), (signals[1],), data=LABEL, seed=seed))


def displacement(instance, seen, factor) -> np.ndarray:
    """Displacement at the samples of a record, free-running: from rest, or after a run-in where it is periodic."""
    u, before = ticks(seen, factor)
    return instance.drive(1 / (RATE * factor), u=u)["y"][before * factor :: factor]


def error(instance, seen, factor) -> float:
    """RMSE in m."""
    return float(np.sqrt(np.mean((displacement(instance, seen, factor) - seen.y) ** 2)))


def arrays(model) -> list[np.ndarray]:
    """All that was learned, as bare arrays."""
    return [np.asarray(leaf) for leaf in jax.tree.leaves(eqx.filter(model, eqx.is_inexact_array))]


def restored(like, found):
    """The model that was taken apart by `arrays`."""
    mine, rest = eqx.partition(like, eqx.is_inexact_array)
    return eqx.combine(jax.tree.unflatten(jax.tree.structure(mine), [jnp.asarray(a) for a in found]), rest)
