"""Instruments as laboratories have them: what they show of a deformation and a force."""

import math

from hyloop.core.block import Param, inplace_block
from hyloop.core.jit import jit
from hyloop.core.noise import normal_pair, uniform
from hyloop.errors import BadInput
from hyloop.transfer.saturation import UNLIMITED

__all__ = ["LONGEST", "sensor"]

LONGEST = 64  # ticks of delay
_RING = LONGEST + 2
_D = 1 + _RING  # where the ring of the deformation begins; that of the force stands before it
_SMOOTH = _D + _RING  # filtered and last d, filtered and last f
_SHOWN = _SMOOTH + 4  # d and f as shown last
_SAMPLES = _SHOWN + 2  # taken so far
_MEMORY = _SAMPLES  # but for the count of ticks, which has a name
_ROUND_OFF = 1e-9  # of a sample: times are whole numbers of ticks times a decimal number


def rate_fits(dt: float, rate: float, bits: float, range_d: float, range_f: float, **rest: float) -> None:
    """Refuse a sensor that would have to be faster than what reads it, and bits without a range."""
    if rate * dt > 1.0 + _ROUND_OFF:
        raise BadInput(
            f"rate = {rate:g} Hz is above the controller's {1.0 / dt:g} Hz, which reads it once in a tick. Give at "
            f"most {1.0 / dt:g} Hz, or 0 for that rate itself."
        )
    if bits != round(bits):
        raise BadInput(f"bits = {bits:g} must be a whole number.")
    if bits and min(range_d, range_f) >= UNLIMITED:
        raise BadInput(f"bits = {bits:g} needs a range: give range_d or range_f, or both.")


