"""Parameters and networks from averaged forces: Levenberg-Marquardt with exact derivatives, by JAX.

All tests run side by side, padded to one length, and a test that is left out has no weight: so one compilation serves
all fits of a model, and compiling is what takes longest.
"""

from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from hyloop.core.levenberg_marquardt import Factors, minimise
from hyloop.learn.laws.jax_law import jax_law

jax.config.update("jax_enable_x64", True)

RESIDUALS = 600  # of a test, evenly spread: averages of neighbouring samples are nearly alike
TOLERANCE = 1e-4  # of the cost that a step must promise
DAMPING = 1e-2
ITERATIONS = 40


class Data(NamedTuple):
    """Tests as arrays, one row each."""

    dt: np.ndarray
    current: np.ndarray
    d: np.ndarray  # (tests, samples)
    read: np.ndarray  # 1 where a reading was taken
    first: np.ndarray  # (tests, residuals): readings before the average, and with it
    last: np.ndarray
    window: np.ndarray
    f: np.ndarray
    weight: np.ndarray


def arranged(tests, used) -> Data:
    """All tests, of which only those `used` have a weight; every test counts the same, its error over its range."""
    names = {seen.name for seen in used}
    samples = max(len(seen.d) for seen in tests)
    d = np.stack([np.pad(seen.d, (0, samples - len(seen.d)), mode="edge") for seen in tests])
    read = np.stack([np.arange(samples) % seen.stride == 0 for seen in tests]).astype(float)
    rows = []
    for seen in tests:
        chosen = np.linspace(seen.skip, len(seen.f) - 1, RESIDUALS).astype(int)
        before = chosen * seen.stride  # readings up to and without this sample of the model
        after = (chosen + seen.window - 1) * seen.stride + 1
        weight = (seen.name in names) / (seen.range * np.sqrt(RESIDUALS))
        rows.append((before, after, seen.f[chosen], np.full(RESIDUALS, weight)))
    first, last, f, weight = (np.stack(column) for column in zip(*rows, strict=True))
    numbers = ([seen.dt for seen in tests], [seen.current for seen in tests], [seen.window for seen in tests])
    dt, current, window = (np.array(each, dtype=float) for each in numbers)
    return Data(dt, current, d, read, first, last, window, f, weight)


def force(layer, dt, current, d):
    """Force over a motion, free-running from rest at a constant current."""
    law = jax_law(layer.law)
    at, coil = list(layer.law.params).index("i"), list(layer.law.state).index("coil")

    def step(x, d):
        u = jnp.stack([d])
        p = layer.parameters(x, u)
        p[at] = current
        outputs, new = law(x, u, dt, p)
        return jnp.stack(new), outputs[0]

    return jax.lax.scan(step, jnp.asarray(layer.rest).at[coil].set(current), d)[1]


class _Make:
    """How a layer is put together, without its numbers: what compiled functions are kept for."""

    def __init__(self, layer):
        arrays, self.rest = eqx.partition(layer, eqx.is_inexact_array)
        self.flat, self.unravel = ravel_pytree(arrays)
        leaves, tree = jax.tree.flatten(self.rest)
        self.key = (tree, tuple(map(repr, leaves)), tuple(np.shape(a) for a in jax.tree.leaves(arrays)))

    def layer(self, theta):
        return eqx.combine(self.unravel(theta), self.rest)

    def __hash__(self):
        return hash(self.key)

    def __eq__(self, other):
        return self.key == other.key


@partial(jax.jit, static_argnums=1)
def _residuals(theta, make, data):
    layer = make.layer(theta)

    def one(test):
        readings = test.read * force(layer, test.dt, test.current, test.d)
        total = jnp.concatenate([jnp.zeros(1), jnp.cumsum(readings)])
        return ((total[test.last] - total[test.first]) / test.window - test.f) * test.weight

    return jax.vmap(one)(data).ravel()


_jacobian = jax.jit(jax.jacfwd(_residuals), static_argnums=1)


def fitted(layer, tests, used=None, *, prior=None, iterations=ITERATIONS):
    """The layer with every number in it fitted, and how the descent went.

    The cost is half the sum of the squared errors (over their ranges) of the tests `used`, by default all. `prior` is
    a pytree like the layer: precisions around the values it has.
    """
    make, data = _Make(layer), arranged(tests, tests if used is None else used)
    origin = np.asarray(make.flat)
    precision = np.zeros(len(origin)) if prior is None else np.asarray(_Make(prior).flat)

    def cost(theta):
        return 0.5 * float(np.sum(np.asarray(_residuals(theta, make, data)) ** 2))

    def normal(theta):
        r, J = np.asarray(_residuals(theta, make, data)), np.asarray(_jacobian(theta, make, data))
        return J.T @ r, J.T @ J

    def around(theta):
        away = theta - origin
        return 0.5 * float(precision @ away**2), precision * away, np.diag(precision)

    found = minimise(
        cost, normal, origin, Factors(DAMPING), prior=around, trials=iterations, tolerance=TOLERANCE, largest=1e8
    )
    return make.layer(jnp.asarray(found.theta)), found
