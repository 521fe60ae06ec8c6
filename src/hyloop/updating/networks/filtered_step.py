"""One tick of the filtered network: the guard watches, the filter learns, and what is believed is given out."""

import math
from collections import namedtuple
from collections.abc import Callable
from typing import NamedTuple

from numba import carray

from hyloop.core.block import Param
from hyloop.core.jit import pointer, verb
from hyloop.core.memory import laid_out, read, views
from hyloop.neural.hysteresis import INPUTS, absorbed, features, limited
from hyloop.neural.perceptron import evaluate, gradients, weight_count

__all__ = ["PARAMS", "STATE", "FilteredMemory", "filtered_memory", "filtered_step"]

STATE = {
    "d_last": "m",  # measured in the last tick
    "f_last": "N",
    "energy": "J",
    "ln_a": "-",  # logarithms of the force scale and of the length scale
    "ln_b": "-",
    "f_frozen": "N",  # of the frozen network, which runs freely
    "e_frozen": "J",
    "variance": "N2",  # what the noise in d makes of its force
    "shared": "N m",  # covariance of its force with the noise in the last d
    "f_updated": "N",  # of the updated network, which runs freely too
    "e_updated": "J",
    "sum_frozen": "-",  # squared errors of both over what is explained, fading
    "sum_updated": "-",
    "ticks": "-",  # and the ticks they were summed over
}
PARAMS = {
    "tolerance": Param("N", 1.0, 0.0, about="error of the freely running network in training"),
    "floor": Param("N", 1.0, 0.0, about="what the network cannot represent, standard deviation"),
    "noise": Param("N", 0.0, 0.0, about="standard deviation of the measured force"),
    "noise_d": Param("m", 0.0, 0.0, about="standard deviation of the measured deformation"),
    "scale_std": Param("-", 0.2, 0.0, about="standard deviation of the logarithms of the scales at the start"),
    "weight_std": Param("-", 3e-3, 0.0, about="standard deviation of the weights at the start"),
    "process": Param("-", 0.0, 0.0, about="random walk in a tick over these"),
    "evidence": Param("-", 9.0, 0.0, about="squared error over what is explained that contradicts it"),
    "gain": Param("-", 0.8, 0.0, about="squared error of the update over that of the frozen network"),
    "fading": Param("-", 0.999, 0.0, 1.0, about="forgetting factor of the guard"),
}
State = namedtuple("State", STATE)
Settings = namedtuple("Settings", PARAMS)
NAMED, _ = laid_out(State, dict.fromkeys(STATE, 1))


class FilteredMemory(NamedTuple):
    """What lies in the state vector behind the named states; unknown are ln a, ln b and the adaptive weights."""

    w: int  # weights
    frozen: int  # pre-trained weights
    centre: int  # of the six inputs and the force
    factor: int
    P: int  # covariance of the unknowns
    h: int  # derivatives of the force by the unknowns
    Ph: int
    g: int  # derivatives of the scaled force by the weights
    z: int  # scaled inputs
    gz: int  # derivatives of the scaled force by these
    hidden: int  # activations
    delta: int


class Slopes(NamedTuple):
    """Derivatives of the force, in the units of training."""

    d: float
    d_last: float
    f_last: float
    energy: float


def filtered_memory(width: int, depth: int, adaptive: int) -> tuple[FilteredMemory, int]:
    """Lay out the memory for `adaptive` weights that may change; with the size of the state vector."""
    n, free = weight_count(INPUTS, width, depth), 2 + adaptive
    sizes = {"w": n, "frozen": n, "centre": 7, "factor": 7, "P": free * free, "h": free, "Ph": free, "g": n}
    sizes |= {"z": INPUTS, "gz": INPUTS, "hidden": width * depth, "delta": width * depth}
    return laid_out(FilteredMemory, sizes, first=len(STATE))


def filtered_step(width: int, depth: int, rule: int, adaptive: int) -> Callable:
    """Make ``advance(x, u, dt, p, y)``, where the last `adaptive` weights may change."""
    n, memory = weight_count(INPUTS, width, depth), filtered_memory(width, depth, adaptive)[0]
    free, constant = 2 + adaptive, n - adaptive

    def advance(x, u, dt, p, y):
        s, m, q = views(x, NAMED), views(x, memory), read(Settings, p, 0)
        d, f_m = u[0], u[1]
        if math.isfinite(d) and math.isfinite(f_m):
            a, b = math.exp(s.ln_a[0]), math.exp(s.ln_b[0])
            run_frozen(width, depth, rule, s, m, q, d)
            run_updated(width, depth, rule, s, m, d, a, b)
            watch(s, q, f_m)
            predicted, variance = linearise(width, depth, adaptive, constant, s, m, q, d, a, b)
            weigh(free, m)
            correct(free, adaptive, constant, s, m, q, f_m - a * predicted, variance)
            s.f_last[0] = f_m
            s.energy[0] += absorbed(f_m, d, s.d_last[0], rule)
            s.d_last[0] = d
            y[2 + n] = a * predicted
        else:  # a sample that is missing teaches nothing
            y[2 + n] = s.f_last[0]
        y[3 + n] = f_m - y[2 + n]
        y[4 + n] = give_out(n, s, m, q, pointer(y))

    return advance


@verb
def force(w, m, width, depth):
    """Force of a network, in the units of its training, for the inputs in `z`."""
    return limited(evaluate(w, m.z, m.hidden, INPUTS, width, depth)) / m.factor[6] + m.centre[6]


