"""A small trained network and naive versions of what the updaters do, for the tests of both."""

from functools import cache

import numpy as np

from hyloop.devices import bouc_wen
from hyloop.neural import HysteresisNetwork
from hyloop.updating import pretrain

DT, WIDTH, DEPTH = 0.01, 6, 2
STIFFNESS = 2e7


def motion(n, seed=0, size=0.02):
    """A deformation history with changing size and rate."""
    t, rng = np.arange(n) * DT, np.random.default_rng(seed)
    parts = sum(
        a * np.sin(2 * np.pi * f * t + p)
        for f, a, p in zip(rng.uniform(0.3, 2.0, 4), rng.uniform(0.3, 1.0, 4), rng.uniform(0, 6, 4), strict=True)
    )
    return size * parts * np.sin(np.pi * t / t[-1]) / 2


@cache
def trained() -> tuple[HysteresisNetwork, np.ndarray, np.ndarray]:
    """A network of a yielding device, with the record it was trained on."""
    d = motion(600)
    f = bouc_wen(k=STIFFNESS, d_y=5e-3).drive(DT, d=d)["f"]
    return pretrain(d, f, dt=DT, iterations=150, width=WIDTH, depth=DEPTH, stiffness=STIFFNESS), d, f


def layers(w, inputs=6, width=WIDTH, depth=DEPTH):
    """Weight matrices with the bias as last column."""
    shapes = [(width, inputs + 1), *[(width, width + 1)] * (depth - 1), (1, width + 1)]
    ends = np.cumsum([a * b for a, b in shapes])
    return [part.reshape(shape) for part, shape in zip(np.split(w, ends[:-1]), shapes, strict=True)]


def perceptron(w, z, lib=np):
    """The perceptron as matrices; `lib` is NumPy or jax.numpy."""
    *hidden, out = layers(w)
    a = z
    for W in hidden:
        a = lib.tanh(W[:, :-1] @ a + W[:, -1])
    return (out[:, :-1] @ a + out[:, -1])[0]


def scaled_inputs(network, d, d_last, f_last, energy):
    raw = np.array([d, d_last, f_last, d_last * f_last, f_last * (d - d_last), energy])
    return (raw - network.centre[:6]) * network.factor[:6]


def slope(function, x, h=1e-6):
    """Derivative of a scalar function of a vector by central differences."""
    return np.array([(function(x + h * e) - function(x - h * e)) / (2 * h) for e in np.eye(len(x))])
