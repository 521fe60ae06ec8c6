"""One tick of the filtered network: two explanations of the measured force learn, and a guard weighs them."""

import math
from collections.abc import Callable
from typing import NamedTuple

from numba import carray

from hyloop.core.jit import pointer, verb
from hyloop.core.memory import read, views
from hyloop.neural.hysteresis import INPUTS, absorbed, features, limited
from hyloop.neural.perceptron import evaluate, gradients, weight_count
from hyloop.updating.networks.diagnosis import named
from hyloop.updating.networks.filtered_guard import believed, deserved, give_out, watch
from hyloop.updating.networks.filtered_hearing import keep, listen, quiet, recall
from hyloop.updating.networks.filtered_memory import NAMED, Device, Sensor, Settings, filtered_memory

__all__ = ["CHANNELS", "filtered_step"]

# outputs behind the scales and the weights
CHANNELS = {
    "f": "N",
    "innovation": "N",
    "updated": "-",
    "offset": "N",
    "drift": "N",
    "delay": "s",
    "shift": "m",
    "noise_f": "N",
    "cause": "-",
}
_SENSOR, _DEVICE = len(Sensor._fields), len(Device._fields)
_EVENLY = 0.8191725133961645  # 1 over the root of x^4 = x + 1


class Slopes(NamedTuple):
    """Derivatives of the force, in the units of training."""

    d: float
    d_last: float
    f_last: float
    energy: float


def filtered_step(width: int, depth: int, rule: int, adaptive: int, late: int) -> Callable:
    """Make ``advance(x, u, dt, p, y)``, where the last `adaptive` weights may change and forces come `late` at most."""
    n, memory = weight_count(INPUTS, width, depth), filtered_memory(width, depth, adaptive, late)[0]
    free, constant = _DEVICE + adaptive, n - adaptive

    def advance(x, u, dt, p, y):
        s, m, q = views(x, NAMED), views(x, memory), read(Settings, p, 0)
        d, f_m, out = u[0], u[1], 2 + n
        y[out], y[out + 1] = s.f_device[0] + m.device[0], 0.0  # a sample that is missing teaches nothing
        fresh, still, wrong = math.isfinite(d) and math.isfinite(f_m), False, 0.0
        if fresh:
            keep(late + 2, s, m, d)
            noise = listen(s, q, d, f_m)
            t, still = s.ticks[0] * dt, quiet(s, m, noise, d, f_m)
            explained, beyond = run_sensor(width, depth, rule, late, s, m, q, noise)
            R = silence(_SENSOR, s, m, q, noise, t, still, beyond)
            wrong = f_m - m.sensor[0] - m.sensor[1] * t
            wrong -= 0.0 if still else (1.0 + m.sensor[4]) * s.f_sensor[0] + m.sensor[5]
            correct(_SENSOR, m.P_sensor, m, m.sensor, wrong, R)
            hold(m, q, late)
            beyond_too = run_device(width, depth, rule, late, adaptive, constant, s, m)
            R = silence(free, s, m, q, noise, t, still, beyond_too)
            error = f_m - m.device[0] - m.device[1] * t - (0.0 if still else s.f_device[0])
            step = correct(free, m.P_device, m, m.device, error, R)
            learn(free, adaptive, constant, late, s, m, step)
            walk(free, adaptive, m, q)
            if adaptive > 0 and q.creep > 0.0 and s.ticks[0] % 2.0 == 0.0:
                step = stand(width, depth, free, adaptive, constant, s, m, q)
                learn(free, adaptive, constant, late, s, m, step)
            watch(s, q, wrong, error, explained, beyond)
            y[out] = f_m - error
            y[out + 1] = error
            y[out + 7] = math.sqrt(noise.f)
        drift, part = m.device[1] * s.ticks[0] * dt, deserved(s, q)
        give_out(n, m, q, part, pointer(y))
        if fresh and q.recent > 0.0:
            seen = f_m - m.device[0] - drift - run_witness(width, depth, rule, late, s, m, y[0], y[1], pointer(y[2:]))
            part *= believed(s, q, still, part, seen, wrong)
            give_out(n, m, q, part, pointer(y))
        s.sum_given[0] = q.fading * s.sum_given[0] + part if fresh else s.sum_given[0]
        y[out + 2] = part
        y[out + 3], y[out + 4], y[out + 5], y[out + 6] = m.device[0], drift, m.device[2] * dt, m.device[3]
        y[out + 8] = named(s, m, drift)
        s.ticks[0] += 1.0 if fresh else 0.0

    return advance


