"""What explains a measured force that a network did not expect: its sensor, another device, or a motion unlike that of
the training."""

from hyloop.core.jit import verb

__all__ = ["CAUSES", "named"]

CAUSES = ("none", "offset", "drift", "delay", "other device", "beyond the training")
"""What the channel ``cause`` counts from 0."""
_OFFSET, _DRIFT = 0.007, 0.0085  # of half the force range of the training
_DELAY = 0.3  # ticks
_CLEARLY, _MOSTLY = 0.76, 0.5


@verb
def named(s, m, drift, updated):
    """The cause of what is measured, as a number.

    Another device is named where most of an update is given out, unless most of the surprise came outside the range of
    the training: there nothing can be said of the device. A delay is named before an offset that it might feign, a
    drift before the offset at the start.
    """
    half = 1.0 / m.factor[6]
    surprised = updated > _CLEARLY
    unlike = surprised and s.sum_beyond[0] > _MOSTLY * s.sum_sensor[0]
    if surprised and not unlike:
        return 4.0
    if m.device[2] > _DELAY:
        return 3.0
    if abs(drift) > _DRIFT * half:
        return 2.0
    if abs(m.device[0]) > _OFFSET * half:
        return 1.0
    return 5.0 if unlike else 0.0
