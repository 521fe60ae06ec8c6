r"""The paper's numerical case: a LuGre slider between two backlash springs, learned as LuGre with a network.

Truth is `friction_backlash` (Eq. 16, Table 2); models run at 0.005 s from y = 0 on the
velocity, Table 2 for everything but :math:`\sigma_0`. Trained on harmonic motions alone, judged on them and on the six
earthquake motions of the damper tests, each scaled to 0.25 m.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from hyloop.devices import friction_backlash, lugre_exact
from hyloop.learn.physics.friction import augmented_lugre
from hyloop.learn.physics.layers import PhysicsLayer, physics_layer
from hyloop.learn.physics.recurrent_fit import History, follow

from .printed import METRICS
from .tests36 import RATE

DT, SECONDS = 0.005, 40.0
TRUTH = 5e-5  # s, internal step of the truth; 1e-5, as in the paper, changes the force by 0.08 N rms
# All 30 combinations of the printed amplitudes and frequencies; the paper ran 24 and does not say which
AMPLITUDES, FREQUENCIES = (0.05, 0.1, 0.2, 0.3, 0.4), (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)  # m, Hz
FORCE = 1000.0  # N, scale of the residuals
# Scales of what the network sees. The springs are soft below k0 x0 = 50 N of some 1000 N, and stiffness differs between
# loading and unloading, so both scales must be small enough for a network of eight units to see it.
FORCE_SEEN, VELOCITY_SEEN = 100.0, 0.2  # N, m/s
PEAK = 0.25  # m
TRAINED = 20.0  # s of each motion: two cycles of all but the slowest
WIDTH, DEPTH, ITERATIONS = 8, 2, 30
PRIOR = 1e-2  # precision of every weight around its random start: only to keep idle weights where they are
HARMONIC = (17.99, 58.61, 103.70, 0.1260, 0.0515, 0.9841), (22.40, 28.18, 62.40, 0.0759, 0.0310, 0.9943)  # Table 6
QUAKE = (13.58, 76.88, 100.96, 0.2107, 0.0505, 0.9575), (19.16, 36.73, 53.10, 0.1108, 0.0266, 0.9881)  # Table 7


TABLE_2 = lugre_exact(
    sigma0=30e3, sigma1=100.0, sigma2=0.0, Fc_pos=1000.0, Fs_pos=1050.0, Fc_neg=1000.0, Fs_neg=1050.0, vs=0.01
)


def plain() -> PhysicsLayer:
    """LuGre with Table 2 and a constant stiffness to be fitted."""
    return physics_layer(TABLE_2, constant=("sigma0",), dt=DT)


class Motion(NamedTuple):
    """Velocity held over each sample, in m/s, and the true force at its end, in N."""

    v: np.ndarray
    f: np.ndarray


def simulated(d) -> Motion:
    """A motion from its deformation: the slider between its springs answers."""
    return Motion(np.diff(d, prepend=d[0]) / DT, friction_backlash(h_max=TRUTH).drive(DT, d=d)["f"])


def harmonics(quick=False) -> dict[str, Motion]:
    """Harmonic motions by name."""
    t = np.arange(round((2.0 if quick else SECONDS) / DT)) * DT
    pairs = [(0.1, 1.0)] if quick else [(A, f) for A in AMPLITUDES for f in FREQUENCIES]
    return {f"{A:g} m, {f:g} Hz": simulated(A * np.sin(2.0 * np.pi * f * t)) for A, f in pairs}


def scaled_quakes(quakes, quick=False) -> dict[str, Motion]:
    """Deformation of the damper tests, scaled to a peak of 0.25 m."""
    motions = {}
    for name, test in list(quakes.items())[: 1 if quick else None]:
        t = np.arange(int(len(test.d) / RATE / DT))[: 2000 if quick else None] * DT
        d = np.interp(t, np.arange(len(test.d)) / RATE, test.d - test.d[0])
        motions[name] = simulated(PEAK / np.max(np.abs(d)) * d)
    return motions


def _step(layer, x, u):
    x, y = layer.step(x, u)
    return x, y[0] / FORCE


def _begin(layer, _):
    return jnp.zeros(1)


def fitted(layer, motions, iterations=ITERATIONS, progress=None) -> PhysicsLayer:
    """Fit a layer to motions, free-running."""
    n = round(TRAINED / DT)
    histories = [History(m.v[:n, None], m.f[:n] / FORCE, np.ones(len(m.v[:n])), 0.0) for m in motions.values()]
    prior = jax.tree.map(lambda a: jnp.full(a.shape, PRIOR), eqx.filter(layer, eqx.is_inexact_array))
    return follow(layer, _step, _begin, histories, iterations=iterations, prior=prior, progress=progress).model


def learned(seed) -> PhysicsLayer:
    """Table 2 with a network for the stiffness, untrained; the device is the same in both directions."""
    return augmented_lugre(
        TABLE_2,
        dt=DT,
        force=FORCE_SEEN,
        velocity=VELOCITY_SEEN,
        symmetric=True,
        width=WIDTH,
        depth=DEPTH,
        activation=jax.nn.tanh,
        reach=10.0,
        seed=seed,
    )


def scores(layer, motions) -> dict[str, float]:
    """The six metrics over all motions, one after another as one history."""
    run = eqx.filter_jit(lambda layer, u: layer(u, jnp.zeros(1))[1][:, 0])
    y = np.concatenate([motion.f for motion in motions.values()])
    p = np.concatenate([np.asarray(run(layer, motion.v[:, None])) for motion in motions.values()])
    return {name: metric(y, p) for name, metric in METRICS.items()}