@verb
def silence(free, s, m, q, noise, t, still, beyond):
    """The variance of a measured force about that of a right network; before any motion only the offset is heard.

    It is its noise, and errors that last for many ticks: what the network cannot represent, what the noise in d makes
    of its force, and, outside the range of its training, as much of half the range of the force as its inputs are
    outside of theirs.
    """
    m.h[1] = t
    if still:
        for k in range(2, free):
            m.h[k] = 0.0
        return noise.f + q.lasting * q.floor * q.floor
    return noise.f + q.lasting * (q.floor * q.floor + s.variance[0] + beyond * beyond)


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
def outside(m):
    """Force that corresponds to how far the inputs in `z` are outside the range of the training."""
    most = 0.0
    for k in range(INPUTS):
        most = max(most, abs(m.z[k]) - 1.0)
    return most / m.factor[6]


@verb
def run_sensor(width, depth, rule, late, s, m, q, noise):
    """The network as trained runs freely behind its sensor, and with it the variance that noise in d gives its force.

    The noise of this tick enters the next one too, with the other sign, hence the shared part.
    """
    d_last, f_last = s.d_sensor[0], s.f_sensor[0]
    d = recall(late, s, m, m.sensor[2], m.sensor[3])
    features(m.z, d, d_last, f_last, s.e_sensor[0], m.centre, m.factor)
    beyond = outside(m)
    f = force(m.frozen, m, width, depth)
    by = slopes(m.frozen, m, width, depth, d, d_last, f_last)
    by_f = min(max(by.f_last, -1.0), 1.0)
    made = by_f * by_f * s.variance[0] + (by.d * by.d + by.d_last * by.d_last) * noise.d
    s.variance[0] = max(made + 2.0 * by_f * by.d_last * s.shared[0], 0.0)
    s.shared[0] = by.d * noise.d
    s.by_shift[0] = by_f * s.by_shift[0] - by.d - by.d_last
    m.h[0], m.h[2], m.h[3], m.h[4], m.h[5] = 1.0, f_last - f, s.by_shift[0], f, 1.0
    s.d_sensor[0], s.f_sensor[0] = d, f
    s.e_sensor[0] += absorbed(f, d, d_last, rule)
    return q.tolerance * q.tolerance + noise.f + s.variance[0], beyond


@verb
def run_device(width, depth, rule, late, adaptive, constant, s, m):
    """The network of the other device runs freely, with the derivatives of its force by all unknowns.

    These are carried along: the force depends on its last value and on the energy, and so do the derivatives.
    """
    a, b = math.exp(m.device[4]), math.exp(m.device[5])
    d_last, f_last, energy = s.d_device[0] / b, s.f_device[0] / a, s.e_device[0] / (a * b)
    x = recall(late, s, m, m.device[2], m.device[3])
    d = x / b
    features(m.z, d, d_last, f_last, energy, m.centre, m.factor)
    beyond = outside(m)
    f = a * force(m.w, m, width, depth)
    by = slopes(m.w, m, width, depth, d, d_last, f_last)
    by_f, by_e = min(max(by.f_last, -1.0), 1.0), by.energy / b
    path = (1.0 if f >= 0.0 else -1.0) * (abs(x - s.d_device[0]) if rule == 1 else abs(x))
    m.by[3] = by_f * m.by[3] + by_e * m.by_e[3] - a / b * (by.d + by.d_last)
    m.by[4] = by_f * m.by[4] + by_e * m.by_e[4] + f - a * (by.f_last * f_last + by.energy * energy)
    m.by[5] = by_f * m.by[5] + by_e * m.by_e[5] - a * (by.d * d + by.d_last * d_last + by.energy * energy)
    for k in range(adaptive):
        at = _DEVICE + k
        m.by[at] = by_f * m.by[at] + by_e * m.by_e[at] + a * m.g[constant + k] / m.factor[6]
    for k in range(3, _DEVICE + adaptive):
        m.by_e[k] += path * m.by[k]
        m.h[k] = m.by[k]
    m.h[0], m.h[2] = 1.0, s.f_device[0] - f
    s.e_device[0] += absorbed(f, x, s.d_device[0], rule)
    s.d_device[0], s.f_device[0] = x, f
    return beyond


