"""What explains a measured force that a network did not expect: its sensor, another device, or a motion unlike that of
the training."""

from hyloop.core.jit import verb

__all__ = ["CAUSES", "named"]

CAUSES = ("none", "offset", "drift", "delay", "other device", "beyond the training", "shift")
"""What the channel ``cause`` counts from 0; a shift is an offset of the measured deformation."""
# over half the force range of the training; in ticks; mean part of an update. Chosen on 300 drawn cases under the
# eleven records on which the settings of the filter were chosen
_OFFSET, _DRIFT, _DELAY, _UPDATED = 0.005, 0.009, 0.3, 0.08
_SHIFT = 0.01  # over half the range of the deformation
_RESTED = 10.0  # ticks at rest that tell an offset
_MOSTLY = 0.5


@verb
def named(s, m, drift):
    """The cause of what is measured, as a number.

    Another device is named where enough of an update has been given out over the memory of the guard: the witness is
    moody, and at the end of a motion it has little to tell. Offsets are told by what was shown at rest, where the
    test began with it; else the offset of the filter counts, of which a network has one of its own on another motion.
    A delay is named before an offset that it might feign. Where most of the surprise came outside the range of the
    training, nothing can be said of the device.
    """
    half, rested = 1.0 / abs(m.factor[6]), s.still[0] >= _RESTED
    offset = s.f_still[0] if rested else m.device[0]
    if s.sum_given[0] > _UPDATED * s.weight[0]:
        return 4.0
    if m.device[2] > _DELAY:
        return 3.0
    if rested and abs(offset) > _OFFSET * half:
        return 1.0
    if rested and abs(s.d_still[0]) > _SHIFT / abs(m.factor[0]):
        return 6.0
    if abs(drift) > _DRIFT * half:
        return 2.0
    if abs(offset) > _OFFSET * half:
        return 1.0
    return 5.0 if s.sum_beyond[0] > _MOSTLY * s.sum_sensor[0] and s.sum_sensor[0] > s.weight[0] else 0.0
