"""Hostile samples for updaters, and a compiled watch that looks at every tick."""

import numpy as np
from hypothesis import strategies as st
from numba import njit

from hyloop.core.jit import call_block, pointer
from hyloop.updating.filters.factors import cholesky, triangularise

__all__ = ["LENGTH", "SEGMENTS", "adversary", "watched"]

DT = 1 / 1024
LENGTH = 10_000  # ticks in a segment
SEGMENTS = st.lists(
    st.tuples(
        st.sampled_from(["noise", "constant", "zeros", "spikes", "dropouts", "steps", "square"]),
        st.sampled_from([1.0, 1e3, 1e6, 1e9]),
    ),
    min_size=4,
    max_size=4,
)
FINE, OUTSIDE, BROKEN, SINGULAR = range(4)
MEANING = ("fine", "a parameter is outside its bounds", "the state is not finite", "the covariance is not definite")


def adversary(segments, seed):
    """Deformation and force made of hostile pieces; nothing in it comes from a damper."""
    rng, d, f = np.random.default_rng(seed), [], []
    for kind, size in segments:
        motion, force = 5e-3 * rng.normal(size=LENGTH).cumsum(), size * rng.normal(size=LENGTH)
        if kind == "constant":
            motion[:], force[:] = 0.01, size
        elif kind == "zeros":
            motion[:], force[:] = 0.0, 0.0
        elif kind == "spikes":
            force[rng.integers(0, LENGTH, LENGTH // 50)] = rng.choice([1e12, -1e12, 1e300, np.inf])
            motion[rng.integers(0, LENGTH, LENGTH // 500)] = rng.choice([1e3, -1e6, 1e20, -np.inf])
        elif kind == "dropouts":
            force[rng.random(LENGTH) < 0.5] = np.nan
            motion[rng.random(LENGTH) < 0.05] = np.nan
        elif kind == "steps":
            motion = 10.0 * rng.choice([-1.0, 1.0], size=LENGTH // 100).repeat(100)
        elif kind == "square":
            motion = 0.1 * np.sign(np.sin(np.arange(LENGTH) * 0.7))
        d.append(motion)
        f.append(force)
    return np.concatenate(d), np.concatenate(f)


@njit(error_model="numpy")
def _watch(address, x, d, f, p, y, carried, spread, n, root, low, high, kept, S):
    """Advance through all samples; returns the first tick where something is wrong, and what."""
    u, w = np.empty(2), np.empty(n * n)
    for t in range(len(d)):
        u[0], u[1] = d[t], f[t]
        call_block(address, pointer(x), 0, pointer(u), 0, 1 / 1024, pointer(p), 0, pointer(y), 0)
        for i in range(len(low)):
            if not low[i] <= y[i] <= high[i]:
                return t, 1
        for k in range(carried):
            if not np.isfinite(x[k]):
                return t, 2
        if n > 0:
            if root:
                for k in range(n * n):
                    w[k] = x[spread + k]
                triangularise(w, 0, n, n)
            else:
                cholesky(x, spread, n, w, 0, n)
            for i in range(n):
                if not w[i * n + i] > 0.0:
                    return t, 3
            if t % kept == 0:
                S[t // kept] = x[spread : spread + n * n]
    return len(d), 0


def watched(filtered, free, d, f, *, unknowns, kept=1000):
    """Drive an updater over hostile samples; returns (ticks survived, what went wrong, every `kept`-th spread).

    The spread is the covariance, or its factor in square-root form, of so many `unknowns`; 0 where none is carried.
    """
    block, root = filtered.block, "square-root" in filtered.block.flags
    state = list(block.state)
    carried = next(k for k, key in enumerate(state) if key.startswith(("work_", "good_")))
    spread = state.index("S_0_0") if unknowns else 0
    low, high = np.array(list(free.values())).T
    x, p = np.array(list(filtered.initial.values())), np.array(list(filtered.params.values()))
    S = np.empty((len(range(0, len(d), kept)), unknowns * unknowns))
    done, code = _watch(
        block.address,
        x,
        d,
        f,
        p,
        np.empty(len(block.outputs)),
        carried,
        spread,
        unknowns,
        root,
        low.copy(),
        high.copy(),
        kept,
        S,
    )
    return done, MEANING[code], S.reshape(len(S), unknowns, unknowns)