@inplace_block(
    inputs={"d": "m", "f": "N"},
    outputs={"d": "m", "f": "N"},
    state={"ticks": "-"},
    params={
        "noise_d": Param("m", 0.0, 0.0, about="standard deviation of the deformation"),
        "noise_f": Param("N", 0.0, 0.0, about="standard deviation of the force"),
        "offset_d": Param("m", 0.0, about="added to the deformation"),
        "offset_f": Param("N", 0.0, about="added to the force"),
        "drift_f": Param("N/s", 0.0, about="growth of what is added to the force"),
        "gain_f": Param("-", 1.0, 0.0, about="shown over true force"),
        "delay_f": Param("-", 0.0, 0.0, float(LONGEST), about="ticks by which the force is shown late"),
        "seed": Param("-", 0.0, 0.0, about="of the noise and of what is lost"),
        "drift_d": Param("m/s", 0.0, about="growth of what is added to the deformation"),
        "gain_d": Param("-", 1.0, 0.0, about="shown over true deformation"),
        "delay_d": Param("-", 0.0, 0.0, float(LONGEST), about="ticks by which the deformation is shown late"),
        "lowpass_d": Param("Hz", 0.0, 0.0, about="cut-off of the low-pass of the deformation; 0: none"),
        "lowpass_f": Param("Hz", 0.0, 0.0, about="cut-off of the low-pass of the force; 0: none"),
        "range_d": Param("m", UNLIMITED, 1e-12, about="largest deformation that is shown"),
        "range_f": Param("N", UNLIMITED, 1e-12, about="largest force that is shown"),
        "bits": Param("-", 0.0, 0.0, 32.0, about="of the converter, over the ranges; 0: no steps"),
        "rate": Param("Hz", 0.0, 0.0, about="samples in a second, held between; 0: one in every tick"),
        "dropout": Param("-", 0.0, 0.0, 1.0, about="share of the samples that are lost"),
        "freeze_at": Param("s", UNLIMITED, 0.0, about="time from which on the values stand still"),
        "freeze_for": Param("s", UNLIMITED, 0.0, about="how long they stand still"),
    },
    memory=_MEMORY,
    fits=rate_fits,
    reference="ISO/IEC Guide 99 (VIM, 2012): bias, drift and sensitivity of a measuring instrument; Widrow and Kollar "
    "(2008), Quantization Noise, Cambridge.",
)
def sensor(x, u, dt, p, y):
    r"""What a displacement transducer and a load cell show.

    .. math::
        d_m(t) = g_d\,d(t - \tau_d) + o_d + r_d\,t + \sigma_d n_1, \qquad
        f_m(t) = g\,f(t - \tau) + o_f + r\,t + \sigma_f n_2

    with white noise of unit variance, the delays in ticks, whole or not (a straight line bridges parts of a tick), and
    what was before the first tick taken for the first value. As the ``sensor`` of a site it stands behind the device,
    and the structure feels the force it shows.

    Before that a low-pass of first order, exact for a signal that moves on a straight line between ticks. After it the
    converter: samples at a `rate` of their own, cut off at ± the range, in :math:`2^{bits}` steps over both of them. A
    sample of both that is lost (each with the probability `dropout`), or falls into the time in which the values are
    frozen, leaves what was shown before.
    """
    count, ring_f, ring_d = x[0], x[1:_D], x[_D:_SMOOTH]
    if count == 0.0:
        for k in range(_RING):
            ring_f[k], ring_d[k] = u[1], u[0]
        x[_SMOOTH] = x[_SMOOTH + 1] = u[0]
        x[_SMOOTH + 2] = x[_SMOOTH + 3] = u[1]
    now = int(count) % _RING
    ring_d[now] = x[_SMOOTH] = _smooth(x[_SMOOTH], x[_SMOOTH + 1], u[0], dt, p[11])
    ring_f[now] = x[_SMOOTH + 2] = _smooth(x[_SMOOTH + 2], x[_SMOOTH + 3], u[1], dt, p[12])
    x[_SMOOTH + 1], x[_SMOOTH + 3] = u[0], u[1]
    time = count * dt
    x[0] += 1.0
    if count > 0.0 and _kept(x, count, time, p):
        y[0], y[1] = x[_SHOWN], x[_SHOWN + 1]
        return
    first, second = normal_pair(p[7], count) if p[0] > 0.0 or p[1] > 0.0 else (0.0, 0.0)
    d = p[9] * _late(ring_d, now, p[10]) + p[2] + p[8] * time + p[0] * first
    f = p[5] * _late(ring_f, now, p[6]) + p[3] + p[4] * time + p[1] * second
    y[0], y[1] = _converted(d, p[13], p[15]), _converted(f, p[14], p[15])
    x[_SHOWN], x[_SHOWN + 1] = y[0], y[1]


@jit
def _smooth(y, last, u, dt, cutoff):
    """Low-pass of first order for a signal that goes from `last` to u on a straight line; none where cutoff is 0."""
    if cutoff == 0.0:
        return u
    tau = 0.5 / (math.pi * cutoff)
    slope = (u - last) / dt
    return y - math.expm1(-dt / tau) * (last - tau * slope - y) + (u - last)


@jit
def _late(ring, now, delay):
    whole = math.floor(delay)
    part = delay - whole
    newer, older = ring[(now - whole) % _RING], ring[(now - whole - 1) % _RING]
    return (1.0 - part) * newer + part * older


@jit
def _converted(value, largest, bits):
    """Cut off at the range and rounded to the steps of the converter."""
    if largest >= UNLIMITED:
        return value
    if bits == 0.0:
        return min(max(value, -largest), largest)
    step = 2.0 * largest / 2.0**bits
    most = 2.0 ** (bits - 1.0)
    return step * min(max(math.floor(value / step + 0.5), -most), most - 1.0)


@jit
def _kept(x, count, time, p):
    """Whether the values shown last stay: no new sample, a lost one, or frozen."""
    frozen = time >= p[18] and time < p[18] + p[19]
    if p[16] > 0.0:
        samples = math.floor(time * p[16] + _ROUND_OFF)
        if samples <= x[_SAMPLES]:
            return True
        x[_SAMPLES] = samples
    return frozen or (p[17] > 0.0 and uniform(p[7], count) < p[17])
