"""What a filtered network hears: deformations of the last ticks, noise of both signals, whether anything has moved."""

import math
from typing import NamedTuple

from hyloop.core.jit import verb

__all__ = ["Noise", "keep", "listen", "quiet", "recall"]

_THIRD = 0.6745 * math.sqrt(20.0)  # median of |third differences| of white noise over its standard deviation
_STEP = 0.02  # relative step of that median in a tick, once it has settled
_MEDIAN_AFTER = 4  # ticks without three predecessors
_SETTLING = 20.0  # ticks after which it has
_STILL = 4.0  # standard deviations of the deformation that are no motion
_TINY = 1e-4  # of half a range: no motion


class Noise(NamedTuple):
    """Variances of what is measured."""

    f: float
    d: float


@verb
def keep(slots, s, m, d):
    """Put the deformation into the ring; the first sample fills it."""
    now = int(s.ticks[0])
    for k in range(slots if now == 0 else 1):
        m.ring[(now + k) % slots] = d


@verb
def recall(late, s, m, delay, shift):
    """The deformation of `delay` ticks ago, without the offset of its sensor."""
    whole = math.floor(delay)
    part, now, slots = delay - whole, int(s.ticks[0]), late + 2
    newer, older = m.ring[(now - whole) % slots], m.ring[(now - whole - 1) % slots]
    return (1.0 - part) * newer + part * older - shift


@verb
def listen(s, q, d, f):
    """Variances of the noise, as given or from third differences, in which little of a smooth motion is left."""
    jump_f = abs(f - 3.0 * s.f_1[0] + 3.0 * s.f_2[0] - s.f_3[0])
    jump_d = abs(d - 3.0 * s.d_1[0] + 3.0 * s.d_2[0] - s.d_3[0])
    s.f_3[0], s.f_2[0], s.f_1[0] = s.f_2[0], s.f_1[0], f
    s.d_3[0], s.d_2[0], s.d_1[0] = s.d_2[0], s.d_1[0], d
    if s.ticks[0] >= _MEDIAN_AFTER:
        step = max(_STEP, 1.0 / (s.ticks[0] - _MEDIAN_AFTER + 1.0))
        s.jump_f[0] = median(s.jump_f[0], jump_f, step)
        s.jump_d[0] = median(s.jump_d[0], jump_d, step)
    noise = q.noise if q.noise >= 0.0 else s.jump_f[0] / _THIRD
    noise_d = q.noise_d if q.noise_d >= 0.0 else s.jump_d[0] / _THIRD
    return Noise(noise * noise, noise_d * noise_d)


@verb
def median(value, sample, step):
    """A median that follows its samples by small steps: half of them lie above it, half below."""
    return (value * math.exp(step if sample > value else -step)) if value > 0.0 else sample


@verb
def quiet(s, m, noise, d, f):
    """Whether nothing has moved yet: what a load cell shows then is its offset, whatever the device.

    As long as the noise is not known this cannot be told, and until it is known well the more is taken for noise.
    """
    known = s.ticks[0] > _MEDIAN_AFTER
    reach = _STILL * (1.0 + _SETTLING / s.ticks[0] if known else 1.0) * math.sqrt(noise.d) + _TINY / abs(m.factor[0])
    if s.ticks[0] > s.still[0] or (known and abs(d - s.d_still[0]) > reach):
        return False
    s.still[0] += 1.0
    s.d_still[0] += (d - s.d_still[0]) / s.still[0]
    s.f_still[0] += (f - s.f_still[0]) / s.still[0]
    return True
