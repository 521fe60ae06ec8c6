"""Leave one earthquake out: the remembering band, alone and with a network, fitted free-running on causal inputs."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from hyloop.learn.physics.layers import PhysicsLayer, physics_layer
from hyloop.learn.physics.recurrent_fit import History, follow, local_equations
from hyloop.metrics import rmse

from .band import CONSTANT, MODULATED, remembering_band, start
from .tests36 import RATE, segment

FORCE = 1e3  # N, unit of the residuals
EVERY = 4  # the model runs at 1024 Hz; every fourth residual counts
# s fitted: earthquakes to the end of the paper's segment or a little more, harmonics one to eight cycles
FITTED = {"Duzce": 12.0, "ImperialValley": 8.0, "Kocaeli": 16.0, 0.1: 12.0, 0.25: 8.0, 0.5: 8.0, 1.0: 4.0, 2.0: 4.0}
# what a residual is divided by, in units of FORCE: rms force of a typical test of each kind
SCALE_QUAKE, SCALE_HARMONIC = 3.0, 12.0
FEATURES = {"v": 0.1, "s_1": 0.1, "s_2": 0.1, "u": 3e-3, "d": 25e-3}  # m/s, m
JUDGED = 14.0  # s: the last segment ends there
WIDTH, REACH = 8, 2.5
ALONE, WITH_NETWORK = 12, 14  # Levenberg-Marquardt iterations
PRIOR_PHYSICS, PRIOR_NETWORK = 0.1, 2.0


def band_layer(seed=None) -> PhysicsLayer:
    """The band with every physical parameter free; with a seed, a network modulates it too."""
    extra = {} if seed is None else {"by_sample": MODULATED, "features": FEATURES, "seed": seed}
    return physics_layer(
        remembering_band(),
        constant=CONSTANT,
        shifted={"off": 1e3},
        width=WIDTH,
        depth=1,
        reach=REACH,
        dt=1.0 / RATE,
        **extra,
    )


def step(layer, x, u):
    """One sample, force in kN."""
    x, y = layer.step(x, u)
    return x, y[0] / FORCE


def history(test, velocity, seconds=None) -> History:
    """What a model sees of a test, and what it is to follow."""
    signals = test.signals(velocity)
    seconds = FITTED[test.event or test.frequency] if seconds is None else seconds
    n = min(round(seconds * RATE), len(test.d))
    u = np.column_stack([signals[key][:n] for key in ("d", "v", "a")])
    weight = np.zeros(n)
    weight[::EVERY] = 1.0 / (SCALE_QUAKE if test.event else SCALE_HARMONIC)
    return History(u, test.f[:n] / FORCE, weight, np.array([test.d[0], test.f[0]]))


class Fitter:
    """Fits of one velocity estimate; compiled once for all folds and seeds."""

    def __init__(self, velocity):
        self.velocity = velocity
        self.alone = local_equations(band_layer(), step, start, EVERY)
        self.with_network = local_equations(band_layer(0), step, start, EVERY)

    def physics(self, tests, iterations=ALONE, progress=None) -> PhysicsLayer:
        """Physical parameters, from round numbers read off the harmonic loops."""
        layer = band_layer()
        prior = _filled(layer, PRIOR_PHYSICS)
        return follow(
            layer,
            step,
            start,
            [history(test, self.velocity) for test in tests],
            iterations=iterations,
            prior=prior,
            equations=self.alone,
            progress=progress,
        ).model

    def network(self, physics, seed, tests, iterations=WITH_NETWORK, progress=None) -> PhysicsLayer:
        """Network and physical parameters together, these from where they stand."""
        layer = eqx.tree_at(
            lambda l: (l.log_factors, l.shifts), band_layer(seed), (physics.log_factors, physics.shifts)
        )
        prior = eqx.tree_at(lambda l: l.network, _filled(layer, PRIOR_PHYSICS), _filled(layer.network, PRIOR_NETWORK))
        return follow(
            layer,
            step,
            start,
            [history(test, self.velocity) for test in tests],
            iterations=iterations,
            prior=prior,
            equations=self.with_network,
            progress=progress,
        ).model


def force(layer, test, velocity, seconds=JUDGED):
    """Force in N over the head of a record, free-running; of the measured force the first value is known."""
    seen = history(test, velocity, seconds)
    return np.asarray(_run(layer, seen.u, seen.start)) * FORCE


@eqx.filter_jit
def _run(layer, u, first):
    return jax.lax.scan(lambda x, u: step(layer, x, u), start(layer, first), u)[1]


def _filled(model, value):
    """The floating-point arrays of a model, all set to one value."""
    return jax.tree.map(lambda a: jnp.full(a.shape, value), eqx.filter(model, eqx.is_inexact_array))


def error(name, test, predicted) -> float:
    """RMSE in N over the paper's segment."""
    part = segment(name)
    return rmse(test.f[part], predicted[part])