@verb
def slopes(w, m, width, depth, d, d_last, f_last):
    """Derivatives of that force by the quantities from which the inputs were made; by the weights in `g`."""
    gz, s = m.gz, m.factor
    gradients(w, m.z, m.hidden, m.g, gz, m.delta, INPUTS, width, depth)
    by_d = (gz[0] * s[0] + gz[4] * s[4] * f_last) / s[6]
    by_last = (gz[1] * s[1] + gz[3] * s[3] * f_last - gz[4] * s[4] * f_last) / s[6]
    by_f = (gz[2] * s[2] + gz[3] * s[3] * d_last + gz[4] * s[4] * (d - d_last)) / s[6]
    return Slopes(by_d, by_last, by_f, gz[5] * s[5] / s[6])


@verb
def run_frozen(width, depth, rule, s, m, q, d):
    """The frozen network runs freely, and with it the variance that noise in d gives its force.

    The noise of this tick enters the next one too, with the other sign, hence the shared part.
    """
    d_last, R_d = s.d_last[0], q.noise_d * q.noise_d
    features(m.z, d, d_last, s.f_frozen[0], s.e_frozen[0], m.centre, m.factor)
    f = force(m.frozen, m, width, depth)
    by = slopes(m.frozen, m, width, depth, d, d_last, s.f_frozen[0])
    by_f = min(max(by.f_last, -1.0), 1.0)
    s.variance[0] = max(
        by_f * by_f * s.variance[0]
        + (by.d * by.d + by.d_last * by.d_last) * R_d
        + 2.0 * by_f * by.d_last * s.shared[0],
        0.0,
    )
    s.shared[0] = by.d * R_d
    s.f_frozen[0] = f
    s.e_frozen[0] += absorbed(f, d, d_last, rule)


@verb
def run_updated(width, depth, rule, s, m, d, a, b):
    """The updated network runs freely as well, before it learns from this sample."""
    d_last = s.d_last[0]
    features(m.z, d / b, d_last / b, s.f_updated[0] / a, s.e_updated[0] / (a * b), m.centre, m.factor)
    f = a * force(m.w, m, width, depth)
    s.f_updated[0] = f
    s.e_updated[0] += absorbed(f, d, d_last, rule)


@verb
def watch(s, q, f_m):
    """The guard adds up the errors of both, over what training error and noise explain."""
    explained = q.tolerance * q.tolerance + q.noise * q.noise + s.variance[0]
    s.sum_frozen[0] = q.fading * s.sum_frozen[0] + (s.f_frozen[0] - f_m) ** 2 / explained
    s.sum_updated[0] = q.fading * s.sum_updated[0] + (s.f_updated[0] - f_m) ** 2 / explained
    s.ticks[0] = q.fading * s.ticks[0] + 1.0


@verb
def linearise(width, depth, adaptive, constant, s, m, q, d, a, b):
    """Force with the measured last force as input, and the variance of its measurement; h by the unknowns."""
    d_last, f_last, energy = s.d_last[0], s.f_last[0] / a, s.energy[0] / (a * b)
    features(m.z, d / b, d_last / b, f_last, energy, m.centre, m.factor)
    predicted = force(m.w, m, width, depth)
    by = slopes(m.w, m, width, depth, d / b, d_last / b, f_last)
    m.h[0] = a * (predicted - by.f_last * f_last - by.energy * energy)
    m.h[1] = -a * (by.d * d / b + by.d_last * d_last / b + by.energy * energy)
    for k in range(adaptive):
        m.h[2 + k] = a * m.g[constant + k] / m.factor[6]
    R_f, R_d = q.noise * q.noise, q.noise_d * q.noise_d
    R = q.floor * q.floor + R_f * (1.0 + by.f_last * by.f_last)
    return predicted, R + R_d * (by.d * by.d + by.d_last * by.d_last) * (a / b) ** 2


@verb
def weigh(free, m):
    """P h; P is symmetric, so its columns are rows."""
    P = carray(m.P, (free, free))
    for k in range(free):
        m.Ph[k] = 0.0
    for j in range(free):
        hj = m.h[j]
        for k in range(free):
            m.Ph[k] += P[j, k] * hj


@verb
def correct(free, adaptive, constant, s, m, q, innovation, variance):
    """Extended Kalman filter on (ln a, ln b, weights), and their random walk; what is not finite teaches nothing."""
    P, spread = carray(m.P, (free, free)), 0.0
    for k in range(free):
        spread += m.h[k] * m.Ph[k]
    variance += max(spread, 0.0)
    step = innovation / variance
    if math.isfinite(step) and math.isfinite(spread):
        s.ln_a[0] += m.Ph[0] * step
        s.ln_b[0] += m.Ph[1] * step
        for k in range(adaptive):
            m.w[constant + k] += m.Ph[2 + k] * step
        for j in range(free):
            share = m.Ph[j] / variance
            for k in range(free):
                P[j, k] -= share * m.Ph[k]
            walk = q.process * (q.scale_std if j < 2 else q.weight_std)
            P[j, j] += walk * walk


@verb
def give_out(n, s, m, q, y):
    """The updated network where the frozen one is contradicted and the updated one is better; whether it is."""
    updated = s.sum_frozen[0] > q.evidence * s.ticks[0] and s.sum_updated[0] < q.gain * s.sum_frozen[0]
    y[0] = math.exp(s.ln_a[0]) if updated else 1.0
    y[1] = math.exp(s.ln_b[0]) if updated else 1.0
    for k in range(n):
        y[2 + k] = m.w[k] if updated else m.frozen[k]
    return 1.0 if updated else 0.0