@verb
def correct(free, covariance, m, x, innovation, R):
    """Extended Kalman filter on the unknowns: their change is `Ph` times what is returned. The first of them, which
    lie in `x`, are changed here; P is symmetric, so its columns are rows."""
    P, spread = carray(covariance, (free, free)), 0.0
    for k in range(free):
        m.Ph[k] = 0.0
    for j in range(free):
        hj = m.h[j]
        for k in range(free):
            m.Ph[k] += P[j, k] * hj
    for k in range(free):
        spread += m.h[k] * m.Ph[k]
    total = R + max(spread, 0.0)
    step = innovation / total
    if not (math.isfinite(step) and math.isfinite(spread)):
        return 0.0
    for k in range(min(free, _DEVICE)):  # as many in both
        x[k] += m.Ph[k] * step
    for j in range(free):
        share = m.Ph[j] / total
        for k in range(free):
            P[j, k] -= share * m.Ph[k]
    return step


@verb
def hold(m, q, late):
    """Unknowns of the sensor stay where they can be; its offset may walk."""
    m.sensor[2] = min(max(m.sensor[2], 0.0), float(late))
    m.sensor[4] = min(max(m.sensor[4], -q.most_gain), q.most_gain)
    m.P_sensor[0] += q.offset_walk * q.offset_walk


@verb
def learn(free, adaptive, constant, late, s, m, step):
    """Change the weights; force and energy follow at once along their derivatives."""
    change, change_e = 0.0, 0.0
    for k in range(3, free):
        change += m.by[k] * m.Ph[k] * step
        change_e += m.by_e[k] * m.Ph[k] * step
    for k in range(adaptive):
        m.w[constant + k] += m.Ph[_DEVICE + k] * step
    m.device[2] = min(max(m.device[2], 0.0), float(late))
    s.f_device[0] += change
    s.e_device[0] += change_e


@verb
def walk(free, adaptive, m, q):
    """The unknowns may change."""
    P = carray(m.P_device, (free, free))
    for k in range(adaptive):
        P[_DEVICE + k, _DEVICE + k] += q.weight_walk * q.weight_walk
    P[0, 0] += q.offset_walk * q.offset_walk
    P[4, 4] += q.scale_walk * q.scale_walk
    P[5, 5] += q.scale_walk * q.scale_walk


@verb
def stand(width, depth, free, adaptive, constant, s, m, q):
    """Tell the filter that the force of a device at rest is that of the network as trained; see `correct`.

    The state is one of a sequence that fills the box of states between rest and the present one evenly (additive
    recurrence with powers of the root of x^4 = x + 1).
    """
    a, b, k = math.exp(m.device[4]), math.exp(m.device[5]), s.ticks[0]
    d = (2.0 * ((k * _EVENLY) % 1.0) - 1.0) * s.d_device[0] / b
    f = (2.0 * ((k * _EVENLY**2) % 1.0) - 1.0) * s.f_device[0] / a
    energy = ((k * _EVENLY**3) % 1.0) * s.e_device[0] / (a * b)
    features(m.z, d, d, f, energy, m.centre, m.factor)
    wanted = evaluate(m.frozen, m.z, m.hidden, INPUTS, width, depth)
    found = evaluate(m.w, m.z, m.hidden, INPUTS, width, depth)
    gradients(m.w, m.z, m.hidden, m.g, m.gz, m.delta, INPUTS, width, depth)
    for k in range(_DEVICE):
        m.h[k] = 0.0
    for k in range(adaptive):
        m.h[_DEVICE + k] = m.g[constant + k]
    return correct(free, m.P_device, m, m.device, wanted - found, q.creep * q.creep)


@verb
def run_witness(width, depth, rule, late, s, m, a, b, w):
    """Force of a model with the scales `a`, `b` and the weights `w`, free-running under the measured deformation."""
    x = recall(late, s, m, m.device[2], m.device[3])
    d_last, f_last, energy = s.d_witness[0] / b, s.f_witness[0] / a, s.e_witness[0] / (a * b)
    features(m.z, x / b, d_last, f_last, energy, m.centre, m.factor)
    f = a * force(w, m, width, depth)
    s.e_witness[0] += absorbed(f, x, s.d_witness[0], rule)
    s.d_witness[0], s.f_witness[0] = x, f
    return f
