r"""The paper's own model on the real damper: LuGre whose stiffness :math:`\sigma_0(y, v)` is a network, Eqs. (5)-(12).

Two protocols. *Told*, as the paper has it: segments, restart from the measured force, sides of friction by the sign of
the measured force, zero-phase velocity; the other parameters are those of Table 4. *Free*: from the first sample of the
record, whose force is the only one known, with friction levels and damping learned too.
"""

from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from hyloop.devices import lugre_exact
from hyloop.learn.physics.layers import PhysicsLayer, physics_layer
from hyloop.learn.physics.recurrent_fit import History, follow, local_equations

from .learned import EVERY, FITTED, FORCE, JUDGED, SCALE_HARMONIC, SCALE_QUAKE
from .printed import TABLE_4, rim_velocity, told_lugre
from .tests36 import RATE, segment

# Scales of what the network sees: the slack band is soft below some 1 kN, and stiffness differs by direction
FORCE_SEEN, VELOCITY_SEEN = 2e3, 0.1  # N, m/s at the rim
WIDTH, DEPTH, REACH = 8, 2, 20.0
ITERATIONS, DAMPING = 50, 10.0  # of Levenberg-Marquardt; less damping at the start only costs refused steps
PRIOR_NETWORK, PRIOR_FRICTION = 0.3, 0.1  # precisions around the random start, and around Table 4
FRICTION = ("sigma1", "Fc_pos", "Fs_pos", "Fc_neg", "Fs_neg", "vs")
# (protocol, velocity, whether friction is learned too)
CASES = {"told, Table 4": ("told", "zero-phase", False), "free, friction learned": ("free", "causal", True)}


def layer(case, seed=0) -> PhysicsLayer:
    """The model of a case, untrained."""
    protocol, _, learns = CASES[case]
    law = told_lugre(**TABLE_4) if protocol == "told" else lugre_exact(**TABLE_4)
    return physics_layer(
        law,
        ("sigma0",),
        features={"y": FORCE_SEEN, "v": VELOCITY_SEEN},
        width=WIDTH,
        depth=DEPTH,
        constant=FRICTION if learns else (),
        reach=REACH,
        dt=1.0 / RATE,
        seed=seed,
    )


def step(layer, x, u):
    """One sample, force in kN."""
    x, y = layer.step(x, u)
    return x, y[0] / FORCE


def start(layer, first):
    """State that is the measured force, Eq. (9) at rest."""
    return first


def history(case, test, seconds=None) -> History:
    """What the model of a case sees of a test, and what it is to follow: a segment, or the head of the record."""
    protocol, velocity, _ = CASES[case]
    signals = test.signals(velocity)
    seconds = FITTED[test.event or test.frequency] if seconds is None else seconds
    part = slice(0, min(round(seconds * RATE), len(test.d)))
    if protocol == "told" and test.event:
        part = segment(test.event + test.level)
    f = test.f[part]
    u = rim_velocity(signals["d"], signals["v"])[part, None]
    if protocol == "told":
        u = np.column_stack([u, np.sign(f)])
    weight = np.zeros(len(f))
    weight[::EVERY] = 1.0 / (SCALE_QUAKE if test.event else SCALE_HARMONIC)
    return History(u, f / FORCE, weight, f[:1])


@cache
def _equations(case):
    return local_equations(layer(case), step, start, EVERY)  # compiled once for all folds and seeds


def fitted(case, seed, tests, iterations=ITERATIONS, progress=None) -> PhysicsLayer:
    """The model of a case, fitted to tests."""
    model = layer(case, seed)
    arrays = eqx.filter(model, eqx.is_inexact_array)
    prior = jax.tree.map(lambda a: jnp.full(a.shape, PRIOR_NETWORK), arrays)
    prior = eqx.tree_at(lambda l: l.log_factors, prior, jnp.full(arrays.log_factors.shape, PRIOR_FRICTION))
    histories = [history(case, test) for test in tests]
    return follow(
        model,
        step,
        start,
        histories,
        iterations=iterations,
        prior=prior,
        damping=DAMPING,
        equations=_equations(case),
        progress=progress,
    ).model


def force(case, model, name, test):
    """Force in N over the segment of an earthquake."""
    seen = history(case, test, JUDGED)
    f = np.asarray(_run(model, seen.u, seen.start)) * FORCE
    return f if CASES[case][0] == "told" else f[segment(name)]


@eqx.filter_jit
def _run(model, u, first):
    return jax.lax.scan(lambda x, u: step(model, x, u), first, u)[1]
